import {describe, expect, it, vi} from 'vitest';
import {type AgentRun, runAgent} from '../../src/core/agent-loop.ts';
import type {AgentEventBody} from '../../src/core/contract/events.ts';
import type {PermitRequest} from '../../src/core/contract/permission.ts';
import type {ToolResult} from '../../src/core/contract/results.ts';
import type {Tool} from '../../src/core/contract/tool.ts';
import {createBudget} from '../../src/core/turn/budget.ts';
import {NO_CHECKPOINTS} from '../../src/core/turn/checkpointed-call.ts';
import {countTokens} from '../../src/core/util/messages.ts';
import {textResult} from '../../src/core/util/tool-output.ts';
import {ALLOWED_CALL, resultsIn, runFixture, tool} from './run-fixture.ts';
import {call, calls, ScriptedModel, say} from './scripted-model.ts';

describe('a failed tool call', () => {
  it('gets the list of tools when its tool is unknown', async () => {
    const model = new ScriptedModel([calls(call('fly', {})), say('walked')]);
    const {run} = runFixture(model, [tool('walk')]);
    expect(await runAgent(run)).toMatchObject({outcome: 'success', text: 'walked'});
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({
      is_error: true,
      content: expect.stringContaining('walk'),
    });
  });

  it('does not run when its input is not valid JSON, and quotes the input', async () => {
    let ran = false;
    const model = new ScriptedModel([
      {content: [call('look', {}, 'broken')], stop: 'tool_use', garbled: {broken: '{"value": "rm -rf /home'}},
      say('again'),
    ]);
    const {run} = runFixture(model, [
      tool('look', () => {
        ran = true;
        return textResult('');
      }),
    ]);
    await runAgent(run);
    expect(ran).toBe(false);
    expect(resultsIn(run.history.messages[2])[0]?.content).toContain('no valid JSON');
  });

  it('names the parameter that is not valid', async () => {
    const model = new ScriptedModel([calls(call('look', {value: 7})), say('ok')]);
    const {run} = runFixture(model, [tool('look')]);
    await runAgent(run);
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({
      is_error: true,
      content: 'Invalid input for look:\n✖ Invalid input: expected string, received number\n  → at value',
    });
  });

  it('returns the message of an error that the tool throws', async () => {
    const model = new ScriptedModel([calls(call('look', {})), say('ok')]);
    const {run} = runFixture(model, [
      tool('look', () => {
        throw new Error('the disk is full');
      }),
    ]);
    expect(await runAgent(run)).toMatchObject({outcome: 'success'});
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({
      is_error: true,
      content: 'look failed: the disk is full',
    });
  });

  it('returns the reason when it is denied, and the run continues', async () => {
    const model = new ScriptedModel([calls(call('look', {})), say('ok')]);
    const {run} = runFixture(model, [tool('look')], {
      permit: async () => ({verdict: 'deny', because: 'no', message: 'Permission denied: no.'}),
    });
    expect(await runAgent(run)).toMatchObject({outcome: 'success'});
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({is_error: true, content: 'Permission denied: no.'});
  });
});

describe('a call whose input a hook or an answer changed', () => {
  it('is prepared and decided once more, and runs with the changed input', async () => {
    const model = new ScriptedModel([calls(call('look', {value: 'first'})), say('ok')]);
    const decided: PermitRequest[] = [];
    const {run} = runFixture(model, [tool('look', (_, value) => textResult(`looked at ${value}`))], {
      permit: async (request) => {
        decided.push(request);
        return request.changed
          ? ALLOWED_CALL
          : {verdict: 'changed', input: {value: 'second'}, opinion: {by: 'person', says: 'allow'}};
      },
    });
    await runAgent(run);
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({
      content: 'The user changed the input of this call: value is now "second"\nlooked at second',
    });
    expect(decided.map(({input, changed}) => ({input, changed}))).toEqual([
      {input: {value: 'first'}, changed: undefined},
      {input: {value: 'second'}, changed: {by: 'person', says: 'allow'} as const},
    ]);
  });

  it('is shown and recorded as what ran, without the words of the model about what it asked for', async () => {
    const model = new ScriptedModel([calls(call('look', {value: 'first'})), say('ok')]);
    const changed = {verdict: 'changed', input: {value: 'second'}, opinion: {by: 'hook'}} as const;
    const look: Tool = {...tool('look', () => textResult('seen')), purpose: () => 'Look at the first'};
    const permit = async (request: PermitRequest) => (request.changed ? ALLOWED_CALL : changed);
    const {run, events, lines} = runFixture(model, [look], {permit});
    await runAgent(run);
    expect(events.filter(({type}) => type === 'tool_start')).toEqual([
      {type: 'tool_start', callId: 'toolu_look', tool: 'look', title: 'first', description: 'Look at the first'},
      {type: 'tool_start', callId: 'toolu_look', tool: 'look', title: 'second'},
    ]);
    const shown = lines.flatMap((line) => (line.type === 'message' && line.calls ? [line.calls.toolu_look] : []));
    expect(shown).toMatchObject([{title: 'second'}]);
    expect(shown[0]).not.toHaveProperty('description');
    expect(resultsIn(run.history.messages[2])[0]?.content).toMatch(/^A hook changed the input of this call: .*\nseen$/);
  });

  it('tells the model of the change when the changed call is refused', async () => {
    const model = new ScriptedModel([calls(call('look', {value: 'first'})), say('ok')]);
    const {run} = runFixture(model, [tool('look')], {
      permit: async (request) =>
        request.changed
          ? {verdict: 'deny', because: 'a rule', message: 'Permission denied: a rule.'}
          : {verdict: 'changed', input: {value: 'second'}, opinion: {by: 'hook'}},
    });
    await runAgent(run);
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({
      is_error: true,
      content: 'A hook changed the input of this call: value is now "second"\nPermission denied: a rule.',
    });
  });

  it('returns an error when the changed input is not valid', async () => {
    const model = new ScriptedModel([calls(call('look', {})), say('ok')]);
    const {run} = runFixture(model, [tool('look')], {
      permit: async () => ({verdict: 'changed', input: {value: 7}, opinion: {by: 'person', says: 'allow'}}),
    });
    await runAgent(run);
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({
      is_error: true,
      content: expect.stringContaining('Invalid input for look'),
    });
  });
});

describe('the attempts of a call', () => {
  const attempts = [
    {launch: 'read-only', checkpoint: false},
    {launch: 'plain', checkpoint: true},
  ] as const;

  it.each([true, false])(
    'end with the first one that confinement did not hinder (first one hindered: %s)',
    async (confinementHit) => {
      const model = new ScriptedModel([calls(call('run', {})), say('ok')]);
      const made: string[] = [];
      const runner = tool('run', ({attempt, workspace}) => {
        made.push(`${attempt.launch} in ${workspace.cwd}`);
        workspace.cwd = '/elsewhere';
        return {...textResult(attempt.launch), ...(attempt.launch === 'read-only' && {confinementHit})};
      });
      const {run} = runFixture(model, [runner], {permit: async () => ({...ALLOWED_CALL, attempts})});
      await runAgent(run);
      expect(made).toEqual(confinementHit ? ['read-only in /tmp', 'plain in /tmp'] : ['read-only in /tmp']);
      expect(resultsIn(run.history.messages[2])[0]).toMatchObject({content: confinementHit ? 'plain' : 'read-only'});
    },
  );
});

describe('hooks after a call', () => {
  it('can change the result that the model reads', async () => {
    const model = new ScriptedModel([calls(call('look', {})), say('ok')]);
    const {run} = runFixture(model, [tool('look')], {
      afterCall: [async ({tool}, result) => ({...result, content: `${result.content}, and ${tool} was seen`})],
    });
    await runAgent(run);
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({content: 'look done, and look was seen'});
  });
});

describe('a question that a tool asks the model', () => {
  it('is sent without tools and history, and its tokens count for the run', async () => {
    const model = new ScriptedModel([calls(call('read', {})), say('the answer'), say('done')]);
    const reader = tool('read', async ({ask}) => textResult(await ask({system: 'Read.', prompt: 'what is it?'})));
    const {run} = runFixture(model, [reader], {budget: createBudget({maxTokens: 1000})});
    const result = await runAgent(run);
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({content: 'the answer'});
    expect(model.requests[1]).toMatchObject({
      system: 'Read.',
      tools: [],
      mayCallTools: false,
      messages: [{role: 'user', content: 'what is it?'}],
    });
    // Three calls of ten tokens in and five out.
    expect(result.usage).toMatchObject({input_tokens: 30, output_tokens: 15});
    expect(result.usageByModel).toMatchObject({scripted: {input_tokens: 30}});
    expect(countTokens(run.budget.usage)).toBe(45);
    expect(result.turns).toBe(2);
  });
});

describe('the calls of a reply', () => {
  /** Runs one reply with these calls. */
  async function runCalls(made: readonly Tool[], change: Partial<AgentRun>, ...blocks: ReturnType<typeof call>[]) {
    const model = new ScriptedModel([calls(...blocks), say('ok')]);
    const setup = runFixture(model, made, change);
    const result = await runAgent(setup.run);
    return {...setup, model, result, contents: resultsIn(setup.run.history.messages[2]).map(({content}) => content)};
  }

  it('are not run after one at which a hook ended the run', async () => {
    const afterCall: AgentRun['afterCall'] = [
      async (_, result) => (result.content === 'first done' ? {...result, stops: 'that is enough'} : result),
    ];
    const write = (name: string) => tool(name, undefined, [{kind: 'run', command: name}]);
    const {contents, result, model} = await runCalls(
      ...([[write('first'), write('second')], {afterCall}] as const),
      ...[call('first', {}), call('second', {}), call('second', {}, 'third')],
    );
    const notRun = 'Not run: a hook has ended this run.';
    expect(contents).toEqual(['first done', notRun, notRun]);
    expect(result).toMatchObject({outcome: 'error', code: 'HOOK', error: expect.stringContaining('that is enough')});
    expect(model.requests).toHaveLength(1);
  });

  it('may be those of further tools, which the model is offered, or knows from elsewhere', async () => {
    const moreTools = {
      ready: async () => undefined,
      list: () => [tool('more')],
      find: (name: string) => [tool('more'), tool('hidden')].find((each) => each.name === name),
      readMention: () => undefined,
    };
    const {contents, model} = await runCalls(
      ...([[tool('look')], {moreTools}] as const),
      ...[call('look', {}), call('more', {}), call('hidden', {}), call('gone', {})],
    );
    expect(contents).toEqual([
      ...['look done', 'more done', 'hidden done'],
      'gone is not a tool of this agent; nothing was run. Its tools: look, more',
    ]);
    expect(model.requests[0]?.tools.map(({name}) => name)).toEqual(['look', 'more']);
  });

  it('go on in the background where the tool says so and the agent may, each in a working directory of its own', async () => {
    const started: {tool: string; title: string; ended: Promise<ToolResult>}[] = [];
    const background: NonNullable<AgentRun['background']> = {
      start({tool: name, title, run}) {
        const {output, emit} = setup.run;
        const ended = run({agentId: 'own', label: 'own', output, emit}, new AbortController().signal);
        started.push({tool: name, title, ended});
        return textResult('started');
      },
      offer: () => ({detached: new Promise(() => undefined), withdraw: () => undefined}),
      isWaitedForBy: () => false,
    };
    const long = {
      ...tool('long', ({agentId, workspace, outlivesTurn}, value) => {
        workspace.cwd = '/elsewhere';
        return textResult(`${agentId} ${value} ${outlivesTurn}`);
      }),
      isBackground: (input: unknown) => (input as {value: string}).value === 'later',
    };
    const setup = runFixture(new ScriptedModel([]));
    const later = call('long', {value: 'later'}, 'a');
    const both = await runCalls([long], {background}, later, call('long', {value: 'now'}, 'b'));
    expect(both.contents).toEqual(['started', 'test now true']);
    expect(started).toMatchObject([{tool: 'long', title: 'later'}]);
    expect(await started[0]?.ended).toMatchObject({content: 'own later true'});
    const alone = await runCalls([long], {background}, later);
    expect(alone.run.workspace.cwd).toBe('/tmp');
    expect((await runCalls([long], {}, later)).contents).toEqual(['test later false']);
  });

  it('run alone where only one of their accesses changes something', async () => {
    const order: string[] = [];
    const both = tool(
      'both',
      async (_, value) => {
        order.push(`${value} begins`);
        await Promise.resolve();
        order.push(`${value} ends`);
        return textResult(value);
      },
      [
        {kind: 'read', path: '/tmp'},
        {kind: 'write', path: '/tmp/a'},
      ],
    );
    await runCalls([both], {}, call('both', {value: '1'}, 'a'), call('both', {value: '2'}, 'b'));
    expect(order).toEqual(['1 begins', '1 ends', '2 begins', '2 ends']);
  });

  it('are shown by their titles and purposes, also in the transcript', async () => {
    const described = {...tool('look'), purpose: () => 'to see'};
    const {events, lines} = await runCalls(
      [described, tool('plain')],
      {},
      call('look', {value: 'at'}),
      call('plain', {}),
    );
    expect(events.filter(({type}) => type === 'tool_start')).toEqual([
      {type: 'tool_start', callId: 'toolu_look', tool: 'look', title: 'at', description: 'to see'},
      {type: 'tool_start', callId: 'toolu_plain', tool: 'plain', title: ''},
    ]);
    expect(lines[2]).toMatchObject({
      calls: {toolu_look: {title: 'at', description: 'to see', lines: 1}, toolu_plain: {title: ''}},
    });
  });

  it('of a tool that is unknown, or that were refused, have neither a title nor a line about them', async () => {
    const {events, lines, result} = await runCalls([], {}, call('fly', {}));
    expect(events.filter(({type}) => type === 'tool_start')).toEqual([
      {type: 'tool_start', callId: 'toolu_fly', tool: 'fly', title: ''},
    ]);
    expect(lines[2]).toMatchObject({calls: {toolu_fly: {title: ''}}});
    expect(result.tools).toEqual([{tool: 'fly', isError: true, facts: {}}]);
    const refused = await runCalls([tool('look')], {limits: {maxTurns: 1, timeoutSeconds: 0}}, call('look', {}));
    expect(JSON.stringify(refused.lines[2])).not.toContain('durationMs');
  });

  it('that have no content say so, or what was repaired in them', async () => {
    const empty = tool('empty', () => ({content: undefined}));
    const repair = () => ({input: {value: 'x'}, notes: ['value was missing']});
    const {contents} = await runCalls(
      [empty, {...empty, name: 'mended', repair}],
      {},
      call('empty', {}),
      call('mended', {}),
    );
    expect(contents).toEqual(['(no output)', [{type: 'text', text: 'Repaired: value was missing'}]]);
  });

  it('are shown by their beginning, or by their end where that says what went wrong', async () => {
    const text = `begin${'x'.repeat(3_000)}end`;
    const made = [tool('head', () => textResult(text)), tool('tail', () => textResult(text, {showsEnd: true}))];
    const {events} = await runCalls(made, {}, call('head', {}), call('tail', {}));
    const [head, tail] = events.filter((event) => event.type === 'tool_end');
    expect([head?.preview.slice(0, 5), head?.preview.length, head?.previewIsEnd]).toEqual(['begin', 2_000, undefined]);
    expect([tail?.preview.slice(-3), tail?.preview.length, tail?.previewIsEnd]).toEqual(['end', 2_000, true]);
  });

  it('have a checkpoint around them only where they were decided so', async () => {
    const saved: string[] = [];
    const around = async <T>(by: {readonly label: string}, work: (saved: Promise<void>) => Promise<T>) => {
      saved.push(by.label);
      return {value: await work(Promise.resolve()), compared: Promise.resolve({changed: []})};
    };
    for (const checkpoint of [false, true]) {
      const permit = async () => ({...ALLOWED_CALL, attempts: [{launch: 'plain', checkpoint}] as const});
      await runCalls([tool('look')], {permit, checkpoints: {...NO_CHECKPOINTS, around}}, call('look', {}));
      expect(saved).toHaveLength(checkpoint ? 1 : 0);
    }
  });

  it('that are asked about have their checkpoint prepared while the person reads, if they are commands', async () => {
    const prepare = vi.fn();
    const checkpoints = {...NO_CHECKPOINTS, prepare};
    const ask = async ({onAsked}: PermitRequest) => {
      onAsked?.();
      return ALLOWED_CALL;
    };
    const look = tool('look', () => textResult('seen'), [{kind: 'read', path: '/'}]);
    const make = tool('make', () => textResult('made'), [{kind: 'run', command: 'make'}]);
    await runCalls([look, make], {permit: ask, checkpoints}, call('look', {}));
    await runCalls([look, make], {permit: async () => ALLOWED_CALL, checkpoints}, call('make', {}));
    expect(prepare).not.toHaveBeenCalled();
    await runCalls([look, make], {permit: ask, checkpoints}, call('make', {}));
    expect(prepare).toHaveBeenCalledTimes(1);
  });

  it('of a tool that checks its input itself are not told which parameters there are', async () => {
    const own = {...tool('own'), inputSchema: {type: 'object', properties: {}}} as Tool;
    expect((await runCalls([own], {}, call('own', {other: 1}))).contents).toEqual(['own done']);
    const listed = await runCalls([tool('look')], {}, call('look', [1], 'a'), call('look', {}, 'b'));
    expect(listed.contents).toEqual([expect.stringContaining('is no object'), 'look done']);
  });

  it('that a person refused say so, and end the run where the answer does', async () => {
    const deny = (change: object): Partial<AgentRun> => ({
      permit: async () => ({verdict: 'deny', because: 'no', message: 'No.', ...change}),
    });
    const summaryOf = ({events}: {readonly events: readonly AgentEventBody[]}) =>
      events.flatMap((event) => (event.type === 'tool_end' ? [event.summary] : []));
    const person = await runCalls([tool('look')], deny({byPerson: true}), call('look', {}));
    expect([summaryOf(person), person.result.outcome]).toEqual([['refused'], 'success']);
    const hook = await runCalls([tool('look')], deny({stops: 'enough'}), call('look', {}));
    expect([summaryOf(hook), hook.result]).toMatchObject([[undefined], {outcome: 'error', code: 'HOOK'}]);
  });

  it('say what came of them: whether they failed, how long they took, where the whole output is', async () => {
    const loud = {...tool('loud', () => textResult('x'.repeat(50))), maxChars: 20};
    const {events, run} = await runCalls([loud, tool('quiet')], {}, call('loud', {}), call('quiet', {}));
    const ends = events.filter((event) => event.type === 'tool_end');
    expect(ends).toMatchObject([{isError: false, outputFile: '/outputs/toolu_loud', lines: 1}, {isError: false}]);
    expect(ends[1]).not.toHaveProperty('outputFile');
    for (const {durationMs} of ends) expect(durationMs).toBeLessThan(performance.now() / 2);
    expect(resultsIn(run.history.messages[2])[1]).toEqual({
      ...{type: 'tool_result', tool_use_id: 'toolu_quiet', content: 'quiet done'},
    });
  });

  it('can be looked at before they are decided, by tools that do so; what goes wrong there is a problem', async () => {
    const problems: (string | undefined)[] = [];
    const permit: AgentRun['permit'] = async ({findProblem}) => {
      problems.push(findProblem ? await findProblem([]) : 'not asked');
      return ALLOWED_CALL;
    };
    const find = (findProblem: Tool['findProblem']) => ({...tool('look'), findProblem}) as Tool;
    const broken = find(async () => Promise.reject(new Error('cannot say')));
    for (const made of [tool('look'), find(async (_, {outlivesTurn}) => `outlives: ${outlivesTurn}`), broken]) {
      await runCalls([made], {permit}, call('look', {}));
    }
    expect(problems).toEqual(['not asked', 'outlives: false', 'look failed: cannot say']);
  });
});
