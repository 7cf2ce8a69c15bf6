import {render} from 'ink-testing-library';
import {expect, test} from 'vitest';
import {createHighlighter} from '../../../src/ui/text/highlight.ts';
import {createMarkdown} from '../../../src/ui/text/markdown.tsx';

const Markdown = createMarkdown();

function drawn(text: string, columns = 60): string {
  return render(<Markdown text={text} columns={columns} />).lastFrame() ?? '';
}

test('inline marks become styles', () => {
  expect(drawn('# Title\n\nSome **bold**, *it*, `a < b`, ~~old~~ &lt;x&gt; \\*star\\*.')).toBe(
    'Title\n\nSome bold, it, a < b, old <x> *star*.',
  );
});

test('a link shows its address', () => {
  expect(drawn('[docs](https://a.b/c) and https://d.e')).toBe('docs (https://a.b/c) and https://d.e');
});

test('lists keep their numbers and nest', () => {
  expect(drawn('3. three\n4. four\n   - in\n\n- [x] did\n- [ ] to do')).toBe(
    '3. three\n4. four\n   - in\n\n- [x] did\n- [ ] to do',
  );
});

test('the rows of a wrapped item are indented like its text', () => {
  expect(drawn('- one two three four', 11)).toBe('- one two\n  three\n  four');
  expect(drawn('aaaa bbbb cccc', 9)).toBe('aaaa bbbb\ncccc');
});

test('code keeps its spaces and marks', () => {
  expect(drawn('```ts\nif (a) {\n  b = "**x**";\n}\n```')).toBe('  if (a) {\n    b = "**x**";\n  }');
});

test('a table fits the window', () => {
  expect(drawn('| a | long words |\n|---|---|\n| 1 | one two three |', 16)).toBe(
    'a    long words\n1    one two\n     three',
  );
});

test('quotes, rules and raw HTML are shown', () => {
  expect(drawn('> said\n\n---\n\n<b>x</b>')).toBe('│ said\n\n--------------------\n\n<b>x</b>');
});

test('the highlighter loses no character', () => {
  const highlight = createHighlighter();
  const code = 'const a: string = `x & "q"`; 1 < 2; // <b>\'</b>\n';
  const spans = highlight(code, 'typescript');
  expect(spans.map(({text}) => text).join('')).toBe(code);
  expect(spans.some(({scope}) => scope === 'keyword')).toBe(true);
  expect(highlight(code, 'no-such-language')).toEqual([{text: code, scope: ''}]);
});
