/** Parses the output of the `symbols` tool. Lines of another form are notes of the tool. */
import type {Hit} from './results.ts';
import type {Observation} from './skill.ts';

export interface FoundDefinition extends Hit {
  readonly endLine: number;
  readonly kind: string;
  /** The name with its containers: `Parser.parse`. */
  readonly name: string;
}

export interface FoundReference extends Hit {
  /** One of call, import, inherit, type, write and read. */
  readonly kind: string;
  /** The function or class around the reference. */
  readonly inside: string | undefined;
  /** The file with what the name means; undefined is the file itself, `what is unknown` none. */
  readonly target?: string | undefined;
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
  return parse(observation, REFERENCE, ([, path, line, kind, inside, target, text]) => ({
    path: path!,
    line: Number(line),
    kind: kind!,
    inside,
    target,
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

interface SyntaxFinding extends Hit {
  readonly title: string;
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
