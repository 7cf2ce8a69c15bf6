/** Someone who knows nothing of mini-cc starts it in an empty folder that is no repository, without a key. */
import {mkdtempSync, readdirSync, realpathSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, it, onTestFinished} from 'vitest';
import {answer} from '../support/questions.ts';
import {home} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

function emptyFolder(): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-empty-')));
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}));
  return folder;
}

it.each([100, 40])('learns what it is, what to type and how to set a key, in %d columns', async (cols) => {
  const [cwd, mine] = [emptyFolder(), await home()];
  const terminal = await repl({cwd, home: mine, cols, rows: 30});
  const words = () => terminal.text().replaceAll(/\s+/g, ' ');
  expect(words()).toContain('A coding agent: it reads, changes and runs what is in this folder, and asks first.');
  expect(words()).toContain('Say what you want, for example: what does this project do?');
  expect(words()).toContain('export ANTHROPIC_API_KEY=…');
  const lines = terminal.text().split('\n');
  expect(lines.findIndex((line) => line.startsWith('> '))).toBeLessThanOrEqual(cols === 100 ? 9 : 16);
  // The folder's own name may be longer: the terminal wraps it.
  expect(lines.filter((line) => line.length > cols && line !== cwd)).toEqual([]);

  // What it does there, how to take it back, and how to leave.
  await send(terminal, 'what does this do?');
  await terminal.waitFor('empty');
  await idle(terminal);
  await send(terminal, 'create a.txt with "hi"');
  await answer(terminal, '1 yes', '1');
  await terminal.waitFor('Created a.txt');
  await idle(terminal);
  expect(readdirSync(cwd)).toEqual(['a.txt']);
  terminal.type('?');
  await terminal.waitFor(() => words().includes('exit leave'));
  await send(terminal, '/rewind 1');
  await answer(terminal, /Delete\s+1\s+file\s+made\s+since\s+then\?/, '1');
  await terminal.waitFor('1 new file deleted:');
  expect(readdirSync(cwd)).toEqual([]);
  terminal.press('ctrl-c');
  await send(terminal, 'exit');
  expect((await terminal.waitForExit()).code).toBe(0);

  // The next time it is short, and the old session is found.
  const again = await repl({cwd, home: mine, cols, rows: 30});
  expect(again.text()).toContain('/help lists the commands, ? the keys');
  expect(again.text()).not.toContain('A coding agent');
  await send(again, '/resume');
  await answer(again, '> what does this do?', 'enter');
  await again.waitFor(/Session [0-9a-f]{8} is open/);
});
