import {describe, expect, test} from 'vitest';
import {type Block, EMPTY_STREAM, feedStream, finishStream} from '../../../src/ui/text/stream-blocks.ts';

/** Feeds the text in pieces, as a model does. */
function cutBlocks(text: string, size = 7): Block[] {
  let state = EMPTY_STREAM;
  const blocks: Block[] = [];
  for (let at = 0; at < text.length; at += size) {
    const step = feedStream(state, text.slice(at, at + size));
    state = step.state;
    blocks.push(...step.blocks);
  }
  return [...blocks, ...finishStream(state)];
}

const texts = (text: string) => cutBlocks(text).map((block) => block.text);

describe('a streaming text', () => {
  test('is cut at blank lines, headings and fences', () => {
    expect(texts('# Title\nOne\ntwo.\n\nThree.\n```js\na\n\nb\n```\nEnd')).toEqual([
      '# Title',
      'One\ntwo.',
      'Three.',
      '```js\na\n\nb\n```',
      'End',
    ]);
  });

  test('gives the same blocks for any size of deltas', () => {
    const text = '# T\n\n- a\n\n  more\n- b\n\n```ts\nx\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nlast';
    const expected = texts(text);
    for (const size of [1, 2, 3, 50, 1000]) expect(cutBlocks(text, size).map((block) => block.text)).toEqual(expected);
  });

  test('keeps the nested parts of a list in it', () => {
    expect(texts('1. one\n\n   ```js\n   x\n   ```\n\n   more\n\nnext')).toEqual([
      '1. one\n\n   ```js\n   x\n   ```\n\n   more',
      'next',
    ]);
  });

  test('cuts a long fence at a newline; each piece is a fence', () => {
    const blocks = cutBlocks(`\`\`\`js\n${'a;\n'.repeat(50)}\`\`\`\n\nend`);
    expect(blocks.slice(0, -1).every(({text}) => /^```js\n(a;\n)+```$/.test(text))).toBe(true);
    expect(blocks.map(({text}) => text.match(/a;/g)?.length ?? 0).reduce((sum, count) => sum + count)).toBe(50);
    expect(blocks.map(({continued}) => continued)).toEqual([false, true, true, false]);
  });

  test('cuts a long list before an item and keeps nested lines indented', () => {
    const text = Array.from({length: 30}, (_, index) => `- item ${index}\n  - nested ${index}`).join('\n');
    const blocks = cutBlocks(text);
    expect(blocks.length).toBeGreaterThan(2);
    const lines = blocks.flatMap((block) => block.text.split('\n').map((line) => ' '.repeat(block.indent) + line));
    expect(lines.join('\n')).toBe(text);
  });

  test('repeats the head of a long table', () => {
    const blocks = cutBlocks(`| a | b |\n|---|---|\n${'| 1 | 2 |\n'.repeat(100)}`);
    expect(blocks.length).toBeGreaterThan(1);
    expect(blocks.every(({text}) => text.startsWith('| a | b |\n|---|---|\n'))).toBe(true);
  });

  test('cuts a line without an end at a space', () => {
    const text = 'word '.repeat(20_000).trim();
    const blocks = cutBlocks(text, 100);
    expect(Math.max(...blocks.map((block) => block.text.length))).toBeLessThanOrEqual(2000);
    expect(blocks.map((block) => block.text).join(' ')).toBe(text);
  });

  test('closes a fence that the model left open', () => {
    expect(texts('```py\nx = 1')).toEqual(['```py\nx = 1\n```']);
  });
});
