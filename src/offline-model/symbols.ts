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
  /** The file that defines the name: undefined for the same file, `what is unknown` when syntax does not tell it. */
  readonly target?: string | undefined;
}

export interface RankedFile {
  readonly path: string;
  readonly lines: number;
  readonly definitions: number;
  readonly importers: number;
  /** Undefined unless the file is a test. */
  readonly test: string | undefined;
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

/** The groups have the names of the fields. */
const DEFINITION =
  /^(?<path>\S.*?):(?<line>\d+) (?<kind>(?:enum )?[a-z]+(?: \(declared\))?) (?<name>\S+?)(?: \(to (?<endLine>\d+)\))?: (?<text>.*)$/;
const REFERENCE =
  /^(?<path>\S.*?):(?<line>\d+) (?<kind>call|import|inherit|type|write|read)(?: in (?<inside>\S+?))?(?: \(of (?<target>.*?)\))?: (?<text>.*)$/;
const IMPORT = /^(?<path>\S.*?):(?<line>\d+) (?<kind>import) (?<text>.*)$/;
const FILE =
  /^(?<path>\S.*?) (?<lines>\d+) lines, (?<definitions>\d+) definitions, imported by (?<importers>\d+)(?<test>, test)?$/;
const FINDING = /^(?<title>[A-Z][\w ]+): (?<path>\S.*?):(?<line>\d+) — (?<text>.*)$/;
const NUMBERS = /^(?:line|endLine|lines|definitions|importers)$/;
const MORE = /^\((\d[\d,]*) more lines?: /;
const COUNTED = /^(?:No .* in |\(searched )(\d[\d,]*) files?[.)]$/;
const GAPS = /^\(((?:not parsed|skipped): .*)\)$/;

/** @param form has a group for each field of T */
function parse<T>(observation: Observation | undefined, form: RegExp): Found<T> {
  const lines = observation?.outcome === 'ok' ? observation.text.split('\n') : [];
  const all = (note: RegExp) => lines.flatMap((line) => note.exec(line)?.[1] ?? []);
  const number = (text = '0') => Number(text.replaceAll(',', ''));
  const toField = ([name, text]: [string, string | undefined]) =>
    [name, text !== undefined && NUMBERS.test(name) ? Number(text) : text] as const;
  return {
    found: lines.flatMap((line) => {
      const {groups} = form.exec(line) ?? {};
      return groups ? [Object.fromEntries(Object.entries(groups).map(toField)) as T] : [];
    }),
    more: number(all(MORE)[0]),
    files: number(all(COUNTED)[0]),
    open: all(GAPS).join('; '),
    known: observation?.outcome === 'ok',
  };
}

/** Parses the output of the modes `definitions` and `outline`. */
export function parseDefinitions(observation: Observation | undefined): Found<FoundDefinition> {
  const all = parse<FoundDefinition>(observation, DEFINITION);
  return {...all, found: all.found.map((one) => ({...one, endLine: one.endLine ?? one.line}))};
}

/** Parses the output of the mode `references`. */
export const parseReferences = (observation: Observation | undefined) => parse<FoundReference>(observation, REFERENCE);

/** Parses the output of the mode `importers`, which has each import once, however many names it binds. */
export const parseImporters = (observation: Observation | undefined) => parse<FoundReference>(observation, IMPORT);

/** Parses the output of the mode `files`, the most important file first. */
export const parseFiles = (observation: Observation | undefined) => parse<RankedFile>(observation, FILE);

/** Parses the output of the mode `syntax`. */
export const parseSyntax = (observation: Observation | undefined) =>
  parse<Hit & {readonly title: string}>(observation, FINDING);
