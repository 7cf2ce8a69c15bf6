/**
 * Checks words that were meant as a command of mini-cc or of a similar program. They are not sent to a model as a
 * prompt.
 */
import {UsageError} from '../core/util/errors.ts';
import {findTypo} from '../core/util/names.ts';
import {SUBCOMMANDS} from './flags.ts';

/** Commands of similar programs that mini-cc does not have. */
const FOREIGN = ['plugin', 'update', 'upgrade', 'serve', 'login', 'logout', 'install', 'setup-token'];
/** Maximal number of words that may be a command. A prompt has more. */
const MAX_WORDS = 2;

/**
 * @param words words beside the flags, without `-p` and `--`; the first one is not a subcommand
 * @throws UsageError when there are at most two bare words, and the first one names a command or is similar to one
 */
export function checkFirstWord(words: readonly string[]): void {
  const [first = ''] = words;
  if (words.length > MAX_WORDS || words.some((word) => /\s/.test(word))) return;
  const meant = findTypo(first, SUBCOMMANDS, 1);
  if (meant === undefined && !FOREIGN.includes(first)) return;
  const hint = meant === undefined ? '' : ` (did you mean ${meant}?)`;
  throw new UsageError(`no such command: ${first}${hint}; to send it as a prompt: mini-cc -- ${words.join(' ')}`);
}
