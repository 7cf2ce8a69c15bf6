/** Judges the checks of a case by what the runtime saw of a trial. */
import {lstatSync} from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';
import {findCitations} from '../core/runs/citations.ts';
import {compileAnswerSchema} from '../core/turn/structured-answer.ts';
import {getErrorMessage, tryOr} from '../core/util/errors.ts';
import {Glob} from '../core/util/glob.ts';
import {formatCount, formatNames, toShortLine} from '../core/util/text.ts';
import {findOwn, readOwn} from './case-file.ts';
import type {Check, CommandRun, EvalCase, Limit, TextTest, TrialRecord} from './contract.ts';
import type {Verdict} from './result-types.ts';

/** The workspace of a trial at its end. */
export interface TrialPlace {
  /** Absolute path, with links resolved. */
  readonly root: string;
  /** Runs a command of a check, confined. Never rejects. */
  run(command: string): Promise<CommandRun>;
}

type Finding = Omit<Verdict, 'check'>;

type Kind<K extends string> = Extract<Check, Record<K, unknown>>;

const MATCH_MS = 1_000;
const MAX_NAMED = 5;

/** Judges the checks in their order. The outcome `success` is implied unless a check names another. */
export async function judgeTrial(
  {checks}: Pick<EvalCase, 'checks'>,
  record: TrialRecord,
  openPlace: () => Promise<TrialPlace>,
): Promise<readonly Verdict[]> {
  const implied: readonly Check[] = checks.some((check) => 'outcome' in check) ? [] : [{outcome: 'success'}];
  const verdicts: Verdict[] = [];
  for (const check of [...implied, ...checks]) {
    const kind = Object.keys(JUDGES).find((key) => key in check) as keyof typeof JUDGES;
    const judge = JUDGES[kind] as (
      check: Check,
      record: TrialRecord,
      open: typeof openPlace,
    ) => Promise<Finding> | Finding;
    let found: Finding;
    if (record.outcome === 'not run' && kind !== 'outcome') {
      found = {...describe(check), passed: false, seen: `not run: ${orNone(record.reason)}`, where: 'the trial'};
    } else {
      found = await Promise.resolve()
        .then(() => judge(check, record, openPlace))
        .catch((error: unknown) => ({
          ...describe(check),
          passed: false,
          seen: `the check could not be made: ${orNone(getErrorMessage(error))}`,
          where: 'the check',
        }));
    }
    verdicts.push({check: kind, ...found});
  }
  return verdicts;
}

const JUDGES = {
  outcome: ({outcome}: Kind<'outcome'>, record: TrialRecord): Finding => ({
    passed: record.outcome === outcome,
    expected: `the run ends with ${outcome}`,
    seen: record.reason === '' ? record.outcome : `${record.outcome}: ${toShortLine(record.reason, 300)}`,
    where: 'the end of the run',
  }),
  answer: ({answer}: Kind<'answer'>, record: TrialRecord): Finding => ({
    ...testText(answer, record.answer),
    where: 'the answer',
  }),
  async cites({cites}: Kind<'cites'>, {answer}: TrialRecord, open: () => Promise<TrialPlace>): Promise<Finding> {
    const [, file = '', from = '', to = from] = /^(.*):(\d+)(?:-(\d+))?$/.exec(cites) ?? [];
    const {root} = await open();
    const cited = findCitations(answer, root);
    const passed = cited.some(
      (each) =>
        path.normalize(each.file) === path.normalize(file) && each.from <= Number(to) && each.to >= Number(from),
    );
    const names = cited.map(({text}) => text);
    return {
      passed,
      expected: `the answer cites a line of ${cites}`,
      seen: nameAll('cites', names, 'cites nothing'),
      where: 'the answer',
    };
  },
  async citations(_: Kind<'citations'>, {answer}: TrialRecord, open: () => Promise<TrialPlace>): Promise<Finding> {
    const {root} = await open();
    const missing = findCitations(answer, root).filter(({exists}) => !exists);
    const names = missing.map(({text}) => text);
    const seen = nameAll('does not exist:', names, 'all citations exist');
    return {passed: names.length === 0, expected: 'every cited place exists', seen, where: 'the answer'};
  },
  async command(
    {command, exit = 0}: Kind<'command'>,
    _: TrialRecord,
    open: () => Promise<TrialPlace>,
  ): Promise<Finding> {
    const {exitCode, output} = await (await open()).run(command);
    const last = toShortLine(output.trim().split('\n').slice(-5).join(' · '), 300);
    const end = exitCode === undefined ? 'was not run' : `ends with exit code ${exitCode}`;
    return {
      passed: exitCode === exit,
      expected: `the command ends with exit code ${exit}`,
      seen: last === '' ? end : `${end}: ${last}`,
      where: `$ ${toShortLine(command, 200)}`,
    };
  },
  changed: ({changed: globs}: Kind<'changed'>, record: TrialRecord): Finding => {
    const files = listChanged(record);
    const others = files.filter((file) => !matchesAny(globs, file));
    const idle = globs.filter((glob) => !files.some((file) => matchesAny([glob], file)));
    const wrong = [
      ...(others.length > 0 ? [nameAll('also changed', others, '')] : []),
      ...(idle.length > 0 ? [`no changed file matches ${idle.join(', ')}`] : []),
    ];
    return {
      passed: wrong.length === 0,
      expected:
        globs.length === 0
          ? 'no file is changed'
          : `just files of ${globs.join(', ')} are changed, and each of these matches one`,
      seen: wrong.length === 0 ? nameAll('changed', files, 'changed nothing') : wrong.join('; '),
      where: others[0] ?? 'the workspace',
    };
  },
  unchanged: ({unchanged: globs}: Kind<'unchanged'>, record: TrialRecord): Finding => {
    const wrong = listChanged(record).filter((file) => matchesAny(globs, file));
    return {
      passed: wrong.length === 0,
      expected: `no file of ${globs.join(', ')} is changed`,
      seen: nameAll('changed', wrong, 'none of them is changed'),
      where: wrong[0] ?? 'the workspace',
    };
  },
  async file({file}: Kind<'file'>, _: TrialRecord, open: () => Promise<TrialPlace>): Promise<Finding> {
    const {root} = await open();
    const {path: name, exists, ...test} = file;
    // A link of the trial may lead anywhere, so it counts as no file.
    const isThere = tryOr(() => lstatSync(findOwn(root, name)).isFile(), false);
    const seen = isThere ? 'it exists' : 'it does not exist';
    const passed = exists === undefined || isThere === exists;
    if (!passed || Object.values(test).every((each) => each === undefined))
      return {passed, expected: `the file ${exists ? 'exists' : 'does not exist'}`, seen, where: name};
    if (!isThere) return {...testText(test, ''), passed: false, seen, where: name};
    return {...testText(test, readOwn(root, name).toString('utf8')), where: name};
  },
  reads: ({reads: globs}: Kind<'reads'>, {calls}: TrialRecord): Finding => {
    const files = [...new Set(calls.flatMap(({read}) => read))];
    const idle = globs.filter((glob) => !files.some((file) => matchesAny([glob], file)));
    return {
      passed: idle.length === 0,
      expected: `reads a file of each of ${globs.join(', ')}`,
      seen: nameAll(idle.length === 0 ? 'read' : `read none of ${idle.join(', ')}; read`, files, 'read no file'),
      where: 'the receipt',
    };
  },
  calls: ({calls: wanted}: Kind<'calls'>, {calls}: TrialRecord): Finding => {
    const countCalls = (tool: string) => calls.filter((call) => call.tool === tool).length;
    const wrong = Object.entries(wanted).filter(([tool, {min = 0, max = Number.POSITIVE_INFINITY}]) => {
      const made = countCalls(tool);
      return made < min || made > max;
    });
    const shown = (wrong.length > 0 ? wrong : Object.entries(wanted)).map(
      ([tool]) => `${tool} called ${formatCount(countCalls(tool), 'time')}`,
    );
    return {
      passed: wrong.length === 0,
      expected: describeCalls(wanted),
      seen: shown.join(', ') || 'no tool is named',
      where: 'the receipt',
    };
  },
  async schema({schema}: Kind<'schema'>, {answer}: TrialRecord): Promise<Finding> {
    const expected = 'the answer is JSON that matches the schema';
    let data: unknown;
    try {
      data = JSON.parse(answer);
    } catch (error) {
      return {passed: false, expected, seen: `no JSON: ${getErrorMessage(error)}`, where: 'the answer'};
    }
    const problem = (await compileAnswerSchema(schema, 'schema')).findProblem(data);
    return {passed: problem === undefined, expected, seen: problem ?? 'it matches', where: 'the answer'};
  },
  max: ({max}: Kind<'max'>, {turns, tokens, usd, durationMs}: TrialRecord): Finding => {
    const used: Readonly<Record<Limit, number | undefined>> = {turns, tokens, usd, seconds: durationMs / 1000};
    const limits = Object.entries(max).filter((entry): entry is [Limit, number] => entry[1] !== undefined);
    // An unknown cost cannot be shown to be within a limit.
    const over = limits.filter(([name, most]) => (used[name] ?? Number.POSITIVE_INFINITY) > most);
    const format = (name: Limit) => `${used[name] === undefined ? 'unknown' : Number(used[name].toFixed(4))} ${name}`;
    return {
      passed: over.length === 0,
      expected: `at most ${limits.map(([name, most]) => `${most} ${name}`).join(', ')}`,
      seen: (over.length > 0 ? over : limits).map(([name]) => format(name)).join(', '),
      where: 'the receipt',
    };
  },
};

function describe(check: Check): {readonly expected: string} {
  return {expected: toShortLine(JSON.stringify(check), 300)};
}

function describeCalls(wanted: Kind<'calls'>['calls']): string {
  return Object.entries(wanted)
    .map(([tool, {min, max}]) => {
      const bounds = [
        ...(min === undefined ? [] : [`at least ${min}`]),
        ...(max === undefined ? [] : [`at most ${max}`]),
      ];
      return `${tool} called ${bounds.join(' and ')} times`;
    })
    .join(', ');
}

function testText({contains, matches, lacks}: TextTest, text: string): Omit<Finding, 'where'> {
  const tests: (readonly [expected: string, isMet: () => boolean | string])[] = [];
  if (contains !== undefined) tests.push([`contains ${show(contains)}`, () => text.includes(contains)]);
  if (matches !== undefined)
    tests.push([`matches /${toShortLine(matches, 200)}/`, () => matchesExpression(matches, text)]);
  if (lacks !== undefined) tests.push([`lacks ${show(lacks)}`, () => !text.includes(lacks)]);
  const results = tests.map(([expected, isMet]) => ({expected, result: isMet()}));
  const wrong = results.filter(({result}) => result !== true);
  const why = wrong.map(({result}) => result).find((result) => typeof result === 'string');
  const around = lacks === undefined ? -1 : text.indexOf(lacks);
  const part = around < 0 ? text : text.slice(Math.max(0, around - 60));
  return {
    passed: wrong.length === 0,
    expected: (wrong.length > 0 ? wrong : results).map(({expected}) => expected).join(', ') || 'nothing',
    seen: why ?? (text.trim() === '' ? 'no text' : show(part)),
  };
}

/** @returns a text when the expression took too long */
function matchesExpression(source: string, text: string): boolean | string {
  try {
    // No thread is needed, because the engine ends an expression that backtracks without end.
    return vm.runInNewContext('new RegExp(source).test(text)', {source, text}, {timeout: MATCH_MS}) === true;
  } catch (error) {
    return `the expression was ended after 1 s (${getErrorMessage(error)})`;
  }
}

function matchesAny(globs: readonly string[], file: string): boolean {
  return globs.some((glob) => new Glob(glob, {braces: true}).matches(file));
}

/** Lists the files that the agent changed, without those that only `setup` did. */
function listChanged({changed}: TrialRecord): string[] {
  return changed.filter(({bySetup}) => !bySetup).map((file) => file.path);
}

function nameAll(verb: string, names: readonly string[], none: string): string {
  return names.length === 0 ? none : `${verb} ${formatNames(names, MAX_NAMED)}`;
}

function show(text: string): string {
  return JSON.stringify(toShortLine(text.trim(), 200));
}

function orNone(text: string): string {
  return text === '' ? 'no reason is known' : text;
}
