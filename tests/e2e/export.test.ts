/** `/export` and `mini-cc sessions export`. What a browser makes of the page: `tests/outside/exported-page.test.ts`. */
import {readFile, stat} from 'node:fs/promises';
import path from 'node:path';
import {expect, it} from 'vitest';
import {answer} from '../support/questions.ts';
import {runCli} from '../support/run-cli.ts';
import {EXPORT_ARGS, exportedSession, HOSTILE, KEY, SESSION} from './export-fixture.ts';
import {repl, send} from './repl-fixture.ts';

it('exports a session with its subagents as one page in which all text stays text, without keys', async () => {
  const at = await exportedSession();
  expect(await runCli(EXPORT_ARGS, at)).toMatchObject({code: 0});
  const sessions = (...words: string[]) => runCli(['sessions', 'export', ...words], at);
  const made = await sessions('3333', 'out.html');
  expect(made).toMatchObject({code: 0, stderr: ''});
  const file = path.join(at.cwd, 'out.html');
  expect(made.stdout).toBe(`Exported session ${SESSION} to ${file}\n`);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const page = await readFile(file, 'utf8');
  expect(page).toMatch(/<dt>Main agent<\/dt><dd>\d+ messages · tokens in \S+ out \S+ · cost (?:\$[\d.]+|n\/a)</);

  // Elements are those of the page, and none loads or leads anywhere.
  const tags = new Set([...page.matchAll(/<([a-z0-9]+)/gi)].map(([, name]) => name!.toLowerCase()));
  expect(
    [...tags].filter((tag) => ['script', 'img', 'iframe', 'object', 'link', 'form', 'base'].includes(tag)),
  ).toEqual([]);
  const attributes = [...page.replace(/<meta[^>]*>/g, '').matchAll(/<[a-z0-9]+((?:\s[^<>]*)?)>/gi)]
    .map(([, text]) => text!)
    .join('\n');
  expect(
    [...attributes.matchAll(/\b(?:href|src|action|style|on\w+)\s*=\s*"?([^"]*)/gi)]
      .map(([, value]) => value)
      .filter((value) => !/^#run-[\w-]+$/.test(value!)),
  ).toEqual([]);
  expect(page).not.toContain('id="owned"');
  expect(page).not.toMatch(/[\u001b\u202e]/);
  expect(page).toContain('\\u202Egnp.exe');
  expect(page).toContain("default-src 'none'");
  expect(page).not.toContain(KEY);
  expect(page).toContain('<td class="right">12</td>');

  // The timeline: each run with what it waited for, did and used.
  expect(page.match(/<section class="run"/g)).toHaveLength(3);
  expect(page.match(/<rect class="wait"[^>]*><title>waited /g)!.length).toBeGreaterThanOrEqual(1);
  expect(
    page.match(
      /<rect class="call"[^>]*><title>read_file src&#47;greet.ts|<rect class="call"[^>]*><title>read_file src\/greet.ts/g,
    ),
  ).toHaveLength(3);
  expect(page.match(/2 tools: 1 read_file, 1 bash · claude-sonnet-5-5<br>Receipt: 2 tools · /g)).toHaveLength(3);
  expect(page).toMatch(/<span class="bad">limit reached: no progress: an empty reply 8 times/);
  expect(page.match(/<a href="#run-/g)).toHaveLength(3);

  expect((await sessions('3333', 'out.html')).stderr).toContain('is there already: say --yes to replace it');
  expect(await sessions('3333', 'html', 'out.html', '--yes')).toMatchObject({code: 0});
  expect((await sessions('3333', 'html')).stdout).toContain('<!doctype html>');
  const markdown = await sessions('3333', 'md');
  expect(markdown.stdout).toContain('## explore it');
  expect(markdown.stdout).not.toContain(KEY);
  expect(JSON.parse((await sessions('3333', 'json')).stdout)[0]).toMatchObject({type: 'session', id: SESSION});
  expect(await sessions('3333', 'out.txt')).toMatchObject({
    code: 2,
    stderr: 'mini-cc: export: out.txt says no format: [md|json|html] [FILE]\n',
  });
  expect((await sessions('3333', 'nowhere/out.md')).stderr).toContain('no such folder');
});

it('/export writes the session that is open, and asks before it replaces a file', async () => {
  const at = await exportedSession();
  const terminal = await repl({...at, args: ['--offline']});
  await send(terminal, '/export');
  await terminal.waitFor('There is nothing to export yet');
  await send(terminal, 'who are you?');
  await terminal.waitFor('I am the offline model');
  await send(terminal, '/export talk.md');
  await terminal.waitFor(/Exported this session to\s+\S*talk\.md/);
  expect(await at.where.read('talk.md')).toContain('## who are you?');
  await at.where.write('talk.md', 'mine');
  await send(terminal, '/export md talk.md');
  await answer(terminal, 'Replace talk.md?', 'escape');
  await terminal.waitFor('talk.md is there already, and stays');
  expect(await at.where.read('talk.md')).toBe('mine');
  await send(terminal, '/export html');
  await terminal.waitFor(/Exported this session to\s+\S*mini-cc-[0-9a-f]{8}\.html/);
  expect(HOSTILE).toContain('<script>');
});
