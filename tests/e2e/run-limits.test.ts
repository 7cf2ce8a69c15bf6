/** Subagents that would never end: a limit ends each one, it returns what it has, and the main agent continues. */
import {existsSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {type MessagesBody, type Reply, say} from '../support/messages-server.ts';
import {countReplies, getToolResults} from '../support/request-facts.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool, callTools, stall, status} from '../support/scripted-replies.ts';
import {isSubagent, processesNaming, project, serve, uniqueSleep} from './fixture.ts';

interface Scenario {
  readonly agent?: string;
  readonly input?: Record<string, unknown>;
  readonly settings?: Record<string, unknown>;
  readonly subagent: (body: MessagesBody) => Reply;
}

/** Runs the subagent until its limit. @returns the result for the main agent, and the output of print mode */
async function runToLimit({agent = 'explore', input = {}, settings = {}, subagent}: Scenario) {
  const workspace = await project();
  const file = await workspace.write('limits.json', JSON.stringify(settings));
  const task = {name: 'Task', input: {description: 'a task', prompt: 'do it', agent_type: agent, ...input}};
  const server = await serve((body) => {
    if (isSubagent(body)) return subagent(body);
    return countReplies(body) === 0 ? callTools([task]) : say('I go on');
  });
  const run = await runCli(
    ['-p', 'go', '--settings', file, '--output-format', 'json', '--dangerously-skip-permissions'],
    {server, cwd: workspace.path},
  );
  const main = server.requests.map(({body}) => body).filter((body) => !isSubagent(body));
  const [result] = getToolResults(main[1]!);
  expect(JSON.parse(run.stdout)).toMatchObject({result: 'I go on', subtype: 'success'});
  return {run, result: result!, workspace, server, subagents: JSON.parse(run.stdout).subagents};
}

describe('a subagent', () => {
  it('whose bash hangs is ended at the time limit, returns what it has, and writes nothing more', async () => {
    const hang = uniqueSleep();
    const {result, run, workspace, subagents} = await runToLimit({
      agent: 'code',
      input: {timeout_seconds: 4},
      subagent: (body) =>
        countReplies(body) === 0
          ? callTool(
              'write_file',
              {path: 'new.txt', content: 'one\n'},
              undefined,
              'I have written new.txt, now I check',
            )
          : callTool('bash', {command: `trap '' TERM; ${hang} & sleep 30; echo late > late.txt; ${hang}`}),
    });
    expect(result.isError).toBe(true);
    expect(result.text).toMatch(/^The run did not finish: timed out after 4 s \(EXECUTION_TIMEOUT\)\.\n/);
    expect(result.text).toContain('I have written new.txt');
    expect(result.text).toContain('changed 1 file: new.txt');
    expect(result.text).toContain('\nCut off after 2 turns of claude-sonnet-5-5\n');
    expect(subagents).toMatchObject([
      {
        outcome: 'timeout',
        tools: 2,
        turns: 2,
        model: 'claude-sonnet-5-5',
        partial: 'I have written new.txt, now I check',
      },
    ]);
    expect(run.stderr).toMatch(/^ {2}\[code\] a task - timed out \(2 tools, /m);
    // The shell that would write ends too.
    await expect.poll(() => processesNaming(hang)).toEqual([]);
    expect(existsSync(path.join(workspace.path, 'late.txt'))).toBe(false);
  });

  it('whose stream stalls is ended by the idle limit, which the result names', async () => {
    const {result} = await runToLimit({
      settings: {limits: {idleSeconds: 1}},
      subagent: () => stall(6),
    });
    expect(result.text).toContain('timed out: no byte from the model for 1 s (EXECUTION_TIMEOUT)');
    expect(result.text).toContain('This sentence is');
  });

  it('whose model calls tools forever is ended by the limit of turns, with a final report', async () => {
    const {result, subagents} = await runToLimit({
      settings: {agents: {explore: {maxTurns: 5}}},
      subagent: (body) =>
        JSON.stringify(body.messages.at(-1)).includes('reached the limit')
          ? say('what I have')
          : callTool('glob', {pattern: '*'}),
    });
    expect(result.text).toMatch(/^The run did not finish: limit reached: 5 turns\.\nWhat it had by then:\nwhat I have/);
    expect(subagents).toMatchObject([{outcome: 'limit', tools: 4}]);
  });

  it('that gets only 429 fails with the reason, and returns what it has', async () => {
    const {result, run} = await runToLimit({
      settings: {retry: {maxWaitSeconds: 3}},
      subagent: (body) =>
        countReplies(body) === 0 ? callTool('glob', {pattern: '*'}, undefined, 'First a look') : status(429),
    });
    expect(result.isError).toBe(true);
    expect(result.text).toMatch(/The run did not finish: .*429/);
    expect(result.text).toContain('First a look');
    expect(run.stderr).toMatch(/^\[explore\] a task: retrying in \d+s \(429\), attempt \d$/m);
    expect(run.stderr).not.toContain('- done');
  });
});
