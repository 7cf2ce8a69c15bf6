/** The completion scripts in the shells themselves: `npm run test:outside`, with zsh and fish on the search path. */
import {mkdtempSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {execaSync} from 'execa';
import {expect, onTestFinished, test} from 'vitest';
import {completionCommandLine} from '../../src/cli/completion.ts';
import {startTerminal} from '../support/terminal.ts';

function writeScript(shell: string): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-completion-')));
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}));
  const file = path.join(folder, `mini-cc.${shell}`);
  writeFileSync(file, completionCommandLine({verb: shell, words: []}).stdout);
  return file;
}

test('fish completes', () => {
  const script = writeScript('fish');
  const complete = (line: string) =>
    execaSync('fish', ['--no-config', '-c', `source ${script}; complete -C "${line}"`])
      .stdout.split('\n')
      .map((each) => each.split('\t')[0]);
  expect(complete('mini-cc sess')).toEqual(['sessions']);
  expect(complete('mini-cc agents cr')).toEqual(['create']);
  expect(complete('mini-cc --output-format j')).toEqual(['json']);
  expect(complete('mini-cc acp --output')).toEqual(['']);
  expect(complete('mini-cc doctor --js')).toEqual(['--json']);
});

test('zsh completes', async () => {
  const script = writeScript('zsh');
  const terminal = startTerminal('zsh', ['-f'], {
    env: {PS1: '$ ', TERM: 'xterm', PATH: process.env.PATH!, HOME: path.dirname(script)},
  });
  onTestFinished(() => void process.kill(terminal.pid, 'SIGKILL'));
  await terminal.waitFor('$ ');
  terminal.type(`autoload -U compinit; compinit -u -D; source ${script}; clear; echo ready\r`);
  await terminal.waitFor(/^ready/m);
  for (const [typed, expected] of [
    ['mini-cc sess', 'mini-cc sessions'],
    ['mini-cc agents cr', 'mini-cc agents create'],
    ['mini-cc --output-format js', 'mini-cc --output-format json'],
    ['mini-cc --effort=hi', 'mini-cc --effort=high'],
    ['mini-cc doctor --js', 'mini-cc doctor --json'],
  ] as const) {
    terminal.type(typed);
    await terminal.waitFor(typed);
    terminal.type('\t');
    await terminal.waitFor(expected);
    terminal.type('\x15');
  }
  expect(terminal.screen().join('\n')).not.toContain('command not found');
});
