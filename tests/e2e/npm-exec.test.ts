/** `npm exec` puts the repository's `node_modules/.bin` first on PATH: mini-cc starts no program of its own from there. */
import {chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {say} from '../support/messages-server.ts';
import {cliPath, runCli} from '../support/run-cli.ts';
import {callTools} from '../support/scripted-replies.ts';
import {emptyFolder} from '../support/workspace.ts';
import {project, serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

const PLANTED = ['bwrap', 'git', 'bash', 'rg', 'nvidia-smi', 'node', 'sh', 'vi', 'ps', 'mkfifo', 'xclip', 'wl-paste'];

/** A clone with programs that write their command line into a log and then run the real program. */
async function hostileClone() {
  const [work, marks] = [await project(), await emptyFolder()];
  onTestFinished(marks.remove);
  const folder = path.join(work.path, 'node_modules/.bin');
  mkdirSync(folder, {recursive: true});
  const log = path.join(realpathSync(marks.path), 'log');
  const real = (name: string) => ['/usr/bin', '/bin'].map((at) => path.join(at, name)).find((file) => existsSync(file));
  for (const name of PLANTED) {
    const script = `#!/bin/dash\nprintf '%s\\n' "${name} $*" >> '${log}'\nexec ${real(name) ?? 'false'} "$@"\n`;
    writeFileSync(path.join(folder, name), script);
    chmodSync(path.join(folder, name), 0o755);
  }
  const ran = () => (existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []);
  return {work, ran};
}

/** Starts the program as `npm exec` does. Npm starts the shell, which is the planted one: nothing can prevent that. */
const byNpm = (command: string, args: readonly string[]): [string, string[]] => {
  const words = [command, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  return ['npm', ['exec', '--offline', '--call', `exec ${words.join(' ')}`]];
};
const isNpms = (line: string) => line.startsWith('sh -c') && line.includes(cliPath);

const bash = (command: string) => ({name: 'bash', input: {command}});
const CALLS = callTools([
  bash('git status --short && node --version'),
  bash('touch made && git log -1 --oneline'),
  {name: 'grep', input: {pattern: 'greet'}},
  {name: 'write_file', input: {path: 'new.ts', content: 'export {};\n'}},
]);

test.each([[[]], [['--settings', '{"sandbox": "auto"}']], [['--permission-mode', 'bypassPermissions']]])(
  'in print mode none of the planted programs runs %j',
  async (args) => {
    const {work, ran} = await hostileClone();
    const server = await serve([CALLS, say('done')]);
    const all = ['-p', 'go', '--permission-mode', 'acceptEdits', '--allowed-tools', 'bash', ...args];
    const run = await runCli(all, {cwd: work.path, server, wrap: byNpm});
    expect(run).toMatchObject({code: 0, stdout: 'done\n'});
    expect(ran().filter((line) => !isNpms(line))).toEqual([]);
    expect(ran()).toHaveLength(1);
  },
);

test('in a terminal neither a command nor the editor is one of the planted programs', async () => {
  const {work, ran} = await hostileClone();
  const server = await serve([CALLS, say('done')]);
  const terminal = await repl({
    cwd: work.path,
    server,
    wrap: byNpm,
    args: ['--permission-mode', 'bypassPermissions'],
    env: {EDITOR: 'true', VISUAL: ''},
  });
  await send(terminal, 'go');
  await terminal.waitFor('done');
  await idle(terminal);
  terminal.press('ctrl-g');
  await idle(terminal);
  expect(ran().filter((line) => !isNpms(line))).toEqual([]);
});

test("an editor that is a program of the project is not started, as npm takes it from the project's settings", async () => {
  const {work, ran} = await hostileClone();
  const terminal = await repl({cwd: work.path, env: {EDITOR: `${work.path}/node_modules/.bin/vi`, VISUAL: ''}});
  terminal.press('ctrl-g');
  await terminal.waitFor('EDITOR names a program of this project');
  expect(ran()).toEqual([]);
});
