/** Links (OSC 8) in what the screen writes: whole addresses and files that are there, and nothing that a text could inject. */
import {mkdtempSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, test, vi} from 'vitest';

import {open} from './app-fixture.ts';
import {createFakeSession} from './fake-session.ts';

const ADDRESS = 'https://example.com/a/long/path/that/does/not/fit/one/row?with=a%20query&and=more#end';

/** The links that were written: the address that each opens, and its text without styles. */
function links(written: string): {readonly url: string; readonly text: string}[] {
  return [...written.matchAll(/\x1b\]8;;([^\x07\x1b]+)(?:\x1b\\|\x07)(.*?)\x1b\]8;;(?:\x1b\\|\x07)/gs)].map(
    ([, url, text]) => ({
      url: url!,
      text: text!.replace(/\x1b\[[\d;]*m/g, ''),
    }),
  );
}

/** Shows an answer in a window of 40 columns. @returns what was written of it */
async function show(answer: string) {
  const cwd = mkdtempSync(path.join(tmpdir(), 'links-'));
  writeFileSync(`${cwd}/c.ts`, '');
  const session = createFakeSession({cwd});
  const {screen} = await open({columns: 40, rows: 24, opening: Promise.resolve(session)});
  await screen.shows(/default · .*sonnet|Mode: default/);
  screen.type('go\r');
  await screen.shows(/(?:▌|You:) go/);
  session.emit({type: 'text_delta', text: `${answer}\n\nThe end.`});
  session.endTurn();
  await screen.shows('The end.');
  return {cwd, written: screen.written(), shown: screen.scrollback()};
}

test('each row of an address that wraps opens the whole address, and no character is lost', async () => {
  const {written, shown} = await show(`See ${ADDRESS}, and \`curl ${ADDRESS}\`.`);
  const found = links(written);
  expect(new Set(found.map(({url}) => url))).toEqual(new Set([ADDRESS]));
  expect(shown.replaceAll(/\s/g, '').split(ADDRESS)).toHaveLength(3);
  // It breaks behind a slash.
  expect(shown).toContain('https://example.com/a/long/path/that/\n');
});

test('a file that is there is a link, and others are not', async () => {
  const {cwd, written} = await show('`c.ts:12` and `d.ts`, [one](c.ts), [two](../c.ts), `/etc/passwd`');
  expect(links(written).map(({url}) => url)).toEqual(expect.arrayContaining([`file://${cwd}/c.ts`]));
  expect(new Set(links(written).map(({url}) => url)).size).toBe(1);
});

test('a text cannot inject codes by a link, nor open what is no address', async () => {
  const {written} = await show(
    [
      'https://a.example/\x1b\\\x1b]52;c;aGk=\x07x',
      '[b](https://b.example/\x07\x1b]0;owned\x07)',
      '[c](javascript:alert(1)) [d](file:///etc/passwd) [e](vscode://x/y)',
      '[f](<https://f.example/a bé>)',
    ].join('\n\n'),
  );
  expect(written).not.toMatch(/\x1b\]52|\x1b\]0;owned/);
  for (const {url} of links(written)) expect(url).toMatch(/^https:\/\/[abf]\.example\/[!-~]*$/);
  expect(links(written).map(({url}) => url)).toContain('https://f.example/a%20b%C3%A9');
});

test.each([
  ['NO_COLOR', '1'],
  ['TERM', 'dumb'],
  ['INK_SCREEN_READER', 'true'],
])('with %s=%s there are no links', async (name, value) => {
  vi.stubEnv(name, value);
  const {written} = await show(`See ${ADDRESS}`).finally(() => vi.unstubAllEnvs());
  expect(written).not.toContain('\x1b]8;');
});
