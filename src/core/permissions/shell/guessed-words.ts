/**
 * Guesses the words that bash expands, by the environment and by the variables that the command itself sets. A guess only
 * adds places that are judged: nothing is allowed because of it.
 */
import {homedir, userInfo} from 'node:os';
import type {ParameterExpansionPart, Word, WordPart} from 'unbash';
import type {Workspace} from '../../contract/permission.ts';
import {tryOr} from '../../util/errors.ts';
import {expandHome} from '../files/resolve-links.ts';
import type {CommandPart, CommandShape} from './command-shape.ts';
import {MAX_WORDS, type ShellWord} from './shell-words.ts';

/** Stands in a guess for text that is known only when the command runs. */
const UNKNOWN = '\0';
/** Values of variables may contain other variables. */
const MAX_DEPTH = 20;
/** No path is longer. */
const MAX_CHARS = 4096;

/** Returns the values that a variable may have. */
export type Variables = (name: string) => readonly string[];

/**
 * Returns the values of the environment and of all assignments, in whatever order they run. `PWD` is `.`, because each
 * path is judged in every folder in which the command may run.
 */
export function getVariables(shapes: readonly CommandShape[], {env}: Pick<Workspace, 'env'>): Variables {
  const found = new Map<string, readonly string[]>([['PWD', ['.']]]);
  let depth = 0;
  const find: Variables = (name) => {
    const known = found.get(name);
    if (known) return known;
    const own = Object.hasOwn(env, name) ? [env[name]!] : [];
    if (depth === MAX_DEPTH) return own.length > 0 ? own : [UNKNOWN];
    // This ends a circle of variables.
    found.set(name, own);
    depth += 1;
    const assigned = shapes.flatMap(({assigned: words}) => words.get(name) ?? []);
    const values = assigned.flatMap((word) => guessWord(word, find)).map(({text}) => expandHome(text));
    depth -= 1;
    const all = [...new Set([...own, ...(name === 'OLDPWD' ? ['.'] : []), ...values])].slice(0, MAX_WORDS);
    const result = all.length > 0 ? all : [UNKNOWN];
    found.set(name, result);
    return result;
  };
  return find;
}

/** Returns the part once for each guess of its unknown words. */
export function guessPart({node, words, expanded}: CommandPart, variables: Variables): CommandPart[] {
  const guesses = expanded.map((word) => guessWords(word, variables));
  const count = Math.max(...guesses.map(({length}) => length));
  return Array.from({length: count}, (_, at) => ({
    node,
    words,
    expanded: guesses.map((each) => each[at] ?? each.at(-1)!),
  }));
}

/** Returns the guesses of an unknown word, cut to what is known of each; the word itself where there are none. */
export function guessWords(word: ShellWord, variables: Variables): readonly [ShellWord, ...ShellWord[]] {
  if (word.kind !== 'unknown' || !word.word) return [word];
  const [first, ...others] = guessWord(word.word, variables).flatMap(listKnownPieces);
  return first ? [first, ...others] : [word];
}

type Guess = Exclude<ShellWord, {kind: 'unknown'}>;

/** Returns the known folder in which a guess begins, what follows after its last unknown text, and it without that text. */
function listKnownPieces({text, ...word}: Guess): Guess[] {
  const at = text.indexOf(UNKNOWN);
  if (at < 0) return [{...word, text}];
  const start = text.slice(0, at).replace(/[^/]*$/, '');
  const end = text.slice(text.lastIndexOf(UNKNOWN) + 1).replace(/^\/+/, '');
  const joined = at === 0 ? '' : text.replaceAll(UNKNOWN, '');
  return [...new Set([start, joined, end])].flatMap((each) => (each === '' ? [] : [{...word, text: each}]));
}

function guessWord({text, value, parts = []}: Word, variables: Variables): readonly Guess[] {
  const [first, ...others] = parts;
  const tilde = guessTilde(first?.type === 'Literal' ? first.text : first ? '' : text);
  const literal = first?.type === 'Literal' || !first ? (first?.value ?? value) : '';
  const start: Piece[] = [{text: tilde ? tilde.value + literal.slice(tilde.length) : literal, glob: false}];
  const rest = first && first.type !== 'Literal' ? parts : others;
  return rest
    .reduce((before, part) => join(before, guessPiece(part, variables)), start)
    .map((piece) => ({kind: piece.glob ? 'glob' : 'text', text: piece.text, home: false}));
}

/** Returns the folder that a `~` at the beginning of a word stands for, and the length of its name. */
function guessTilde(text: string): {readonly value: string; readonly length: number} | undefined {
  const [name] = /^~[\w.+-]*(?=\/|$)/.exec(text) ?? [];
  if (name === undefined) return undefined;
  if (/^~[+-]$/.test(name)) return {value: '.', length: name.length};
  const isOwn = name === '~' || name === tryOr(() => `~${userInfo().username}`, '~');
  return {value: isOwn ? homedir() : UNKNOWN, length: name.length};
}

interface Piece {
  readonly text: string;
  readonly glob: boolean;
}

function join(before: readonly Piece[], after: readonly Piece[]): Piece[] {
  return before
    .flatMap((a) => after.map((b) => ({text: a.text + b.text, glob: a.glob || b.glob})))
    .slice(0, MAX_WORDS)
    .map((piece) => (piece.text.length > MAX_CHARS ? {text: UNKNOWN, glob: false} : piece));
}

function guessPiece(part: WordPart, variables: Variables): readonly Piece[] {
  const plain = (texts: readonly string[]) => texts.map((text) => ({text, glob: false}));
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return plain([part.value]);
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts
        .map((child) => plain(guessPiece(child, variables).map(({text}) => text)))
        .reduce(join, plain(['']));
    case 'Glob':
      return [{text: part.text, glob: true}];
    case 'ExtendedGlob':
      return [{text: '*', glob: true}];
    case 'BraceExpansion':
      return plain(expandBraces(part.text));
    case 'SimpleExpansion':
      return fromVariable(variables(part.text.slice(1)));
    case 'ParameterExpansion':
      return fromVariable(guessParameter(part, variables));
    case 'CommandExpansion':
      return plain([/^(?:\$\(|`)\s*pwd\s*[)`]$/.test(part.text) ? '.' : UNKNOWN]);
    default:
      return plain([UNKNOWN]);
  }
}

function fromVariable(values: readonly string[]): Piece[] {
  return values.map((text) => ({text, glob: /[*?[]/.test(text)}));
}

/** Guesses `${NAME}`, and with a default `${NAME:-x}`. */
function guessParameter({parameter, prefix, operation}: ParameterExpansionPart, variables: Variables): string[] {
  if (prefix !== undefined) return [UNKNOWN];
  const values = variables(parameter);
  if (!operation) return [...values];
  if (operation.type !== 'Default') return [UNKNOWN];
  const others = guessWord(operation.operand, variables).map(({text}) => text);
  return [...new Set([...others, ...values])];
}

/** Expands braces from the inside, without steps as in `{1..9}`. */
function expandBraces(text: string): string[] {
  const [inner, list] = /\{([^{}]*,[^{}]*)\}/.exec(text) ?? [];
  if (inner === undefined || list === undefined) return [text.replace(/["'\\]/g, '')];
  return list
    .split(',', MAX_WORDS)
    .flatMap((choice) => expandBraces(text.replace(inner, () => choice)))
    .slice(0, MAX_WORDS);
}
