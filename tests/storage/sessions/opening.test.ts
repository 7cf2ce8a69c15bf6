/**
 * Going on with a compacted session reads the file only from its last compaction on. What it finds must be what the whole
 * file gives. The whole file is read where the field with the totals of the compactions has an unknown name.
 */
import {mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it, test} from 'vitest';
import type {AssistantBlock} from '../../../src/core/contract/model.ts';
import type {Announcement} from '../../../src/core/contract/transcript.ts';
import {NO_SUBAGENTS} from '../../../src/core/runs/delegation-log.ts';
import {Redactor} from '../../../src/core/secrets/redaction.ts';
import {History} from '../../../src/core/turn/history.ts';
import {readMessagesBefore, readRewindPoints} from '../../../src/storage/sessions/conversation.ts';
import {type Opening, readOpening, readTotals} from '../../../src/storage/sessions/opening.ts';
import {SessionStore} from '../../../src/storage/sessions/session-store.ts';
import {TranscriptWriter} from '../../../src/storage/sessions/transcript-writer.ts';
import {createRandom} from '../../support/random.ts';

/** MINI_CC_HISTORIES sets the number; MINI_CC_SEED repeats a failure. */
const SESSIONS = Number(process.env.MINI_CC_HISTORIES ?? 12);
const AT = '2030-01-01T00:00:00.000Z';
const SUMMARY = {message: {role: 'user' as const, content: 'summary'}, summary: {files: [], todos: []}};
const createFile = () => path.join(mkdtempSync(path.join(tmpdir(), 'mini-cc-opening-')), 'session.jsonl');

/** A session with a transcript that the real writer writes. `isFull` says whether the disk is full. */
function openSession(file: string, isFull = () => false) {
  const writer = new TranscriptWriter(file, {id: 'one', agent: 'main', cwd: '/work'}, new Redactor([]), {
    beforeLine() {
      if (isFull()) throw Object.assign(new Error('no space left'), {code: 'ENOSPC', syscall: 'write'});
    },
    readTotals: (entry) => readTotals(file, entry),
  });
  return {history: new History(writer), writer};
}

const readLines = (file: string) => readFileSync(file, 'utf8').split('\n');

function change(file: string, replace: (text: string) => string): string {
  const changed = createFile();
  writeFileSync(changed, replace(readFileSync(file, 'utf8')));
  return changed;
}

function readWhole(file: string): Opening {
  const whole = change(file, (text) => text.replaceAll('\n{"type":"replace","totals":', '\n{"type":"replace","x":'));
  const opening = readOpening(whole);
  rmSync(path.dirname(whole), {recursive: true});
  return opening;
}

/** Finds the line of the last message that the last compaction replaced, whose line can be found. */
function findReplaced(text: string): {at: number; end: number} | undefined {
  const lines = text.split('\n').filter((line) => line.startsWith('{"type":"replace","totals":'));
  const places = lines.flatMap((line) => {
    const [, to] = /"to":"([^"]+)","because"/.exec(line) ?? [];
    const at = text.lastIndexOf(`\n{"type":"message","uuid":"${to}"`, text.indexOf(line)) + 1;
    return at === 0 ? [] : [{at, end: text.indexOf('\n', at)}];
  });
  return places.at(-1);
}

/** Says whether the opening does not depend on the lines of messages before. */
function isOpenedWithoutReplaced(file: string): boolean {
  const {at} = findReplaced(readFileSync(file, 'utf8')) ?? {};
  if (at === undefined) return false;
  const blank = change(file, (text) => {
    const header = text.indexOf('\n') + 1;
    return `${text.slice(0, header)}${' '.repeat(Math.max(0, at - header - 1))}\n${text.slice(at)}`;
  });
  const opening = readOpening(blank);
  rmSync(path.dirname(blank), {recursive: true});
  try {
    expect(opening).toEqual(readOpening(file));
    return true;
  } catch {
    return false;
  }
}

const usage = (tokens: number) => ({
  ...{input_tokens: tokens, output_tokens: 1, cache_read_input_tokens: 0, cache_creation_input_tokens: 0},
  cost_usd: tokens * 0.1,
});
const facts = (tokens: number, model = 'm') => ({model, usage: usage(tokens), stopReason: 'end_turn'});
const say = (text: string) => [{type: 'text', text}] as unknown as AssistantBlock[];
const announcement = (runId: string): Announcement => ({
  ...{runId, round: 1, agent: 'explore', outcome: 'success', reason: '', text: 'a'},
});

/** A prompt, a call with its result, and an answer. @returns the uuid of the prompt */
function takeTurn(history: History, name: string, content = `result ${name}`): string {
  const prompt = history.appendPrompt(`prompt ${name}`);
  const call = {type: 'tool_use', id: `call_${name}`, name: 'read_file', input: {}} as unknown as AssistantBlock;
  const {content: reply} = history.appendReply([...say('I look.'), call], facts(1));
  const [id] = reply.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
  history.append({role: 'user', content: [{type: 'tool_result', tool_use_id: id!, content}]});
  history.appendReply(say(`answer ${name}`), facts(2));
  return prompt;
}

/** Four turns, of which the first three are replaced. */
function compacted() {
  const file = createFile();
  const {history, writer} = openSession(file);
  const prompts = ['0', '1', '2', '3'].map((name) => takeTurn(history, name));
  history.replace(0, 12, [SUMMARY], 'compacted');
  return {file, history, writer, prompts};
}

/** Plays a session at random: the same steps for the same seed. @returns how many openings read only a part */
function play(seed: number): {openings: number; partial: number} {
  const below = createRandom(seed);
  const chance = (percent: number) => below(100) < percent;
  const file = createFile();
  let isFull = false;
  let {history, writer} = openSession(file, () => isFull);
  const found = {openings: 0, partial: 0};

  const damage = () => {
    // What is damaged before the last compaction was counted whole, so only later lines are damaged here.
    const lines = readLines(file);
    const first = Math.max(
      1,
      lines.findLastIndex((line) => line.startsWith('{"type":"replace","totals"')),
    );
    const at = first + below(lines.length - first);
    const line = lines[at]!;
    const cut = below(line.length + 1);
    const other = line.startsWith('{"type":"replace"') ? [] : [`${line.slice(0, cut)}x${line.slice(cut + 1)}`];
    const kinds = [[], [line.slice(0, cut)], [line, line], other];
    lines.splice(at, 1, ...kinds[below(kinds.length)]!);
    writeFileSync(file, lines.join('\n'));
  };
  const reopen = () => {
    isFull = false;
    writer.close();
    if (chance(20)) writeFileSync(file, readFileSync(file, 'utf8').slice(0, -1 - below(200)));
    if (chance(20)) damage();
    const opening = readOpening(file);
    expect(opening, `seed ${seed}`).toEqual(readWhole(file));
    found.openings += 1;
    if (isOpenedWithoutReplaced(file)) found.partial += 1;
    ({history, writer} = openSession(file, () => isFull));
    history = new History(writer, opening.restored);
    history.answerOpenCalls('Cut off.');
  };
  const steps: (() => void)[] = [
    () => takeTurn(history, `${below(1_000_000)}`),
    () => takeTurn(history, `${below(1_000_000)}`, 'long '.repeat(below(2_000))),
    () => {
      history.appendPrompt('interrupted');
      history.recordPartial('first ', true);
      history.recordUsageSoFar({usage: usage(below(100)), model: 'm'});
      if (chance(50)) history.recordPartial('second', false);
      if (chance(30)) history.recordUsage(usage(below(100)), 'm');
    },
    () => history.recordUsage(usage(below(100)), `m${below(3)}`, chance(50) ? 'other' : undefined),
    () => history.appendAnnouncement({role: 'user', content: '<end>'}, announcement(`r${below(1_000)}`)),
    () => history.appendCompanion('output', '!ls'),
    () => history.recordTurnEnd({...NO_SUBAGENTS, runs: 1, sumMs: below(100), usage: usage(below(100))}),
    () => {
      const ids = history.messages.flatMap(({content}) =>
        typeof content === 'string'
          ? []
          : content.flatMap((block) => ('tool_use_id' in block ? [block.tool_use_id] : [])),
      );
      if (ids.length > 0) history.shorten(new Map([[ids[below(ids.length)]!, 'short']]));
    },
    () => history.setTurnAside('refused'),
    () => {
      const [point] = readRewindPoints(file).slice(below(4));
      if (point) history.rewind(point.uuid, () => readMessagesBefore(file, point.uuid));
    },
    () => {
      isFull = chance(30);
    },
    ...Array.from({length: 3}, () => () => {
      const end = Math.max(1, history.messages.length - below(8));
      const by = chance(30)
        ? [SUMMARY, {message: {role: 'user' as const, content: 'again'}, repeated: true as const}]
        : [SUMMARY];
      history.replace(0, end, by, 'compacted');
    }),
    ...Array.from({length: 3}, () => reopen),
  ];
  takeTurn(history, 'first');
  for (let step = 0; step < 60; step += 1) steps[below(steps.length)]!();
  reopen();
  rmSync(path.dirname(file), {recursive: true});
  return found;
}

test(
  `${SESSIONS} random sessions open with the same as when the whole file is read`,
  () => {
    const first = Number(process.env.MINI_CC_SEED ?? Math.floor(Math.random() * 1_000_000));
    const found = Array.from({length: SESSIONS}, (_, index) => play(first + index));
    const sum = (key: 'openings' | 'partial') => found.reduce((total, each) => total + each[key], 0);
    expect(sum('partial') / sum('openings')).toBeGreaterThan(0.15);
  },
  60_000 + SESSIONS * 2_000,
);

describe('a session that was compacted', () => {
  it('opens without most of its file', () => {
    const store = new SessionStore(mkdtempSync(path.join(tmpdir(), 'mini-cc-opening-')), '/work');
    const {journal, transcript, close} = store.openSession('one');
    const history = new History(journal);
    for (let turn = 0; turn < 300; turn += 1) {
      takeTurn(history, `${turn}`, 'a line of a result '.repeat(5_000));
      if (turn % 20 === 19) history.replace(0, history.messages.length - 4, [SUMMARY], 'compacted');
    }
    close();
    const readBytes = () => Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
    const before = readBytes();
    const opening = readOpening(transcript);
    expect(readBytes() - before).toBeLessThan(5_000_000);
    expect(statSync(transcript).size).toBeGreaterThan(25_000_000);
    expect(opening).toEqual(readWhole(transcript));
    expect(opening.restored).toHaveLength(5);
  });

  it('has what messages used that were replaced, and a reply that ended with mini-cc, once', () => {
    const {file, history, writer} = compacted();
    const used = () => readOpening(file).used.map(({usage: {input_tokens: tokens}}) => tokens);
    expect(used()).toEqual([12]);
    history.appendPrompt('next');
    history.recordPartial('begun', true);
    history.recordUsageSoFar({usage: usage(100), model: 'm'});
    expect(used()).toEqual([112]);
    // Whether the reply ended is not known at this compaction.
    history.replace(0, 5, [SUMMARY], 'compacted');
    expect(used()).toEqual([112]);
    expect(isOpenedWithoutReplaced(file)).toBe(true);
    writer.append({type: 'usage', at: AT, model: 'm', usage: usage(1_000)});
    expect(used()).toEqual([1_012]);
    expect(isOpenedWithoutReplaced(file)).toBe(true);
  });

  it('names messages that were cut off as the whole file does', () => {
    const file = createFile();
    const {history} = openSession(file);
    for (const name of ['0', '1', '2', '3']) {
      history.appendPrompt(`cut off ${name}`);
      history.recordPartial(name, true);
      if (name === '1') takeTurn(history, 'replaced');
    }
    const kept = history.messages.findIndex(({content}) => content === 'cut off 2');
    history.replace(0, kept, [SUMMARY], 'compacted');
    const opening = readOpening(file);
    const {restored} = opening;
    expect(restored.flatMap(({uuid}) => (uuid?.startsWith('cut-off') ? [uuid] : []))).toEqual([
      'cut-off-3-0',
      'cut-off-3-1',
    ]);
    expect(opening).toEqual(readWhole(file));
    expect(isOpenedWithoutReplaced(file)).toBe(true);
  });
});

describe('the whole file is read', () => {
  /** The same with another text in place of the first one after the last message that was replaced. */
  const changeKept = (file: string, search: string, replacement: string) =>
    change(file, (text) => {
      const {end} = findReplaced(text)!;
      const at = text.indexOf(search, end);
      expect(at).toBeGreaterThan(end);
      return text.slice(0, at) + replacement + text.slice(at + search.length);
    });
  const expectWhole = (file: string) => {
    expect(readOpening(file)).toEqual(readWhole(file));
    expect(isOpenedWithoutReplaced(file)).toBe(false);
  };

  it('unless nothing of what follows is the case', () => {
    const {file} = compacted();
    expect(isOpenedWithoutReplaced(file)).toBe(true);
    expect(readOpening(file)).toEqual(readWhole(file));
  });

  it('where the conversation was taken back to before the compaction', () => {
    const {file, history, prompts} = compacted();
    history.rewind(prompts[1]!, () => readMessagesBefore(file, prompts[1]!));
    takeTurn(history, 'other');
    expectWhole(file);
    expect(readOpening(file).restored).toHaveLength(8);
  });

  it('where it was taken back to the last message that was replaced', () => {
    const {file, history, prompts} = compacted();
    history.replace(0, 2, [SUMMARY], 'compacted again');
    expect(isOpenedWithoutReplaced(file)).toBe(true);
    history.rewind(prompts[3]!, () => readMessagesBefore(file, prompts[3]!));
    expectWhole(file);
    expect(readOpening(file).restored).toHaveLength(1);
  });

  it('where a line of a message that stayed, or a later one, is damaged', () => {
    const {file, history} = compacted();
    takeTurn(history, 'later');
    for (const search of ['"prompt 3"}', '"prompt later"}']) {
      const damaged = changeKept(file, search, '"');
      expectWhole(damaged);
      expect(readOpening(damaged).damaged).toBe(1);
    }
  });

  it('where the last message that was replaced is not in the conversation any more', () => {
    const file = createFile();
    const {history} = openSession(file);
    takeTurn(history, '0');
    takeTurn(history, '1');
    history.shorten(new Map([['call_0', 'short']]));
    history.replace(0, 3, [SUMMARY], 'compacted');
    expect(isOpenedWithoutReplaced(file)).toBe(true);
    expectWhole(change(file, (text) => text.replace('"result 0"', '"result 0')));
  });

  it('where the totals lack a field, or the format is a newer one', () => {
    const {file} = compacted();
    for (const field of ['announced', 'used', 'input_tokens', 'subagents', 'runs', 'damaged', 'cutOff']) {
      const changed = change(file, (text) => {
        const at = text.indexOf('"totals":');
        return text.slice(0, at) + text.slice(at).replace(`"${field}":`, '"other":');
      });
      expectWhole(changed);
    }
    expectWhole(change(file, (text) => text.replace('"version":1', '"version":2')));
  });

  it('where no compaction has totals: lines before were not written yet, or it did not replace the first messages', () => {
    const file = createFile();
    let isFull = false;
    const {history, writer} = openSession(file, () => isFull);
    takeTurn(history, '0');
    takeTurn(history, '1');
    isFull = true;
    history.recordUsage(usage(1_000), 'm');
    history.replace(0, 4, [SUMMARY], 'compacted');
    isFull = false;
    takeTurn(history, '2');
    history.setTurnAside('refused');
    expect(readLines(file).filter((line) => line.startsWith('{"type":"replace"'))).toHaveLength(2);
    expectWhole(file);
    history.replace(0, 5, [SUMMARY], 'compacted');
    expect(isOpenedWithoutReplaced(file)).toBe(true);
    expect(readOpening(file)).toEqual(readWhole(file));
    writer.close();
  });
});

it('the compaction before the last one is used where the last one replaced a summary alone', () => {
  const {file, history} = compacted();
  history.replace(0, 1, [SUMMARY], 'compacted again');
  expect(isOpenedWithoutReplaced(file)).toBe(true);
  expect(readOpening(file)).toEqual(readWhole(file));
  expect(readOpening(file).restored).toHaveLength(5);
});

it('a message that was replaced is replaced also where its line is there twice', () => {
  const file = createFile();
  const {history, writer} = openSession(file);
  takeTurn(history, '0');
  takeTurn(history, '1');
  writer.close();
  const lines = readLines(file);
  const last = lines.findIndex((line) => line.includes('answer 0'));
  writeFileSync(file, lines.toSpliced(last, 0, lines[last]!).join('\n'));
  const again = openSession(file);
  const opened = new History(again.writer, readOpening(file).restored);
  opened.replace(0, 5, [SUMMARY], 'compacted');
  expect(readOpening(file)).toEqual(readWhole(file));
  expect(readOpening(file).restored).toHaveLength(5);
  expect(isOpenedWithoutReplaced(file)).toBe(true);
});

it('a compaction is written without totals where the file cannot be read', () => {
  const {file, history, writer} = compacted();
  writeFileSync(file, 'no header\n');
  history.replace(0, 1, [SUMMARY], 'compacted again');
  rmSync(file);
  history.replace(0, 1, [SUMMARY], 'compacted once more');
  expect(history.messages).toHaveLength(5);
  writer.close();
});
