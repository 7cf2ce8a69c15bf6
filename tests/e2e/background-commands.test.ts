/** `background: true` of bash in print mode, with a scripted server. */
import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {type MessagesBody, say} from '../support/messages-server.ts';
import {countReplies, getToolResults} from '../support/request-facts.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool} from '../support/scripted-replies.ts';
import {explore, home, isSubagent, processesWith, project, serve, uniqueSleep} from './fixture.ts';

const start = (command: string, more = {}) => callTool('bash', {command, background: true, ...more});
/** The results of the calls so far, in their order. */
const results = (body: MessagesBody) =>
  body.messages.flatMap((message) => getToolResults({...body, messages: [message]}).map(({text}) => text));
const accepted = (body: MessagesBody, index: number) =>
  JSON.parse(results(body)[index]!) as {runId: string; output: string};
const flags = ['--dangerously-skip-permissions', '--output-format', 'json'];

describe('a command in the background', () => {
  it('returns an id and a growing file; TaskOutput, TaskList, TaskStop and one announcement tell of it', async () => {
    const [stoppedLater, left] = [uniqueSleep(), uniqueSleep()];
    const server = await serve((body) => {
      const {runId} = countReplies(body) > 0 ? accepted(body, 0) : {runId: ''};
      const second = countReplies(body) > 5 ? accepted(body, 5).runId : '';
      const steps = [
        () => start('echo one; until [ -e go ]; do sleep 0.02; done; echo new > made.txt; echo two; exit 3'),
        () =>
          callTool('bash', {
            command: `until grep one ${accepted(body, 0).output}; do sleep 0.02; done; sleep 0.4; pwd`,
          }),
        () => callTool('TaskOutput', {run_id: runId}),
        () => callTool('bash', {command: 'touch go'}),
        () => callTool('TaskOutput', {run_id: runId, wait_seconds: 20}),
        () => start(`cd /; echo begun; ${stoppedLater}`),
        () => callTool('TaskList', {}),
        () => callTool('TaskSend', {run_id: second, message: 'hello'}),
        () => callTool('bash', {command: `until grep -q begun ${accepted(body, 5).output}; do sleep 0.02; done; pwd`}),
        () => callTool('TaskStop', {run_id: second}),
        () => start('sleep 0.1; sleep 5', {timeout_seconds: 0.2}),
        () => callTool('TaskOutput', {run_id: accepted(body, 10).runId, wait_seconds: 20}),
        () => start(left),
      ];
      return steps[countReplies(body)]?.() ?? say('done');
    });
    const {path: cwd} = await project();
    const run = await runCli(['-p', 'go', ...flags], {server, cwd, home: await home()});
    expect(run).toMatchObject({code: 0});
    const body = server.requests.at(-1)!.body;
    const [first, file, running, , ended, second, list, sent, pwd, stopped, , timedOut] = results(body);
    expect(JSON.parse(first!)).toEqual({
      status: 'accepted',
      runId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      output: expect.stringMatching(/\/output\/\w+\.txt$/),
    });
    expect(running).toMatch(/^running: \[bash\] echo one; .*\nRun: .*\nOutput so far: .*\.txt\none$/s);
    expect(file).toBe(`one\n${cwd}`);
    expect(ended).toMatch(
      /^The command failed: exit code 3\.\none\ntwo\nexit code 3\n\nThe whole output: \/.*\.txt\n\n<task_receipt>\nReceipt: 1 tool · /,
    );
    expect(ended).toMatch(
      / · changed 2 files: go, made\.txt \([12] shared: commands of other runs .*\) · commands 1 \(exit 3\) · /,
    );
    expect(readFileSync(accepted(body, 0).output, 'utf8')).toBe('one\ntwo\n');
    const log = path.join(path.dirname(accepted(body, 0).output), '..', 'session.jsonl');
    expect(readFileSync(log, 'utf8')).toMatch(/"text":"one\\ntwo\\nexit code 3\\n\\nThe whole output: /);
    expect(list).toMatch(new RegExp(`^1 {2}running +bash +cd /; echo begun; ${stoppedLater} .*\n2 .* bash `));
    expect(sent).toBe(`[bash] cd /; echo begun; ${stoppedLater} is a command: it takes no messages.`);
    expect(stopped).toContain('begun\n');
    expect(second).toContain('accepted');
    expect(pwd).toBe(cwd);
    expect(timedOut).toContain('timed out after 0.2 s');
    const text = JSON.stringify(body.messages);
    const announced = [...text.matchAll(/<task_announcement run=\\"([^"\\]+)\\">/g)].map(([, id]) => id);
    expect(announced).toEqual([0, 5, 10].map((index) => accepted(body, index).runId));
    expect(text).toMatch(
      /Status: error\\nResult: one\\ntwo\\nexit code 3\\n\\nThe whole output: [^"]*?changed 2 files: go, made\.txt[^"]*?Notes: - Error: exit code 3\\n/,
    );
    expect(text).toContain('Status: timeout');
    // What is still at work ends with the session, which does not wait for it.
    await expect.poll(() => processesWith(left)).toEqual([]);
    await expect.poll(() => processesWith(stoppedLater)).toEqual([]);
    expect(run.stderr).toContain(`  [bash] ${left} - stopped (`);
    expect(JSON.parse(run.stdout).subagents).toEqual([]);
  });

  it('is not offered to subagents, and refused when one asks for it', async () => {
    const server = await serve((body) => {
      if (!isSubagent(body))
        return countReplies(body) === 0
          ? callTool(explore().name, {...explore().input, agent_type: 'code'})
          : say('done');
      return countReplies(body) === 0 ? start('touch ran') : say('ended');
    });
    const {path: cwd} = await project();
    await runCli(['-p', 'go', ...flags], {server, cwd});
    const [main, sub] = [false, true].map((is) => server.requests.find(({body}) => isSubagent(body) === is)!.body);
    const offered = (body: MessagesBody) => JSON.stringify(body.tools?.find(({name}) => name === 'bash'));
    expect(offered(main!)).toContain('"background"');
    expect(offered(sub!)).not.toContain('"background"');
    expect(JSON.stringify(server.requests.map(({body}) => body))).toContain(
      'Only the main agent can run a command in the background',
    );
    expect(existsSync(path.join(cwd, 'ran'))).toBe(false);
  });

  /** The parent of a command is a fork of the helper shell, whose parent is mini-cc. */
  const KILL_MINI_CC = 'p=$PPID; for _ in 1 2; do p=$(cut -d" " -f4 /proc/$p/stat); done; kill -KILL $p; sleep 5';

  it('that a crash cut off is announced once, as unknown, when the session goes on', async () => {
    const left = uniqueSleep();
    const crash = await serve((body) =>
      countReplies(body) === 0 ? start(left) : callTool('bash', {command: KILL_MINI_CC}),
    );
    const own = await home();
    const {path: cwd} = await project();
    await runCli(['-p', 'go', ...flags], {server: crash, cwd, home: own});
    await expect.poll(() => processesWith(left)).toEqual([]);
    const server = await serve(() => say('fine'));
    await runCli(['-p', 'go on', '--continue', ...flags], {server, cwd, home: own});
    await runCli(['-p', 'go on', '--continue', ...flags], {server, cwd, home: own});
    const text = JSON.stringify(server.requests.at(-1)!.body.messages);
    expect(text.match(/<task_announcement run=/g)).toHaveLength(1);
    expect(text).toContain('Status: unknown');
  });
});
