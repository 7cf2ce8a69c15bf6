import {describe, expect, it} from 'vitest';
import {ALL_TOOLS} from '../../../src/compose/known-tools.ts';
import type {HookAnswer, HookCall, HookEvent, Hooks} from '../../../src/core/contract/hook.ts';
import {createToolHooks} from '../../../src/core/permissions/tool-hooks.ts';
import {textResult} from '../../../src/core/util/tool-output.ts';
import {isMatching} from '../../../src/extensions/hooks.ts';

const {signal} = new AbortController();
const request = {callId: 'c', tool: 'read_file', input: {path: 'a.ts'}, title: 'a.ts', accesses: []};

function hooked(answer: Partial<HookAnswer>) {
  const told: HookCall[] = [];
  const hooks: Hooks = {
    listens: () => true,
    run: async (call) => {
      told.push(call);
      return {context: [], ...answer};
    },
  };
  return {...createToolHooks(hooks, ALL_TOOLS), told};
}

it('hooks are called for the events that they listen to alone', () => {
  const listening = (event?: HookEvent) =>
    createToolHooks({listens: (each) => each === event, run: async () => ({context: []})}, ALL_TOOLS);
  const count = ({beforeCall, answerCall, afterCall}: ReturnType<typeof listening>) =>
    `${beforeCall.length} ${answerCall !== undefined} ${afterCall.length}`;
  expect(
    ([undefined, 'PreToolUse', 'PermissionRequest', 'PostToolUse'] as const).map((event) => count(listening(event))),
  ).toEqual([...['0 false 0', '1 false 1', '0 true 0', '0 false 1']]);
});

describe('a hook before a call', () => {
  it.each<[string, Partial<HookAnswer>, object]>([
    ['says nothing', {}, {}],
    ['asks', {permission: 'ask', because: 'it writes'}, {decision: 'ask', because: 'it writes'}],
    [
      'changes the input',
      {permission: 'allow', input: {file_path: 'b.ts'}},
      {decision: 'allow', input: {path: 'b.ts'}},
    ],
    ['refuses', {blocked: 'not here', permission: 'allow'}, {decision: 'deny', because: 'a hook refuses it: not here'}],
    ['ends the run', {stops: 'enough'}, {decision: 'deny', because: 'a hook refuses it: enough', stops: 'enough'}],
  ])('%s', async (_, answer, opinion) => {
    const {beforeCall, told} = hooked(answer);
    expect(await beforeCall[0]!(request, signal)).toEqual(opinion);
    const input = {tool_name: 'Read', tool_input: {file_path: 'a.ts'}, tool_use_id: 'c'};
    const otherNames = ['Read', 'view_file'];
    expect(told).toMatchObject([{event: 'PreToolUse', subject: 'read_file', otherNames, callId: 'c', input}]);
  });
});

describe('a hook in the place of a question', () => {
  it.each<[string, Partial<HookAnswer>, object]>([
    ['leaves it to the person', {permission: 'ask'}, {decision: 'ask'}],
    ['allows', {permission: 'allow'}, {decision: 'allow'}],
    ['allows another input', {permission: 'allow', input: {file_path: 'b'}}, {decision: 'allow', input: {path: 'b'}}],
    ['refuses', {blocked: 'no', permission: 'allow'}, {decision: 'deny', because: 'a hook refuses it: no'}],
  ])('%s', async (_, answer, opinion) => {
    expect(await hooked(answer).answerCall!(request, signal)).toEqual(opinion);
  });
});

describe('a hook after a call', () => {
  const change = async (answer: Partial<HookAnswer>, result = textResult('seen')) => {
    const {afterCall, told} = hooked(answer);
    return {changed: await afterCall[0]!(request, result, signal), told, result};
  };

  it('reads the result, and leaves it as it is where it has nothing to say', async () => {
    const {changed, told, result} = await change({});
    expect(changed).toBe(result);
    expect(told).toMatchObject([{event: 'PostToolUse', input: {tool_response: {content: 'seen', is_error: false}}}]);
    const failed = await change({}, {content: 'no such file', isError: true});
    expect(failed.told).toMatchObject([{event: 'PostToolUseFailure', input: {error: 'no such file'}}]);
  });

  it('says something below it', async () => {
    const {changed} = await change({blocked: 'wrong', context: ['look at b.ts']});
    expect(changed).toEqual({content: 'seen\nHook: wrong\nHook: look at b.ts'});
    const block = {type: 'text' as const, text: 'seen'};
    const blocks = await change({context: ['more']}, {content: [block]});
    expect(blocks.changed).toEqual({content: [block, {type: 'text', text: 'Hook: more'}]});
  });

  it('replaces it, by a text or by blocks; for MCP servers by an output of their own', async () => {
    expect((await change({toolOutput: 'other'})).changed).toEqual({content: 'other'});
    const toolOutput = {
      content: [
        {type: 'text', text: 'a'},
        {type: 'text', text: 'b'},
      ],
    };
    expect((await change({toolOutput, context: ['c']})).changed).toEqual({content: 'a\nb\nHook: c'});
    expect((await change({mcpToolOutput: 'other'})).changed).toEqual({content: 'seen'});
    const {afterCall} = hooked({mcpToolOutput: 'other'});
    const changed = await afterCall[0]!({...request, tool: 'mcp__notes__echo'}, textResult('seen'), signal);
    expect(changed).toEqual({content: 'other'});
  });

  it('adds what hooks said before the call', async () => {
    const {beforeCall, afterCall} = hooked({context: ['mind it']});
    await beforeCall[0]!(request, signal);
    const changed = await afterCall[0]!(request, textResult('seen'), signal);
    expect(changed).toEqual({content: 'seen\nHook: mind it\nHook: mind it'});
  });

  it('ends the run', async () => {
    expect((await change({stops: 'enough'})).changed).toEqual({content: 'seen\nHook: enough', stops: 'enough'});
  });
});

it('a matcher may name a tool as any other program does', async () => {
  const {beforeCall, told} = hooked({});
  await beforeCall[0]!({...request, tool: 'edit_file'}, signal);
  const names = ['Edit', 'str_replace_editor', 'replace_lines', 'MultiEdit'];
  expect(told).toMatchObject([{subject: 'edit_file', otherNames: names}]);
  for (const name of ['edit_file', ...names]) expect(isMatching(`Write|${name}`, told[0]!)).toBe(true);
  for (const name of ['Bash', 'LS', 'write_file']) expect(isMatching(name, told[0]!)).toBe(false);
});
