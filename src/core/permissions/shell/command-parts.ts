/** The simple commands that a command is made of, also those within substitutions, functions and loops. */
import type {Command, Word} from 'unbash';
import {NotProven, nodesOf, parseShell, type ShellScript} from './command-parser.ts';
import {readWord} from './shell-words.ts';

export interface PartWord {
  /** As it stands there, with its quotes. */
  readonly raw: string;
  /** Once bash has expanded it, where that is known before. */
  readonly text?: string;
}

export interface CommandPart {
  readonly node: Command;
  /** The program's name first. */
  readonly words: readonly PartWord[];
}

export interface ParsedCommand {
  readonly shell: ShellScript;
  readonly parts: readonly CommandPart[];
}

/** @throws NotProven for a command that cannot be read. */
export async function parseCommand(command: string): Promise<ParsedCommand> {
  const shell = await parseShell(command);
  const parts: CommandPart[] = [];
  for (const node of nodesOf(shell.script, shell.parser)) {
    if (node.type !== 'Command' || !node.name) continue;
    const words = [node.name, ...node.args].map((arg) => (arg.type === 'Word' ? partWord(arg) : {raw: arg.text}));
    parts.push({node, words});
  }
  return {shell, parts};
}

function partWord(word: Word): PartWord {
  const raw = word.text;
  try {
    const [only, ...more] = readWord(word).words;
    if (only?.kind === 'text' && !only.home && more.length === 0) return {raw, text: only.text};
    return {raw};
  } catch (error) {
    // What it will be is known only when it runs.
    if (error instanceof NotProven) return {raw};
    throw error;
  }
}

/** Letters that mean nothing to bash. */
const PLAIN = /^[\w@%+=:,./~^-]+$/;

/** The words as a person would write them: quotes only where they are needed. */
export function plainText(words: readonly PartWord[]): string {
  return words.map(({raw, text}) => (text !== undefined && PLAIN.test(text) ? text : raw)).join(' ');
}
