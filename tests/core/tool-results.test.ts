/** What the model, the screen and the receipt get of the result of a tool. */
import {once} from 'node:events';
import {describe, expect, it, vi} from 'vitest';
import {z} from 'zod';
import {type AgentRun, runAgent} from '../../src/core/agent-loop.ts';
import type {ToolResult} from '../../src/core/contract/results.ts';
import type {Tool} from '../../src/core/contract/tool.ts';
import {createBudget} from '../../src/core/turn/budget.ts';
import {RunAborted} from '../../src/core/turn/run-ending.ts';
import {MiniCcError} from '../../src/core/util/errors.ts';
import {countTokens} from '../../src/core/util/messages.ts';
import {textResult} from '../../src/core/util/tool-output.ts';
import {stopTimers} from '../support/fake-time.ts';
import {ALLOWED_CALL, resultsIn, runFixture, tool} from './run-fixture.ts';
import {call, calls, ScriptedModel, say} from './scripted-model.ts';

async function callOnce(made: Tool, input: unknown = {}, name = made.name) {
  const setup = runFixture(new ScriptedModel([calls(call(name, input, 'a')), say('ok')]), [made]);
  const result = await runAgent(setup.run);
  const end = setup.events.find((event) => event.type === 'tool_end');
  return {...setup, result, block: resultsIn(setup.run.history.messages[2])[0], end};
}

const returning = (result: ToolResult, more: Partial<Tool> = {}): Tool => ({...tool('look', () => result), ...more});

describe('the result of a call', () => {
  it('comes also from a tool that is called by an alias', async () => {
    expect((await callOnce({...tool('read_file'), aliases: ['Read']}, {}, 'Read')).block).toMatchObject({
      content: 'read_file done',
    });
  });

  it('begins with the parameters that were ignored', async () => {
    const {block} = await callOnce(tool('look'), {value: 'x', colour: 'red', size: 3});
    expect(block?.content).toBe('Ignored: colour, size (no parameters of look)\nlook done');
  });

  it('names the parameter that is missing, and the ones that are no parameters of the tool', async () => {
    const look = {...tool('look'), input: z.object({path: z.string(), run: z.union([z.string(), z.number()])})};
    expect((await callOnce(look as unknown as Tool, {file_path: 'a.ts'})).block).toMatchObject({
      is_error: true,
      content:
        'Invalid input for look:\n✖ path is missing\n  → at path\n✖ run is missing\n  → at run\nIgnored: file_path (no parameters of look)',
    });
  });

  it('begins with what was repaired in the input, also when it is made of blocks', async () => {
    const repair = () => ({input: {value: 'x'}, notes: ['value was missing', 'colour was dropped']});
    const notes = 'Repaired: value was missing; colour was dropped';
    expect((await callOnce(returning(textResult('seen'), {repair}))).block?.content).toBe(`${notes}\nseen`);
    const image: ToolResult['content'] = [{type: 'text', text: 'seen'}];
    expect((await callOnce(returning({content: image}, {repair}))).block?.content).toEqual([
      {type: 'text', text: notes},
      {type: 'text', text: 'seen'},
    ]);
  });

  it('is cut at the limit of its tool', async () => {
    const {block} = await callOnce(returning(textResult('x'.repeat(500)), {maxChars: 100}));
    expect(block?.content).toMatch(/^x{50}\n\n\[\.\.\. 400 characters cut; .*\n\nx{50}$/);
  });

  it('is returned, cut, when the whole output cannot be saved', async () => {
    const model = new ScriptedModel([calls(call('look', {}, 'a')), say('ok')]);
    const {run} = runFixture(model, [returning(textResult('x'.repeat(40_000)))], {
      output: {
        open: () => {
          throw new Error('no space left on device');
        },
      },
    });
    await runAgent(run);
    const content = resultsIn(run.history.messages[2])[0]?.content;
    expect(content).toMatch(/^x+\n\n\[\.\.\. .*could not be kept: no space left on device/);
  });

  it('is the message alone when the tool throws an error of mini-cc', async () => {
    const {block} = await callOnce(
      tool('look', () => {
        throw new MiniCcError('NOT_READ', 'Read a.ts first.');
      }),
    );
    expect(block).toMatchObject({is_error: true, content: 'Read a.ts first.'});
  });

  it('is what the tool returns within a second after an abort', async () => {
    stopTimers();
    const begun = Promise.withResolvers<void>();
    const slow = tool('slow', async ({signal}) => {
      begun.resolve();
      await once(signal, 'abort');
      await vi.advanceTimersByTimeAsync(999);
      return textResult('so far');
    });
    const {run, abort} = runFixture(new ScriptedModel([calls(call('slow', {}))]), [slow]);
    const ended = runAgent(run);
    await begun.promise;
    abort.abort(new RunAborted('user'));
    await ended;
    expect(resultsIn(run.history.messages[2])[0]).toMatchObject({content: 'so far'});
  });

  it('is an error for a call in the report of a run at its limit', async () => {
    const model = new ScriptedModel((_, index) => calls(call('look', {}, `c${index}`)));
    const {run} = runFixture(model, [tool('look')], {limits: {maxTurns: 2, timeoutSeconds: 0}});
    const {tools} = await runAgent(run);
    expect(resultsIn(run.history.messages.at(-1))).toEqual([
      expect.objectContaining({is_error: true, content: 'Not run: the limit of this run is reached.'}),
    ]);
    expect(tools.map(({isError}) => isError)).toEqual([false, true]);
  });
});

describe('a call of a run that is aborted', () => {
  const run = (change: Partial<AgentRun>, ...made: Tool[]) => {
    const use = calls(...made.map(({name}) => call(name, {}, name)));
    return runFixture(new ScriptedModel([use, say('ok')]), made, change);
  };

  it('is not decided when the abort came before', async () => {
    const asked: string[] = [];
    const first = tool('first', () => {
      setup.abort.abort(new RunAborted('user'));
      return textResult('done');
    });
    const setup = run(
      {
        permit: async ({tool}) => {
          asked.push(tool);
          return ALLOWED_CALL;
        },
      },
      // It writes, so the second one waits for it.
      {...first, access: () => [{kind: 'write', path: '/tmp/x'}]},
      tool('second'),
    );
    await runAgent(setup.run);
    expect(asked).toEqual(['first']);
    expect(resultsIn(setup.run.history.messages[2]).map(({content}) => content)).toEqual([
      'done',
      'Not run: interrupted by the user.',
    ]);
  });

  it('does not run when the abort comes during its question', async () => {
    let ran = false;
    const look = tool('look', () => {
      ran = true;
      return textResult('');
    });
    const setup = run(
      {
        permit: async () => {
          setup.abort.abort(new RunAborted('user'));
          return ALLOWED_CALL;
        },
      },
      look,
    );
    await runAgent(setup.run);
    expect(ran).toBe(false);
    expect(resultsIn(setup.run.history.messages[2])).toMatchObject([{content: 'Not run: interrupted by the user.'}]);
  });

  it('makes no second attempt', async () => {
    const made: string[] = [];
    const look = tool('look', ({attempt}) => {
      made.push(attempt.launch);
      setup.abort.abort(new RunAborted('user'));
      return {...textResult('hindered'), confinementHit: true};
    });
    const attempts = [
      {launch: 'read-only', checkpoint: false},
      {launch: 'plain', checkpoint: false},
    ] as const;
    const setup = run({permit: async () => ({...ALLOWED_CALL, attempts})}, look);
    await runAgent(setup.run);
    expect(made).toEqual(['read-only']);
  });
});

describe('an allowed call', () => {
  it('may read what its decision says', async () => {
    const mayRead = () => true;
    let given: unknown;
    const look = tool('look', (context) => {
      given = context.mayRead;
      return textResult('');
    });
    const model = new ScriptedModel([calls(call('look', {})), say('ok')]);
    await runAgent(runFixture(model, [look], {permit: async () => ({...ALLOWED_CALL, mayRead})}).run);
    expect(given).toBe(mayRead);
  });

  it('does not run when its input is changed a second time', async () => {
    const model = new ScriptedModel([calls(call('look', {})), say('ok')]);
    const {run} = runFixture(model, [tool('look')], {
      permit: async () => ({verdict: 'changed', input: {value: 'again'}, opinion: {by: 'person', says: 'allow'}}),
    });
    await runAgent(run);
    expect(resultsIn(run.history.messages[2])).toMatchObject([
      {is_error: true, content: expect.stringContaining('Not run: its input was changed twice.')},
    ]);
  });
});

describe('the event at the end of a call', () => {
  it('has a preview of at most 2,000 characters, and what is to be shown', async () => {
    const display = {kind: 'text' as const, text: 'shown'} as unknown as NonNullable<ToolResult['display']>;
    const {end} = await callOnce(returning({...textResult('x'.repeat(5_000)), display}));
    expect(end).toMatchObject({callId: 'a', isError: false, preview: 'x'.repeat(2_000), display});
  });

  it('has of a progress bar what a terminal shows at the end, while the model reads all', async () => {
    const output = `${Array.from({length: 200}, (_, index) => `${index} %`.padEnd(40, '#')).join('\r')}\r\nsaved\r\n`;
    const {end, block} = await callOnce(returning(textResult(output)));
    expect(end).toMatchObject({preview: `${'199 %'.padEnd(40, '#')}\nsaved\n`});
    expect(block).toMatchObject({content: output});
  });
});

describe('a question that a tool asks the model', () => {
  it('has the rest of the token budget as its output limit, and its tokens count', async () => {
    const asks = tool('asks', async ({ask}) => textResult(await ask({system: 's', prompt: 'p'})));
    const model = new ScriptedModel([calls(call('asks', {})), say('an answer'), say('ok')]);
    const budget = createBudget({maxTokens: 1_000});
    const {run} = runFixture(model, [asks], {budget});
    const result = await runAgent(run);
    // The scripted model uses 15 tokens a call. The rest is without what the input is estimated to have.
    expect(model.requests.map(({maxOutputTokens}) => maxOutputTokens)).toEqual([956, 984, 950]);
    expect(countTokens(budget.usage)).toBe(45);
    expect(result.usage).toMatchObject({input_tokens: 30, output_tokens: 15});
    expect(result.tools).toMatchObject([{tool: 'asks', used: [{model: 'scripted', usage: {input_tokens: 10}}]}]);
    expect(resultsIn(run.history.messages[2])[0]?.content).toBe('an answer');
  });
});
