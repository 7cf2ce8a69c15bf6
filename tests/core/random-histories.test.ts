/**
 * Random replies, interruptions, faults of the disk and damage to the transcript: after each of them, the strict rules
 * of the scripted server take each next request. MINI_CC_HISTORIES sets the number of histories; `npm run soak` plays
 * 100,000. A failure names its seed, and MINI_CC_SEED plays that one alone.
 */
import {appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, test} from 'vitest';
import {type AgentRun, runAgent} from '../../src/core/agent-loop.ts';
import type {AssistantBlock, Model, ModelProgress, ModelReply, ModelRequest} from '../../src/core/contract/model.ts';
import type {Tool} from '../../src/core/contract/tool.ts';
import type {Journal, TranscriptEntry} from '../../src/core/contract/transcript.ts';
import {History} from '../../src/core/turn/history.ts';
import {RunAborted} from '../../src/core/turn/run-ending.ts';
import {ModelError} from '../../src/core/util/errors.ts';
import {NO_USAGE} from '../../src/core/util/messages.ts';
import {textResult} from '../../src/core/util/tool-output.ts';
import {withCacheMarks} from '../../src/models/anthropic/params.ts';
import {getRestoredMessages, readMessagesBefore, readRewindPoints} from '../../src/storage/sessions/conversation.ts';
import {readOpening} from '../../src/storage/sessions/opening.ts';
import {readTranscript} from '../../src/storage/sessions/transcript.ts';
import type {MessagesBody, RequestBlock} from '../support/messages-server.ts';
import {findBrokenRule, identifyThought, isThought, signThought} from '../support/request-rules.ts';
import {runFixture, tool} from './run-fixture.ts';

const HISTORIES = Number(process.env.MINI_CC_HISTORIES ?? 100);
const SEED = process.env.MINI_CC_SEED;
const HEADER = {type: 'session', version: 1, id: 's', agent: 'main', cwd: '/work', at: '2026-01-01T00:00:00Z'};

/** Random numbers from a seed (mulberry32). */
class Dice {
  constructor(private state: number) {}

  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  isTrue(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }
}

/** A transcript on a disk that is sometimes full, also in the middle of a line. */
class FaultyJournal implements Journal {
  #isTorn = false;

  constructor(
    readonly file: string,
    private readonly dice: Dice,
  ) {
    writeFileSync(file, `${JSON.stringify(HEADER)}\n`);
  }

  append(entry: TranscriptEntry): void {
    // No line continues a torn one, also when it is torn itself: the first line, which damage may leave open, stays whole.
    const text = `${this.#isTorn ? '\n' : ''}${JSON.stringify(entry)}\n`;
    if (!this.dice.isTrue(0.03)) {
      appendFileSync(this.file, text);
      this.#isTorn = false;
      return;
    }
    if (this.dice.isTrue(0.5)) {
      const written = text.slice(0, this.dice.below(text.length));
      appendFileSync(this.file, written);
      if (written !== '') this.#isTorn = !written.endsWith('\n');
    }
    throw Object.assign(new Error('no space left on device'), {code: 'ENOSPC'});
  }

  /** A line is lost, torn, or doubled, or a character of it changed. */
  damage(): void {
    const lines = readFileSync(this.file, 'utf8').split('\n');
    const at = 1 + this.dice.below(Math.max(1, lines.length - 1));
    const line = lines[at] ?? '';
    const cut = this.dice.below(line.length + 1);
    const damaged = [[], [line.slice(0, cut)], [line, line], [`${line.slice(0, cut)}x${line.slice(cut + 1)}`]];
    lines.splice(at, 1, ...this.dice.pick(damaged));
    const text = lines.join('\n');
    this.#isTorn = !text.endsWith('\n');
    writeFileSync(this.file, text);
  }
}

/** Answers at random, and refuses what breaks a rule. */
class RandomModel implements Model {
  readonly name = 'random';
  readonly offline = false;
  readonly local = false;
  readonly maxOutputTokens = 1000;
  broken: string | undefined;
  isDiskDamaged = false;
  requests = 0;
  readonly #sentThoughts: string[][] = [];

  constructor(
    private readonly dice: Dice,
    private readonly abort: () => void,
  ) {}

  async contextWindow(): Promise<number> {
    return 200_000;
  }

  async reply(request: ModelRequest, onProgress: (progress: ModelProgress) => void): Promise<ModelReply> {
    const {dice} = this;
    this.requests += 1;
    const sent = {model: 'm', max_tokens: 1, ...withCacheMarks(request)};
    const body = JSON.parse(JSON.stringify(sent)) as MessagesBody;
    const problem = findBrokenRule(body, {sentThoughts: this.#sentThoughts});
    // Only the server knows a thought that a damaged disk changed: it says so, and the loop asks without thoughts.
    if (problem && /Invalid `signature`|cannot be modified/.test(problem) && this.isDiskDamaged) {
      throw new ModelError('bad_request', problem, {status: 400, retryable: false});
    }
    this.broken ??= problem;
    if (dice.isTrue(0.02)) {
      const at = dice.isTrue(0.5) ? `.${dice.below(body.messages.length)}` : '';
      throw new ModelError('bad_request', `messages${at}: not today`, {status: 400, retryable: false});
    }
    if (dice.isTrue(0.1)) onProgress({type: 'text', text: dice.pick(TEXTS)});
    if (dice.isTrue(0.05)) {
      this.abort();
      request.signal.throwIfAborted();
    }
    if (dice.isTrue(0.05)) throw new ModelError('stream', 'the stream broke off', {retryable: false});
    const content = Array.from({length: dice.below(6)}, () => createBlock(dice));
    this.#sentThoughts.push((content as unknown as RequestBlock[]).filter(isThought).map(identifyThought));
    const garbled = new Map(
      content.flatMap((block) => (block.type === 'tool_use' && dice.isTrue(0.1) ? [[block.id, '{"']] : [])),
    );
    return {
      ...{id: 'msg', content: JSON.parse(JSON.stringify(content)) as AssistantBlock[], usage: NO_USAGE, model: 'm'},
      stopReason: dice.isTrue(0.8)
        ? 'end_turn'
        : dice.pick(['max_tokens', 'pause_turn', 'refusal', 'tool_use'] as const),
      garbledInputs: garbled as Map<string, string>,
    };
  }
}

const TEXTS = ['said', '', ' \n', 'half \ud83d', '\udc00', 'whole 😀', 'ends with a space '];
const IDS = ['a', 'b', 'a_2', '', 'a b', 'toolu_01', '\ud83d'];
const INPUTS = [{}, {value: 'x'}, {value: '\ud800', '\udc00': 1}, ['a.txt'], null, 'text', 7];

function createBlock(dice: Dice): AssistantBlock {
  const kind = dice.below(10);
  const thinking = dice.pick(['hm', 'so', '', 'half \ud83d']);
  const block = (() => {
    if (kind < 3) return {type: 'text', text: dice.pick(TEXTS), citations: null};
    if (kind === 3)
      return {type: 'thinking', thinking, signature: dice.isTrue(0.8) ? signThought(thinking.toWellFormed()) : ''};
    if (kind === 4) return {type: 'redacted_thinking', data: dice.isTrue(0.8) ? `data ${dice.below(1_000)}` : ''};
    const id = dice.isTrue(0.5) ? `toolu_${dice.below(100_000)}` : dice.pick(IDS);
    return {type: 'tool_use', id, name: dice.pick(['look', 'look', 'fail', 'look at', '']), input: dice.pick(INPUTS)};
  })();
  return block as unknown as AssistantBlock;
}

/** The start of a PNG. */
function createImage(width: number, height: number, media_type: string) {
  const bytes = Buffer.alloc(60);
  bytes.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  const source = {type: 'base64' as const, media_type: media_type as 'image/png', data: bytes.toString('base64')};
  return {type: 'image' as const, source};
}

function createTools(dice: Dice, abort: () => void): Tool[] {
  const image = () =>
    createImage(dice.pick([10, 2_500, 9_000]), 10, dice.pick(['image/png', 'image/png', 'image/jpeg', 'image/bmp']));
  const look = tool('look', () => {
    if (dice.isTrue(0.02)) abort();
    if (dice.isTrue(0.2)) return {content: Array.from({length: dice.below(5)}, image)};
    return textResult(dice.pick(TEXTS));
  });
  const fail = tool('fail', () => {
    throw new Error(dice.pick(TEXTS));
  });
  return [look, fail];
}

/** One conversation: some prompts, with a reload, a rewind or damage between them. @returns the number of requests */
async function play(seed: number, folder: string): Promise<number> {
  const dice = new Dice(seed);
  const journal = new FaultyJournal(path.join(folder, 'session.jsonl'), dice);
  let abort = new AbortController();
  const interrupt = () => abort.abort(new RunAborted(dice.pick(['user', 'stop'])));
  const model = new RandomModel(dice, interrupt);
  let history = new History(journal);
  for (let prompts = 2 + dice.below(6); prompts > 0; prompts -= 1) {
    abort = new AbortController();
    const limits = {maxTurns: 1 + dice.below(6), timeoutSeconds: 0};
    const {run} = runFixture(model, createTools(dice, interrupt), {history, limits, signal: abort.signal});
    await submit(run, dice);
    expect(model.broken, `seed ${seed}`).toBeUndefined();
    if (dice.isTrue(0.3)) {
      journal.damage();
      model.isDiskDamaged = true;
    }
    if (dice.isTrue(0.4)) history = reload(journal);
    if (dice.isTrue(0.1)) rewind(history, journal.file, dice);
  }
  return model.requests;
}

/** The disk may be full. Everything else must not happen. */
async function submit(run: AgentRun, dice: Dice): Promise<void> {
  try {
    run.history.appendPrompt(dice.isTrue(0.8) ? 'a prompt' : dice.pick(TEXTS));
  } catch (error) {
    expect(error).toMatchObject({code: 'ENOSPC'});
    return;
  }
  const result = await runAgent(run);
  if (result.outcome !== 'error' || result.code !== 'INTERNAL') return;
  expect(result.error).toBe('no space left on device');
}

function reload(journal: FaultyJournal): History {
  const {restored} = readOpening(journal.file);
  // A session that goes on lets go of what was replaced; it must come to the same.
  expect(restored).toEqual(getRestoredMessages(readTranscript(journal.file)));
  const history = new History(journal, restored);
  ignoreFullDisk(() => history.answerOpenCalls('Cut off: mini-cc ended before this call did.'));
  return history;
}

function rewind(history: History, file: string, dice: Dice): void {
  const points = readRewindPoints(file);
  if (points.length === 0) return;
  const {uuid} = dice.pick(points);
  ignoreFullDisk(() => history.rewind(uuid, () => readMessagesBefore(file, uuid)));
}

function ignoreFullDisk(work: () => void): void {
  try {
    work();
  } catch (error) {
    expect(error).toMatchObject({code: 'ENOSPC'});
  }
}

test(
  `each request of ${HISTORIES} random histories is taken`,
  async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'mini-cc-histories-'));
    const first = SEED === undefined ? Math.floor(Math.random() * 1_000_000_000) : Number(SEED);
    let requests = 0;
    try {
      for (let index = 0; index < (SEED === undefined ? HISTORIES : 1); index += 1) {
        requests += await play(first + index, folder).catch((error: unknown) => {
          throw new Error(`MINI_CC_SEED=${first + index}: ${String(error)}`, {cause: error});
        });
      }
    } finally {
      rmSync(folder, {recursive: true});
    }
    // Few histories end before their first request.
    expect(requests).toBeGreaterThan(SEED === undefined ? HISTORIES * 3 : 0);
  },
  60_000 + HISTORIES * 100,
);
