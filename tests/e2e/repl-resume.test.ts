/** Finding an earlier session and going on with it: `/resume`, and `--resume` without an id. */
import {mkdir, readdir, readFile, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {expect, it, onTestFinished} from 'vitest';
import {callTool, say} from '../support/messages-server.ts';
import {answer, takesKeys} from '../support/questions.ts';
import {countReplies} from '../support/request-facts.ts';
import {runCli, startCli} from '../support/run-cli.ts';
import {findTranscripts} from '../support/session-files.ts';
import {home, project, serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

const ADA = '11111111-9d4a-4c6b-8e5f-0a1b2c3d4e5f';
const GREET = '22222222-9d4a-4c6b-8e5f-0a1b2c3d4e5f';

async function twoSessions() {
  const server = await serve((body) => say(`answer ${body.messages.length}`));
  const at = {server, home: await home(), cwd: (await project()).path};
  await runCli(['-p', 'I am Ada', '--session-id', ADA], at);
  await runCli(['-p', 'greet the world', '--session-id', GREET], at);
  return at;
}

it('finds an earlier session by what is typed, shows its conversation and goes on with it', async () => {
  const at = await twoSessions();
  const terminal = await repl(at);
  await send(terminal, 'third thing');
  await terminal.waitFor('answer 1');
  await idle(terminal);
  await send(terminal, '/resume');
  await terminal.waitFor(/> greet the world +just now · main · 2 messages · 22222222/);
  await terminal.waitFor(/ {2}I am Ada +just now · main · 2 messages · 11111111/);
  await takesKeys(terminal, 'Go on with which session?');
  terminal.type('ada');
  await terminal.waitFor((now) => !now.screen().join('\n').includes('greet the world'));
  terminal.press('enter');
  await terminal.waitFor('Session 11111111 is open. Back to the one before: /resume ');
  expect(terminal.text()).toMatch(/▌ I am Ada\n\n.*answer 1/);
  await idle(terminal);
  await send(terminal, 'who am I?');
  await terminal.waitFor('answer 3');
  const sent = JSON.stringify(at.server.requests.at(-1)!.body.messages);
  expect(sent).toContain('I am Ada');
  expect(sent).not.toContain('third thing');

  await idle(terminal);
  await send(terminal, '/resume 2222');
  await terminal.waitFor('Session 22222222 is open.');
  await send(terminal, '/resume 2222');
  await terminal.waitFor('This session is open already.');
  await send(terminal, '/resume 9999');
  await terminal.waitFor('No session 9999 in this directory.');
  await send(terminal, '/resume');
  await takesKeys(terminal, 'find:');
  terminal.type('nothing like it');
  await terminal.waitFor('Nothing matches what is typed.');
  terminal.press('enter', 'escape');
  await terminal.waitFor('This session stays open.');
  terminal.press('ctrl-d');
  expect((await terminal.waitForExit()).code).toBe(0);
  expect(terminal.text()).toContain(`Resume this session: mini-cc --resume ${GREET}`);
  // The conversation that was opened here got its further messages, and the others none.
  const list = JSON.parse((await runCli(['sessions', 'list', '--json'], at)).stdout);
  expect(
    list
      .map(({prompt, messages, branch}: {prompt: string; messages: number; branch: string}) => [
        prompt,
        messages,
        branch,
      ])
      .sort(),
  ).toEqual([
    ['I am Ada', 4, 'main'],
    ['greet the world', 2, 'main'],
    ['third thing', 2, 'main'],
  ]);
});

it('--resume without an id asks which session, and leaves with 0 when none is taken', async () => {
  const at = await twoSessions();
  const terminal = await startCli(['--resume'], {...at, cols: 40, rows: 20});
  onTestFinished(terminal.close);
  await terminal.waitFor('just now · main · 2 messages');
  await takesKeys(terminal, 'Go on with which session?');
  terminal.press('down', 'enter');
  await terminal.waitFor('I am Ada');
  await terminal.waitFor('answer 1');
  await terminal.close();

  const left = await startCli(['-r'], at);
  onTestFinished(left.close);
  await answer(left, 'Go on with which session?', 'escape');
  expect((await left.waitForExit()).code).toBe(0);
  expect(left.text()).not.toContain('mini-cc: ');

  const printed = await runCli(['-p', 'hello', '--resume'], at);
  expect(printed).toMatchObject({code: 2, stdout: ''});
  expect(printed.stderr).toBe('mini-cc: --resume needs the id of a session; --continue takes the last one\n');
  const none = await startCli(['--resume'], {...at, cwd: (await project()).path});
  onTestFinished(none.close);
  expect((await none.waitForExit()).code).toBe(2);
  expect(none.text()).toContain('There is no session to resume in ');
});

it('a session that another machine locked is taken over after a question', async () => {
  const at = await twoSessions();
  const projects = path.join(at.home.env.MINI_CC_HOME!, 'projects');
  const folder = path.join(projects, (await readdir(projects))[0]!, ADA);
  await mkdir(folder, {recursive: true});
  const own = JSON.parse(await readFile(path.join(folder, 'lock'), 'utf8').catch(() => '{}'));
  const lock = {
    version: 1,
    pid: 4242,
    started: '1',
    host: 'farpc',
    machine: 'other',
    boot: 'other',
    pidNamespace: 'other',
    ...own,
  };
  await writeFile(path.join(folder, 'lock'), JSON.stringify(lock));
  const terminal = await repl(at);
  await send(terminal, '/resume 1111');
  await terminal.waitFor(/locked by\s+mini-cc on another machine \(farpc,\s+process 4242\)/);
  await answer(terminal, 'Take over this session?', 'enter');
  await terminal.waitFor('This session stays open.');
  await send(terminal, '/resume 1111');
  await answer(terminal, '1 yes, it has ended', '1');
  await terminal.waitFor('Session 11111111 is open.');
});

it('shows the share of the window and the cost of a conversation that continues before its first answer', async () => {
  const server = await serve(() => say('yes '.repeat(8_000)));
  const at = {server, home: await home(), cwd: (await project()).path};
  await runCli(['-p', 'go'], at);
  const terminal = await repl({...at, args: ['--continue']});
  await terminal.waitFor(/· context [\d.]+k? ?%? · cost \$0\.\d\d/);
  const [, before] = /cost \$(\d+\.\d+)/.exec(terminal.screen().join('\n'))!;
  await send(terminal, 'go on');
  await idle(terminal);
  // The cost goes on from there.
  await terminal.waitFor(
    (now) => Number(/cost \$(\d+\.\d+)/.exec(now.screen().join('\n'))?.[1]) > Number(before) * 1.5,
  );
});

it('says of the session that it opens what is damaged, and which rewind was cut off', async () => {
  const server = await serve((body) =>
    JSON.stringify(body).includes('write it') && countReplies(body) === 0
      ? callTool('write_file', {path: 'new.txt', content: 'new'})
      : say('answered'),
  );
  const at = {server, home: await home(), cwd: (await project()).path};
  await runCli(['-p', 'write it', '--session-id', ADA, '--permission-mode', 'acceptEdits'], at);
  await runCli(['-p', '/rewind 1 files', '--resume', ADA], at);
  const transcript = findTranscripts(at.home.path).find((file) => file.includes(ADA))!;
  const whole = await readFile(transcript, 'utf8');
  await writeFile(transcript, whole.replace(/"role":"assistant"(?=.*answered)/, '"role":"assist'));
  // As a kill in the midst of it leaves them.
  const changes = path.join(path.dirname(transcript), 'checkpoints', 'changes.jsonl');
  const lines = (await readFile(changes, 'utf8')).trimEnd().split('\n');
  expect(lines.at(-1)).toContain('"restored"');
  await writeFile(changes, `${lines.slice(0, -1).join('\n')}\n`);
  const terminal = await repl(at);
  await send(terminal, '/resume 1111');
  await terminal.waitFor('Session 11111111 is open.');
  await terminal.waitFor(/is damaged: 1 message of it cannot be\s+read/);
  await terminal.waitFor(/A rewind of 1 file was cut off .*: \/rewind 1\s+files\s+finishes it/);
});

it('shows of a session that was killed which call was cut off', async () => {
  const server = await serve([callTool('bash', {command: 'echo ran'}), say('It ran.')]);
  const at = {server, home: await home(), cwd: (await project()).path};
  await runCli(['-p', 'run it', '--session-id', ADA], at);
  // As a kill during the command leaves it.
  const [transcript = ''] = findTranscripts(at.home.path);
  const [before] = (await readFile(transcript, 'utf8')).split(/^.*"tool_result"/m);
  await writeFile(transcript, before!);
  const terminal = await repl({...at, args: ['--continue']});
  await terminal.waitFor(/▌ run it\n\n✗ Bash\(echo ran\) · failed\n +Cut off: mini-cc ended before this call did\./);
});
