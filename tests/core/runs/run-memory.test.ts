import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import {describe, expect, it} from 'vitest';
import {AGENT_TYPES} from '../../../src/core/agent-types.ts';
import type {AssistantBlock} from '../../../src/core/contract/model.ts';
import {textResult} from '../../../src/core/util/tool-output.ts';
import {managerFixture} from '../manager-fixture.ts';
import {tool} from '../run-fixture.ts';
import {call, calls, ScriptedModel, say} from '../scripted-model.ts';

const WARM_UP = 50;
const RUNS = 300;
const MAX_BYTES = 20 * 1024;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

describe('the memory of a session', () => {
  it(`keeps less than 20 KB of each of ${RUNS} ended runs: their messages are on disk`, async () => {
    const big = tool('look', () => textResult('x'.repeat(200_000)));
    const {manager, dispatch, inbox, events} = managerFixture({tools: [big], maxConcurrent: 8});
    const agent = {...AGENT_TYPES.explore!, tools: ['look']};
    // Each run has its own model, which keeps its requests and must be freed with the run.
    const run = async (index: number) => {
      const model = new ScriptedModel([calls(call('look', {})), say('y'.repeat(5_000))]);
      const dispatched = await dispatch(model, {agent, prompt: `task ${index}`, background: index % 2 === 0});
      if (dispatched.source !== 'cached') await dispatched.started.ended;
      inbox.deliver();
      // The events that the fixture keeps are not part of mini-cc.
      events.length = 0;
    };
    const all = async (from: number, to: number) => {
      for (let index = from; index < to; index += 8) {
        await Promise.all(Array.from({length: Math.min(8, to - index)}, (_, offset) => run(index + offset)));
      }
    };
    await all(0, WARM_UP);
    const before = heap();
    await all(WARM_UP, WARM_UP + RUNS);
    const grown = (heap() - before) / RUNS;
    process.stdout.write(`heap for each ended run: ${(grown / 1024).toFixed(1)} KB\n`);
    expect(grown).toBeLessThan(MAX_BYTES);
    expect(manager.list()).toHaveLength(WARM_UP + RUNS);
  });

  it('keeps nothing of a run of 500 turns with 2 KB results once it has ended', async () => {
    const look = tool('look', () => textResult('z'.repeat(2_000)));
    const {spawn, events} = managerFixture({tools: [look]});
    const agent = {...AGENT_TYPES.explore!, tools: ['look']};
    const run = async (turns: number) => {
      // Replies without ScriptedModel, which would keep each request.
      let turn = 0;
      const model = new ScriptedModel([say('done')]);
      const last = model.reply.bind(model);
      model.reply = async (request, onProgress) => {
        turn += 1;
        if (turn >= turns) return last(request, onProgress);
        const {content} = calls(call('look', {value: `${turn}`}, `call_${turn}`)) as {
          content: readonly AssistantBlock[];
        };
        const usage = {input_tokens: 1, output_tokens: 1, cache_read_input_tokens: 0, cache_creation_input_tokens: 0};
        return {id: `m${turn}`, content, stopReason: 'tool_use', usage, model: 'scripted', garbledInputs: new Map()};
      };
      const {result} = await spawn(model, {agent, limits: {maxTurns: 600, timeoutSeconds: 0}});
      expect(result).toMatchObject({outcome: 'success', turns});
      events.length = 0;
    };
    // The first run lets V8 compile the code.
    await run(500);
    const before = heap();
    await run(500);
    expect(heap() - before).toBeLessThan(400 * 1024);
  });
});

function heap(): number {
  for (let round = 0; round < 4; round += 1) collect();
  return process.memoryUsage().heapUsed;
}
