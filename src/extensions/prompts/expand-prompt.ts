/**
 * Puts the arguments of a command or skill into its text. Only the file's own text may run commands and attach files:
 * the arguments may come from anywhere, such as the title of a pull request.
 */
import type {PromptPiece} from '../../core/contract/session-requests.ts';
import {UsageError} from '../../core/util/errors.ts';
import type {PromptFile} from './prompt-file.ts';

type ExpandedFile = Pick<PromptFile, 'kind' | 'body' | 'folder'>;

const ARGUMENT = /\$(ARGUMENTS|[1-9])(?:\[(\d+)\])?/g;
const EMBEDDED = /!`([^`\n]+)`/g;

/** Splits words as a shell does: a quoted text is one word. */
export function splitWords(args: string): string[] {
  return [...args.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain!,
  );
}

/** Expands the body for a model that calls for it. Nothing in it is run. */
export function expandPrompt(file: ExpandedFile, args: string): string {
  return split(file, args, (command) => [{kind: 'text', text: `!\`${fill(command, args)}\``}])
    .map(({text}) => text)
    .join('');
}

/**
 * Expands the body for the turn of a command. When it names no arguments, they are appended.
 * @throws UsageError when a command of the body cannot take the arguments as plain words
 */
export function splitPrompt(file: ExpandedFile, args: string): readonly PromptPiece[] {
  return split(file, args, (command) => [{kind: 'command', text: fillCommand(command, args)}]);
}

function split(
  {kind, body, folder}: ExpandedFile,
  args: string,
  toPieces: (command: string) => PromptPiece[],
): readonly PromptPiece[] {
  const where = kind === 'skill' ? `The files of this skill are in ${folder}\n\n` : '';
  // Every second part is a command, which the expression captures.
  const pieces = body.split(EMBEDDED).flatMap((part, at) => (at % 2 === 1 ? toPieces(part) : splitText(part, args)));
  const isNamed = body.search(ARGUMENT) >= 0;
  const appended: PromptPiece[] =
    isNamed || args === ''
      ? []
      : [
          {kind: 'text', text: '\n\n'},
          {kind: 'arguments', text: args},
        ];
  return [{kind: 'text', text: where}, ...pieces, ...appended];
}

function splitText(text: string, args: string): PromptPiece[] {
  const pieces: PromptPiece[] = [];
  let end = 0;
  for (const match of text.matchAll(ARGUMENT)) {
    pieces.push({kind: 'text', text: text.slice(end, match.index)}, {kind: 'arguments', text: getValue(match, args)});
    end = match.index + match[0].length;
  }
  return [...pieces, {kind: 'text', text: text.slice(end)}];
}

function fill(text: string, args: string): string {
  return splitText(text, args)
    .map((piece) => piece.text)
    .join('');
}

/** @param match match of `ARGUMENT` */
function getValue([, name, index]: RegExpMatchArray, args: string): string {
  const words = splitWords(args);
  if (name !== 'ARGUMENTS') return words[Number(name) - 1] ?? '';
  return index === undefined ? args : (words[Number(index)] ?? '');
}

/** Matches words that a shell takes as they are, wherever they stand. */
const PLAIN = /^[\w@%+=:,./ -]*$/;

/** Puts the arguments into a shell command as plain words, which start nothing. @throws UsageError */
function fillCommand(command: string, args: string): string {
  let filled = '';
  let end = 0;
  for (const match of command.matchAll(ARGUMENT)) {
    filled += command.slice(end, match.index);
    end = match.index + match[0].length;
    // A new line would end a comment or the command.
    const value = getValue(match, args).replaceAll(/[\r\n\0]+/g, ' ');
    filled += PLAIN.test(value) ? value : quoteValue(value, match[0] === '$ARGUMENTS', filled);
  }
  return filled + command.slice(end);
}

/**
 * @param hasWords true when the value stands for several words
 * @param before the command before the value
 * @throws UsageError where quoting cannot be trusted
 */
function quoteValue(value: string, hasWords: boolean, before: string): string {
  const open = findOpenQuote(before);
  if (open === undefined) {
    throw new UsageError(`A command of this file cannot take ${JSON.stringify(value)} where it names its arguments.`);
  }
  if (open === '"') return value.replaceAll(/["\\$`]/g, '\\$&');
  const quote = (word: string) => word.replaceAll("'", String.raw`'\''`);
  if (open === "'") return quote(value);
  return (hasWords ? splitWords(value) : [value]).map((word) => `'${quote(word)}'`).join(' ');
}

/** @returns the quote that is open at the end of the text, or undefined where quotes nest or cannot be known */
function findOpenQuote(text: string): '' | '"' | "'" | undefined {
  // In arithmetic, quotes do not quote.
  if (text.includes('((')) return undefined;
  let open: '' | '"' | "'" = '';
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]!;
    if (open !== "'" && char === '\\') at += 1;
    else if (open !== "'" && char === '$' && /['"]/.test(text[at + 1] ?? '') && open === '') return undefined;
    else if (open === '"' && char === '$' && text[at + 1] === '(') return undefined;
    else if ((char === '"' || char === "'") && (open === '' || open === char)) open = open === '' ? char : '';
  }
  return text.endsWith('\\') ? undefined : open;
}
