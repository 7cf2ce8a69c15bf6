/** Text of the modes `syntax` and `rename` of the `symbols` tool: one finding a line. */
import type {CodeIndex, Definition, FunctionFacts, Place, QueryOptions, RenameConcern} from '../../code-index/index.ts';

/** Lines above which a function is long. */
const LONG_FUNCTION = 60;
/** Levels of `if`, loops, `switch` and `try` from which a function is deeply nested. */
const DEEP_NESTING = 5;
/** Parameters from which a function has many. */
const MANY_PARAMETERS = 7;
/** Findings of one kind that are printed. */
const MAX_FINDINGS = 40;

const at = ({path, line}: Place) => `${path}:${line}`;
const named = ({container, name}: FunctionFacts | Definition) => `\`${[...container, name].join('.')}\``;

/** @returns lines `Title: PATH:LINE — what`, the worst first under each title */
export async function formatSyntax(index: CodeIndex, path: string, options: QueryOptions): Promise<readonly string[]> {
  const [facts, unused] = await Promise.all([index.syntax(path, options), index.unusedExports({path}, options)]);
  const select = <T extends Place>(title: string, places: readonly T[], describe: (place: T) => string) => [
    ...places.slice(0, MAX_FINDINGS).map((place) => `${title}: ${at(place)} — ${describe(place)}`),
    ...(places.length > MAX_FINDINGS ? [`(${title}: ${places.length} in all)`] : []),
  ];
  const by = (measure: (one: FunctionFacts) => number, least: number) =>
    facts.functions.filter((one) => measure(one) >= least).sort((a, b) => measure(b) - measure(a));
  return [
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
    ...select('Exported and not used', unused.found, (one) => `${one.kind} ${named(one)}, named in no other file`),
    ...select('Not understood by the parser', facts.syntaxErrors, () => 'a syntax error, or syntax that is too new'),
  ];
}

/** @returns first `Safe: N edits in M files` or `Refused: why`, then the places */
export async function formatRename(
  index: CodeIndex,
  {name, to, path}: {readonly name: string; readonly to: string; readonly path?: string | undefined},
  options: QueryOptions,
): Promise<readonly string[]> {
  const request = {from: name, to, ...(path !== undefined && {path, within: [path]})};
  const plan = await index.rename(request, options);
  const concern = (head: string) => (one: RenameConcern) => `${head}: ${at(one)} — ${one.why} — ${one.text}`;
  const files = new Set(plan.edits.map((edit) => edit.path)).size;
  return [
    ...(plan.verdict === 'safe' ? [`Safe: ${plan.edits.length} edits in ${files} files`] : []),
    ...plan.reasons.map((reason) => `Refused: ${reason}`),
    ...plan.edits.map((edit) => `Edit: ${at(edit)}:${edit.column} → ${edit.newText}`),
    ...plan.concerns.slice(0, MAX_FINDINGS).map(concern('Concern')),
    ...plan.mentions.slice(0, MAX_FINDINGS).map(concern('Mention')),
  ];
}
