/** What a conversation is, by the lines of its transcript: for the model, for people, and for the counts of tokens. */
import {mkdtempSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {CUT_OFF} from '../../../src/core/util/messages.ts';
import {
  getRestoredMessages,
  getWholeConversation,
  listSaid,
  readMessagesBefore,
  readRewindPoints,
} from '../../../src/storage/sessions/conversation.ts';
import {readOpening} from '../../../src/storage/sessions/opening.ts';
import {
  describeProblem,
  readEntries,
  readHeader,
  readTranscript,
  summarizeTranscript,
} from '../../../src/storage/sessions/transcript.ts';

const AT = '2030-01-01T00:00:00.000Z';
const HEADER = {type: 'session', version: 1, id: 'one', agent: 'main', cwd: '/work', at: AT};
const usage = (tokens: number) => ({
  ...{input_tokens: tokens, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0},
});
/** A message whose id is its text, with its fields in the order in which mini-cc writes them. */
const user = (content: string, more: object = {}) => ({
  ...{type: 'message', uuid: content, at: AT, message: {role: 'user', content}, ...more},
});
const prompt = (text: string) => user(text, {prompt: true});
const reply = (content: string, more: object = {}) => ({
  ...{type: 'message', uuid: content, at: AT, message: {role: 'assistant', content}, ...more},
});
const results = (uuid: string, ...texts: readonly string[]) => {
  const content = texts.map((text) => ({type: 'tool_result', tool_use_id: `t ${text}`, content: text}));
  return {type: 'message', uuid, at: AT, message: {role: 'user', content}};
};
const piece = (text: string, start?: true) => ({type: 'partial', at: AT, text, ...(start && {start})});
const replace = (from: string, to: string, ...texts: readonly string[]) => ({
  ...{type: 'replace', at: AT, from, to, because: 'compacted'},
  by: texts.map((text) => ({uuid: text, message: {role: 'user', content: text}, summary: {files: [], todos: []}})),
});
const rewind = (to: string) => ({type: 'rewind', at: AT, to});

function write(...lines: readonly (object | string)[]): string {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'mini-cc-lines-')), 'session.jsonl');
  writeFileSync(file, lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  return file;
}
const texts = (messages: readonly {readonly message: {readonly content: unknown}}[]) =>
  messages.map(({message: {content}}) => (typeof content === 'string' ? content : JSON.stringify(content)));
/** What the model gets, read in both ways. */
function restored(...lines: readonly (object | string)[]): string[] {
  const file = write(HEADER, ...lines);
  const found = texts(getRestoredMessages(readTranscript(file)));
  expect(texts(readOpening(file).restored)).toEqual(found);
  return found;
}
const said = (text: string) => JSON.stringify([{type: 'text', text}]);
const TURNS = [prompt('one'), reply('first'), prompt('two'), reply('second'), prompt('three')];

describe('the conversation that goes on', () => {
  it('is as a replacement left it, also where the results with which it ended are damaged by now', () => {
    const line = JSON.stringify(results('r', 'x'));
    const around = (middle: string) => [
      prompt('one'),
      reply('first'),
      middle,
      replace('one', 'r', 'short'),
      prompt('two'),
    ];
    expect(restored(...around(line))).toEqual(['short', 'two']);
    expect(restored(...around(line.slice(0, -3)))).toEqual(['short', 'two']);
  });

  it.each<[string, readonly object[], readonly string[]]>([
    ['all messages', TURNS, ['one', 'first', 'two', 'second', 'three']],
    ['what a rewind left', [...TURNS, rewind('two')], ['one', 'first']],
    ['all, where a rewind names no message', [...TURNS, rewind('four')], ['one', 'first', 'two', 'second', 'three']],
    ['a summary in place of the first messages', [...TURNS, replace('one', 'second', 'short')], ['short', 'three']],
    ['several in place of some', [...TURNS, replace('first', 'two', 'a', 'b')], ['one', 'a', 'b', 'second', 'three']],
    ['one in place of one', [...TURNS, replace('two', 'two', 'a')], ['one', 'first', 'a', 'second', 'three']],
    [
      'all, where a replacement ends before it begins',
      [prompt('one'), reply('x'), replace('x', 'one', 'a')],
      ['one', 'x'],
    ],
    ['all, where a replacement begins nowhere', [prompt('one'), replace('zero', 'one', 'a')], ['one']],
    ['the way after a rewind', [...TURNS, rewind('two'), prompt('else'), rewind('two')], ['one', 'first', 'else']],
    ['a reply that was cut off', [prompt('one'), piece('be'), piece('gun\n')], ['one', said('begun'), CUT_OFF]],
    ['its last attempt alone', [prompt('one'), piece('x', true), piece('y', true)], ['one', said('y'), CUT_OFF]],
    [
      'no pieces of a whole reply',
      [prompt('one'), piece('fi'), reply('first'), prompt('two')],
      ['one', 'first', 'two'],
    ],
    [
      'no pieces before a rewind',
      [prompt('one'), reply('first'), prompt('two'), piece('x'), rewind('two')],
      ['one', 'first'],
    ],
    ['no pieces before a summary', [prompt('one'), piece('x'), replace('one', 'one', 'short')], ['short']],
    ['pieces before a prompt', [prompt('one'), piece('x'), prompt('two')], ['one', said('x'), CUT_OFF, 'two']],
    ['no blank pieces', [prompt('one'), piece(' \n')], ['one']],
    [
      'pieces with counts among them',
      [prompt('one'), piece('x'), {type: 'began', at: AT}, piece('y')],
      ['one', said('xy'), CUT_OFF],
    ],
  ])('has %s', (_, lines, expected) => {
    expect(restored(...lines)).toEqual(expected);
  });

  it('has results whole or as they were shortened, also behind a reply that was cut off', () => {
    const block = (text: string, call = text) => ({type: 'tool_result', tool_use_id: `t ${call}`, content: text});
    const shorten = {type: 'shorten', at: AT, results: [{id: 't long', text: 'short'}]};
    expect(restored(prompt('one'), results('r', 'long', 'other'), shorten)).toEqual([
      'one',
      JSON.stringify([block('short', 'long'), block('other')]),
    ]);
    expect(restored(prompt('one'), piece('x'), results('r', 'long'), rewind('none'))).toEqual([
      ...['one', said('x'), CUT_OFF, JSON.stringify([block('long')])],
    ]);
    expect(restored(prompt('one'), results('r', 'long'), prompt('two'), rewind('r'))).toEqual(['one']);
    const torn = '{"type":"message","uuid":"u","at":"x","message":{"role":"user","content":[{]}}';
    expect(texts(readOpening(write(HEADER, prompt('one'), torn)).restored)).toEqual(['one']);
  });

  it('leaves out results that are damaged, and counts them while the conversation still has them', () => {
    const damaged = JSON.stringify(results('r', 'long')).replace('"content":"long"', '"content":"lo');
    const open = (...lines: readonly (object | string)[]) => readOpening(write(HEADER, prompt('one'), ...lines));
    const present = open(reply('first'), damaged, prompt('two'));
    expect([texts(present.restored), present.damaged]).toEqual([['one', 'first', 'two'], 1]);
    const replaced = open(damaged, reply('first'), replace('one', 'first', 'short'), prompt('two'));
    expect([texts(replaced.restored), replaced.damaged]).toEqual([['short', 'two'], 0]);
    const rewound = open(damaged, reply('first'), replace('one', 'first', 'short'), rewind('first'));
    expect([texts(rewound.restored), rewound.damaged]).toEqual([['one'], 1]);
  });

  it('gives messages that were cut off ids that stay, each its own', () => {
    const lines = [HEADER, prompt('one'), piece('x'), prompt('two'), piece('y')];
    const ids = getRestoredMessages(readTranscript(write(...lines))).map(({uuid}) => uuid);
    expect(ids).toEqual(['one', 'cut-off-1-0', 'cut-off-1-1', 'two', 'cut-off-2-0', 'cut-off-2-1']);
  });

  it('can be taken back to each prompt, the newest first, also to one that a summary took the place of', () => {
    const file = write(HEADER, ...TURNS, results('r', 'x'), replace('one', 'first', 'short'), prompt('four'));
    expect(readRewindPoints(file).map(({text}) => text)).toEqual(['four', 'three', 'two', 'one']);
    expect(readRewindPoints(file)[0]).toEqual({uuid: 'four', at: Date.parse(AT), text: 'four', dropped: 1});
    expect(texts(readMessagesBefore(file, 'two'))).toEqual(['short']);
    expect(texts(readMessagesBefore(file, 'first'))).toEqual(['one']);
    expect(readMessagesBefore(file, 'nowhere')).toEqual([]);
    expect(readRewindPoints(`${file}.not-there`)).toEqual([]);
  });

  it('says how many messages a rewind drops, results and replies counted', () => {
    const file = write(HEADER, prompt('one'), reply('x'), results('r', 'a'), reply('y'), prompt('two'));
    expect(readRewindPoints(file).map(({text, dropped}) => [text, dropped])).toEqual([
      ['two', 1],
      ['one', 5],
    ]);
  });

  it('keeps what is known of a message besides its content, and nothing else', () => {
    const facts = {
      model: 'm',
      prompt: true,
      companion: '!ls',
      calls: {},
      summary: {files: [], todos: []},
      repeated: true,
    };
    const file = write(HEADER, user('one', {...facts, stopReason: 'end_turn'}), reply('two', {asked: 'a', model: 'm'}));
    const [one, two] = readOpening(file).restored;
    expect(one).toEqual({uuid: 'one', message: {role: 'user', content: 'one'}, ...facts});
    expect(two).toEqual({uuid: 'two', message: {role: 'assistant', content: 'two'}, model: 'a'});
  });

  it('knows what its replies and others used, by agent and model, and which runs were announced, also before a rewind', () => {
    const announcement = {runId: 'r1', round: 1, agent: 'explore', outcome: 'success', reason: '', text: 'a'};
    const file = write(
      ...[HEADER, prompt('one'), reply('a', {model: 'm', usage: usage(1)}), reply('b', {usage: usage(2)}), reply('c')],
      {type: 'usage', at: AT, model: 'm', usage: usage(10)},
      {type: 'usage', at: AT, model: 'm', agent: 'other', usage: usage(100)},
      user('<x>', {announcement}),
      rewind('one'),
      ...Array.from({length: 2_000}, (_, index) => reply(`r${index}`, {model: 'm', usage: usage(1)})),
    );
    const {announced, used} = readOpening(file);
    expect([...announced]).toEqual(['r1']);
    expect(used.map(({agent, model, usage: {input_tokens: tokens}}) => [agent, model, tokens])).toEqual([
      ...[
        ['main', 'm', 2_011],
        ['main', '', 2],
        ['other', 'm', 100],
      ],
    ]);
  });
});

describe('the conversation for people', () => {
  const whole = (isStreaming: boolean, ...lines: readonly object[]) =>
    texts(getWholeConversation(readTranscript(write(HEADER, ...lines)), isStreaming));

  it('has also what a summary took the place of, and the summary, but not what was rewound', () => {
    const shorten = {type: 'shorten', at: AT, results: [{id: 't long', text: 'short'}]};
    const plain = {...replace('two', 'two', 'plain'), by: [{uuid: 'p', message: {role: 'user', content: 'plain'}}]};
    const lines = [...TURNS, replace('one', 'first', 'short'), plain, {type: 'began', at: AT}, shorten];
    expect(whole(false, ...lines)).toEqual(['one', 'first', 'two', 'second', 'three', 'short']);
    expect(whole(false, ...TURNS, rewind('two'), rewind('nowhere'), prompt('else'))).toEqual(['one', 'first', 'else']);
    expect(whole(false, prompt('one'), rewind('one'))).toEqual([]);
  });

  it('leaves out a reply that is coming in, and shows one that was cut off', () => {
    const lines = [prompt('one'), piece('x'), prompt('two'), piece('com'), piece('ing')];
    expect(whole(true, ...lines)).toEqual(['one', said('x'), CUT_OFF, 'two']);
    expect(whole(false, ...lines)).toEqual(['one', said('x'), CUT_OFF, 'two', said('coming'), CUT_OFF]);
    const entries = readEntries(write(...lines));
    const shown = listSaid(entries).map((entry) => entry.type === 'message' && texts([entry])[0]);
    expect(shown).toEqual(['one', said('x'), CUT_OFF, 'two', said('coming')]);
    expect(listSaid(entries.slice(0, 1))).toEqual(entries.slice(0, 1));
  });
});

describe('a line that lacks a field', () => {
  it.each<[string, object]>([
    ['a header without its agent', {...HEADER, agent: undefined}],
    ['a header whose version is a text', {...HEADER, version: '1'}],
    ['tokens without a model', {type: 'usage', at: AT, usage: usage(1)}],
    ['tokens that are no object', {type: 'usage', at: AT, model: 'm', usage: 1}],
    ['a piece without a text', {type: 'partial', at: AT}],
    ['shortened results that are none', {type: 'shorten', at: AT, results: [1]}],
    ['shortened results without a list', {type: 'shorten', at: AT}],
    ['a message without one', {type: 'message', uuid: 'x', at: AT}],
    ['a message of somebody else', {type: 'message', uuid: 'x', at: AT, message: {role: 'system', content: 'x'}}],
    [
      'a message with a block that is none',
      {type: 'message', uuid: 'x', at: AT, message: {role: 'user', content: [{}, 1]}},
    ],
    ['a replacement from nowhere', {...replace('a', 'b', 'c'), from: 1}],
    ['a replacement to nowhere', {...replace('a', 'b', 'c'), to: undefined}],
    ['a replacement by nothing', {...replace('a', 'b', 'c'), by: undefined}],
    ['a replacement by what is no message', {...replace('a', 'b', 'c'), by: [...replace('a', 'b', 'c').by, null]}],
    ['no type', {at: AT}],
  ])('does not count: %s', (_, line) => {
    expect(readEntries(write(line, 'null', '3', prompt('one'))).map(({type}) => type)).toEqual(['message']);
  });

  it('is counted where a first line is damaged', () => {
    const problem = (...lines: readonly (object | string)[]) => describeProblem(write(...lines))?.text;
    expect(problem('{"ty', prompt('one'), {type: 'began', at: AT}, reply('x'))).toBe(
      'its first line is damaged, 2 messages can be read',
    );
    expect(problem('{"ty', {type: 'began', at: AT})).toBe('it is damaged, nothing in it can be read');
    expect(describeProblem('/nowhere/session.jsonl')?.text).toBe('it is not there any more');
    expect([readHeader('/nowhere'), readHeader(write(prompt('one'))), readHeader(write(HEADER))?.id]).toEqual([
      ...[undefined, undefined, 'one'],
    ]);
  });
});

it('a list of sessions shows the first prompt, else the first message, and counts all messages', () => {
  const call = {type: 'tool_use', id: 't', name: 'x', input: {prompt: true}};
  const calling = {type: 'message', uuid: 'c', at: AT, message: {role: 'assistant', content: [call]}};
  const summary = (...lines: readonly (object | string)[]) => summarizeTranscript(write(HEADER, ...lines));
  expect(summary(user('<old>'), calling, prompt('one'), prompt('two'))).toEqual({messages: 4, prompt: 'one'});
  expect(summary(user('first'), calling, reply('x'))).toEqual({messages: 3, prompt: 'first'});
  expect(summary()).toEqual({messages: 0, prompt: ''});
  expect(summary('{"type":"message","torn')).toEqual({messages: 1, prompt: ''});
  expect(summarizeTranscript('/nowhere/session.jsonl')).toEqual({messages: 0, prompt: ''});
  const file = write(HEADER);
  writeFileSync(file, `${JSON.stringify(HEADER)}\n${JSON.stringify(prompt('without an end'))}`);
  expect(summarizeTranscript(file).prompt).toBe('without an end');
});
