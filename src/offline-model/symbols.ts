/** Parses the output of the `symbols` tool. Lines of another form are notes of the tool. */
import type {RenameEdit} from '../code-index/contract.ts';
import type {Observation} from './skill.ts';

export interface FoundDefinition {
  readonly path: string;
  readonly line: number;
  readonly endLine: number;
  readonly kind: string;
  /** The name with its containers: `Parser.parse`. */
  readonly name: string;
  readonly text: string;
}

export interface FoundReference {
  readonly path: string;
  readonly line: number;
  /** One of call, import, inherit, type, write and read. */
  readonly kind: string;
  /** The function or class around the reference. */
  readonly inside: string | undefined;
  readonly text: string;
}

export interface RankedFile {
  readonly path: string;
  readonly lines: number;
  readonly definitions: number;
  readonly importers: number;
  readonly isTest: boolean;
}

export interface Found<T> {
  readonly found: readonly T[];
  /** Number of results that the tool found but did not list. */
  readonly more: number;
  /** Number of files that were searched; 0 when the tool does not say it because it found something. */
  readonly files: number;
  /** Files that were not searched, in the tool's words. Empty when all were. */
  readonly open: string;
  /** The call was made and did not fail. */
  readonly known: boolean;
}

const DEFINITION = /^(\S.*?):(\d+) ((?:enum )?[a-z]+(?: \(declared\))?) (\S+?)(?: \(to (\d+)\))?: (.*)$/;
const REFERENCE = /^(\S.*?):(\d+) (call|import|inherit|type|write|read)(?: in (\S+?))?(?: \(of (.*?)\))?: (.*)$/;
const IMPORT = /^(\S.*?):(\d+) import (.*)$/;
const FILE = /^(\S.*?) (\d+) lines, (\d+) definitions, imported by (\d+)(, test)?$/;
const MORE = /^\((\d[\d,]*) more lines?: /;
const COUNTED = /^(?:No .* in |\(searched )(\d[\d,]*) files?[.)]$/;
const GAPS = /^\(((?:not parsed|skipped): .*)\)$/;

function parse<T>(observation: Observation | undefined, form: RegExp, create: (match: RegExpExecArray) => T): Found<T> {
  const lines = observation?.outcome === 'ok' ? observation.text.split('\n') : [];
  const all = (note: RegExp) => lines.flatMap((line) => note.exec(line)?.[1] ?? []);
  const number = (text = '0') => Number(text.replaceAll(',', ''));
  return {
    found: lines.flatMap((line) => {
      const match = form.exec(line);
      return match ? [create(match)] : [];
    }),
    more: number(all(MORE)[0]),
    files: number(all(COUNTED)[0]),
    open: all(GAPS).join('; '),
    known: observation?.outcome === 'ok',
  };
}

/** Parses the output of the modes `definitions` and `outline`. */
export function parseDefinitions(observation: Observation | undefined): Found<FoundDefinition> {
  return parse(observation, DEFINITION, ([, path, line, kind, name, end, text]) => ({
    path: path!,
    line: Number(line),
    endLine: Number(end ?? line),
    kind: kind!,
    name: name!,
    text: text ?? '',
  }));
}

/** Parses the output of the mode `references`. */
export function parseReferences(observation: Observation | undefined): Found<FoundReference> {
  return parse(observation, REFERENCE, ([, path, line, kind, inside, , text]) => ({
    path: path!,
    line: Number(line),
    kind: kind!,
    inside,
    text: text!,
  }));
}

/** Parses the output of the mode `importers`, which has each import once, however many names it binds. */
export function parseImporters(observation: Observation | undefined): Found<FoundReference> {
  return parse(observation, IMPORT, ([, path, line, text]) => ({
    path: path!,
    line: Number(line),
    kind: 'import',
    inside: undefined,
    text: text!,
  }));
}

/** Parses the output of the mode `files`, the most important file first. */
export function parseFiles(observation: Observation | undefined): Found<RankedFile> {
  return parse(observation, FILE, ([, path, lines, definitions, importers, test]) => ({
    path: path!,
    lines: Number(lines),
    definitions: Number(definitions),
    importers: Number(importers),
    isTest: test !== undefined,
  }));
}

export interface SyntaxFinding {
  readonly title: string;
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

const FINDING = /^([A-Z][\w ]+): (\S.*?):(\d+) — (.*)$/;

/** Parses the output of the mode `syntax`. */
export function parseSyntax(observation: Observation | undefined): Found<SyntaxFinding> {
  return parse(observation, FINDING, ([, title, path, line, text]) => ({
    title: title!,
    path: path!,
    line: Number(line),
    text: text!,
  }));
}

/** The changes that the mode `rename` would make. */
export interface RenamePlan {
  /** Why the rename is refused. Undefined when it is safe. */
  readonly refused: string | undefined;
  readonly edits: readonly RenameEdit[];
  /** Doubtful places, each with the reason. */
  readonly concerns: readonly string[];
  /** Places in strings, comments and other files that stay as they are. */
  readonly mentions: readonly string[];
}

/** @param from the old name with its containers as requested: `Parser.parse` */
export function parseRenamePlan({text}: Observation, from: string, to: string): RenamePlan {
  const oldText = from.split('.').at(-1)!;
  const lines = text.split('\n');
  const after = (head: string) => lines.filter((line) => line.startsWith(head)).map((line) => line.slice(head.length));
  const edits = lines.flatMap((line) => {
    const [, path, places] = /^Edit: (\S.*?) at (\d.*)$/.exec(line) ?? [];
    if (path === undefined) return [];
    return [...places!.matchAll(/(\d+):(\d+)(?: → ("(?:[^"\\]|\\.)*"))?/g)].map((match) => ({
      path,
      line: Number(match[1]),
      column: Number(match[2]),
      oldText,
      newText: match[3] === undefined ? to : String(JSON.parse(match[3])),
    }));
  });
  const told = Number(/^Safe: (\d+) edits?/m.exec(text)?.[1] ?? 0);
  const refused = /^Refused: (.*)$/m.exec(text)?.[1];
  const cut = told === edits.length && told > 0 ? undefined : 'the plan of the rename was not shown whole';
  return {refused: refused ?? cut, edits, concerns: after('Concern: '), mentions: after('Mention: ')};
}
