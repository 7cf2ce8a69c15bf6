/** What commands report in figures: one column that is aligned, colours beside words, and rows that fit. */
import {expect, test} from 'vitest';
import {slashCommands} from '../../../src/commands/usage.ts';
import type {UsageEntry} from '../../../src/core/contract/model.ts';
import type {Command, CommandContext} from '../../../src/core/contract/session-requests.ts';
import {figureRows} from '../../../src/ui/text/figures.ts';
import {plainText, toWords} from '../../../src/ui/text/styled-text.tsx';
import {textWidth} from '../../../src/ui/text/wrap.ts';

const usage = (input: number, usd: number): UsageEntry['usage'] => ({
  ...{input_tokens: input, output_tokens: 12, cache_read_input_tokens: 0, cache_creation_input_tokens: 0},
  cost_usd: usd,
});

async function run(name: string): Promise<string> {
  const commands = slashCommands({version: '1'} as Parameters<typeof slashCommands>[0]) as readonly Command[];
  const answers: Readonly<Record<string, unknown>> = {
    subagent_summary: {},
    usage: {
      entries: [
        {agent: 'main', model: 'claude-sonnet-5-5', usage: usage(41_000, 1.25)},
        {agent: 'explore', model: 'haiku', usage: usage(7, 0.0042)},
      ],
      pricesAsOf: '2026-10-24',
    },
    context: {
      ...{model: 'sonnet', window: 200_000, reserve: 16_384, limit: 180_000, isEstimate: false},
      parts: [
        {name: 'system prompt', tokens: 412},
        {name: 'conversation', tokens: 150_400},
      ],
    },
  };
  const context = {args: '', request: ({type}: {type: string}) => answers[type]} as unknown as CommandContext;
  const {text} = await commands.find((command) => command.name === name)!.run(context);
  return text;
}

/** The right ends of what matches, one for each row. */
const ends = (text: string, figure: RegExp) =>
  text.split('\n').flatMap((line) => {
    const found = figure.exec(line);
    return found ? [found.index + found[0].length] : [];
  });

test('/cost has one column of amounts with the same decimals', async () => {
  const text = await run('cost');
  const rows = text.split('\n').filter((line) => /^ {2}\S/.test(line));
  expect(rows.map((row) => row.replace(/.* /, ''))).toEqual(['$1.2500', '$0.0042', '$1.2542']);
  expect(new Set(ends(rows.join('\n'), /\$[\d.]+$/)).size).toBe(1);
});

test('/context has its tokens in one unit and column', async () => {
  const text = await run('context');
  expect(text).toMatch(/system prompt +0\.4k +0 %\n.*conversation +150\.4k +75 %/);
  const rows = text.split('\n').filter((line) => /%$/.test(line));
  expect(new Set(ends(rows.join('\n'), /[\d.]+k/)).size).toBe(1);
});

test('states, bars and headings have colours, and long findings go on below their beginning', () => {
  const text =
    'ok       key     it is set\nmissing  server  127.0.0.1 does not answer. To fix it: start the server again';
  const rows = figureRows(text, 60);
  expect(rows.map(plainText)).toEqual([
    'ok       key     it is set',
    'missing  server  127.0.0.1 does not answer. To fix it: start',
    '                 the server again',
  ]);
  expect(rows.slice(0, 2).map(([first]) => first)).toEqual([
    {text: 'ok', style: {tone: 'success'}},
    {text: 'missing', style: {tone: 'error'}},
  ]);
});

test.each(['cost', 'context'])('/%s fits 60 columns, and is read aloud without bars', async (name) => {
  const rows = figureRows(await run(name), 60);
  for (const row of rows) expect(textWidth(plainText(row))).toBeLessThanOrEqual(60);
  const tones = new Set(rows.flat().map(({style}) => style.tone));
  expect(tones.size).toBeGreaterThan(1);
  expect(
    rows
      .map(toWords)
      .filter((line) => !/^[█▓▒░· ]*$/.test(line))
      .join(''),
  ).not.toMatch(/[█▓▒░]/);
});
