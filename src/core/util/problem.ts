/** Problems in files that people write (settings, agent definitions): where they are and what is wrong. */
import type {z} from 'zod';
import {removeLogins} from './text.ts';

/** A position in a file. Line and column count from 1, columns in UTF-16 units as in editors. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Problem extends Position {
  /** A path, or `--agents` for a value of that flag. */
  readonly file: string;
  /** `hint`: in a file that people have for another program. Only `lint` shows it. */
  readonly severity: 'error' | 'warning' | 'hint';
  /** A stable name for scripts: `syntax`, `unknown-key`, `unknown-tool`, … */
  readonly rule: string;
  readonly message: string;
  /** The value that the writer probably meant. */
  readonly meant?: string;
}

export const START: Position = {line: 1, column: 1};

/** `PATH:LINE:COL: what is wrong (did you mean …?)` */
export function formatProblem(problem: Problem): string {
  return `${problem.file}:${problem.line}:${problem.column}: ${formatMessage(problem)}`;
}

/** `what is wrong (did you mean …?)` */
export function formatMessage({message, meant}: Pick<Problem, 'message' | 'meant'>): string {
  return meant === undefined ? message : `${message} (did you mean ${meant}?)`;
}

export function hasError(problems: readonly Problem[]): boolean {
  return problems.some(({severity}) => severity === 'error');
}

/** Collects the problems of one file. */
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

/** The position of `offset` (UTF-16 units from 0) in `text`. Lines end with LF, CRLF or CR. */
export function positionAt(text: string, offset: number): Position {
  const before = text.slice(0, offset).split(/\r\n|\n|\r/);
  // An offset between CR and LF is still on the line that they end.
  return {line: before.length, column: before.at(-1)!.length + 1};
}

/** A value from a file, for a message: quoted, control characters escaped, cut at 60 characters. */
export function quote(value: unknown): string {
  const text = typeof value === 'string' ? value : String(JSON.stringify(value));
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text);
}

/** For a field of a Zod schema: the text of its issue. It says what was given instead. */
export function mustBe(what: string): {error: (issue: {readonly input: unknown}) => string} {
  return {error: ({input}) => (input === undefined ? 'is missing' : `must be ${what}, not ${describeValue(input)}`)};
}

/** A short description of a value for a message about its type: `a list`, `-3`, `"fast"`. */
function describeValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value !== 'string') return String(value);
  const text = removeLogins(value);
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 39)}…` : text);
}

/** What a schema finds wrong with a value, in one line: `message.content: Invalid input; uuid: expected string, …`. */
export function formatIssues({issues}: z.ZodError): string {
  return issues
    .map(({path, message}) => (path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`))
    .join('; ');
}
