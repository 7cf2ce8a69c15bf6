/**
 * Describes problems in files that people write, such as settings and agent definitions: where they are and what is
 * wrong.
 */
import type {z} from 'zod';
import type {ForeignWord} from '../contract/events.ts';
import {cutEnd, removeLogins, showControls} from './text.ts';

/** A position in a file. Line and column count from 1, columns in UTF-16 units as in editors. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Problem extends Position {
  /** Path of the file, or `--agents` for a value of that flag. */
  readonly file: string;
  /** `hint`: a problem in a file that people have for another program. Only `lint` shows it. */
  readonly severity: 'error' | 'warning' | 'hint';
  /** Stable name for scripts: `syntax`, `unknown-key`, `unknown-tool`, … */
  readonly rule: string;
  readonly message: string;
  /** Value that the writer probably meant. */
  readonly meant?: string;
}

export const START: Position = {line: 1, column: 1};

/** Formats `PATH:LINE:COL: what is wrong (did you mean …?)`. */
export function formatProblem(problem: Problem): string {
  return `${problem.file}:${problem.line}:${problem.column}: ${formatMessage(problem)}`;
}

/** Formats `what is wrong (did you mean …?)`. */
export function formatMessage({message, meant}: Pick<Problem, 'message' | 'meant'>): string {
  return meant === undefined ? message : `${message} (did you mean ${meant}?)`;
}

/** Converts a problem of what another program sent to a warning that its reader gets as data. */
export function toForeignWord(problem: Problem): ForeignWord {
  const [, quoted, key] = /^(?:unknown key |tool )?"(.*?)"|^([\w.-]+): /.exec(problem.message) ?? [];
  const kind = problem.rule === 'unknown-tool' ? 'tool' : 'key';
  return {kind, name: quoted ?? key ?? problem.rule, text: showControls(formatProblem(problem))};
}

export function hasError(problems: readonly Problem[]): boolean {
  return problems.some(({severity}) => severity === 'error');
}

export class ProblemList {
  readonly all: Problem[] = [];

  constructor(readonly file: string) {}

  error(rule: string, position: Position, message: string, meant?: string): void {
    this.#add('error', rule, position, message, meant);
  }

  warn(rule: string, position: Position, message: string, meant?: string): void {
    this.#add('warning', rule, position, message, meant);
  }

  get failed(): boolean {
    return hasError(this.all);
  }

  #add(severity: Problem['severity'], rule: string, {line, column}: Position, message: string, meant?: string): void {
    this.all.push({file: this.file, line, column, severity, rule, message, ...(meant === undefined ? {} : {meant})});
  }
}

/** Returns the position of `offset` (UTF-16 units from 0) in `text`. Lines end with LF, CRLF or CR. */
export function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset).split(/\r\n|\n|\r/);
  // An offset between CR and LF is still on the line that they end.
  return {line: before.length, column: before.at(-1)!.length + 1};
}

/** Formats a value from a file for a message: in quotes, with control characters escaped, cut at 60 characters. */
export function quote(value: unknown): string {
  const text = typeof value === 'string' ? value : String(JSON.stringify(value));
  return JSON.stringify(cutEnd(text, 60));
}

/** Creates the issue text for a field of a Zod schema. It says what was given instead. */
export function mustBe(what: string): {error: (issue: {readonly input: unknown}) => string} {
  return {error: ({input}) => (input === undefined ? 'is missing' : `must be ${what}, not ${describeValue(input)}`)};
}

/** Describes a value briefly, for a message about its type: `a list`, `-3`, `"fast"`. */
function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value !== 'string') return String(value);
  return JSON.stringify(cutEnd(removeLogins(value), 40));
}

/** Formats what a schema finds wrong in one line: `message.content: Invalid input; uuid: expected string, …`. */
export function formatIssues({issues}: z.ZodError): string {
  return issues
    .map(({path, message}) => (path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`))
    .join('; ');
}
