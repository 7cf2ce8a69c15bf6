/** Reads whole files and changes several of them. */
import {bullets, clip, count, notDone, paragraphs} from '../../report.ts';
import {hasMoreLines, parseLines} from '../../results.ts';
import {ask, type Job, type Observation, type Work} from '../../skill.ts';
import {createEdit} from './text-edits.ts';

export const MAX_FILES = 300;
/** Maximum number of reads of one file, 2,000 lines each. */
const MAX_PAGES = 4;

export interface FileText {
  readonly path: string;
  /** Undefined when the file could not be read completely. */
  readonly lines: readonly string[] | undefined;
  /** Why the file was not read. Empty when it was. */
  readonly problem: string;
}

/** Reads all files in parts, side by side. */
export function* readFiles(paths: readonly string[], job: Job): Work<readonly FileText[]> {
  const texts = paths.map((path) => ({path, lines: [] as string[], problem: '', open: true}));
  for (let page = 0; page < MAX_PAGES && texts.some((text) => text.open); page++) {
    const open = texts.filter((text) => text.open);
    const results = yield* ask(
      open.map(({path, lines}) => job.toolbox.read(path, page === 0 ? undefined : lines.length + 1)),
    );
    for (const [index, text] of open.entries()) {
      const result = results[index]!;
      const lines = parseLines(result);
      if (lines) text.lines.push(...lines.map((line) => line.text));
      else if (page === 0) text.problem = clip(result.text, 160) || 'not read';
      text.open = lines !== undefined && lines.length > 0 && hasMoreLines(result);
    }
  }
  return texts.map(({path, lines, problem, open}) => {
    const clipped = lines.some((line) => /\[\.\.\. \d+ more characters in this line\]$/.test(line));
    const why = open ? 'too long to be read whole' : clipped ? 'its lines are too long to be read whole' : problem;
    return {path, lines: why === '' ? lines : undefined, problem: why};
  });
}

export interface FileChange {
  readonly path: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly places: number;
  /** Why the file cannot be changed. Empty when it can. */
  readonly problem: string;
}

/** Makes the edits and reports them. @param done the start of the report's sentence: "Renamed `a` to `b`" */
export function* applyChanges(done: string, changes: readonly FileChange[], job: Job): Work<string> {
  const plans = changes.map((change) => {
    const isDue = change.problem === '' && change.places > 0;
    const edit = isDue ? createEdit(change.before, change.after) : undefined;
    const problem = isDue && !edit ? 'its lines are too similar to change them safely' : change.problem;
    return {...change, problem, call: edit && job.toolbox.edit(change.path, edit)};
  });
  const results = yield* ask(plans.map((plan) => plan.call));
  const ended = plans.map((plan, index) => ({
    ...plan,
    problem: plan.problem || (plan.call ? getEditProblem(results[index]!) : ''),
  }));
  const changed = ended.filter((one) => one.places > 0 && one.problem === '');
  const failed = ended.filter((one) => one.problem !== '');
  const total = changed.reduce((sum, one) => sum + one.places, 0);
  return paragraphs(
    changed.length > 0
      ? `${done} in ${count(total, 'place')} in ${count(changed.length, 'file')}:\n\n${bullets(
          changed.map((one) => `${one.path}: ${one.places}`),
          60,
        )}`
      : notDone('Nothing was changed.'),
    failed.length > 0 && changed.length > 0 && notDone('not all was changed.'),
    failed.length > 0 && `Not changed:\n${bullets(failed.map((one) => `${one.path}: ${one.problem}`))}`,
    changed.length > 0 && 'I ran no check.',
  );
}

function getEditProblem({outcome, text}: Observation): string {
  if (outcome === 'ok') return '';
  return outcome === 'denied' ? 'the edit was not permitted' : clip(text, 160);
}
