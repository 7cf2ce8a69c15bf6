/**
 * Sorts the words of a command line before meow reads them: which are flags, which belong to one, which are the
 * prompt. By itself a parser takes a value that begins with `-` for a flag, and `true` behind a switch for its value.
 */
import {UsageError} from '../core/util/errors.ts';

export interface FlagKind {
  readonly type: 'boolean' | 'string';
  readonly shortFlag?: string;
  readonly isMultiple?: boolean;
  /** Words behind its value that belong to it too. */
  readonly takesMore?: (word: string) => boolean;
}

export interface SortedWords {
  /** `--name` and `--name=value`, each flag at most once unless it may come several times: the last one wins. */
  readonly flags: readonly string[];
  readonly positional: readonly string[];
}

/**
 * @param kinds by camel-cased name.
 * @param onUnknown throws what is right for a flag that is not there.
 * @throws UsageError for a flag without its value.
 */
export function sortWords(
  words: readonly string[],
  kinds: Readonly<Record<string, FlagKind>>,
  onUnknown: (name: string) => never,
): SortedWords {
  const flags = new Map<string, string[]>();
  const positional: string[] = [];
  const queue = [...words];
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    if (word === '--') {
      positional.push(...queue);
      break;
    }
    if (!looksLikeFlag(word)) {
      positional.push(word);
      continue;
    }
    const [, written, given] = /^--?([^=]+)(?:=([\s\S]*))?$/.exec(word)!;
    const name = nameOf(written!, word.startsWith('--'), kinds) ?? onUnknown(camelCase(written!));
    const kind = kinds[name]!;
    if (kind.type === 'boolean') {
      if (given !== undefined && given !== 'true' && given !== 'false')
        throw new UsageError(`${word}: it takes no value`);
      flags.set(name, given === 'false' ? [] : [`--${kebab(name)}`]);
      continue;
    }
    const values = [given ?? valueFor(name, queue)];
    while (queue[0] !== undefined && kind.takesMore?.(queue[0])) values.push(queue.shift()!);
    const own = values.map((value) => `--${kebab(name)}=${value}`);
    flags.set(name, kind.isMultiple ? [...(flags.get(name) ?? []), ...own] : own);
  }
  return {flags: [...flags.values()].flat(), positional};
}

/** `-5 apples` and `- be brief` are words. */
function looksLikeFlag(word: string): boolean {
  return /^--?[A-Za-z][\w.-]*(=|$)/.test(word);
}

function nameOf(written: string, long: boolean, kinds: Readonly<Record<string, FlagKind>>): string | undefined {
  if (!long) return Object.keys(kinds).find((name) => kinds[name]?.shortFlag === written);
  const name = camelCase(written);
  return Object.hasOwn(kinds, name) ? name : undefined;
}

/** `--resume` alone is asked for its id later; other flags want their value here. */
function valueFor(name: string, queue: string[]): string {
  const [next] = queue;
  if (name === 'resume' && (next === undefined || looksLikeFlag(next))) return '';
  if (next === undefined || next === '--') throw new UsageError(`--${kebab(name)} needs a value`);
  queue.shift();
  return next;
}

function camelCase(flag: string): string {
  return flag.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

export function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
