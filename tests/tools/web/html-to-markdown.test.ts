import {once} from 'node:events';
import type {Worker} from 'node:worker_threads';
import {expect, test} from 'vitest';
import {htmlToMarkdown, toPlainText} from '../../../src/tools/web/html-to-markdown.ts';
import {measureCpu} from '../../support/cpu-time.ts';

const never = new AbortController().signal;
const convert = (html: string) => htmlToMarkdown(html, 'https://example.com/docs/', never, 60_000);

test('headings, lists, code and tables become markdown, links become absolute', async () => {
  const html = `<h2>Use</h2><ul><li>one</li><li><a href="../two">two</a></li></ul><pre><code>a &lt; b</code></pre>
    <table><tr><th>k</th></tr><tr><td>v</td></tr></table>`;
  const markdown = await convert(html);
  for (const part of ['## Use', '* one', '[two](https://example.com/two)', 'a < b', '| k |']) {
    expect(markdown).toContain(part);
  }
});

test.each(['', '\n', '<?xml version="1.0" encoding="UTF-8"?>\n'])(
  'no document type is shown, also after %j',
  async (before) => {
    expect(await convert(`${before}<!DOCTYPE html>\n<html><body><p>words</p></body></html>`)).toBe('words');
  },
);

test('a long page is complete, although it is converted in pieces', async () => {
  const section = (number: number) =>
    `<section><h2>Part ${number}</h2>${`<p>Some <b>words</b> of ${number}.</p>`.repeat(60)}</section>`;
  const html = `<html><body><main>${Array.from({length: 100}, (_, number) => section(number)).join('')}</main></body>`;
  const markdown = await convert(html);
  expect(markdown.match(/^## Part \d+$/gm)).toHaveLength(100);
  expect(markdown.match(/^Some \*\*words\*\* of \d+\.$/gm)).toHaveLength(6000);
});

test('a page that would take minutes is given up, and what comes back waits for no thread', async () => {
  const begun = once(process, 'worker') as Promise<[Worker]>;
  const converted = htmlToMarkdown('<ul><li>a'.repeat(40_000), 'https://example.com/', never);
  const [worker] = await begun;
  let threadEnded = false;
  const ended = once(worker, 'exit').then(() => {
    threadEnded = true;
  });
  expect(await converted).toMatch(/^\(without its markup\)\n\na/);
  expect(threadEnded).toBe(false);
  await ended;
});

test('it ends at once when aborted, and its thread with it', async () => {
  const stop = new AbortController();
  const begun = once(process, 'worker') as Promise<[Worker]>;
  const converted = htmlToMarkdown('<b>'.repeat(20_000), 'https://example.com/', stop.signal);
  const [worker] = await begun;
  await once(worker, 'online');
  const ended = once(worker, 'exit');
  stop.abort(new Error('stopped'));
  await expect(converted).rejects.toThrow('stopped');
  await ended;
});

test('plain text is found in one pass, also where tags and comments are not closed', () => {
  expect(toPlainText('<p>a</p><script>x</script><style>y<b></style ><!-- z -->b<br>c')).toBe('a b c');
  for (const part of ['<', '<!--', '<script>', '<a href="', '</', '<style><']) {
    const ms = measureCpu(() => expect(toPlainText(`word ${part.repeat(300_000)}`)).toContain('word'));
    expect(ms).toBeLessThan(2000);
  }
});
