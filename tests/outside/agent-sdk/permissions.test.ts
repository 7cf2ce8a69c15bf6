/** One scene for each option of the Agent SDK about permissions, agents and servers, and for each answer of canUseTool. */
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {PLAYED} from '../../extensions/mcp/fixture.ts';
import {callTool, callTools, say} from '../../support/messages-server.ts';
import {type Any, drive, loaded, loadSdk, makePlace, offered, results, subagentBody, told, withTask} from './driven.ts';

loadSdk();

const write = (name = 'b.txt') =>
  callTool('Write', {path: name, file_path: name, content: 'x'}, undefined, 'I write a file.');
const bash = (command: string) => callTool('Bash', {command, description: 'do it'});
const made = (cwd: string, name = 'made') => existsSync(path.join(cwd, name));
const allow = (more: Any = {}) => ({
  canUseTool: async (_: string, input: object) => ({behavior: 'allow', updatedInput: input, ...more}),
});

test('allowedTools', async () => {
  const {cwd, result} = await drive([bash('touch made'), say('ok')], 'go', {allowedTools: ['Bash(touch:*)']});
  expect(made(cwd)).toBe(true);
  expect(result.permission_denials).toEqual([]);
});

test('allowedTools with names that others have', async () => {
  const allowedTools = ['Task', 'Glob', 'NotebookEdit', 'NotebookRead', 'MultiEdit', 'LS', 'ExitPlanMode', 'TodoRead'];
  const {result} = await drive([say('ok')], 'go', {
    allowedTools: [...allowedTools, 'BashOutput', 'KillShell', 'Monitor'],
  });
  expect(result.result).toBe('ok');
});

test('disallowedTools', async () => {
  const {bodies} = await drive([say('ok')], 'go', {disallowedTools: ['Bash', 'NotebookEdit', 'Workflow']});
  expect(offered(bodies[0])).not.toContain('bash');
  expect(offered(bodies[0])).not.toContain('Bash');
});

test('tools', async () => {
  const {bodies} = await drive([say('ok')], 'go', {tools: ['Read', 'Glob']});
  expect(offered(bodies[0]).length).toBe(2);
});

test('tools: none', async () => {
  const {bodies, result} = await drive([say('ok')], 'go', {tools: []});
  expect(result.result).toBe('ok');
  expect(offered(bodies[0])).toEqual([]);
});

test('tools: the preset', async () => {
  const {bodies} = await drive([say('ok')], 'go', {tools: {type: 'preset', preset: 'claude_code'}});
  expect(offered(bodies[0]).length).toBeGreaterThan(5);
});

test.fails('toolAliases', async () => {
  const {bodies} = await drive([callTool('Bash', {text: 'hi'}), say('ok')], 'go', {
    toolAliases: {Bash: 'mcp__notes__echo'},
    mcpServers: {notes: {command: process.execPath, args: [PLAYED]}},
    allowedTools: ['mcp__notes__echo'],
  });
  expect(told(bodies[1])).toContain('you said hi');
});

test('canUseTool is asked, in the names of Claude Code', async () => {
  const asked: Any[] = [];
  const canUseTool = async (name: string, input: object, more: Any) => {
    asked.push([name, input, Object.keys(more)]);
    return {behavior: 'allow', updatedInput: input};
  };
  const {cwd} = await drive([write(), say('ok')], 'go', {canUseTool});
  expect(asked).toEqual([
    ['Write', expect.objectContaining({file_path: expect.stringContaining('b.txt'), content: 'x'}), expect.anything()],
  ]);
  expect(asked[0][2]).toEqual(expect.arrayContaining(['signal', 'toolUseID']));
  expect(made(cwd, 'b.txt')).toBe(true);
});

test('canUseTool allows without an input', async () => {
  const {cwd} = await drive([write(), say('ok')], 'go', {canUseTool: async () => ({behavior: 'allow'})});
  expect(made(cwd, 'b.txt')).toBe(true);
});

test('canUseTool changes the input', async () => {
  const canUseTool = async (_: string, input: object) => ({
    behavior: 'allow',
    updatedInput: {...input, content: 'new'},
  });
  const {cwd} = await drive([write(), say('ok')], 'go', {canUseTool});
  expect(readFileSync(path.join(cwd, 'b.txt'), 'utf8')).toBe('new');
});

test('canUseTool denies', async () => {
  const {bodies, result} = await drive([write(), say('ok')], 'go', {
    canUseTool: async () => ({behavior: 'deny', message: 'not now'}),
  });
  expect(told(bodies[1])).toContain('not now');
  expect(result.permission_denials).toMatchObject([{tool_name: 'Write'}]);
});

test('canUseTool denies and interrupts', async () => {
  const {result} = await drive([write(), say('never')], 'go', {
    canUseTool: async () => ({behavior: 'deny', message: 'stop', interrupt: true}),
  });
  expect(result).toMatchObject({subtype: 'error_during_execution'});
});

test('canUseTool throws', async () => {
  const {bodies} = await drive([write(), say('ok')], 'go', {
    canUseTool: async () => {
      throw new Error('out of order');
    },
  });
  expect(results(bodies[1])[0]).toMatchObject({is_error: true});
});

test('suggestions are rules that cover the next call of the kind', async () => {
  let asked = 0;
  const canUseTool = async (_: string, input: object, {suggestions}: Any) => {
    asked += 1;
    return {behavior: 'allow', updatedInput: input, updatedPermissions: suggestions};
  };
  const {cwd} = await drive([write('a.txt'), write('b.txt'), say('ok')], 'go', {canUseTool});
  expect([made(cwd, 'a.txt'), made(cwd, 'b.txt'), asked]).toEqual([true, true, 1]);
});

test('updatedPermissions: addRules', async () => {
  let asked = 0;
  const rules = [{toolName: 'Bash', ruleContent: 'touch:*'}];
  const updatedPermissions = [{type: 'addRules', rules, behavior: 'allow', destination: 'session'}];
  const canUseTool = async (_: string, input: object) => {
    asked += 1;
    return {behavior: 'allow', updatedInput: input, updatedPermissions};
  };
  const {cwd} = await drive([bash('touch one'), bash('touch two'), say('ok')], 'go', {canUseTool});
  expect([made(cwd, 'one'), made(cwd, 'two'), asked]).toEqual([true, true, 1]);
});

test('updatedPermissions: a rule that denies', async () => {
  const rules = [{toolName: 'Bash', ruleContent: 'touch two'}];
  const updatedPermissions = [{type: 'addRules', rules, behavior: 'deny', destination: 'session'}];
  const {cwd} = await drive([bash('touch one'), bash('touch two'), say('ok')], 'go', allow({updatedPermissions}));
  expect([made(cwd, 'one'), made(cwd, 'two')]).toEqual([true, false]);
});

test('updatedPermissions: addDirectories', async () => {
  const {cwd: elsewhere} = await makePlace();
  writeFileSync(path.join(elsewhere, 'far.txt'), 'far away');
  const file = path.join(elsewhere, 'far.txt');
  const updatedPermissions = [{type: 'addDirectories', directories: [elsewhere], destination: 'session'}];
  let asked = 0;
  const canUseTool = async (_: string, input: object) => {
    asked += 1;
    return {behavior: 'allow', updatedInput: input, updatedPermissions};
  };
  const read = callTool('Read', {path: file, file_path: file});
  const {bodies} = await drive([write('a.txt'), read, say('ok')], 'go', {canUseTool});
  expect(told(bodies[2])).toContain('far away');
  expect(asked).toBe(1);
});

test('updatedPermissions: setMode', async () => {
  let asked = 0;
  const updatedPermissions = [{type: 'setMode', mode: 'acceptEdits', destination: 'session'}];
  const canUseTool = async (_: string, input: object) => {
    asked += 1;
    return {behavior: 'allow', updatedInput: input, updatedPermissions};
  };
  const {cwd} = await drive([write('a.txt'), write('b.txt'), say('ok')], 'go', {canUseTool});
  expect([made(cwd, 'b.txt'), asked]).toEqual([true, 1]);
});

test('permissionMode: default refuses where nobody answers', async () => {
  const {cwd, result} = await drive([bash('touch made'), say('ok')], 'go', {permissionMode: 'default'});
  expect(made(cwd)).toBe(false);
  expect(result.permission_denials).toHaveLength(1);
});

test('permissionMode: acceptEdits', async () => {
  const {cwd} = await drive([write('made'), say('ok')], 'go', {permissionMode: 'acceptEdits'});
  expect(made(cwd)).toBe(true);
});

test('permissionMode: plan', async () => {
  const {cwd, init} = await drive([write('made'), say('ok')], 'go', {permissionMode: 'plan'});
  expect(made(cwd)).toBe(false);
  expect(init.permissionMode).toBe('plan');
});

test('permissionMode: bypassPermissions, and allowDangerouslySkipPermissions', async () => {
  const options = {permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true};
  const {cwd} = await drive([bash('touch made'), say('ok')], 'go', options);
  expect(made(cwd)).toBe(true);
});

test('permissionMode: dontAsk', async () => {
  let asked = 0;
  const canUseTool = async (_: string, input: object) => {
    asked += 1;
    return {behavior: 'allow', updatedInput: input};
  };
  const {cwd} = await drive([bash('touch made'), say('ok')], 'go', {permissionMode: 'dontAsk', canUseTool});
  expect([made(cwd), asked]).toEqual([false, 0]);
});

test('permissionMode: auto', async () => {
  const {result} = await drive([say('ok')], 'go', {permissionMode: 'auto'});
  expect(result.result).toBe('ok');
});

test('planModeInstructions', async () => {
  const options = {permissionMode: 'plan', planModeInstructions: 'Write a poem about the plan first.'};
  const {bodies} = await drive([say('ok')], 'go', options);
  expect(JSON.stringify(bodies[0])).toContain('Write a poem about the plan first.');
});

test('permissionPromptToolName', async () => {
  const {tool, createSdkMcpServer} = loaded.sdk;
  const decide = tool(
    'decide',
    'Decides',
    {tool_name: loaded.zod.string(), input: loaded.zod.any(), tool_use_id: loaded.zod.string().optional()},
    async ({input}: Any) => ({
      content: [{type: 'text', text: JSON.stringify({behavior: 'allow', updatedInput: input})}],
    }),
  );
  const mcpServers = {gate: createSdkMcpServer({name: 'gate', version: '1.0.0', tools: [decide]})};
  const options = {mcpServers, permissionPromptToolName: 'mcp__gate__decide'};
  const {cwd} = await drive([bash('touch made'), say('ok')], 'go', options);
  expect(made(cwd)).toBe(true);
});

test('permissionPrompts: none', async () => {
  let asked = 0;
  const canUseTool = async (_: string, input: object) => {
    asked += 1;
    return {behavior: 'allow', updatedInput: input};
  };
  const {cwd} = await drive([bash('touch made'), say('ok')], 'go', {permissionPrompts: 'none', canUseTool});
  expect([made(cwd), asked]).toEqual([false, 0]);
});

test('enableFileCheckpointing', async () => {
  const {result} = await drive([say('ok')], 'go', {enableFileCheckpointing: true});
  expect(result.result).toBe('ok');
});

test('AskUserQuestion goes to canUseTool, and its answers to the model', async () => {
  const question = {
    question: 'Which colour?',
    header: 'Colour',
    multiSelect: false,
    options: [
      {label: 'Red', description: 'warm'},
      {label: 'Blue', description: 'cold'},
    ],
  };
  const canUseTool = async (name: string, input: Any) => {
    if (name !== 'AskUserQuestion') return {behavior: 'deny', message: 'no'};
    return {behavior: 'allow', updatedInput: {...input, answers: {'Which colour?': 'Blue'}}};
  };
  const script = [callTool('AskUserQuestion', {questions: [question]}), say('ok')];
  const {bodies} = await drive(script, 'go', {canUseTool});
  expect(offered(bodies[0])).toContain('AskUserQuestion');
  expect(JSON.stringify(results(bodies[1]))).toContain('Blue');
});

test('ExitPlanMode goes to canUseTool', async () => {
  const asked: string[] = [];
  const canUseTool = async (name: string, input: object) => {
    asked.push(name);
    return {behavior: 'allow', updatedInput: input};
  };
  const script = [callTool('ExitPlanMode', {plan: '1. do it'}), write('made'), say('ok')];
  const {cwd} = await drive(script, 'go', {permissionMode: 'plan', canUseTool});
  expect(asked[0]).toBe('ExitPlanMode');
  expect(made(cwd)).toBe(true);
});

test('agent', async () => {
  const agents = {cat: {description: 'A cat', prompt: 'You are a cat.'}};
  const {bodies} = await drive([say('ok')], 'go', {agent: 'cat', agents});
  expect(JSON.stringify(bodies[0]!.system)).toContain('You are a cat.');
});

test('agents: description and prompt', async () => {
  const agents = {rev: {description: 'Reviews with care', prompt: 'You review.'}};
  const {bodies, messages, result} = await drive(withTask('rev'), 'go', {agents});
  expect(result.result).toBe('done');
  expect(JSON.stringify(bodies[0])).toContain('Reviews with care');
  expect(JSON.stringify(subagentBody(bodies).system)).toContain('You review.');
  expect(messages.some(({parent_tool_use_id: id}) => id === 'toolu_task_1')).toBe(true);
});

test('agents: without tools they may write', async () => {
  const agents = {rev: {description: 'Works', prompt: 'You work.'}};
  const options = {agents, allowedTools: ['Bash(touch:*)']};
  const {cwd} = await drive(withTask('rev', [bash('touch made'), say('found')]), 'go', options);
  expect(made(cwd)).toBe(true);
});

test('agents: Bash in tools may write', async () => {
  const agents = {rev: {description: 'Works', prompt: 'You work.', tools: ['Bash', 'Read']}};
  const options = {agents, allowedTools: ['Bash(touch:*)']};
  const {cwd} = await drive(withTask('rev', [bash('touch made'), say('found')]), 'go', options);
  expect(made(cwd)).toBe(true);
});

test('agents: tools', async () => {
  const agents = {rev: {description: 'Reads', prompt: 'You read.', tools: ['Read']}};
  const {bodies} = await drive(withTask('rev'), 'go', {agents});
  expect(offered(subagentBody(bodies))).toHaveLength(1);
});

test('agents: disallowedTools', async () => {
  const agents = {rev: {description: 'Reads', prompt: 'You read.', disallowedTools: ['Bash']}};
  const {bodies} = await drive(withTask('rev'), 'go', {agents});
  expect(offered(subagentBody(bodies)).map((name) => name.toLowerCase())).not.toContain('bash');
});

test('agents: model', async () => {
  const agents = {rev: {description: 'Reads', prompt: 'You read.', model: 'haiku'}};
  const {bodies} = await drive(withTask('rev'), 'go', {agents});
  expect(subagentBody(bodies).model).toContain('haiku');
});

test('agents: maxTurns', async () => {
  const agents = {rev: {description: 'Reads', prompt: 'You read.', maxTurns: 2}};
  const again = callTool('Read', {path: 'package.json', file_path: 'package.json'});
  const {bodies} = await drive(withTask('rev', [again]), 'go', {agents});
  expect(bodies.filter((body) => !offered(body).includes('Task')).length).toBeLessThanOrEqual(3);
});

test('agents: effort', async () => {
  const agents = {rev: {description: 'Reads', prompt: 'You read.', effort: 'high', model: 'claude-sonnet-4-5'}};
  const {bodies} = await drive(withTask('rev'), 'go', {agents});
  expect(JSON.stringify([subagentBody(bodies).thinking, subagentBody(bodies).output_config])).not.toBe('[null,null]');
});

test('agents: initialPrompt goes before the prompt of the main agent', async () => {
  const agents = {cat: {description: 'A cat', prompt: 'You are a cat.', initialPrompt: 'Purr first.'}};
  const {bodies} = await drive([say('ok'), say('ok')], 'go', {agent: 'cat', agents});
  expect(JSON.stringify(bodies[0]!.messages)).toContain('Purr first.');
});

test('agents: memory', async () => {
  const agents = {cat: {description: 'A cat', prompt: 'You are a cat.', memory: 'project'}};
  const place = await makePlace();
  const {result} = await drive([say('ok')], 'go', {agent: 'cat', agents}, undefined, place);
  expect(result.result).toBe('ok');
});

test('agents: background', async () => {
  const agents = {rev: {description: 'Reads', prompt: 'You read.', background: true}};
  const {messages, result} = await drive(withTask('rev'), 'go', {agents});
  expect(result.subtype).toBe('success');
  expect(messages.some(({subtype}) => subtype === 'task_started')).toBe(true);
});

test('agents: permissionMode', async () => {
  const agents = {rev: {description: 'Writes', prompt: 'You write.', permissionMode: 'acceptEdits'}};
  const {cwd} = await drive(withTask('rev', [write('made'), say('found')]), 'go', {agents});
  expect(made(cwd)).toBe(true);
});

test('agents: skills and fields that only Claude Code has', async () => {
  const rare = {autoCompactWindow: 50_000, omitClaudeMd: true, criticalSystemReminder_EXPERIMENTAL: 'Be kind.'};
  const agents = {rev: {description: 'Reads', prompt: 'You read.', skills: ['none-of-these'], ...rare}};
  const {result} = await drive(withTask('rev'), 'go', {agents});
  expect(result.result).toBe('done');
});

test('agents: mcpServers', async () => {
  const mcpServers = [{notes: {type: 'stdio', command: process.execPath, args: [PLAYED]}}];
  const agents = {rev: {description: 'Notes', prompt: 'You note.', mcpServers}};
  const options = {agents, allowedTools: ['mcp__notes__echo']};
  const replies = [callTool('mcp__notes__echo', {text: 'hi'}), say('found')];
  const {bodies} = await drive(withTask('rev', replies), 'go', options);
  expect(bodies.map(told).join()).toContain('you said hi');
});

test('forwardSubagentText', async () => {
  const agents = {rev: {description: 'Reads', prompt: 'You read.'}};
  const {messages} = await drive(withTask('rev', [say('what I found')]), 'go', {agents, forwardSubagentText: true});
  const texts = messages.filter(({type, parent_tool_use_id: id}) => type === 'assistant' && id === 'toolu_task_1');
  expect(JSON.stringify(texts)).toContain('what I found');
});

test('agentProgressSummaries', async () => {
  const agents = {rev: {description: 'Reads', prompt: 'You read.'}};
  const {result} = await drive(withTask('rev'), 'go', {agents, agentProgressSummaries: true});
  expect(result.result).toBe('done');
});

test('perTaskStopAffordance', async () => {
  const {result} = await drive([say('ok')], 'go', {perTaskStopAffordance: true});
  expect(result.result).toBe('ok');
});

const notes = {command: process.execPath, args: [PLAYED]};
const echo = [callTools([{name: 'mcp__notes__echo', input: {text: 'hi'}}]), say('ok')];

test('mcpServers: a program', async () => {
  const {bodies} = await drive(echo, 'go', {mcpServers: {notes}, allowedTools: ['mcp__notes__echo']});
  expect(told(bodies[1])).toContain('you said hi');
});

test('mcpServers: in the process of the driver', async () => {
  const {tool, createSdkMcpServer} = loaded.sdk;
  const number = loaded.zod.number();
  const add = tool('add', 'Adds', {a: number, b: number}, async ({a, b}: Any) => ({
    content: [{type: 'text', text: `the sum is ${a + b}`}],
  }));
  const mcpServers = {calc: createSdkMcpServer({name: 'calc', version: '1.0.0', tools: [add]})};
  const script = [callTool('mcp__calc__add', {a: 2, b: 3}), say('ok')];
  const {bodies} = await drive(script, 'go', {mcpServers, allowedTools: ['mcp__calc']});
  expect(told(bodies[1])).toContain('the sum is 5');
});

test('mcpServersDelivery: initialize', async () => {
  const options = {mcpServers: {notes}, allowedTools: ['mcp__notes__echo'], mcpServersDelivery: 'initialize'};
  const {bodies} = await drive(echo, 'go', options);
  expect(told(bodies[1])).toContain('you said hi');
});

test('strictMcpConfig', async () => {
  const place = await makePlace();
  writeFileSync(path.join(place.cwd, '.mcp.json'), JSON.stringify({mcpServers: {other: notes}}));
  const {init} = await drive([say('ok')], 'go', {mcpServers: {notes}, strictMcpConfig: true}, undefined, place);
  expect(init.mcp_servers.map(({name}: Any) => name)).toEqual(['notes']);
});

/** A server with one tool, which asks the person for a name. */
const ASKS_NAME = `
const write = (message) => process.stdout.write(JSON.stringify({jsonrpc: '2.0', ...message}) + '\\n');
let call;
require('node:readline').createInterface({input: process.stdin}).on('line', (line) => {
  const {id, method, params, result} = JSON.parse(line);
  if (method === 'initialize') {
    const serverInfo = {name: 'forms', version: '1'};
    write({id, result: {protocolVersion: params.protocolVersion, capabilities: {tools: {}}, serverInfo}});
  } else if (method === 'tools/list') {
    write({id, result: {tools: [{name: 'greet', inputSchema: {type: 'object', properties: {}}}]}});
  } else if (method === 'tools/call') {
    call = id;
    const properties = {name: {type: 'string'}};
    const requestedSchema = {type: 'object', properties, required: ['name']};
    write({id: 99, method: 'elicitation/create', params: {message: 'Who are you?', requestedSchema}});
  } else if (id === 99) {
    write({id: call, result: {content: [{type: 'text', text: 'hello ' + (result?.content?.name ?? result?.action)}]}});
  } else if (id !== undefined) write({id, result: {}});
});`;

test('onElicitation', async () => {
  const options = {
    mcpServers: {forms: {command: process.execPath, args: ['-e', ASKS_NAME]}},
    allowedTools: ['mcp__forms__greet'],
    onElicitation: async () => ({action: 'accept', content: {name: 'Ann'}}),
  };
  const {bodies} = await drive([callTool('mcp__forms__greet', {}), say('ok')], 'go', options);
  expect(told(bodies[1])).toContain('hello Ann');
});
