/** The setting `statusLine`: a command that gets facts of the session and whose first row is shown. */
import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {expect, it, onTestFinished} from 'vitest';
import {say} from '../support/messages-server.ts';
import {answer} from '../support/questions.ts';
import {startCli} from '../support/run-cli.ts';
import {until} from '../support/wait.ts';
import {project, serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

const statusLine = (command: string) => ({statusLine: {type: 'command', command}});

it('shows the first row of what the command prints, as text, and gives it facts of the session', async () => {
  const {path: cwd} = await project();
  const server = await serve([say('The answer.')]);
  const command = `cat > new.json; mv new.json facts.json; printf '\\033[31mmine\\033[0m \\007%s\\nsecond row' "$(wc -l < facts.json)"`;
  const terminal = await repl({server, cwd, args: ['--settings', JSON.stringify(statusLine(command))]});
  await terminal.waitFor(/^default · mine ␇1$/m);
  await send(terminal, 'go');
  await terminal.waitFor('The answer.');
  await idle(terminal);
  const facts = () => JSON.parse(readFileSync(path.join(cwd, 'facts.json'), 'utf8')) as Record<string, unknown>;
  await until(() => facts().cost !== undefined, 'no facts of the turn');
  expect(facts()).toMatchObject({
    hook_event_name: 'Status',
    session_id: expect.stringMatching(/^[\da-f-]{36}$/),
    transcript_path: expect.stringMatching(/session\.jsonl$/),
    cwd,
    workspace: {current_dir: cwd, project_dir: cwd, added_dirs: []},
    model: {id: expect.any(String), display_name: expect.any(String)},
    version: expect.stringMatching(/^\d/),
    context_window: {context_window_size: expect.any(Number), used_percentage: expect.any(Number)},
  });
  expect(terminal.screen().join('\n')).not.toContain('second row');
});

it('runs no command of a project that is not trusted', async () => {
  const work = await project();
  await work.write('.mini-cc/settings.json', JSON.stringify(statusLine('touch ran; echo theirs')));
  const server = await serve([say('The answer.')]);
  const terminal = await startCli([], {cwd: work.path, server, cols: 120});
  onTestFinished(terminal.close);
  await answer(terminal, 'Do you trust what the files of this directory ask for?', 'enter');
  await terminal.waitFor(/^default · /m);
  await send(terminal, 'go');
  await terminal.waitFor('The answer.');
  await idle(terminal);
  expect(terminal.text()).toContain('statusLine');
  expect(existsSync(path.join(work.path, 'ran'))).toBe(false);
});

it('ends its command when the person leaves, before the hooks of the end', async () => {
  const {path: cwd} = await project();
  const server = await serve([]);
  const command = 'echo $$ > new.pid; mv new.pid pid; sleep 300';
  const hook = 'for n in $(seq 40); do kill -0 $(cat pid) || { touch ended; exit; }; sleep 0.1; done';
  const hooks = {SessionEnd: [{hooks: [{type: 'command', command: hook}]}]};
  const terminal = await repl({server, cwd, args: ['--settings', JSON.stringify({...statusLine(command), hooks})]});
  await until(() => existsSync(path.join(cwd, 'pid')), 'the command');
  terminal.press('ctrl-d');
  expect(await terminal.waitForExit()).toMatchObject({code: 0});
  expect(existsSync(path.join(cwd, 'ended'))).toBe(true);
});
