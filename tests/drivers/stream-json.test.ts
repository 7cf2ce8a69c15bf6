import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import type {ForeignWord} from '../../src/core/contract/events.ts';
import {project, serve} from '../e2e/fixture.ts';
import {PLAYED} from '../extensions/mcp/fixture.ts';
import {createHome} from '../support/environment.ts';
import {getSystem, getToolResults} from '../support/request-facts.ts';
import {callTool, say, slow} from '../support/scripted-replies.ts';
import {type AnyLine, startDriven} from './driven.ts';

const isQuestion = (line: AnyLine) => line.type === 'control_request' && line.request.subtype === 'can_use_tool';
const allow = (question: AnyLine, response: object) => ({
  type: 'control_response',
  response: {subtype: 'success', request_id: question.request_id, response: {behavior: 'allow', ...response}},
});

describe('a driver by stream-json', () => {
  it('answers initialize, and each prompt in one session with a result of its own', async () => {
    const server = await serve([say('one'), say('two')]);
    const env = {ANTHROPIC_MODEL: 'haiku'};
    const {path: cwd} = await project();
    const driven = await startDriven(['--settings', '{"model": "opus"}'], {server, cwd, env});
    const ready = await driven.request({subtype: 'initialize'});
    expect(ready).toMatchObject({output_style: 'default', account: {}});
    expect(ready.agents).toContainEqual({name: 'explore', description: expect.any(String)});
    expect(ready.commands).toContainEqual({name: 'help', description: expect.any(String), argumentHint: ''});
    const first = await driven.prompt([{type: 'text', text: 'hello'}]);
    const second = await driven.prompt('and now?');
    expect(first).toMatchObject({subtype: 'success', result: 'one', stop_reason: 'end_turn', num_turns: 1});
    expect(second).toMatchObject({result: 'two', session_id: first.session_id});
    expect(JSON.stringify(server.requests[1]!.body.messages)).toContain('hello');
    const init = driven.lines.find((line) => line.subtype === 'init');
    expect(init).toMatchObject({
      model: expect.stringContaining('opus'),
      mcp_servers: [],
      apiKeySource: 'ANTHROPIC_API_KEY',
      skills: [],
      plugins: [],
      output_style: 'default',
    });
    expect(init.tools).toEqual(expect.arrayContaining(['Bash', 'Read', 'Edit', 'Task']));
    expect(driven.lines.filter((line) => line.type === 'user')).toEqual([]);
    expect(await driven.end()).toBe(0);
  });

  it('names the skills and plugins of the session', async () => {
    const {path: cwd} = await project();
    const skill = path.join(cwd, '.claude/skills/bake/SKILL.md');
    const manifest = path.join(cwd, 'garden/.claude-plugin/plugin.json');
    for (const file of [skill, manifest]) mkdirSync(path.dirname(file), {recursive: true});
    writeFileSync(skill, '---\ndescription: How to bake\n---\nDo it.');
    writeFileSync(manifest, '{"name": "garden"}');
    const driven = await startDriven(['--plugin-dir', 'garden'], {server: await serve([say('one')]), cwd});
    await driven.prompt('hello');
    const plugins = [{name: 'garden', path: path.join(cwd, 'garden')}];
    expect(driven.lines.find((line) => line.subtype === 'init')).toMatchObject({skills: ['bake'], plugins});
    expect(await driven.request({subtype: 'reload_plugins'})).toMatchObject({plugins});
    expect(await driven.end()).toBe(0);
  });

  it('asks the driver about calls in Claude Code’s words, and runs the input that it answers', async () => {
    const server = await serve([
      callTool('write_file', {path: 'a.txt', content: 'mine\n'}, 'w1'),
      callTool('bash', {command: 'touch made', timeout_seconds: 5}, 'b1'),
      say('done'),
    ]);
    const {path: cwd} = await project();
    const driven = await startDriven(['--permission-prompt-tool=stdio'], {server, cwd});
    await driven.request({subtype: 'initialize'});
    const result = driven.prompt('go');
    const write = await driven.next(isQuestion);
    expect(write.request).toMatchObject({
      ...{tool_name: 'Write', display_name: 'Write'},
      tool_use_id: 'w1',
      input: {file_path: 'a.txt', content: 'mine\n'},
    });
    driven.send(allow(write, {updatedInput: {file_path: 'a.txt', content: 'theirs\n'}, toolUseID: 'w1'}));
    const bash = await driven.next(isQuestion);
    expect(bash.request).toMatchObject({tool_name: 'Bash', input: {command: 'touch made', timeout: 5000}});
    expect(bash.request.permission_suggestions[0].rules[0].toolName).toBe('Bash');
    driven.send({
      type: 'control_response',
      response: {subtype: 'success', request_id: bash.request_id, response: {behavior: 'deny', message: 'not today'}},
    });
    expect((await result).permission_denials).toMatchObject([
      {tool_name: 'Bash', tool_use_id: 'b1', tool_input: {command: 'touch made', timeout: 5000}},
    ]);
    expect(readFileSync(path.join(cwd, 'a.txt'), 'utf8')).toBe('theirs\n');
    expect(JSON.stringify(server.requests[2]!.body.messages.at(-1))).toContain('not today');
    const calls = driven.lines.filter((line) => line.type === 'assistant').flatMap((line) => line.message.content);
    expect(calls[0]).toMatchObject({name: 'Write', input: {file_path: 'a.txt'}});
    expect(await driven.end()).toBe(0);
  });

  it('asks the driver anew about a protected place and a place outside that its changed input names', async () => {
    const {path: cwd} = await project();
    const outside = path.join(path.dirname(cwd), 'outside.txt');
    const server = await serve([
      callTool('write_file', {path: 'a.txt', content: 'mine\n'}, 'w1'),
      callTool('write_file', {path: 'b.txt', content: 'mine\n'}, 'w2'),
      say('done'),
    ]);
    const driven = await startDriven(['--permission-prompt-tool=stdio'], {server, cwd});
    const result = driven.prompt('go');
    for (const place of [path.join(cwd, '.git/hooks/pre-commit'), outside]) {
      const asked = await driven.next(isQuestion);
      driven.send(allow(asked, {updatedInput: {file_path: place, content: 'theirs\n'}}));
      const again = await driven.next(isQuestion);
      expect(again.request.input.file_path).toBe(place);
      // No rule covers the next edit of a protected place.
      expect(again.request.permission_suggestions).toHaveLength(place === outside ? 1 : 0);
      driven.send({
        type: 'control_response',
        response: {subtype: 'success', request_id: again.request_id, response: {behavior: 'deny', message: 'no'}},
      });
      expect(existsSync(place)).toBe(false);
    }
    expect((await result).permission_denials).toHaveLength(2);
    expect(await driven.end()).toBe(0);
  });

  it.each([
    ['bash', {command: 'touch a1'}, ['addRules']],
    ['write_file', {path: 'a1', content: 'x'}, ['setMode']],
    ['write_file', {path: '../outside (1).txt', content: 'x'}, ['addRules']],
  ])('takes suggestions back for the session: the same %s %j is not asked again', async (tool, input, types) => {
    const server = await serve([callTool(tool, input, 'b1'), callTool(tool, input, 'b2'), say('done')]);
    const driven = await startDriven(['--permission-prompt-tool', 'stdio'], {server, cwd: (await project()).path});
    const result = driven.prompt('go');
    const question = await driven.next(isQuestion);
    const updatedPermissions = question.request.permission_suggestions.map((each: object) => ({
      ...each,
      destination: 'session',
    }));
    expect(updatedPermissions.map(({type}: AnyLine) => type)).toEqual(types);
    driven.send(allow(question, {updatedPermissions}));
    expect(await result).toMatchObject({subtype: 'success', permission_denials: []});
    expect(driven.lines.filter(isQuestion)).toHaveLength(1);
  });

  it('ends the turn by interrupt, with a result, and goes on with the next prompt', async () => {
    const server = await serve([slow(say('never'), 5_000), say('here')]);
    const driven = await startDriven([], {server, cwd: (await project()).path});
    const cut = driven.prompt('wait');
    await server.waitForRequests(1);
    expect(await driven.request({subtype: 'interrupt'})).toEqual({still_queued: []});
    expect(await cut).toMatchObject({subtype: 'error_during_execution', is_error: true, errors: [expect.any(String)]});
    expect(await driven.prompt('again')).toMatchObject({result: 'here'});
    expect(await driven.end()).toBe(0);
  });

  it('changes the model and the mode in the middle, and says what fills the window', async () => {
    const server = await serve([say('one'), say('two')]);
    const driven = await startDriven([], {server, cwd: (await project()).path});
    await driven.prompt('a');
    await driven.request({subtype: 'set_model', model: 'haiku'});
    await driven.request({subtype: 'set_permission_mode', mode: 'plan'});
    await driven.prompt('b');
    expect(server.requests[1]!.body.model).toMatch(/haiku/);
    expect(driven.lines.filter((line) => line.subtype === 'init').at(-1)).toMatchObject({permissionMode: 'plan'});
    const usage = await driven.request({subtype: 'get_context_usage'});
    expect(usage.totalTokens).toBeGreaterThan(0);
    expect(usage.categories.reduce((sum: number, {tokens}: AnyLine) => sum + tokens, 0)).toBe(usage.totalTokens);
    await expect(driven.request({subtype: 'set_permission_mode', mode: 'bypassPermissions'})).rejects.toThrow(
      /--allow-dangerously/,
    );
  });

  it('changes in the middle how much the model thinks, and settings that can change; others are refused by name', async () => {
    const touch = (id: string) => callTool('bash', {command: 'touch made'}, id);
    const server = await serve([say('1'), say('2'), say('3'), touch('b1'), say('4'), touch('b2'), say('5'), say('6')]);
    const {path: cwd} = await project();
    const driven = await startDriven(['--model', 'claude-sonnet-4-5', '--permission-mode', 'acceptEdits'], {
      server,
      cwd,
    });
    const thinkingOf = (index: number) => server.requests[index]!.body.thinking;
    await driven.prompt('a');
    await driven.request({subtype: 'set_max_thinking_tokens', max_thinking_tokens: 2048});
    await driven.prompt('b');
    await driven.request({subtype: 'set_max_thinking_tokens', max_thinking_tokens: null});
    await driven.prompt('c');
    expect(thinkingOf(1)).toMatchObject({type: 'enabled', budget_tokens: 2048});
    expect(thinkingOf(2)).toEqual(thinkingOf(0));
    const apply = (settings: object) => driven.request({subtype: 'apply_flag_settings', settings});
    await apply({permissions: {allow: ['Bash(touch:*)']}, model: 'haiku'});
    expect(await driven.prompt('d')).toMatchObject({permission_denials: []});
    expect(server.requests.at(-1)!.body.model).toMatch(/haiku/);
    await apply({permissions: {deny: ['Bash(touch:*)']}, model: null});
    expect(await driven.prompt('e')).toMatchObject({permission_denials: [{tool_name: 'Bash'}]});
    expect(server.requests.at(-1)!.body.model).toBe('claude-sonnet-4-5');
    await expect(apply({hooks: {}})).rejects.toThrow(/"hooks".*model, thinking, effortLevel, permissions can change/s);
    await expect(apply({permissions: {deny: ['(']}})).rejects.toThrow(/driver/);
    await expect(apply({permissions: {defaultMode: 'bypassPermissions'}})).rejects.toThrow(/--allow-dangerously/);
    await expect(driven.request({subtype: 'set_max_thinking_tokens', max_thinking_tokens: -1})).rejects.toThrow();
    // The least that servers take.
    await driven.request({subtype: 'set_max_thinking_tokens', max_thinking_tokens: 500});
    await driven.prompt('f');
    expect(thinkingOf(server.requests.length - 1)).toMatchObject({type: 'enabled', budget_tokens: 1024});
  });

  it('answers by the schema of initialize, and lists argument hints of commands', async () => {
    const server = await serve([say('{"colour": "red"}')]);
    const driven = await startDriven([], {server, cwd: (await project()).path});
    const jsonSchema = {type: 'object', properties: {colour: {type: 'string'}}, required: ['colour']};
    const {commands} = await driven.request({subtype: 'initialize', jsonSchema});
    expect(commands.every(({argumentHint}: AnyLine) => typeof argumentHint === 'string')).toBe(true);
    expect(await driven.prompt('which colour?')).toMatchObject({structured_output: {colour: 'red'}});
  });

  it('answers what it does not know, and lines that are none, with an error, and goes on', async () => {
    const driven = await startDriven([], {server: await serve([say('still here')]), cwd: (await project()).path});
    await expect(driven.request({subtype: 'fly'})).rejects.toMatchObject({
      message: 'Unsupported control request subtype: fly',
      cause: {error_code: 'unsupported_request'},
    });
    driven.send('{"type": nonsense');
    expect(await driven.next((line) => line.subtype === 'input_error')).toMatchObject({
      type: 'system',
      error: expect.stringMatching(/is no JSON/),
    });
    driven.send({type: 'control_request', request_id: 'x9', request: {}});
    expect(await driven.next((line) => line.response?.request_id === 'x9')).toMatchObject({
      response: {subtype: 'error'},
    });
    driven.send({type: 'control_request', request_id: 7});
    const answer = await driven.next((line) => line.response?.request_id === 7);
    expect(answer).toMatchObject({type: 'control_response', response: {subtype: 'error'}});
    await expect(driven.request({subtype: 'set_model', model: 5})).rejects.toThrow(/^model: [^\n]+$/);
    expect(await driven.prompt('hello')).toMatchObject({result: 'still here'});
  });

  it('ends each prompt that it cannot use with an error as its result, after those before it', async () => {
    const server = await serve([slow(say('before'), 100), say('after')]);
    const driven = await startDriven([], {server, cwd: (await project()).path});
    const before = driven.prompt('wait');
    const user = (message: unknown, more = {}) => ({type: 'user', message, ...more});
    const lines = [
      [
        user({role: 'user', content: [{type: 'video'}, 'words']}),
        /has no block that mini-cc understands: video, unknown$/,
      ],
      [user({role: 'user', content: []}), /message\.content: [^\n]+$/],
      [user({role: 'assistant', content: 'x'}), /message\.role: [^\n]+$/],
      [user(undefined), /message: [^\n]+$/],
      // A prompt that is no command must not become one.
      [user({role: 'user', content: '/clear'}, {client_composed: 'yes'}), /client_composed: [^\n]+$/],
    ] as const;
    for (const [line] of lines) driven.send(line);
    for (const [, problem] of lines) {
      expect((await driven.next((line) => line.subtype === 'input_error')).error).toMatch(problem);
    }
    expect(await before).toMatchObject({result: 'before'});
    for (const [, problem] of lines) {
      expect(await driven.next(({type}) => type === 'result')).toMatchObject({
        ...{subtype: 'error_during_execution', is_error: true, errors: [expect.stringMatching(problem)]},
      });
    }
    expect(await driven.prompt('go on', {uuid: null, client_composed: null})).toMatchObject({result: 'after'});
    expect(server.requests).toHaveLength(2);
  });

  it('uses the other blocks of a prompt, and tells the model and the driver of one that it does not know', async () => {
    const server = await serve([say('one'), say('two')]);
    const driven = await startDriven([], {server, cwd: (await project()).path});
    const file = {type: 'document', source: {type: 'text', data: 'the rules'}};
    expect(await driven.prompt([{type: 'text', text: 'read this'}, file])).toMatchObject({result: 'one'});
    const {content} = server.requests[0]!.body.messages.at(-1)!;
    expect(content).toMatchObject([
      {text: expect.stringContaining('read this')},
      {text: `(a block of an unknown kind: ${JSON.stringify(file)})`},
    ]);
    await driven.prompt('and now?');
    const [first, second] = driven.lines.filter(({subtype}) => subtype === 'init');
    const text = expect.stringMatching(/^a message has a block of the kind document that mini-cc does not understand/);
    expect(first.warnings).toEqual([{kind: 'block', name: 'document', text}]);
    expect(second.warnings).toBeUndefined();
    expect(driven.stderr()).toContain(first.warnings[0].text);
  });

  it('lets the driver fill the form of an MCP server; an answer that cannot be read declines it', async () => {
    const call = () => callTool('mcp__played__form', {});
    const server = await serve([call(), call(), say('done')]);
    const {path: cwd} = await project();
    const servers = {played: {command: process.execPath, args: [PLAYED, 'asking']}};
    const driven = await startDriven(['--allowedTools=mcp__played'], {server, cwd});
    await driven.request({subtype: 'initialize', mcpServers: servers});
    const ended = driven.prompt('go');
    for (const response of [{action: 'accept', content: {name: 'Ann'}}, {action: 'perhaps'}]) {
      const asked = await driven.next((line) => line.request?.subtype === 'elicitation');
      expect(asked.request).toMatchObject({
        ...{mcp_server_name: 'played', mode: 'form', message: 'Who are you?'},
        requested_schema: {properties: {name: {type: 'string'}}},
      });
      driven.send({type: 'control_response', response: {subtype: 'success', request_id: asked.request_id, response}});
    }
    await ended;
    const results = server.requests.flatMap(({body}) => getToolResults(body));
    expect(results.map(({text}) => JSON.parse(text))).toMatchObject([
      {action: 'accept', content: {name: 'Ann'}},
      {action: 'decline'},
    ]);
  });

  it('sends a prompt with client_composed as it is, and tells how to work in plan mode', async () => {
    const server = await serve([say('ok')]);
    const driven = await startDriven([], {server, cwd: (await project()).path});
    await driven.request({subtype: 'initialize', planModeInstructions: 'Draw the plan first.'});
    await driven.prompt('/cost of Task(explore): x', {client_composed: true});
    const {body} = server.requests[0]!;
    expect(getSystem(body)).toContain('In plan mode, work like this:\nDraw the plan first.');
    expect(JSON.stringify(body.messages)).toContain('/cost of Task(explore): x');
  });

  it('takes an answer that cannot be read for a refusal: the call does not wait for another', async () => {
    const answers = ['allow', null, {behavior: 'perhaps'}, {behavior: 'allow', updatedInput: null}];
    const server = await serve((_, index) =>
      index < answers.length ? callTool('bash', {command: `echo ${index} > f${index}`}) : say('done'),
    );
    const {path: cwd} = await project();
    const driven = await startDriven(['--permission-prompt-tool', 'stdio'], {server, cwd});
    const ended = driven.prompt('go', {uuid: 'p1'});
    for (const response of answers) {
      const {request_id} = await driven.next(isQuestion);
      driven.send({type: 'control_response', response: {subtype: 'success', request_id, response}});
    }
    const {permission_denials: denials, modelUsage} = await ended;
    expect(denials).toHaveLength(3);
    expect(existsSync(path.join(cwd, 'f3'))).toBe(true);
    expect(Object.values(modelUsage)).toMatchObject([{webSearchRequests: 0, contextWindow: expect.any(Number)}]);
  });

  it('tells a price that is not known beside a number, in the sum and by model', async () => {
    const driven = await startDriven(['--model', 'mystery'], {
      server: await serve([say('x')]),
      cwd: (await project()).path,
    });
    expect(await driven.prompt('go')).toMatchObject({
      ...{total_cost_usd: 0, cost_unknown: true},
      modelUsage: {mystery: {costUSD: 0, cost_unknown: true}},
    });
  });

  it('takes files back to before a message, by the id that the driver gave it, also after --continue', async () => {
    const server = await serve([callTool('bash', {command: 'echo new > a.txt'}), say('done'), say('bye')]);
    const {path: cwd} = await project();
    writeFileSync(path.join(cwd, 'a.txt'), 'old\n');
    const home = await createHome();
    onTestFinished(home.remove);
    const first = await startDriven(['--allowedTools=Bash(echo:*)', '--permission-mode=acceptEdits'], {
      server,
      cwd,
      home,
    });
    const id = '11111111-1111-4111-8111-111111111111';
    await first.prompt('go', {uuid: id});
    await first.end();
    const driven = await startDriven(['--continue'], {server, cwd, home});
    const planned = await driven.request({subtype: 'rewind_files', user_message_id: id, dry_run: true});
    expect(planned.filesChanged).toEqual([expect.stringMatching(/a\.txt$/)]);
    await driven.request({subtype: 'rewind_files', user_message_id: id});
    expect(readFileSync(path.join(cwd, 'a.txt'), 'utf8')).toBe('old\n');
    await expect(driven.request({subtype: 'rewind_files', user_message_id: 'x'})).rejects.toThrow(/no message/);
  });

  it('refuses a question that waits when the driver leaves, ends the work, and exits', async () => {
    const server = await serve([callTool('bash', {command: 'touch made'}), say('I could not.')]);
    const driven = await startDriven(['--permission-prompt-tool', 'stdio'], {server, cwd: (await project()).path});
    void driven.prompt('go');
    await driven.next(isQuestion);
    expect(await driven.end()).toBe(0);
    expect(driven.lines.at(-1)).toMatchObject({
      type: 'result',
      result: 'I could not.',
      permission_denials: [{tool_name: 'Bash'}],
    });
  });

  it('calls the driver’s hooks', async () => {
    const server = await serve([callTool('bash', {command: 'touch made'}, 'b1'), say('ok')]);
    const {path: cwd} = await project();
    const driven = await startDriven(['--permission-mode', 'bypassPermissions'], {server, cwd});
    await driven.request({
      subtype: 'initialize',
      hooks: {PreToolUse: [{matcher: 'Bash', hookCallbackIds: ['hook_0'], timeout: 20}]},
    });
    const result = driven.prompt('go');
    const call = await driven.next((line) => line.type === 'control_request');
    expect(call.request).toMatchObject({
      ...{subtype: 'hook_callback', callback_id: 'hook_0', tool_use_id: 'b1'},
      input: {hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: {command: 'touch made'}, cwd},
    });
    const hookSpecificOutput = {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason: 'by hook',
    };
    driven.send({
      type: 'control_response',
      response: {subtype: 'success', request_id: call.request_id, response: {hookSpecificOutput}},
    });
    await result;
    expect(JSON.stringify(server.requests[1]!.body.messages.at(-1))).toContain('by hook');
  });

  it('gives no session to a driver whose initialize is wrong', async () => {
    const server = await serve([]);
    const driven = await startDriven([], {server});
    await expect(driven.request({subtype: 'initialize', hooks: {PreToolUse: 'x'}})).rejects.toThrow(
      /initialize: hooks/,
    );
    driven.send({type: 'user', message: {role: 'user', content: 'hello'}});
    expect(await driven.end()).toBe(2);
    expect(server.requests).toHaveLength(0);
  });

  it('works on with words that it does not know, names them in init, and drops nothing that restricts', async () => {
    const server = await serve([callTool('bash', {command: 'touch made'}, 'b1'), say('ok')]);
    const {path: cwd} = await project();
    const settings = JSON.stringify({cleanupPeriodDays: 3, permissions: {defaultMode: 'dontAsk', blah: 1}});
    const args = [
      '--betas=x',
      '--frob',
      'y',
      `--settings=${settings}`,
      '--allowedTools=NotebookEdit,Frob',
      '--tools=Bash,Nope',
    ];
    const driven = await startDriven([...args, '--permission-prompt-tool=stdio'], {server, cwd});
    await driven.request({subtype: 'initialize', hooks: {WorktreeCreate: [{hookCallbackIds: ['h']}]}});
    await driven.request({subtype: 'set_permission_mode', mode: 'dontAsk'});
    const result = driven.prompt('go');
    const init = await driven.next(({subtype}) => subtype === 'init');
    expect(init.permissionMode).toBe('dontAsk');
    expect((init.warnings as ForeignWord[]).map(({kind, name}) => `${kind} ${name}`).sort()).toEqual([
      'event WorktreeCreate',
      'flag --betas',
      'flag --frob',
      'key cleanupPeriodDays',
      'key permissions.blah',
      'mode dontAsk',
      'tool Frob',
      'tool Nope',
      'tool NotebookEdit',
    ]);
    await result;
    // The mode asks nothing, also where a driver could be asked.
    expect(JSON.stringify(server.requests[1]!.body.messages.at(-1))).toContain('mode dontAsk asks nothing');
    const refused = await startDriven(['--frob-permissions', 'y'], {server, cwd});
    expect(await refused.end()).toBe(2);
  });
});
