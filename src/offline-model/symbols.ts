/** Parses what the `symbols` tool prints. Lines of another form are notes of the tool. */
import type {Observation} from './skill.ts';

/** A definition, or one entry of an outline. */
export interface FoundDefinition {
  readonly path: string;
  readonly line: number;
  readonly endLine: number;
  readonly kind: string;
  /** With the names around it: `Parser.parse`. */
  readonly name: string;
  readonly text: string;
}

export interface FoundReference {
  readonly path: string;
  readonly line: number;
  /** call, import, inherit, type, write or read. */
  readonly kind: string;
  /** The function or class that it stands in. */
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
  /** Found, but not listed by the tool. */
  readonly more: number;
  /** How many files were searched. */
  readonly files: number;
  /** What was not searched, in the tool's words; empty when the search was whole. */
  readonly open: string;
  /** Names that are nearly the one that was asked for. */
  readonly similar: readonly string[];
  /** The call was made and did not fail. */
  readonly known: boolean;
}

const DEFINITION = /^(\S.*?):(\d+)(?:-(\d+))? ((?:enum )?[a-z]+) (\S+)(?: — (.*))?$/;
const REFERENCE = /^(\S.*?):(\d+)(?::\d+)? (call|import|inherit|type|write|read)(?: in (\S+))?(?: — (.*))?$/;
const FILE = /^(\S.*?) (\d+) lines?, (\d+) definitions?, imported by (\d+)(, test)?$/;
const MORE = /^… and (\d[\d,]*) more/;
const COVERAGE = /^Searched (\d[\d,]*) files?(?:; (.*?))?\.?$/;
const SIMILAR = /^Similar: (.*?)\.?$/;

function parse<T>(observation: Observation | undefined, form: RegExp, create: (match: RegExpExecArray) => T): Found<T> {
  const lines = observation?.outcome === 'ok' ? observation.text.split('\n') : [];
  const first = (note: RegExp) => lines.map((line) => note.exec(line)).find((match) => match !== null);
  const number = (text: string | undefined) => Number((text ?? '0').replaceAll(',', ''));
  const coverage = first(COVERAGE);
  return {
    found: lines.flatMap((line) => {
      const match = form.exec(line);
      return match ? [create(match)] : [];
    }),
    more: number(first(MORE)?.[1]),
    files: number(coverage?.[1]),
    open: coverage?.[2] ?? '',
    similar: first(SIMILAR)?.[1]?.split(', ') ?? [],
    known: observation?.outcome === 'ok',
  };
}

/** Of the modes `definitions` and `outline`. */
export function parseDefinitions(observation: Observation | undefined): Found<FoundDefinition> {
  return parse(observation, DEFINITION, ([, path, line, end, kind, name, text]) => ({
    path: path!,
    line: Number(line),
    endLine: Number(end ?? line),
    kind: kind!,
    name: name!,
    text: text ?? '',
  }));
}

/** Of the modes `references` and `importers`. */
export function parseReferences(observation: Observation | undefined): Found<FoundReference> {
  return parse(observation, REFERENCE, ([, path, line, kind, inside, text]) => ({
    path: path!,
    line: Number(line),
    kind: kind!,
    inside,
    text: text ?? '',
  }));
}

/** Of the outline of a folder: its files, the most important first. */
export function parseFiles(observation: Observation | undefined): Found<RankedFile> {
  return parse(observation, FILE, ([, path, lines, definitions, importers, test]) => ({
    path: path!,
    lines: Number(lines),
    definitions: Number(definitions),
    importers: Number(importers),
    isTest: test !== undefined,
  }));
}

/** One finding of the mode `syntax`, under its title. */
export interface SyntaxFinding {
  readonly title: string;
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

const FINDING = /^([A-Z][\w ]+): (\S.*?):(\d+) — (.*)$/;

/** Of the mode `syntax`. */
export function parseSyntax(observation: Observation | undefined): Found<SyntaxFinding> {
  return parse(observation, FINDING, ([, title, path, line, text]) => ({
    title: title!,
    path: path!,
    line: Number(line),
    text: text!,
  }));
}

/** What the mode `rename` would change. */
export interface RenamePlan {
  /** Why nothing may be changed; undefined when the rename is safe. */
  readonly refused: string | undefined;
  /** The new text replaces the old name at that place; columns count from 1. */
  readonly edits: readonly {
    readonly path: string;
    readonly line: number;
    readonly column: number;
    readonly text: string;
  }[];
  /** Places with what is doubtful about them. */
  readonly concerns: readonly string[];
  /** Places in strings, comments and other files that stay as they are. */
  readonly mentions: readonly string[];
}

export function parseRenamePlan({text}: Observation): RenamePlan {
  const lines = text.split('\n');
  const after = (head: string) => lines.filter((line) => line.startsWith(head)).map((line) => line.slice(head.length));
  const edits = lines.flatMap((line) => {
    const match = /^Edit: (\S.*?):(\d+):(\d+) → (.+)$/.exec(line);
    return match ? [{path: match[1]!, line: Number(match[2]), column: Number(match[3]), text: match[4]!}] : [];
  });
  const told = Number(/^Safe: (\d+) edits?/m.exec(text)?.[1] ?? 0);
  const refused = /^Refused: (.*)$/m.exec(text)?.[1];
  const cut = told === edits.length && told > 0 ? undefined : 'the plan of the rename was not shown whole';
  return {refused: refused ?? cut, edits, concerns: after('Concern: '), mentions: after('Mention: ')};
}
