/** One scene for each event of hooks and for each thing that a hook may answer. */

import {existsSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {PLAYED} from '../../extensions/mcp/fixture.ts';
import {callTool, say} from '../../support/messages-server.ts';
import {pause} from '../../support/wait.ts';
import {type Any, between, drive, isResult, loadSdk, results, subagentBody, told, user, withTask} from './driven.ts';

loadSdk();

const bash = (command: string) => callTool('Bash', {command, description: 'do it'});
const readPackage = () => callTool('Read', {path: 'package.json', file_path: 'package.json'});
const made = (cwd: string, name = 'made') => existsSync(path.join(cwd, name));

/** Collects what hooks of an event are called with. */
function listen(event: string, answer: Any = {}, matcher?: string) {
  const inputs: Any[] = [];
  const hook = async (input: Any) => {
    inputs.push(input);
    return typeof answer === 'function' ? answer(input) : answer;
  };
  return {inputs, hooks: {[event]: [{...(matcher && {matcher}), hooks: [hook]}]}};
}
const more = (hookEventName: string, rest: object) => ({hookSpecificOutput: {hookEventName, ...rest}});

test('PreToolUse denies', async () => {
  const answer = more('PreToolUse', {permissionDecision: 'deny', permissionDecisionReason: 'by hook'});
  const {hooks} = listen('PreToolUse', answer, 'Bash');
  const {cwd, bodies} = await drive([bash('touch made'), say('ok')], 'go', {hooks, allowedTools: ['Bash']});
  expect(told(bodies[1])).toContain('by hook');
  expect(made(cwd)).toBe(false);
});

test('PreToolUse allows', async () => {
  const {hooks, inputs} = listen('PreToolUse', more('PreToolUse', {permissionDecision: 'allow'}), 'Bash');
  const {cwd} = await drive([bash('touch made'), say('ok')], 'go', {hooks});
  expect(made(cwd)).toBe(true);
  expect(inputs[0]).toMatchObject({
    ...{hook_event_name: 'PreToolUse', tool_name: 'Bash', cwd, tool_use_id: expect.any(String)},
    ...{session_id: expect.any(String), transcript_path: expect.any(String), permission_mode: expect.any(String)},
    tool_input: {command: 'touch made'},
  });
});

test('PreToolUse asks', async () => {
  let asked = 0;
  const canUseTool = async (_: string, input: object) => {
    asked += 1;
    return {behavior: 'allow', updatedInput: input};
  };
  const {hooks} = listen('PreToolUse', more('PreToolUse', {permissionDecision: 'ask'}), 'Bash');
  await drive([bash('touch made'), say('ok')], 'go', {hooks, allowedTools: ['Bash'], canUseTool});
  expect(asked).toBe(1);
});

test('PreToolUse changes the input', async () => {
  const updatedInput = {command: 'touch other'};
  const {hooks} = listen('PreToolUse', more('PreToolUse', {permissionDecision: 'allow', updatedInput}), 'Bash');
  const {cwd} = await drive([bash('touch made'), say('ok')], 'go', {hooks});
  expect([made(cwd), made(cwd, 'other')]).toEqual([false, true]);
});

test('PreToolUse gives context', async () => {
  const {hooks} = listen('PreToolUse', more('PreToolUse', {additionalContext: 'mind the gap'}));
  const {bodies} = await drive([readPackage(), say('ok')], 'go', {hooks});
  expect(told(bodies[1])).toContain('mind the gap');
});

test('a matcher chooses tools', async () => {
  const {hooks, inputs} = listen('PreToolUse', {}, 'Edit|Write');
  await drive([readPackage(), say('ok')], 'go', {hooks});
  expect(inputs).toEqual([]);
});

test('PostToolUse', async () => {
  const {hooks, inputs} = listen('PostToolUse', more('PostToolUse', {additionalContext: 'well read'}), 'Read');
  const {bodies} = await drive([readPackage(), say('ok')], 'go', {hooks});
  expect(told(bodies[1])).toContain('well read');
  expect(inputs[0]).toMatchObject({tool_name: 'Read', tool_input: {file_path: expect.any(String)}});
  expect(inputs[0].tool_response).toBeDefined();
});

test('PostToolUse blocks with a reason', async () => {
  const {hooks} = listen('PostToolUse', {decision: 'block', reason: 'run the linter'}, 'Read');
  const {bodies} = await drive([readPackage(), say('ok')], 'go', {hooks});
  expect(told(bodies[1])).toContain('run the linter');
});

test('updatedToolOutput', async () => {
  const {hooks} = listen('PostToolUse', more('PostToolUse', {updatedToolOutput: 'nothing to see'}), 'Bash');
  const script = [bash('echo secret'), say('ok')];
  const {bodies} = await drive(script, 'go', {hooks, allowedTools: ['Bash']});
  expect(JSON.stringify(results(bodies[1]))).toContain('nothing to see');
  expect(JSON.stringify(results(bodies[1]))).not.toContain('secret');
});

test('updatedMCPToolOutput', async () => {
  const {hooks} = listen(
    'PostToolUse',
    more('PostToolUse', {updatedMCPToolOutput: 'nothing to see'}),
    'mcp__notes__.*',
  );
  const mcpServers = {notes: {command: process.execPath, args: [PLAYED]}};
  const script = [callTool('mcp__notes__echo', {text: 'secret'}), say('ok')];
  const {bodies} = await drive(script, 'go', {hooks, mcpServers, allowedTools: ['mcp__notes__echo']});
  expect(JSON.stringify(results(bodies[1]))).toContain('nothing to see');
  expect(JSON.stringify(results(bodies[1]))).not.toContain('secret');
});

test('PostToolUseFailure', async () => {
  const answer = more('PostToolUseFailure', {additionalContext: 'try the other file'});
  const {hooks, inputs} = listen('PostToolUseFailure', answer);
  const missing = callTool('Read', {path: 'none.txt', file_path: '/nowhere/none.txt'});
  const {bodies} = await drive([missing, say('ok')], 'go', {hooks, allowedTools: ['Read']});
  expect(inputs[0]).toMatchObject({tool_name: 'Read', error: expect.any(String)});
  expect(told(bodies[1])).toContain('try the other file');
});

test('a call that succeeded is no PostToolUseFailure', async () => {
  const {hooks, inputs} = listen('PostToolUseFailure');
  await drive([readPackage(), say('ok')], 'go', {hooks});
  expect(inputs).toEqual([]);
});

test('UserPromptSubmit gives context', async () => {
  const {hooks, inputs} = listen('UserPromptSubmit', more('UserPromptSubmit', {additionalContext: 'it is Monday'}));
  const {bodies} = await drive([say('ok')], 'what day is it', {hooks});
  expect(told(bodies[0])).toContain('it is Monday');
  expect(inputs[0]).toMatchObject({prompt: 'what day is it'});
});

test('UserPromptSubmit blocks', async () => {
  const {hooks} = listen('UserPromptSubmit', {decision: 'block', reason: 'no such words'});
  const {bodies} = await drive([say('ok')], 'go', {hooks});
  expect(bodies).toEqual([]);
});

test('SessionStart gives context', async () => {
  const {hooks, inputs} = listen('SessionStart', more('SessionStart', {additionalContext: 'the house is blue'}));
  const {bodies} = await drive([say('ok')], 'go', {hooks});
  expect(inputs[0]).toMatchObject({source: 'startup'});
  expect(told(bodies[0])).toContain('the house is blue');
});

test('SessionEnd', async () => {
  const {hooks} = listen('SessionEnd');
  const {result} = await drive([say('ok')], 'go', {hooks});
  expect(result.result).toBe('ok');
});

test('Stop', async () => {
  const {hooks, inputs} = listen('Stop');
  await drive([say('the end')], 'go', {hooks});
  expect(inputs[0]).toMatchObject({stop_hook_active: false, last_assistant_message: 'the end'});
});

test('Stop lets the model go on', async () => {
  const {hooks} = listen('Stop', ({stop_hook_active: again}: Any) =>
    again ? {} : {decision: 'block', reason: 'run the tests first'},
  );
  const {bodies, result} = await drive([say('done'), say('tested')], 'go', {hooks});
  expect(told(bodies[1])).toContain('run the tests first');
  expect(result.result).toBe('tested');
});

const agents = {rev: {description: 'Reads', prompt: 'You read.'}};

test('SubagentStart', async () => {
  const {hooks, inputs} = listen('SubagentStart', more('SubagentStart', {additionalContext: 'be quick'}));
  const {bodies} = await drive(withTask('rev'), 'go', {hooks, agents});
  expect(inputs[0]).toMatchObject({agent_type: 'rev', agent_id: expect.any(String)});
  expect(told(subagentBody(bodies))).toContain('be quick');
});

test('SubagentStop', async () => {
  const {hooks, inputs} = listen('SubagentStop');
  await drive(withTask('rev'), 'go', {hooks, agents});
  expect(inputs[0]).toMatchObject({agent_type: 'rev', stop_hook_active: false, last_assistant_message: 'found'});
});

test('hooks about calls of a subagent say whose they are', async () => {
  const {hooks, inputs} = listen('PreToolUse', {}, 'Read');
  await drive(withTask('rev', [readPackage(), say('found')]), 'go', {hooks, agents});
  expect(inputs[0]).toMatchObject({agent_type: 'rev', agent_id: expect.any(String)});
});

test('PermissionRequest allows', async () => {
  const {hooks, inputs} = listen('PermissionRequest', more('PermissionRequest', {decision: {behavior: 'allow'}}));
  const {cwd} = await drive([bash('touch made'), say('ok')], 'go', {hooks});
  expect(inputs[0]).toMatchObject({tool_name: 'Bash', tool_input: {command: 'touch made'}});
  expect(made(cwd)).toBe(true);
});

test('PermissionRequest denies', async () => {
  const decision = {behavior: 'deny', message: 'not on Mondays'};
  const {hooks} = listen('PermissionRequest', more('PermissionRequest', {decision}));
  const {bodies} = await drive([bash('touch made'), say('ok')], 'go', {hooks});
  expect(told(bodies[1])).toContain('not on Mondays');
});

test('PreCompact and PostCompact', async () => {
  const before = listen('PreCompact');
  const after = listen('PostCompact');
  const script = [say('first answer '.repeat(500)), say('second answer'), say('a summary'), say('b')];
  const hooks = {...before.hooks, ...after.hooks};
  // When the last prompt is sent, the SDK closes its side after the first result, and no hook can be answered then.
  const answered = Promise.withResolvers<void>();
  async function* prompts() {
    for (const content of ['one '.repeat(20_000), 'two', '/compact', 'three']) yield user(content);
    await answered.promise;
  }
  let left = 4;
  const {messages} = await drive(script, prompts(), {hooks}, (message) => {
    if (isResult(message)) left -= 1;
    if (left === 0) answered.resolve();
  });
  expect(before.inputs[0]).toMatchObject({trigger: 'manual'});
  expect(after.inputs[0]).toMatchObject({trigger: 'manual', compact_summary: expect.any(String)});
  expect(messages.some(({subtype}) => subtype === 'compact_boundary')).toBe(true);
});

test('Notification', async () => {
  const {hooks, inputs} = listen('Notification');
  const canUseTool = async (_: string, input: object) => ({behavior: 'allow', updatedInput: input});
  await drive([bash('touch made'), say('ok')], 'go', {hooks, canUseTool});
  expect(inputs[0]).toMatchObject({message: expect.any(String), notification_type: 'permission_prompt'});
});

test('events that nobody calls are no error', async () => {
  const events = 'PostToolBatch UserPromptExpansion StopFailure PreModelSwitch PostModelSwitch PermissionDenied Setup';
  const rest = 'TeammateIdle TaskCreated TaskCompleted Elicitation ElicitationResult ConfigChange WorktreeCreate';
  const last = 'WorktreeRemove InstructionsLoaded CwdChanged FileChanged DirectoryAdded MessageDisplay';
  const names = `${events} ${rest} ${last}`.split(' ');
  const hooks = Object.fromEntries(names.map((event) => [event, [{hooks: [async () => ({})]}]]));
  const {result} = await drive([say('ok')], 'go', {hooks});
  expect(result.result).toBe('ok');
});

test('continue: false ends the turn', async () => {
  const {hooks} = listen('PostToolUse', {continue: false, stopReason: 'enough'}, 'Read');
  const {bodies} = await drive([readPackage(), say('never')], 'go', {hooks});
  expect(bodies).toHaveLength(1);
});

test('systemMessage is told to the person', async () => {
  const {hooks} = listen('PostToolUse', {systemMessage: 'saved a copy'}, 'Read');
  const {messages} = await drive([readPackage(), say('ok')], 'go', {hooks, includeHookEvents: true});
  expect(JSON.stringify(messages)).toContain('saved a copy');
});

test('an answer with async: true is not waited for', async () => {
  const {hooks} = listen('PreToolUse', {async: true, asyncTimeout: 1000}, 'Read');
  const {result} = await drive([readPackage(), say('ok')], 'go', {hooks});
  expect(result.result).toBe('ok');
});

test('includeHookEvents', async () => {
  const {hooks} = listen('PreToolUse', {}, 'Read');
  const {messages} = await drive([readPackage(), say('ok')], 'go', {hooks, includeHookEvents: true});
  const events = messages.filter(({subtype}) => /^hook_(?:started|response)$/.test(subtype ?? ''));
  expect(events.map(({subtype, hook_event: event}) => [subtype, event])).toEqual(
    expect.arrayContaining([
      ['hook_started', 'PreToolUse'],
      ['hook_response', 'PreToolUse'],
    ]),
  );
});

test('a hook that throws stops nothing', async () => {
  const {hooks} = listen('PreToolUse', () => {
    throw new Error('out of order');
  });
  const {result} = await drive([readPackage(), say('ok')], 'go', {hooks});
  expect(result.result).toBe('ok');
});

test('a hook that takes longer than its timeout stops nothing', async () => {
  const slow = async () => {
    await pause(5_000, 'the hook takes longer than its timeout');
    return {};
  };
  const hooks = {PreToolUse: [{matcher: 'Read', hooks: [slow], timeout: 1}]};
  const {result} = await drive([readPackage(), say('ok')], 'go', {hooks});
  expect(result.result).toBe('ok');
});

test('suppressOutput', async () => {
  const {hooks} = listen('PostToolUse', {suppressOutput: true});
  const {result} = await between(() => undefined, [readPackage(), say('a'), say('b')], {hooks});
  expect(result.result).toBe('b');
});
