/** Words that were meant as a command of mini-cc, or of a program like it, are not sent to a model as a prompt. */
import {UsageError} from '../core/util/errors.ts';
import {findTypo} from '../core/util/names.ts';
import {SUBCOMMANDS} from './flags.ts';

/** Commands of other programs of this kind, which mini-cc does not have. */
const FOREIGN = ['plugin', 'update', 'upgrade', 'serve', 'login', 'logout', 'install', 'setup-token'];
/** A prompt has more words. */
const MAX_WORDS = 2;

/**
 * @param words what was typed beside the flags, without `-p` and `--`; the first one is no subcommand
 * @throws UsageError when at most two bare words are there, and the first one names a command or nearly does
 */
export function checkFirstWord(words: readonly string[]): void {
  const [first = ''] = words;
  if (words.length > MAX_WORDS || words.some((word) => /\s/.test(word))) return;
  const meant = findTypo(first, SUBCOMMANDS, 1);
  if (meant === undefined && !FOREIGN.includes(first)) return;
  const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`;
  throw new UsageError(`no such command: ${first}${hint}; to send it as a prompt: mini-cc -- ${words.join(' ')}`);
}
