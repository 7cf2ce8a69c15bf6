/** Formats the modes `files` and `syntax` of the `symbols` tool, one finding a line. */
import type {
  Answer,
  CodeIndex,
  Coverage,
  Definition,
  FunctionFacts,
  IndexedFile,
  Place,
  QueryOptions,
} from '../../code-index/contract.ts';

export interface Found {
  readonly lines: readonly string[];
  /** Text for the case that there are no lines. */
  readonly empty: string;
  readonly notes: readonly string[];
  readonly coverage: Coverage;
}

export type Show = (path: string) => string;

/** Number of lines above which a function is long. */
const LONG_FUNCTION = 60;
/** Levels of `if`, loops, `switch` and `try` from which a function is deeply nested. */
const DEEP_NESTING = 5;
/** Number of parameters from which a function has many. */
const MANY_PARAMETERS = 7;
/** Limit of printed findings of one kind. */
const MAX_FINDINGS = 40;

const named = ({container, name}: FunctionFacts | Definition) => `\`${[...container, name].join('.')}\``;

/** Formats the files, the most important first. */
export function formatFiles({found, coverage}: Answer<IndexedFile>, show: Show): Found {
  const lines = found.map(
    ({path, lines, definitions, importers, isTest}) =>
      `${show(path)} ${lines} lines, ${definitions} definitions, imported by ${importers}${isTest ? ', test' : ''}`,
  );
  return {lines, empty: 'No files that are parsed.', notes: [], coverage};
}

/** Formats lines `Title: PATH:LINE — finding`, the worst first under each title. */
export async function formatSyntax(index: CodeIndex, path: string, options: QueryOptions, show: Show): Promise<Found> {
  const at = ({path: file, line}: Place) => `${show(file)}:${line}`;
  const facts = await index.syntax(path, options);
  const select = <T extends Place>(title: string, places: readonly T[], describe: (place: T) => string) => [
    ...places.slice(0, MAX_FINDINGS).map((place) => `${title}: ${at(place)} — ${describe(place)}`),
    ...(places.length > MAX_FINDINGS ? [`(${title}: ${places.length} in all)`] : []),
  ];
  const by = (measure: (one: FunctionFacts) => number, least: number) =>
    facts.functions.filter((one) => measure(one) >= least).sort((a, b) => measure(b) - measure(a));
  const lines = [
    ...select(
      'Long functions',
      by(({lines}) => lines, LONG_FUNCTION + 1),
      (one) => `${named(one)} takes ${one.lines} lines`,
    ),
    ...select(
      'Deep nesting',
      by(({nesting}) => nesting, DEEP_NESTING),
      (one) => `${named(one)} nests ${one.nesting} levels`,
    ),
    ...select(
      'Many parameters',
      by(({parameters}) => parameters, MANY_PARAMETERS),
      (one) => `${named(one)} has ${one.parameters} parameters`,
    ),
    ...select('Errors swallowed', facts.emptyCatches, () => 'the handler is empty'),
    ...select(
      'Exported and not used',
      facts.unusedExports,
      (one) => `${one.kind} ${named(one)}, named in no other file`,
    ),
    ...select('Not understood by the parser', facts.syntaxErrors, () => 'a syntax error, or syntax that is too new'),
  ];
  const {coverage} = facts;
  return {
    lines,
    empty: 'No finding.',
    notes: [`(searched ${coverage.files} files)`],
    coverage,
  };
}
