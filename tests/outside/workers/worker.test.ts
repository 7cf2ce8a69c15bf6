import {expect, it} from 'vitest';
import {home, isSubagent, project, serve} from '../../e2e/fixture.ts';
import {callTool, type MessagesBody, say} from '../../support/messages-server.ts';
import {runCli} from '../../support/run-cli.ts';
import {SECRET, startRedis, startWorker, withQueue} from './fixture.ts';

const task = (more: object = {}) =>
  callTool('Task', {
    ...{description: 'add a file', prompt: 'Write made.txt', agent_type: 'code'},
    ...{isolation: 'worktree', where: 'workers', ...more},
  });

/** The main agent dispatches, the subagent writes a file and says what it did. */
function script(calls: readonly ReturnType<typeof callTool>[]) {
  return (body: MessagesBody) => {
    const turns = body.messages.filter(({role}) => role === 'assistant').length;
    if (!isSubagent(body)) return turns < calls.length ? calls[turns]! : say('All done.');
    return turns === 0
      ? callTool('write_file', {path: 'made.txt', content: 'made elsewhere\n'})
      : say('I wrote made.txt:1.');
  };
}

it('runs a subagent at a worker and brings text, files, receipt and transcript back', async () => {
  const [redis, server, workspace, own] = [
    await startRedis(),
    await serve(script([task()])),
    await project(),
    await home(),
  ];
  await startWorker({url: redis.url, server});
  const run = await runCli(['-p', 'go', '--permission-mode', 'acceptEdits', '--settings', withQueue(redis.url)], {
    ...{cwd: workspace.path, home: own, server, env: {QUEUE_KEY: SECRET}, timeoutMs: 25_000},
  });
  expect(run.stdout).toContain('All done.');
  expect(await workspace.read('made.txt')).toBe('made elsewhere\n');
});
