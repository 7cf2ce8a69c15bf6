/** Sessions whose transcript a crash or a disk damaged, continued by the program against the strict server. */
import {readFileSync, writeFileSync} from 'node:fs';
import {afterAll, expect, it} from 'vitest';
import {createHome} from '../support/environment.ts';
import {say, startMessagesServer} from '../support/messages-server.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool, callTools} from '../support/scripted-replies.ts';
import {findTranscripts} from '../support/session-files.ts';
import {typescriptProject} from '../support/workspace.ts';

let session: ReturnType<typeof createSession> | undefined;
afterAll(async () => (await session)?.remove());

/** A session of two prompts with calls, which all tests continue. */
async function createSession() {
  const glob = (pattern: string) => ({name: 'glob', input: {pattern}});
  const replies = [callTools([glob('*'), glob('*.ts')]), say('first'), callTool('glob', {pattern: 'x'}), say('second')];
  const server = await startMessagesServer((_, index) => replies[index] ?? say('still here'));
  const [home, project] = [await createHome(), await typescriptProject()];
  const at = {server, home, cwd: project.path};
  await runCli(['-p', 'one'], at);
  await runCli(['-p', 'two', '--continue'], at);
  const [file = ''] = findTranscripts(home.path);
  const remove = () => Promise.all([server.close(), home.remove(), project.remove()]);
  return {at, file, text: readFileSync(file, 'utf8'), begun: server.requests.slice(), remove};
}

/** Changes the lines of the session, and continues it twice. */
async function continued(change: (lines: string[]) => string[]) {
  session ??= createSession();
  const {at, file, text, begun} = await session;
  writeFileSync(file, change(text.trimEnd().split('\n')).join('\n'));
  const before = at.server.requests.length;
  const run = await runCli(['-p', 'three', '--continue'], at);
  const again = await runCli(['-p', 'four', '--continue'], at);
  return {run, again, requests: [...begun, ...at.server.requests.slice(before)]};
}

const indexOf = (lines: readonly string[], words: string) => lines.findIndex((line) => line.includes(words));

it.each<[string, (lines: string[]) => string[], RegExp | undefined]>([
  ['nothing damaged', (lines) => [...lines, ''], undefined],
  ['torn last line', (lines) => [...lines, '{"type":"message","mess'], undefined],
  [
    'torn results',
    (lines) => lines.map((line) => (line.includes('tool_result') ? line.slice(0, 80) : line)),
    /3 calls had no result/,
  ],
  ['lost calls', (lines) => lines.filter((line) => !line.includes('"tool_use"')), /3 results had no call/],
  ['lost first prompt', (lines) => lines.toSpliced(indexOf(lines, '"one"'), 1), /beginning of the conversation/],
  ['lost end', (lines) => lines.slice(0, indexOf(lines, 'tool_result')), undefined],
])('a session with %s goes on by --continue', async (_, change, notice) => {
  const {run, again, requests} = await continued(change);
  expect(run).toMatchObject({code: 0, stdout: 'still here\n'});
  expect(again).toMatchObject({code: 0, stdout: 'still here\n'});
  expect(requests).toHaveLength(6);
  if (notice) expect(run.stderr).toMatch(notice);
  expect(run.stderr.split('\n').filter((line) => line.includes('repaired'))).toHaveLength(notice ? 1 : 0);
});

it('the system prompt, the tools and the history keep their bytes when a session is continued', async () => {
  const {requests} = await continued((lines) => [...lines, '']);
  const bodies = requests.map(({body}) => body);
  const plain = (value: unknown) =>
    JSON.stringify(value, (key, inner: unknown) => (key === 'cache_control' ? undefined : inner));
  for (const body of bodies)
    expect(plain([body.system, body.tools])).toBe(plain([bodies[0]!.system, bodies[0]!.tools]));
  const normal = (index: number) =>
    bodies[index]!.messages.map(({role, content}) =>
      plain([role, typeof content === 'string' ? [{type: 'text', text: content}] : content]),
    );
  expect(normal(5).slice(0, normal(3).length)).toEqual(normal(3));
});
