/** Background runs in print mode, with a scripted server. */
import {realpathSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {startDriven} from '../drivers/driven.ts';
import {type MessagesBody, type Reply, say} from '../support/messages-server.ts';
import {countReplies, getFirstPrompt, getSystem, getToolResults} from '../support/request-facts.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool, callTools, hangBeforeHeaders, slow, status} from '../support/scripted-replies.ts';
import {home, isSubagent, project, serve} from './fixture.ts';

const background = (prompt: string, more: Record<string, unknown> = {}) => ({
  name: 'Task',
  input: {description: prompt, prompt, agent_type: 'explore', background: true, ...more},
});
const lastText = (body: MessagesBody) => JSON.stringify(body.messages.at(-1));
const announcements = (body: MessagesBody) =>
  JSON.stringify(body.messages).match(/<task_announcement run=/g)?.length ?? 0;
/** All tool results, also those of earlier messages. */
const allResults = (body: MessagesBody) =>
  body.messages.flatMap((message) => getToolResults({...body, messages: [message]}));

describe('print mode with background subagents', () => {
  it('waits for them, and the answer after their announcements is the result', async () => {
    const server = await serve((body) => {
      if (isSubagent(body)) return slow(say(`found ${getFirstPrompt(body)}`), 60);
      if (countReplies(body) === 0) return callTools([background('one'), background('two')]);
      return say(announcements(body) === 2 ? 'both are in' : 'they are at work');
    });
    const run = await runCli(['-p', 'go', '--output-format', 'json'], {server, cwd: (await project()).path});
    expect(run.code).toBe(0);
    const result = JSON.parse(run.stdout);
    expect(result).toMatchObject({subtype: 'success', result: 'both are in'});
    expect(result.subagents).toMatchObject([{outcome: 'success'}, {outcome: 'success'}]);
    const accepted = server.requests
      .map(({body}) => body)
      .find((body) => !isSubagent(body) && countReplies(body) === 1)!;
    const [first] = getToolResults(accepted);
    const words = JSON.parse(first!.text);
    expect(words).toEqual({
      status: 'accepted',
      runId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      childSessionKey: `agent:explore:subagent:${words.runId}`,
    });
    const last = server.requests.at(-1)!.body;
    expect(announcements(last)).toBe(2);
    expect(JSON.stringify(last.messages)).toContain(
      `<task_announcement run=\\"${words.runId}\\">\\nStatus: success\\nResult: found one\\nNotes: - (none)\\nStats: runtime `,
    );
    expect(result.num_turns).toBe(server.requests.filter(({body}) => !isSubagent(body)).length);
  });

  it('exits with 0 when only a subagent failed, and subagents[] says so', async () => {
    const server = await serve((body) => {
      if (isSubagent(body)) return status(400, {message: 'no such thing'});
      if (countReplies(body) === 0) return callTools([background('one')]);
      return say(announcements(body) === 1 ? 'it failed' : 'wait');
    });
    const run = await runCli(['-p', 'go', '--output-format', 'json'], {server, cwd: (await project()).path});
    expect(run.code).toBe(0);
    const result = JSON.parse(run.stdout);
    expect(result).toMatchObject({result: 'it failed', is_error: false, subagents: [{outcome: 'error'}]});
    expect(result.subagents[0].reason).toContain('no such thing');
    expect(run.stderr).toContain('- failed: ');
    expect(run.stderr).not.toContain('- done');
    expect(lastText(server.requests.at(-1)!.body)).toContain(
      'Status: error\\\\nResult: (not available)'.replace('\\\\n', '\\n'),
    );
  });

  it('is ended by --timeout together with its background runs, and exits with 3', async () => {
    const server = await serve((body) => {
      if (isSubagent(body)) return {type: 'hang'};
      return countReplies(body) === 0 ? callTools([background('one')]) : say('wait');
    });
    const run = await runCli(['-p', 'go', '--timeout', '6', '--output-format', 'json'], {server});
    expect(run.code).toBe(3);
    expect(JSON.parse(run.stdout)).toMatchObject({subtype: 'error_timeout', subagents: [{outcome: 'stopped'}]});
  });

  it('has the tools for its runs; a subagent has none of them', async () => {
    const server = await serve((body) => {
      if (isSubagent(body)) return say('found it');
      const results = allResults(body);
      switch (countReplies(body)) {
        case 0:
          return callTools([background('one', {label: 'my label'})]);
        case 1:
          return callTool('TaskOutput', {run_id: JSON.parse(results[0]!.text).runId, wait_seconds: 5});
        case 2:
          return callTools([
            {name: 'TaskList', input: {}},
            {name: 'TaskStop', input: {run_id: '1'}},
            {name: 'TaskSend', input: {run_id: '9', message: 'x'}},
          ]);
        default:
          return say('done');
      }
    });
    await runCli(['-p', 'go'], {server, cwd: (await project()).path});
    const [, output, list, stop, send] = allResults(server.requests.at(-1)!.body);
    expect(output?.text).toMatch(/^found it\n\n<task_receipt>\nReceipt: /);
    expect(list?.text).toMatch(/^1 {2}done {2}explore {2}my label {2}0 tools {2}\S+ tokens {2}[0-9a-f-]{36}$/);
    expect(stop?.text).toBe('It has ended already: success.');
    expect(send).toMatchObject({isError: true, text: 'Invalid subagent index: 9'});
    const subagent = server.requests.find(({body}) => isSubagent(body))!;
    expect(subagent.body.tools?.map(({name}) => name)).toEqual(['bash', 'read_file', 'grep', 'glob', 'symbols']);
  });
});

describe('the first request', () => {
  it('is at most 9.6 KB with all tools where nobody can answer', async () => {
    const [server, place] = [await serve([say('hi')]), await home()];
    await runCli(['-p', 'go'], {server, home: place});
    const {bytes, body} = server.requests[0]!;
    process.stdout.write(`first request: ${bytes} bytes\n`);
    // The name of its folder is as long as that of the machine's temporary folder.
    const folder = realpathSync(place.path);
    const count = JSON.stringify(body).split(folder).length - 1;
    expect(count).toBeGreaterThan(0);
    expect(bytes - count * folder.length).toBeLessThanOrEqual(9600);
  });
});

describe('the same task twice in one reply', () => {
  it('is a new run when a memory file changed that is no part of the workspace', async () => {
    const task = {name: 'Task', input: {description: 'a', prompt: 'look at it', agent_type: 'explore'}};
    const place = await home();
    const file = path.join(place.env.MINI_CC_HOME!, 'AGENTS.md');
    const server = await serve((body) => {
      if (isSubagent(body)) return say('seen');
      if (countReplies(body) === 1) writeFileSync(file, 'Speak of rivers.');
      return countReplies(body) < 3 ? callTools([task]) : say('done');
    });
    await runCli(['-p', 'go'], {server, home: place, cwd: (await project()).path});
    const runs = server.requests.filter(({body}) => isSubagent(body));
    expect(runs.map(({body}) => getSystem(body).includes('Speak of rivers.'))).toEqual([false, true]);
  });

  it('is one model run, and both calls get its result; a later call gets it as [cached]', async () => {
    const task = (description: string) => ({
      name: 'Task',
      input: {description, prompt: 'look at it', agent_type: 'explore'},
    });
    const server = await serve((body) => {
      if (isSubagent(body)) return slow(say('seen'), 20);
      return countReplies(body) === 0
        ? callTools([task('first'), task('second')])
        : countReplies(body) === 1
          ? callTools([task('third')])
          : say('done');
    });
    const run = await runCli(['-p', 'go'], {server, cwd: (await project()).path});
    expect(server.requests.filter(({body}) => isSubagent(body))).toHaveLength(1);
    const lines = run.stderr.split('\n').filter((line) => line.includes('[explore]') || line.startsWith('>'));
    const took = / \(0 tools, \d+\.\ds\)/;
    const begun = (name: string) => [`> Task: ${name}`, `  [explore] ${name} ... 0 tools, 0.0s`];
    const told = lines.map((line) => line.replace(took, ' (time)'));
    expect([...told.slice(0, 4), ...told.slice(4, 6).sort(), ...told.slice(6)]).toEqual([
      ...[...begun('first'), ...begun('second')],
      ...['  [explore] first - done (time)', '  [explore] second - done (time) (joined)'],
      ...[...begun('third'), '  [explore] third - done (time) (cached)'],
    ]);
    const main = server.requests.map(({body}) => body).filter((body) => !isSubagent(body));
    const [first, second] = getToolResults(main[1]!);
    expect(first!.text).toBe(second!.text);
    expect(getToolResults(main[2]!)[0]!.text).toBe(`[cached]\n${first!.text}`);
  });
});

describe('a Task call', () => {
  it('with a negative timeout is an error that says so, and an agent that is not allowed is not a valid type', async () => {
    const workspace = await project();
    const settings = await workspace.write('s.json', JSON.stringify({subagents: {allowAgents: ['explore']}}));
    const call = (input: Record<string, unknown>) => ({
      name: 'Task',
      input: {description: 'a', prompt: 'b', agent_type: 'explore', ...input},
    });
    const server = await serve((body) =>
      countReplies(body) === 0 ? callTools([call({timeout_seconds: -5}), call({agent_type: 'code'})]) : say('done'),
    );
    await runCli(['-p', 'go', '--settings', settings], {server, cwd: workspace.path});
    const [negative, forbidden] = getToolResults(server.requests[1]!.body);
    expect(negative!.text).toContain('timeout_seconds must be 0 (no limit) or more, not -5');
    expect(forbidden!.text).toContain('Invalid agent_type: "code". Valid types: explore');
    expect(server.requests).toHaveLength(2);
  });
});

describe('a driver by stream-json with background subagents', () => {
  const open = async (subagent: () => Reply) => {
    const server = await serve((body) => {
      if (isSubagent(body)) return subagent();
      if (countReplies(body) === 0) return callTools([background('one')]);
      if (lastText(body).includes('hello')) return say('hello to you');
      return say(announcements(body) === 0 ? 'it is at work' : 'it is in');
    });
    const driven = await startDriven([], {server, cwd: (await project()).path});
    const first = driven.prompt('go', {uuid: 'm1'});
    await driven.next((line) => line.type === 'assistant' && JSON.stringify(line).includes('it is at work'));
    return {driven, first};
  };

  it('gets a result for an interrupt of the wait, and the results of later prompts, without waiting for them', async () => {
    const {driven, first} = await open(hangBeforeHeaders);
    expect(await driven.request({subtype: 'interrupt'})).toEqual({still_queued: []});
    expect(await first).toMatchObject({subtype: 'success', result: 'it is at work'});
    expect(driven.lines.filter((line) => line.subtype === 'task_notification')).toEqual([]);
    expect(await driven.prompt('hello')).toMatchObject({result: 'hello to you'});
    await driven.request({subtype: 'interrupt'});
    expect(await driven.end()).toBe(0);
  });

  it.each(['hello', '/cost'])('gets the answer to %s at once while its first prompt waits for them', async (second) => {
    const {driven, first} = await open(hangBeforeHeaders);
    driven.send({type: 'user', message: {role: 'user', content: second}});
    expect(await first).toMatchObject({result: 'it is at work'});
    const {result} = await driven.next((line) => line.type === 'result');
    expect(result).toMatch(/^hello to you|^Cost of this session/);
    await driven.request({subtype: 'interrupt'});
    expect(await driven.end()).toBe(0);
  });

  it('gets the messages of one that is at work during a later prompt with the id of its call', async () => {
    const {driven, first} = await open(() => slow(say('found it'), 200));
    driven.send({type: 'user', message: {role: 'user', content: 'hello'}});
    await first;
    expect(await driven.end()).toBe(0);
    const [call, found] = ['"tool_use"', 'found it'].map((text) =>
      driven.lines.find(({type, message}) => type === 'assistant' && JSON.stringify(message).includes(text)),
    );
    expect(found.parent_tool_use_id).toBe(call.message.content[0].id);
  });

  it('gets their ends before the process exits when it leaves', async () => {
    const {driven, first} = await open(() => slow(say('found it'), 60));
    expect(await driven.end()).toBe(0);
    expect(await first).toMatchObject({result: 'it is in'});
  });
});
