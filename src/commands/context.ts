/** Implements /compact and /context, which show the model's context window and free space in it. */
import type {Command, ContextUse} from '../core/contract/session-requests.ts';
import {tokens} from '../core/runs/receipt.ts';

export const compactCommand: Command = {
  name: 'compact',
  description: 'summarise what is old: /compact [what to keep above all]',
  async run({args, request}) {
    const done = await request({type: 'compact', focus: args.trim()});
    return done ? {ok: true, text: ''} : {ok: true, text: 'There is nothing to compact: the conversation is short.'};
  },
};

export const contextCommand: Command = {
  name: 'context',
  description: "what fills the window: the parts of the model's context",
  async run({request}) {
    return {ok: true, text: formatContextUse(await request({type: 'context'}))};
  },
};

const BAR = 36;
const MARKS = ['█', '▓', '▒', '░'];

function formatContextUse({model, window, reserve, limit, isEstimate, parts}: ContextUse): string {
  const used = parts.reduce((sum, part) => sum + part.tokens, 0);
  const free = Math.max(0, limit - used);
  const marks = parts.map((_, index) => MARKS[index % MARKS.length]!);
  const bar = parts.map((part, index) => marks[index]!.repeat(Math.round((BAR * part.tokens) / window))).join('');
  const rest = '·'.repeat(Math.max(0, BAR - bar.length));
  const row = (mark: string, name: string, amount: number) =>
    `  ${mark} ${name.padEnd(21)} ${tokens(amount).padStart(6)} ${`${Math.round((100 * amount) / window)} %`.padStart(5)}`;
  return [
    `Context window of ${model}: ${tokens(used)} of ${tokens(window)} tokens${isEstimate ? ', estimated' : ''}`,
    `  ${bar.slice(0, BAR)}${rest}`,
    ...parts.map((part, index) => row(marks[index]!, part.name, part.tokens)),
    row('·', 'free', free),
    row(' ', 'set aside for a reply', reserve),
    'At 80 % older tool results are cleared, at 90 % the conversation is summarised. /compact does it now.',
  ].join('\n');
}
