/** A driver that vanishes in the middle of a turn, while the model does not answer: nothing that it started stays. */
import {spawn} from 'node:child_process';
import {randomUUID} from 'node:crypto';
import {readdirSync, readFileSync} from 'node:fs';
import {methods} from '@agentclientprotocol/sdk/unstable';
import {describe, expect, it, onTestFinished} from 'vitest';
import {home, processesWith, project, serve, uniqueSleep} from '../e2e/fixture.ts';
import {buildOnce, cliEnvironment, cliPath, killGroup} from '../support/run-cli.ts';
import {callTool, hangBeforeHeaders, say} from '../support/scripted-replies.ts';
import {pause, until} from '../support/wait.ts';
import {startDriven} from './driven.ts';

const STREAM = ['--output-format', 'stream-json', '--verbose', '--dangerously-skip-permissions'];
/** What a driver sends, each when it has read a line like this. SESSION stands for what the brackets matched. */
type Steps = readonly {readonly after: string; readonly line: object}[];

const user = {type: 'user', session_id: '', message: {role: 'user', content: 'go'}, parent_tool_use_id: null};
const rpc = (id: number, method: string, params: object) => ({jsonrpc: '2.0', id, method, params});
const stepsOfEditor = (cwd: string): Steps => [
  {after: '', line: rpc(1, methods.agent.initialize, {protocolVersion: 1, clientCapabilities: {}})},
  {after: '"protocolVersion"', line: rpc(2, methods.agent.session.new, {cwd, mcpServers: []})},
  {
    after: '"sessionId":"([0-9a-f-]+)',
    line: rpc(3, methods.agent.session.prompt, {sessionId: 'SESSION', prompt: [{type: 'text', text: 'go'}]}),
  },
];

const FRONT_ENDS = [
  {
    name: 'stream-json lines',
    args: ['--input-format', 'stream-json', ...STREAM],
    getSteps: (): Steps => [{after: '', line: user}],
  },
  {name: 'print mode with stream-json', args: ['-p', 'go', ...STREAM], getSteps: (): Steps => []},
  {name: 'acp', args: ['acp', '--permission-mode', 'bypassPermissions'], getSteps: stepsOfEditor},
];

/** A driver in bash, whose pipes are real ones; those of Node are sockets. It ends when nothing more comes. */
const DRIVER = `
coproc MINI_CC { exec "$@"; }
while IFS= read -r after && IFS= read -r line; do
  until [[ $got =~ $after ]]; do read -r got <&"\${MINI_CC[0]}" || exit; done
  printf '%s\\n' "\${line/SESSION/\${BASH_REMATCH[1]}}" >&"\${MINI_CC[1]}"
done <<< "$STEPS"
while read -r got <&"\${MINI_CC[0]}"; do :; done`;

/** A model that starts a command in the background of its shell, and then does not answer. */
async function startWork() {
  const command = uniqueSleep();
  const server = await serve([callTool('bash', {command: `${command} & wait`, background: true}), hangBeforeHeaders()]);
  const {path: cwd} = await project();
  const mark = `mark-${randomUUID()}`;
  const env = {...cliEnvironment(await home(), {server}), MARK: mark};
  await buildOnce();
  const isAtWork = async () => server.requests.length === 2 && (await processesWith(command)).length > 0;
  const left = async () => [...listMarked(mark), ...(await processesWith(command))];
  return {server, cwd, env, isAtWork, left};
}

/** @returns the command lines of the processes with this in their environment */
function listMarked(mark: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid) || !readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark)) return [];
      return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')];
    } catch {
      // It has ended, or is another user's.
      return [];
    }
  });
}

describe.each(FRONT_ENDS)('$name', ({args, getSteps}) => {
  it('ends when its driver is killed', async () => {
    const work = await startWork();
    const steps = getSteps(work.cwd).flatMap(({after, line}) => [after, JSON.stringify(line)]);
    const driver = spawn('bash', ['-c', DRIVER, 'bash', process.execPath, cliPath, ...args], {
      ...{cwd: work.cwd, env: {...work.env, STEPS: steps.join('\n')}},
      ...{stdio: 'ignore', detached: true},
    });
    onTestFinished(() => killGroup(driver));
    await until(work.isAtWork, 'the second call of the model');
    driver.kill('SIGKILL');
    await expect.poll(work.left).toEqual([]);
  });

  it('ends when its driver closes all pipes', async () => {
    const work = await startWork();
    const child = spawn(process.execPath, [cliPath, ...args], {cwd: work.cwd, env: work.env, detached: true});
    onTestFinished(() => killGroup(child));
    let said = '';
    child.stdout.on('data', (text) => {
      said += text;
    });
    for (const {after, line} of getSteps(work.cwd)) {
      await until(() => new RegExp(after).test(said), after);
      child.stdin.write(`${JSON.stringify(line).replace('SESSION', new RegExp(after).exec(said)?.[1] ?? '')}\n`);
    }
    await until(work.isAtWork, 'the second call of the model');
    for (const stream of child.stdio) stream?.destroy();
    await expect.poll(work.left).toEqual([]);
  });
});

it('a driver that closes standard input alone gets its answer', async () => {
  const server = await serve(async () => {
    await pause(4_000, 'mini-cc looks every 3 s whether anybody reads');
    return say('late');
  });
  const driven = await startDriven([], {server});
  const result = driven.prompt('go');
  const code = driven.end();
  expect([await result, await code]).toEqual([expect.objectContaining({result: 'late'}), 0]);
});
