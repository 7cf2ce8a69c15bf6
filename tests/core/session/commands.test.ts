/** Commands of a session: those that are typed after a slash, shell commands, and typed tasks. */
import {describe, expect, it} from 'vitest';
import {AGENT_TYPES} from '../../../src/core/agent-types.ts';
import type {AgentEvent} from '../../../src/core/contract/events.ts';
import type {Command, CommandContext, CommandResult} from '../../../src/core/contract/session-requests.ts';
import type {ToolContext} from '../../../src/core/contract/tool.ts';
import type {SessionParts} from '../../../src/core/session/parts.ts';
import {textResult} from '../../../src/core/util/tool-output.ts';
import {managerFixture} from '../manager-fixture.ts';
import {runFixture, tool} from '../run-fixture.ts';
import {ScriptedModel, type ScriptedReply, say} from '../scripted-model.ts';
import {sessionOver} from './fixture.ts';

function open(script: readonly ScriptedReply[], change: Partial<SessionParts> = {}, tools = [tool('x')]) {
  const model = new ScriptedModel(script);
  const made = managerFixture();
  const mcp = {findCommand: () => undefined} as unknown as SessionParts['mcp'];
  const fixture = runFixture(model, tools);
  const {session, history} = sessionOver(made, model, fixture, {mcp, ...change});
  const events: AgentEvent[] = [];
  session.subscribe((event) => void events.push(event));
  const notices = () => events.flatMap((event) => (event.type === 'notice' ? [event] : []));
  return {...made, session, history, model, events, notices, run: fixture.run};
}

function command(run: (context: CommandContext) => Promise<CommandResult> | CommandResult): readonly Command[] {
  return [{name: 'do', description: 'does it', run} as Command];
}

describe('a command', () => {
  it.each<[CommandResult, object, object[]]>([
    [{ok: true, text: 'done'}, {ok: true, text: 'done', exit: false}, [{level: 'info', text: 'done'}]],
    [{ok: true, text: '+a', look: 'diff'}, {text: '+a'}, [{level: 'info', text: '+a', look: 'diff'}]],
    [{ok: false, text: 'no', input: '/do x'}, {ok: false, input: '/do x'}, [{level: 'error', text: 'no'}]],
    [{ok: true, text: '', exit: true}, {ok: true, text: '', exit: true}, []],
  ])('that ends by %j', async (result, done, shown) => {
    const {session, notices} = open([], {commands: command(() => result)});
    expect(await session.submit('/DO it')).toMatchObject({type: 'command', ...done});
    expect(notices()).toMatchObject(shown);
    expect(notices().map(({look}) => look)).toEqual(shown.map((each) => ('look' in each ? 'diff' : undefined)));
  });

  it('that throws fails with the reason, and one that is unknown leaves nothing in the prompt', async () => {
    const {session, notices} = open([], {commands: command(() => expect.fail('out of order'))});
    expect(await session.submit('/do')).toMatchObject({ok: false, text: 'out of order'});
    const unknown = await session.submit('/frobnicate now ');
    expect([unknown, 'input' in unknown]).toMatchObject([{ok: false}, false]);
    expect(notices().at(-1)).toMatchObject({level: 'error', text: expect.stringContaining('/frobnicate')});
    expect(notices().at(-1)?.text).not.toContain('Did you mean');
    const info = {
      cwd: '/tmp',
      tools: [],
      toolFacts: [],
      agents: [],
      commands: [{name: 'model', description: ''}],
      warnings: [],
      foreignWords: [],
    };
    const other = open([], {info});
    expect(await other.session.submit('/modle')).toMatchObject({text: expect.stringContaining('/model?')});
  });

  it.each([
    ['history', '/resume'],
    ['reset', '/clear'],
    ['stats', '/cost'],
    ['save', '/export'],
    ['load', '/resume'],
    ['todo', 'Ctrl+T'],
  ])('of another program, /%s, is answered with ours, %s', async (name, ours) => {
    const {session} = open([]);
    const answer = await session.submit(`/${name} x`);
    const text = expect.stringContaining(`There is no command /${name}: ${ours} `);
    expect([answer, 'input' in answer]).toMatchObject([{type: 'command', ok: false, text}, false]);
    const own = [{name, description: '', run: () => ({ok: true, text: 'mine'})}];
    expect(await open([], {commands: own}).session.submit(`/${name}`)).toMatchObject({ok: true, text: 'mine'});
  });

  it('may be one that a server brings', async () => {
    const [brought] = command(() => ({ok: true, text: 'from the server'}));
    const findCommand = (name: string) => (name === 'server:do' ? brought : undefined);
    const {session} = open([], {mcp: {findCommand} as unknown as SessionParts['mcp']});
    expect(await session.submit('/server:do')).toMatchObject({ok: true, text: 'from the server'});
  });

  it('may say something, make a request, and become a prompt', async () => {
    const {session, notices, history} = open([say('yes')], {
      commands: command(({args, say: tell, request, info}) => {
        tell(`${args} ${request({type: 'runs'}).length} ${info.sessionId}`);
        return {ok: true, text: '', prompt: {content: `do ${args}`}};
      }),
    });
    expect(await session.submit('/do it')).toMatchObject({type: 'turn', result: {text: 'yes'}});
    expect(notices()).toMatchObject([{level: 'info', text: 'it 0 session-1'}]);
    expect(history.messages[0]).toMatchObject({content: 'do it'});
  });

  it('asks the person, and gets no answer where none can be asked or the person interrupts', async () => {
    const answers: unknown[] = [];
    const commands = command(async ({ask}) => {
      const question = {title: 'Sure?', detail: '', detailType: 'text', options: [], escape: 'back'} as const;
      answers.push(await ask(question));
      return {ok: true, text: ''};
    });
    const asking = open([], {commands});
    asking.session.subscribe((event) => {
      if (event.type === 'ask') queueMicrotask(() => asking.session.answer(event.question.id, {choice: 'text'}));
    });
    await asking.session.submit('/do');
    expect(asking.events.find(({type}) => type === 'ask')).toMatchObject({
      question: {agent: 'mini-cc', title: 'Sure?'},
    });
    await open([], {commands, interactive: false}).session.submit('/do');
    const interrupted = open([], {commands});
    interrupted.session.subscribe(
      ({type}) => void (type === 'ask' && queueMicrotask(() => interrupted.session.abort())),
    );
    await interrupted.session.submit('/do');
    expect(answers).toEqual([{choice: 'text'}, undefined, undefined]);
    // A later command can be asked again.
    await interrupted.session.submit('/do');
    expect(answers).toHaveLength(4);
    expect(interrupted.events.filter(({type}) => type === 'ask')).toHaveLength(2);
  });

  it('has the model answer outside of the conversation, and what that costs is counted', async () => {
    const complete = ({complete: ask}: CommandContext) =>
      ask('which?', {type: 'object'}).then((text) => ({ok: true, text}));
    const {session, history, run} = open([say('{"a": 1}')], {commands: command(complete)});
    expect(await session.submit('/do')).toMatchObject({ok: true, text: expect.stringContaining('"a"')});
    expect(history.messages).toEqual([]);
    expect(run.budget.entries()).toMatchObject([{agent: 'mini-cc', usage: {input_tokens: 10}}]);
  });

  it('is not run after the session is closed', async () => {
    const {session} = open([], {commands: command(() => expect.fail('it ran'))});
    await session.close();
    expect(await session.submit('/do')).toMatchObject({ok: false, exit: true});
  });
});

describe('a shell command that the user types', () => {
  const shellOf = (work: (context: ToolContext) => ReturnType<typeof textResult>) => ({shell: tool('bash', work)});

  it('runs without a question in a folder of its own, is shown, and is before the model with the next prompt', async () => {
    const seen: ToolContext[] = [];
    const {session, events, model, inbox} = open(
      [say('ok')],
      shellOf((context) => {
        seen.push(context);
        return textResult('two files');
      }),
    );
    expect(await session.request({type: 'run_command', command: 'ls'})).toEqual({output: 'two files', succeeded: true});
    expect(seen[0]).toMatchObject({attempt: {launch: 'plain', checkpoint: true}, outlivesTurn: true});
    expect(seen[0]?.workspace).toMatchObject({cwd: '/tmp', extraRoots: [], confinement: 'none'});
    expect(events.filter(({type}) => type.startsWith('tool_'))).toMatchObject([
      {type: 'tool_start', tool: '!', title: 'ls', byUser: true},
      {type: 'tool_end', tool: '!', isError: false, byUser: true},
    ]);
    expect([model.requests, inbox.startsTurn]).toEqual([[], false]);
    await session.submit('go');
    const sent = JSON.stringify(model.requests[0]?.messages);
    expect(sent).toContain('The user ran a command in the terminal, in /tmp:\\n$ ls\\n\\ntwo files');
    expect(events.map(({type}) => type)).not.toContain('ask');
  });

  it.each([
    ['that fails', () => textResult('no such file', {isError: true}), 'no such file'],
    ['that cannot be run', () => expect.fail('no shell'), 'no shell'],
  ])('%s says so', async (_, work, output) => {
    const {session, events} = open([], shellOf(work));
    expect(await session.request({type: 'run_command', command: 'ls'})).toEqual({output, succeeded: false});
    expect(events.find(({type}) => type === 'tool_end')).toMatchObject({isError: true});
  });

  it('ends with Esc, and the next one is not affected', async () => {
    const aborted: boolean[] = [];
    const {session} = open(
      [],
      shellOf(({signal}) => {
        if (aborted.length === 0) session.abort();
        aborted.push(signal.aborted);
        return textResult('');
      }),
    );
    for (const each of ['first', 'second']) await session.request({type: 'run_command', command: each});
    expect(aborted).toEqual([true, false]);
  });
});

describe('a task that the user types', () => {
  it.each([
    [[say('found')], 'success', undefined],
    [[], 'error', 'TASK_FAILED'],
  ] as const)('ends as its run: %j', async (script, outcome, code) => {
    const child = new ScriptedModel(script);
    const task = tool('Task', async ({callId}) => {
      const {report} = await made.spawn(child, {callId, agent: AGENT_TYPES.explore!});
      return textResult(report);
    });
    const made = open([], {}, [task]);
    const done = await made.session.submit('Task(explore): find it');
    expect(done).toMatchObject({type: 'turn', result: {outcome, turns: script.length}});
    expect(done.type === 'turn' && 'code' in done.result ? done.result.code : undefined).toBe(code);
    expect(made.model.requests).toEqual([]);
    const [prompt, call, result] = made.history.messages;
    expect(prompt).toMatchObject({role: 'user', content: 'Task(explore): find it'});
    expect(call).toMatchObject({role: 'assistant', content: [{type: 'tool_use', name: 'Task'}]});
    expect(result).toMatchObject({role: 'user', content: [{type: 'tool_result'}]});
    const messages = made.events.flatMap((event) =>
      event.type === 'message' && event.agentId === 'main' ? [event.role] : [],
    );
    expect(messages).toEqual(['user', 'assistant', 'user']);
  });

  it('that is refused fails with the reason; one in the background says where it is', async () => {
    const refusing = open([], {}, [tool('Task', () => textResult('no such agent', {isError: true}))]);
    expect(await refusing.session.submit('Task(explore): find it')).toMatchObject({
      result: {outcome: 'error', code: 'TASK_REFUSED', text: expect.stringContaining('no such agent')},
    });
    const task = tool('Task', async ({callId}) => {
      await made.dispatch(new ScriptedModel([{hang: true}]), {callId, background: true});
      return textResult('accepted');
    });
    const made = open([], {}, [task]);
    expect(await made.session.submit('Task(explore): find it')).toMatchObject({
      result: {outcome: 'success', text: expect.stringContaining('[explore] look around runs in the background')},
    });
    await made.session.close();
  });
});
