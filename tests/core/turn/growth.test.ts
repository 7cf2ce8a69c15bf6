/** What a turn costs does not grow with the conversation, except for sending it. Counts, not times. */
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {runAgent} from '../../../src/core/agent-loop.ts';
import type {AssistantBlock, Message, Model, ModelReply, ModelRequest} from '../../../src/core/contract/model.ts';
import {Redactor} from '../../../src/core/secrets/redaction.ts';
import {History} from '../../../src/core/turn/history.ts';
import {NO_USAGE} from '../../../src/core/util/messages.ts';
import {textResult} from '../../../src/core/util/tool-output.ts';
import {toParams} from '../../../src/models/anthropic/params.ts';
import {TranscriptWriter} from '../../../src/storage/sessions/transcript-writer.ts';
import {hello, modelAt, serve} from '../../models/fixture.ts';
import {say} from '../../support/messages-server.ts';
import {runFixture, tool} from '../run-fixture.ts';

const TURNS = 300;

interface TurnCounts {
  /** How often a block of a reply was looked at. */
  readonly looks: number;
  readonly written: number;
  readonly events: number;
}

/** Calls a tool in each turn; makes requests as the protocol of the Messages API does. */
class CountingModel implements Model {
  readonly name = 'counting';
  readonly source = undefined;
  readonly offline = false;
  readonly local = false;
  readonly thinking = undefined;
  readonly maxOutputTokens = 1000;
  readonly outputPrice = undefined;
  readonly texts: string[] = [];
  looks = 0;

  constructor(private readonly onTurn: () => void) {}

  async contextWindow(): Promise<number> {
    return 10_000_000;
  }

  async reply(request: ModelRequest): Promise<ModelReply> {
    const options = {id: 'm', thinking: undefined, thinkingTokens: undefined, searchesWeb: false, maxTokens: 1000};
    expect(toParams(request, options, 'none').messages).toHaveLength(request.messages.length);
    this.onTurn();
    const turn = 1000 + Math.floor(request.messages.length / 2);
    const isLast = turn >= 1000 + TURNS;
    const look = () => {
      this.looks += 1;
      return `I look at it now: ${turn}`;
    };
    const block = Object.defineProperty({type: 'text', citations: null}, 'text', {get: look, enumerable: true});
    const call = {
      type: 'tool_use',
      id: `toolu_${turn}`,
      name: 'look',
      input: {value: `${turn}`},
      caller: {type: 'direct'},
    };
    return {
      ...{id: `msg_${turn}`, model: 'm', usage: NO_USAGE, garbledInputs: new Map()},
      content: (isLast ? [block] : [block, call]) as unknown as AssistantBlock[],
      stopReason: isLast ? 'end_turn' : 'tool_use',
    };
  }
}

/** @returns what each turn cost. The journal is a real transcript. */
async function countTurns(): Promise<readonly TurnCounts[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'mini-cc-growth-'));
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}));
  const file = path.join(folder, 'transcript.jsonl');
  const journal = new TranscriptWriter(file, {id: 'a', cwd: '/tmp'} as never, new Redactor([]));
  const history = new History(journal);
  history.append({role: 'user', content: 'the task'});
  const totals: TurnCounts[] = [];
  const model: CountingModel = new CountingModel(() => {
    const {looks} = model;
    totals.push({looks, written: readFileSync(file).length, events: events.length});
  });
  const look = tool('look', () => textResult('x'.repeat(2000)));
  const {run, events} = runFixture(model, [look], {history, limits: {maxTurns: 2 * TURNS, timeoutSeconds: 0}});
  const {outcome} = await runAgent(run);
  journal.close();
  expect([outcome, totals.length]).toEqual(['success', TURNS + 1]);
  return totals.slice(1).map((total, index) => {
    const before = totals[index]!;
    return {
      looks: total.looks - before.looks,
      written: total.written - before.written,
      events: total.events - before.events,
    };
  });
}

describe('turn 300 costs what turn 30 does', () => {
  it('in blocks that are looked at, bytes of the transcript, and events', async () => {
    const turns = await countTurns();
    const [early, late] = [turns[29]!, turns[298]!];
    // Times in the transcript have more or fewer digits.
    expect({...late, written: Math.round(late.written / 100)}).toEqual({
      ...early,
      written: Math.round(early.written / 100),
    });
    expect(early.written).toBeLessThan(5_000);
  });

  it('in messages that the request to a model server looks at or encodes', async () => {
    let looks = 0;
    const create = (role: Message['role'], text: string): Message => {
      const content = [{type: 'text', text}];
      const look = () => {
        looks += 1;
        return content;
      };
      const toJSON = () => {
        looks += 1;
        return {role, content};
      };
      return Object.defineProperty({role, toJSON}, 'content', {get: look, enumerable: true}) as unknown as Message;
    };
    const server = await serve(() => say('ok'));
    const model = modelAt({baseURL: server.url, apiKey: 'key'});
    const messages = [create('user', 'first')];
    const counts: number[] = [];
    for (let turn = 0; turn < 60; turn += 1) {
      looks = 0;
      await model.reply(hello({messages: [...messages]}), () => undefined);
      counts.push(looks);
      messages.push(create('assistant', `answer ${turn}`), create('user', `question ${turn}`));
    }
    expect(counts[59]).toBe(counts[9]);
  });
});
