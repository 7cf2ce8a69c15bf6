/** Implements `/review`: finders and verifiers review a change, and `/review fix N` gives one finding to `code`. */
import {version} from '../../package.json';
import type {Command, CommandContext, CommandResult} from '../core/contract/session-requests.ts';
import {UsageError} from '../core/util/errors.ts';
import type {Finding} from '../review/claims.ts';
import type {ReviewArguments} from '../review/command.ts';
import type {SlashCommands} from './shared/command-deps.ts';
import {confirm} from './shared/results.ts';

const FORMS = `/review                the working tree against the main branch
/review TARGET         paths, a ref, or a range (A..B)
  --base REF           compares with the merge base with REF
  --finders LIST       only these: correctness, security, tests, api
  --all                shows all findings
/review fix N          gives finding N to the agent code; /rewind takes it back`;

export const slashCommands: SlashCommands = ({getReviewDeps}) => {
  /** Findings of the last review of this session. */
  let last: readonly Finding[] | undefined;

  async function start(context: CommandContext, words: readonly string[]): Promise<CommandResult> {
    const {review} = await import('../review/command.ts');
    const {signal, say} = context;
    const front = {version, say, signal, ask: (question: string) => confirm(context.ask, question)};
    const done = await review(parseWords(words), getReviewDeps(), front);
    if (done.review) last = done.review.findings;
    const hint = last?.length && done.review ? '\n/review fix N gives one to the agent code.' : '';
    return {ok: true, text: `${done.text}${hint}`};
  }

  async function fix(word: string): Promise<CommandResult> {
    if (!last) return {ok: false, text: 'No review yet: /review first'};
    const finding = /^\d+$/.test(word) ? last[Number(word) - 1] : undefined;
    if (!finding)
      return {ok: false, text: `/review fix takes a number from 1 to ${last.length}, not ${word || 'nothing'}`};
    const {formatFix} = await import('../review/command.ts');
    return {ok: true, text: '', prompt: {content: `Task(code): ${formatFix(finding)}`}};
  }

  const command: Command = {
    name: 'review',
    description: 'faults of a change: target, fix N',
    argumentHint: '[TARGET]',
    run(context) {
      const words = context.args.split(/\s+/).filter((word) => word !== '');
      if (words[0] === 'help') return {ok: true, text: FORMS};
      if (words[0] === 'fix' && words.length <= 2) return fix(words[1] ?? '');
      return start(context, words);
    },
  };
  return [command];
};

/** @throws UsageError for an unknown flag */
function parseWords(given: readonly string[]): ReviewArguments {
  const end = given.indexOf('--');
  const [before, paths] = end < 0 ? [given, []] : [given.slice(0, end), given.slice(end + 1)];
  const [words, values]: [string[], Record<string, string>] = [[], {}];
  for (let at = 0; at < before.length; at += 1) {
    const word = before[at]!;
    const [, flag = '', value = before[at + 1]] = /^(--[a-z-]+)(?:=(.*))?$/.exec(word) ?? [];
    if (flag === '--all' || flag === '--yes') values[flag] = 'yes';
    else if (flag === '--base' || flag === '--finders') {
      if (value === undefined) throw new UsageError(`${flag} needs a value`);
      values[flag] = value;
      if (!word.includes('=')) at += 1;
    } else if (word.startsWith('-')) throw new UsageError(`/review has no ${word}\n${FORMS}`);
    else words.push(word);
  }
  const {'--base': base, '--finders': finders, '--all': all, '--yes': sure} = values;
  return {words, paths, base, finders, all: all !== undefined, sure: sure !== undefined};
}
