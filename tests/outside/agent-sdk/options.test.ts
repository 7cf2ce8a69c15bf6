/** One scene for each option of the Agent SDK that is not about permissions, agents, hooks or servers. */
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {callTool, type Script, say, slow, status, thinkingThen} from '../../support/messages-server.ts';
import {cliPath} from '../../support/run-cli.ts';
import {withUsage} from '../../support/scripted-replies.ts';
import {type Any, between, drive, isResult, loadSdk, makePlace, offered, told, user} from './driven.ts';

loadSdk();

const readPackage = () => callTool('Read', {path: 'package.json', file_path: 'package.json'});
const newSession = '7c1dbd09-5bb7-4a0c-9f2b-0d8d1f0a1c11';

test('a prompt as text', async () => {
  const {result, messages} = await drive([say('Hi')], 'hello');
  expect(result).toMatchObject({subtype: 'success', result: 'Hi', is_error: false, stop_reason: 'end_turn'});
  expect(messages[0]).toMatchObject({subtype: 'init', mcp_servers: []});
});

test('prompts as they come: two turns in one session', async () => {
  const {messages} = await between(() => undefined);
  const done = messages.filter(isResult);
  expect(done.map(({result}) => result)).toEqual(['a', 'b']);
  expect(new Set(done.map(({session_id: id}) => id)).size).toBe(1);
});

test('a prompt of blocks with an image', async () => {
  const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const source = {type: 'base64', media_type: 'image/png', data: pixel};
  async function* prompts() {
    yield user([
      {type: 'text', text: 'what is this'},
      {type: 'image', source},
    ]);
  }
  const {bodies, result} = await drive([say('a dot')], prompts());
  expect(result.result).toBe('a dot');
  expect(told(bodies[0])).toContain('image/png');
});

test('abortController', async () => {
  const abortController = new AbortController();
  const asked = Promise.withResolvers<void>();
  const script: Script = () => {
    asked.resolve();
    return slow(say('long'), 4_000);
  };
  const {failure, result} = await drive(script, 'go', {abortController}, async ({subtype}) => {
    if (subtype !== 'init') return;
    await asked.promise;
    abortController.abort();
  }).catch((error: Any) => ({failure: error, result: undefined}));
  expect(result?.subtype).not.toBe('success');
  expect(String(failure)).toMatch(/abort/i);
});

test('additionalDirectories', async () => {
  const {cwd: elsewhere} = await makePlace();
  writeFileSync(path.join(elsewhere, 'far.txt'), 'far away');
  const file = path.join(elsewhere, 'far.txt');
  const script = [callTool('Read', {path: file, file_path: file}), say('ok')];
  const {bodies, result} = await drive(script, 'go', {additionalDirectories: [elsewhere]});
  expect(told(bodies[1])).toContain('far away');
  expect(result.permission_denials).toEqual([]);
});

test('projectConfigRoot', async () => {
  const {cwd: trusted} = await makePlace();
  const {result} = await drive([say('ok')], 'go', {projectConfigRoot: trusted});
  expect(result.result).toBe('ok');
});

test('continue', async () => {
  const place = await makePlace();
  await drive([say('a')], 'the first', {}, undefined, place);
  const {bodies} = await drive([say('b')], 'more', {continue: true}, undefined, place);
  expect(told(bodies[0])).toContain('the first');
});

test('resume', async () => {
  const place = await makePlace();
  const {result: before} = await drive([say('a')], 'the first', {}, undefined, place);
  const {bodies, result} = await drive([say('b')], 'more', {resume: before.session_id}, undefined, place);
  expect(told(bodies[0])).toContain('the first');
  expect(result.session_id).toBe(before.session_id);
});

test('forkSession', async () => {
  const place = await makePlace();
  const {result: before} = await drive([say('a')], 'the first', {}, undefined, place);
  const options = {resume: before.session_id, forkSession: true};
  const {bodies, result} = await drive([say('b')], 'more', options, undefined, place);
  expect(told(bodies[0])).toContain('the first');
  expect(result.session_id).not.toBe(before.session_id);
});

test('sessionId', async () => {
  const {result, init} = await drive([say('a')], 'go', {sessionId: newSession});
  expect([result.session_id, init.session_id]).toEqual([newSession, newSession]);
});

test.fails('resumeSessionAt drops what came after a message', async () => {
  const {messages, result: before, cwd, home} = await between(() => undefined, [say('alpha'), say('beta')]);
  const first = messages.find(({type}) => type === 'assistant');
  const options = {resume: before.session_id, resumeSessionAt: first.uuid};
  const {bodies} = await drive([say('c')], 'more', options, undefined, {cwd, home});
  expect(told(bodies[0])).toContain('alpha');
  expect(told(bodies[0])).not.toContain('beta');
});

test.fails('resumeDropsTurn refuses to drop more than that turn', async () => {
  const {messages, result: before, cwd, home} = await between(() => undefined, [say('alpha'), say('beta')]);
  const first = messages.find(({type}) => type === 'assistant');
  const options = {resume: before.session_id, resumeSessionAt: first.uuid, resumeDropsTurn: newSession};
  const {result, failure} = await drive([say('c')], 'more', options, undefined, {cwd, home}).catch((error: Any) => ({
    result: undefined,
    failure: error,
  }));
  expect(`${result?.errors} ${failure}`).toContain('Resume rejected by --resume-drops-turn:');
});

test('cwd', async () => {
  const place = await makePlace();
  const {init} = await drive([say('a')], 'go', {cwd: place.cwd});
  expect(init.cwd).toBe(place.cwd);
});

test('env', async () => {
  const script = [callTool('Bash', {command: 'echo "it is $COLOUR"', description: 'show'}), say('ok')];
  const options = {env: {COLOUR: 'green'}, allowedTools: ['Bash']};
  const {bodies} = await drive(script, 'go', options);
  expect(told(bodies[1])).toContain('it is green');
});

test('executable and pathToClaudeCodeExecutable', async () => {
  const {result} = await drive([say('ok')], 'go', {executable: 'node', pathToClaudeCodeExecutable: cliPath});
  expect(result.result).toBe('ok');
});

test('executableArgs', async () => {
  const {result} = await drive([say('ok')], 'go', {executableArgs: ['--no-warnings']});
  expect(result.result).toBe('ok');
});

test('extraArgs', async () => {
  const {result} = await drive([say('ok')], 'go', {extraArgs: {verbose: null, 'no-such-thing': 'x'}});
  expect(result.result).toBe('ok');
});

test('spawnClaudeCodeProcess', async () => {
  const {spawn} = await import('node:child_process');
  let started = '';
  const spawnClaudeCodeProcess = ({command, args, cwd, env, signal}: Any) => {
    started = command;
    return spawn(command, args, {cwd, env, signal, stdio: ['pipe', 'pipe', 'ignore']});
  };
  const {result} = await drive([say('ok')], 'go', {spawnClaudeCodeProcess});
  expect(result.result).toBe('ok');
  expect(started).not.toBe('');
});

test('stderr', async () => {
  let text = '';
  const stderr = (part: string) => {
    text += part;
  };
  await drive([say('ok')], 'go', {stderr, extraArgs: {'no-such-thing': null}});
  expect(text).toContain('no-such-thing');
});

test('model', async () => {
  const {bodies, init} = await drive([say('ok')], 'go', {model: 'claude-haiku-4-5'});
  expect(bodies[0]!.model).toBe('claude-haiku-4-5');
  expect(init.model).toBe('claude-haiku-4-5');
});

test('fallbackModel', async () => {
  const script: Script = ({model}) => (model.includes('opus') ? status(529) : say('from the other'));
  const options = {model: 'claude-opus-4-5', fallbackModel: 'claude-haiku-4-5'};
  const {result} = await drive(script, 'go', options);
  expect(result).toMatchObject({subtype: 'success', result: 'from the other'});
});

test('betas', async () => {
  const {result} = await drive([say('ok')], 'go', {betas: ['context-1m-2025-08-07']});
  expect(result.result).toBe('ok');
});

test('thinking: a budget', async () => {
  const options = {model: 'claude-sonnet-4-5', thinking: {type: 'enabled', budgetTokens: 4000}};
  const {bodies} = await drive([say('ok')], 'go', options);
  expect(bodies[0]!.thinking).toMatchObject({type: 'enabled', budget_tokens: 4000});
});

test('thinking: adaptive', async () => {
  const {result} = await drive([thinkingThen('hm', say('ok'))], 'go', {thinking: {type: 'adaptive'}});
  expect(result.result).toBe('ok');
});

test('thinking: disabled', async () => {
  const options = {model: 'claude-sonnet-4-5', thinking: {type: 'disabled'}};
  const {bodies} = await drive([say('ok')], 'go', options);
  expect((bodies[0] as Any).thinking?.type ?? 'disabled').toBe('disabled');
});

test('effort', async () => {
  const budget = async (effort: string) => {
    const {bodies, result} = await drive([say('ok')], 'go', {model: 'claude-sonnet-4-5', effort});
    expect(result.result).toBe('ok');
    return JSON.stringify([(bodies[0] as Any).thinking, (bodies[0] as Any).output_config]);
  };
  expect(await budget('high')).not.toBe(await budget('low'));
});

test('maxThinkingTokens', async () => {
  const {bodies} = await drive([say('ok')], 'go', {model: 'claude-sonnet-4-5', maxThinkingTokens: 3000});
  expect(bodies[0]!.thinking).toMatchObject({budget_tokens: 3000});
});

test('maxTurns', async () => {
  const {result} = await drive(() => readPackage(), 'go', {maxTurns: 2});
  expect(result).toMatchObject({subtype: 'error_max_turns', errors: [expect.stringContaining('2')]});
});

test('maxBudgetUsd', async () => {
  const loop: Script = () => withUsage(readPackage(), {input_tokens: 100_000, output_tokens: 1_000});
  const {result} = await drive(loop, 'go', {maxBudgetUsd: 0.5, model: 'claude-sonnet-4-5'});
  expect(result).toMatchObject({subtype: 'error_max_budget_usd', total_cost_usd: expect.any(Number)});
});

test('taskBudget', async () => {
  const {result} = await drive([say('ok')], 'go', {taskBudget: {total: 50_000}});
  expect(result.result).toBe('ok');
});

test('outputFormat', async () => {
  const schema = {type: 'object', properties: {colour: {type: 'string'}}, required: ['colour']};
  const script: Script = ({tools}) =>
    tools?.some(({name}) => name === 'StructuredOutput')
      ? callTool('StructuredOutput', {colour: 'red'})
      : say('{"colour": "red"}');
  const {result} = await drive(script, 'which?', {outputFormat: {type: 'json_schema', schema}});
  expect(result).toMatchObject({subtype: 'success', structured_output: {colour: 'red'}});
});

test('outputFormat that is never met', async () => {
  const schema = {type: 'object', properties: {colour: {type: 'string'}}, required: ['colour']};
  const {result} = await drive(() => say('{}'), 'which?', {outputFormat: {type: 'json_schema', schema}});
  expect(result).toMatchObject({subtype: 'error_max_structured_output_retries', is_error: true});
});

test('includePartialMessages', async () => {
  const {messages} = await drive([say('Hi there')], 'hello', {includePartialMessages: true});
  const kinds = messages.filter(({type}) => type === 'stream_event').map(({event}) => event.type);
  expect(kinds).toEqual(expect.arrayContaining(['message_start', 'content_block_delta', 'message_stop']));
});

test('verbatimPrompts sends what looks like a command or a file as it is', async () => {
  const {bodies} = await drive([say('ok')], '/cost and @package.json', {verbatimPrompts: true});
  expect(told(bodies[0])).toContain('/cost and @package.json');
  expect(told(bodies[0])).not.toContain('devDependencies');
});

test('persistSession: false leaves nothing to resume', async () => {
  const place = await makePlace();
  const {result} = await drive([say('a')], 'secret words', {persistSession: false}, undefined, place);
  expect(result.result).toBe('a');
  const again = await drive([say('b')], 'go', {resume: result.session_id}, undefined, place).catch(
    (error: Any) => error,
  );
  expect(again.result?.subtype).not.toBe('success');
});

test('title', async () => {
  const {result} = await drive([say('ok')], 'go', {title: 'My work'});
  expect(result.result).toBe('ok');
});

test('systemPrompt: none keeps the tools and answers', async () => {
  const {bodies} = await drive([say('ok')], 'go');
  expect(offered(bodies[0])).toContain('Task');
});

test('systemPrompt as text', async () => {
  const {bodies} = await drive([say('ok')], 'go', {systemPrompt: 'You are a cat.'});
  expect(JSON.stringify(bodies[0]!.system)).toContain('You are a cat.');
});

test('systemPrompt as a list', async () => {
  const {bodies} = await drive([say('ok')], 'go', {systemPrompt: ['You are a cat.', 'You purr.']});
  expect(JSON.stringify(bodies[0]!.system)).toMatch(/You are a cat\..*You purr\./s);
});

test('systemPrompt: custom', async () => {
  const {bodies} = await drive([say('ok')], 'go', {systemPrompt: {type: 'custom', prompt: 'You are a dog.'}});
  expect(JSON.stringify(bodies[0]!.system)).toContain('You are a dog.');
});

test('systemPrompt: the preset, with an addition', async () => {
  const systemPrompt = {type: 'preset', preset: 'claude_code', append: 'Always purr.'};
  const {bodies} = await drive([say('ok')], 'go', {systemPrompt});
  expect(JSON.stringify(bodies[0]!.system)).toContain('Always purr.');
  expect(JSON.stringify(bodies[0]!.system).length).toBeGreaterThan(1000);
});

test('systemPrompt: the preset without dynamic sections', async () => {
  const systemPrompt = {type: 'preset', preset: 'claude_code', excludeDynamicSections: true};
  const {result} = await drive([say('ok')], 'go', {systemPrompt});
  expect(result.result).toBe('ok');
});

test('settings as an object', async () => {
  const options = {settings: {permissions: {allow: ['Bash(touch:*)']}}};
  const {cwd} = await drive([callTool('Bash', {command: 'touch made', description: 'x'}), say('ok')], 'go', options);
  expect(existsSync(path.join(cwd, 'made'))).toBe(true);
});

test('settings as a file', async () => {
  const place = await makePlace();
  const file = path.join(place.cwd, 'mine.json');
  writeFileSync(file, JSON.stringify({permissions: {deny: ['Read']}}));
  const {bodies} = await drive([say('ok')], 'go', {settings: file}, undefined, place);
  expect(offered(bodies[0]).join(' ')).not.toMatch(/\b(?:Read|read_file)\b/);
});

test('settings.env', async () => {
  const script = [callTool('Bash', {command: 'echo "it is $COLOUR"', description: 'x'}), say('ok')];
  const options = {settings: {env: {COLOUR: 'blue'}}, allowedTools: ['Bash']};
  const {bodies} = await drive(script, 'go', options);
  expect(told(bodies[1])).toContain('it is blue');
});

test('settings.model', async () => {
  const {bodies} = await drive([say('ok')], 'go', {settings: {model: 'claude-haiku-4-5'}});
  expect(bodies[0]!.model).toBe('claude-haiku-4-5');
});

test('settings with keys that only Claude Code has', async () => {
  const settings = {includeCoAuthoredBy: false, cleanupPeriodDays: 5, outputStyle: 'default', permissions: {ask: []}};
  const {result} = await drive([say('ok')], 'go', {settings});
  expect(result.result).toBe('ok');
});

test('managedSettings restrict', async () => {
  const managedSettings = {permissions: {deny: ['Bash']}};
  const script = [callTool('Bash', {command: 'touch made', description: 'x'}), say('ok')];
  const options = {managedSettings, allowedTools: ['Bash']};
  const {cwd} = await drive(script, 'go', options);
  expect(existsSync(path.join(cwd, 'made'))).toBe(false);
});

test('settingSources: none leaves the memory of the project out', async () => {
  const place = await makePlace();
  writeFileSync(path.join(place.cwd, 'CLAUDE.md'), 'Speak like a pirate.');
  const {bodies} = await drive([say('ok')], 'go', {settingSources: []}, undefined, place);
  expect(JSON.stringify(bodies[0])).not.toContain('pirate');
});

test('settingSources: project', async () => {
  const place = await makePlace();
  writeFileSync(path.join(place.cwd, 'CLAUDE.md'), 'Speak like a pirate.');
  const {bodies} = await drive([say('ok')], 'go', {settingSources: ['project']}, undefined, place);
  expect(JSON.stringify(bodies[0])).toContain('pirate');
});

test('skills', async () => {
  const place = await makePlace();
  for (const name of ['bake', 'knit']) {
    const folder = path.join(place.cwd, '.claude/skills', name);
    mkdirSync(folder, {recursive: true});
    writeFileSync(path.join(folder, 'SKILL.md'), `---\nname: ${name}\ndescription: How to ${name} well\n---\nDo it.\n`);
  }
  const options = {skills: ['bake'], settingSources: ['project']};
  const {bodies} = await drive([say('ok')], 'go', options, undefined, place);
  expect(JSON.stringify(bodies[0])).toContain('How to bake well');
  expect(JSON.stringify(bodies[0])).not.toContain('How to knit well');
});

test('plugins, by arguments', async () => {
  const place = await makePlace();
  const plugin = makePlugin(place.cwd);
  const {init} = await drive([say('ok')], 'go', {plugins: [{type: 'local', path: plugin}]}, undefined, place);
  expect(init.slash_commands).toContain('garden:water');
});

test('plugins, by the first request', async () => {
  const place = await makePlace();
  const plugin = makePlugin(place.cwd);
  const options = {plugins: [{type: 'local', path: plugin}], pluginDelivery: 'initialize'};
  const {init} = await drive([say('ok')], 'go', options, undefined, place);
  expect(init.slash_commands).toContain('garden:water');
});

test('promptSuggestions', async () => {
  const {result} = await drive([say('ok'), say('run the tests')], 'go', {promptSuggestions: true});
  expect(result.result).toBe('ok');
});

test('debug', async () => {
  const {result} = await drive([say('ok')], 'go', {debug: true});
  expect(result.result).toBe('ok');
});

test('debugFile', async () => {
  const place = await makePlace();
  const debugFile = path.join(place.cwd, 'log.txt');
  const {result} = await drive([say('ok')], 'go', {debugFile}, undefined, place);
  expect(result.result).toBe('ok');
  expect(readFileSync(debugFile, 'utf8').length).toBeGreaterThan(0);
});

test('sandbox', async () => {
  const sandbox = {enabled: true, failIfUnavailable: true};
  const script = [
    callTool('Bash', {command: 'touch /var/tmp/outside-$$ || echo confined', description: 'x'}),
    say('ok'),
  ];
  const {bodies} = await drive(script, 'go', {sandbox});
  expect(told(bodies[1])).toContain('confined');
});

test.fails('sessionStore', async () => {
  const kept: Any[] = [];
  const sessionStore = {
    append: async (_: Any, entries: Any[]) => {
      kept.push(...entries);
    },
    load: async () => [],
  };
  const {result} = await drive([say('ok')], 'go', {sessionStore});
  expect(result.result).toBe('ok');
  expect(kept.length).toBeGreaterThan(0);
});

test('sessionStoreFlush and loadTimeoutMs', async () => {
  const sessionStore = {append: async () => undefined, load: async () => []};
  const options = {sessionStore, sessionStoreFlush: 'eager', loadTimeoutMs: 5_000};
  const {result} = await drive([say('ok')], 'go', options);
  expect(result.result).toBe('ok');
});

test('toolConfig', async () => {
  const {result} = await drive([say('ok')], 'go', {toolConfig: {askUserQuestion: {previewFormat: 'html'}}});
  expect(result.result).toBe('ok');
});

test('onUserDialog and supportedDialogKinds', async () => {
  const options = {
    onUserDialog: async () => ({behavior: 'cancelled'}),
    supportedDialogKinds: ['refusal_fallback_prompt'],
  };
  const {result} = await drive([say('ok')], 'go', options);
  expect(result.result).toBe('ok');
});

/** @returns the folder of a plugin with one command */
function makePlugin(cwd: string): string {
  const folder = path.join(cwd, 'garden');
  mkdirSync(path.join(folder, '.claude-plugin'), {recursive: true});
  mkdirSync(path.join(folder, 'commands'));
  writeFileSync(path.join(folder, '.claude-plugin/plugin.json'), JSON.stringify({name: 'garden', version: '1.0.0'}));
  writeFileSync(path.join(folder, 'commands/water.md'), '---\ndescription: Waters\n---\nWater the plants.\n');
  return folder;
}
