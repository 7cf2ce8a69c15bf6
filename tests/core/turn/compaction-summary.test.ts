import {describe, expect, it} from 'vitest';
import type {Message} from '../../../src/core/contract/model.ts';
import {
  collectFacts,
  createDigest,
  createSummaryMessage,
  createSummaryPrompt,
  shortenPrompt,
} from '../../../src/core/turn/compaction-summary.ts';

const user = (content: unknown) => ({role: 'user', content}) as Message;
const assistant = (...content: object[]) => ({role: 'assistant', content}) as Message;
const text = (words: string) => ({type: 'text', text: words});
const call = (id: string, name: string, input: object) => ({type: 'tool_use', id, name, input});
const result = (id: string, content: unknown, is_error = false) => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  is_error,
});
const image = {type: 'image', source: {}};

function conversationOf(messages: readonly Message[], maxBytes = 100_000): string {
  return /<conversation>\n([\s\S]*)\n<\/conversation>/.exec(createSummaryPrompt(messages, '', maxBytes))![1]!;
}

describe('the request for a summary', () => {
  it('has the conversation as text: who said what, calls, results, images', () => {
    const messages = [
      user('go'),
      assistant({type: 'thinking', thinking: 'hm', signature: 'x'}, text('yes'), call('a', 'look', {path: 'a.ts'})),
      user([result('a', 'found'), result('b', [image]), text('and'), image]),
    ];
    expect(conversationOf(messages)).toBe(
      ...[
        [
          ...['User: go', 'Assistant: yes', 'Call: look {"path":"a.ts"}', 'Result: found', 'Result: (an image)'],
          ...['User: and', 'User: (an image)'],
        ].join('\n'),
      ],
    );
  });

  it('has what the user wants to be kept, where there is something', () => {
    expect(createSummaryPrompt([user('go')], 'the names', 1000)).toContain(
      '\nThe user asks to keep above all: the names\n',
    );
    expect(createSummaryPrompt([user('go')], '', 1000)).not.toContain('above all');
  });

  it.each([
    [100_000, 2000],
    [2_000, 600],
    [500, 150],
  ])('within %d bytes has %d characters of each long result', (maxBytes, length) => {
    const messages = [user([result('a', 'x'.repeat(3_000))])];
    expect(conversationOf(messages, maxBytes).match(/x/g)!.length).toBe(length + 1);
  });

  it('leaves out the middle where that is not enough, and of long prompts', () => {
    const long = conversationOf([user('ü'.repeat(2_000))], 1_000);
    expect(Buffer.byteLength(long)).toBeLessThan(1_200);
    expect(conversationOf([user('x'.repeat(9_000))]).match(/x/g)!.length).toBe(8_001);
    expect(conversationOf([assistant(text('x'.repeat(9_000)))]).match(/x/g)!.length).toBe(8_001);
    expect(conversationOf([assistant(call('a', 'look', {a: 'y'.repeat(3_000)}))]).match(/y/g)!.length).toBeLessThan(
      2_000,
    );
  });
});

describe('what the runtime knows', () => {
  it('are the files that were read or changed, newest last, and the last list of todos', () => {
    const todos = [{content: 'b', status: 'pending'}] as const;
    const calls = [
      ...[call('1', 'read_file', {path: 'a'}), call('2', 'write_file', {path: 'b'}), call('3', 'grep', {path: 'no'})],
      ...[call('4', 'todo_write', {todos: []}), call('5', 'todo_write', {todos}), call('6', 'todo_write', {todos: 7})],
      ...[call('7', 'edit_file', {path: 'a'}), call('8', 'read_file', {path: 'b'}), call('9', 'read_file', {path: 5})],
    ];
    const earlier = {
      files: [
        {path: 'old', isChanged: true},
        {path: 'b', isChanged: false},
      ],
      todos: [],
    };
    const files = [
      {path: 'old', isChanged: true},
      {path: 'a', isChanged: true},
      {path: 'b', isChanged: true},
    ];
    expect(collectFacts([assistant(...calls)], earlier)).toEqual({files, todos});
    expect(collectFacts([], {files: [], todos})).toEqual({files: [], todos});
    expect(collectFacts([], undefined)).toEqual({files: [], todos: []});
  });

  it('are at most 50 files, the newest', () => {
    const calls = Array.from({length: 60}, (_, index) => call(`${index}`, 'read_file', {path: `${index}`}));
    const paths = collectFacts([assistant(...calls)], undefined).files.map(({path}) => path);
    expect([paths.length, paths[0], paths.at(-1)]).toEqual([50, '10', '59']);
  });

  it('is told after the summary: open todos and files', () => {
    const todos = (['pending', 'in_progress', 'completed'] as const).map((status) => ({content: status, status}));
    const facts = {
      todos,
      files: [
        {path: 'a', isChanged: true},
        {path: 'b', isChanged: false},
      ],
    };
    const {content} = createSummaryMessage('THE TEXT', facts, 'model');
    expect(String(content).split('\n').slice(2, -1)).toEqual([
      ...['THE TEXT', '## The list of todos as it stands', '- [ ] pending', '- [~] in_progress', '- [x] completed'],
      ...['## Files that were read or changed', '- a (changed)', '- b'],
    ]);
    expect(content).toContain('This is a summary of its older part');
    const bare = createSummaryMessage('THE TEXT', {todos: [], files: []}, 'rule').content;
    expect(bare).toContain('no summary of it could be made');
    expect(bare).not.toContain('##');
  });
});

it('a digest has the last prompts, words and calls, and how many failed', () => {
  const messages = [
    ...[1, 2, 3, 4, 5, 6].map((index) => user(`prompt ${index}`)),
    ...[1, 2, 3, 4].map((index) => assistant(text(`said ${index}`))),
    assistant(...Array.from({length: 17}, (_, index) => call(`${index}`, 'look', {path: `${index}`}))),
    user([result('0', 'no', true), result('1', 'yes')]),
  ];
  const lines = createDigest(messages).split('\n');
  expect(lines.slice(0, 10)).toEqual([
    ...['## Task', '- prompt 2', '- prompt 3', '- prompt 4', '- prompt 5', '- prompt 6'],
    ...['## What was said last', '- said 2', '- said 3', '- said 4'],
  ]);
  expect([lines[10], lines[11], lines[25], lines.length]).toEqual(['## Last calls', '- look 2', '- look 16', 27]);
  expect(lines[26]).toBe('1 calls failed.');
  expect(createDigest([user('go')])).not.toContain('failed');
});

it('a long prompt is repeated without its middle', () => {
  expect(shortenPrompt(user('short'))).toEqual(user('short'));
  expect(shortenPrompt(user([text('a'), image, text('b')]))).toEqual(user('a\nb'));
  expect(String(shortenPrompt(user('x'.repeat(5_000))).content).match(/x/g)!.length).toBe(4_001);
});
