/** "rename A to B in FILE", "replace A with B in src/": searches the files, reads them and edits them. */

import {escapeRegExp} from '../../definitions.ts';
import {isGenerated} from '../../languages.ts';
import {bullets, cannot, clip, count, getProblem, getReason, notDone, paragraphs} from '../../report.ts';
import {hasMoreLines, type Paths, parseLines, parsePaths} from '../../results.ts';
import {ask, askOne, type Job, type Observation, type Route, say, type Work} from '../../skill.ts';
import {quote} from '../../toolbox.ts';
import {looksLikeFile} from '../../words.ts';
import {type Change, countMatches, createEdits} from './rename-edits.ts';
import {parseRename, type RenameRequest} from './rename-request.ts';

const MAX_FILES = 40;
/** How often one file is read, 2,000 lines each time. */
const MAX_PAGES = 4;

export const rename: Route = (job) => {
  const request = parseRename(job.text);
  if (!request) return undefined;
  if ('unclear' in request) return say(cannot(`${request.unclear} Nothing was changed.`));
  const oneFile =
    request.rename &&
    [request.from, request.to].every((name) => looksLikeFile(name.replaceAll(' ', '_'))) &&
    request.files.length + request.folders.length === 0;
  return oneFile ? renameFile(request, job) : renameInFiles(request, job);
};

function* renameInFiles(request: RenameRequest, job: Job): Work<string> {
  if (!job.toolbox.has('edit_file')) return cannot('I have no edit_file tool here, so I cannot change files.');
  if (request.from === request.to) return notDone('both names are the same. Nothing was changed.');
  const targets = yield* findTargets(request, job);
  if (typeof targets === 'string') return targets;
  const paths = targets.paths.slice(0, MAX_FILES);
  const left = targets.more === undefined ? undefined : targets.paths.length - paths.length + targets.more;
  const texts = yield* readAll(paths, job);
  const plans = paths.map((path, index) => planEdits(path, texts[index]!, request));
  const calls = plans.map((plan) => (plan.edits ? job.toolbox.edit(plan.path, plan.edits) : []));
  const results = yield* ask(calls.flat());
  const starts = calls.map((_, index) => calls.slice(0, index).flat().length);
  const done = plans.map((plan, index) =>
    applyResults(plan, results.slice(starts[index], starts[index]! + calls[index]!.length)),
  );
  return formatReport(request, done, left);
}

/** The files in the request, and those in its folders that contain the text. @returns a text when there are none: why. */
function* findTargets(request: RenameRequest, job: Job): Work<Omit<Paths, 'known'> | string> {
  const {files, folders, globs} = request;
  if (files.length > 0 && folders.length + globs.length === 0) return {paths: files, more: 0};
  const pattern = request.words
    ? `(^|[^A-Za-z0-9_$])${escapeRegExp(request.from)}([^A-Za-z0-9_$]|$)`
    : escapeRegExp(request.from);
  const places = (folders.length > 0 ? folders : [undefined]).flatMap((path) =>
    (globs.length > 0 ? globs : [undefined]).map((glob) => ({path, glob})),
  );
  const calls = places.map((place) => job.toolbox.search({pattern, ...place, mode: 'files', limit: 200}));
  if (calls.some((call) => call === undefined))
    return cannot('I have no tool here that finds the files. Name them, and I change those.');
  const results = yield* ask(calls);
  const found = results.map(parsePaths);
  const failed = results.find((_, index) => !found[index]!.known);
  // A folder that cannot be searched may contain the text: do not rename only a part.
  if (failed) return notDone(`the search failed: ${getProblem(failed)}. Nothing was changed.`);
  const paths = [...new Set([...files, ...found.flatMap((one) => one.paths)])].filter((path) => !isGenerated(path));
  const more = found.reduce<number | undefined>(
    (sum, one) => (sum === undefined || one.more === undefined ? undefined : sum + one.more),
    0,
  );
  if (paths.length > 0) return {paths, more};
  const place = [...folders, ...globs].join(', ') || 'any file here';
  return notDone(`\`${clip(request.from, 80)}\` is not in ${place}. Nothing was changed.`);
}

interface FileText {
  readonly lines: readonly string[] | undefined;
  readonly problem: string;
}

/** Reads all files in parts, side by side. */
function* readAll(paths: readonly string[], job: Job): Work<readonly FileText[]> {
  const texts = paths.map(() => ({lines: [] as string[], problem: '', open: true}));
  for (let page = 0; page < MAX_PAGES && texts.some((text) => text.open); page++) {
    const open = texts.map((text, index) => ({text, path: paths[index]!})).filter(({text}) => text.open);
    const results = yield* ask(
      open.map(({text, path}) => job.toolbox.read(path, page === 0 ? undefined : text.lines.length + 1)),
    );
    for (const [index, {text}] of open.entries()) {
      const result = results[index]!;
      const lines = parseLines(result);
      if (lines) text.lines.push(...lines.map((line) => line.text));
      else if (page === 0)
        text.problem = result.outcome === 'missing' ? 'not read' : clip(result.text, 160) || 'not read';
      text.open = lines !== undefined && lines.length > 0 && hasMoreLines(result);
    }
  }
  return texts.map(({lines, problem, open}) => {
    const clipped = lines.some((line) => /\[\.\.\. \d+ more characters in this line\]$/.test(line));
    const why = open ? 'too long to be read whole' : clipped ? 'its lines are too long to be read whole' : problem;
    return {lines: why === '' ? lines : undefined, problem: why};
  });
}

interface Plan {
  readonly path: string;
  readonly edits: Change['edits'] | undefined;
  readonly places: number;
  readonly problem: string;
}

function planEdits(path: string, text: FileText, request: RenameRequest): Plan {
  const failed = (problem: string): Plan => ({path, edits: undefined, places: 0, problem});
  if (!text.lines) return failed(text.problem);
  const words = request.words && countMatches(text.lines, request.from, true) > 0;
  if (request.words && !words && request.rename) return failed('');
  const change = createEdits(text.lines, request.from, request.to, words);
  if (change === undefined) return failed('its lines are too similar to change them safely');
  return change.places === 0 ? failed('') : {path, edits: change.edits, places: change.places, problem: ''};
}

function applyResults(plan: Plan, results: readonly Observation[]): Plan {
  const bad = results.find((result) => result.outcome !== 'ok');
  if (!bad) return plan;
  const reason =
    bad.outcome === 'denied'
      ? 'the edit was not permitted'
      : bad.outcome === 'missing'
        ? 'the edit was not made: no more calls were allowed'
        : clip(bad.text, 160);
  const partly = results.some((result) => result.outcome === 'ok') ? 'only partly changed: ' : '';
  return {...plan, places: 0, problem: partly + reason};
}

function formatReport(request: RenameRequest, done: readonly Plan[], left: number | undefined): string {
  const changed = done.filter((plan) => plan.places > 0);
  const failed = done.filter((plan) => plan.problem !== '');
  const without = done.filter((plan) => plan.places === 0 && plan.problem === '');
  const total = changed.reduce((sum, plan) => sum + plan.places, 0);
  const verb = request.rename ? 'Renamed' : 'Replaced';
  const head =
    changed.length > 0
      ? `${verb} \`${clip(request.from, 80)}\` ${request.rename ? 'to' : 'with'} \`${clip(request.to, 80)}\` in ${count(total, 'place')} in ${count(changed.length, 'file')}:`
      : notDone(
          failed.length === 0
            ? `Nothing was changed: \`${clip(request.from, 80)}\` is not in ${listPaths(done, 5)}.`
            : 'Nothing was changed.',
        );
  return paragraphs(
    head,
    changed.length > 0 && bullets(changed.map((plan) => `${plan.path}: ${plan.places}`)),
    failed.length > 0 && changed.length > 0 && notDone('not all was changed.'),
    failed.length > 0 && `Not changed:\n${bullets(failed.map((plan) => `${plan.path}: ${plan.problem}`))}`,
    changed.length > 0 && without.length > 0 && `Without it: ${listPaths(without, 10)}.`,
    left !== 0 &&
      `${left === undefined ? 'More' : count(left, 'more file')} may contain it: I change at most ${MAX_FILES} at a time. Ask again for the rest.`,
    changed.length > 0 && request.rename && 'I ran no check: names in strings and comments were renamed too.',
  );
}

function listPaths(plans: readonly Plan[], most: number): string {
  const paths = plans.slice(0, most).map((plan) => plan.path);
  return paths.join(', ');
}

/** "rename a.ts to b.ts": renames the file itself. */
function* renameFile(request: RenameRequest, job: Job): Work<string> {
  const call = job.toolbox.bash(
    `if test -e ${quote(request.to)}; then echo ${quote(`${request.to} exists already`)} >&2; exit 1; fi; mv -- ${quote(request.from)} ${quote(request.to)}`,
    'Rename a file',
  );
  if (!call) return cannot('I have no bash tool here, so I cannot rename a file.');
  const result = yield* askOne(call);
  if (result.outcome === 'ok')
    return `Renamed the file ${request.from} to ${request.to}. Imports of it were not changed.`;
  return notDone(`${request.from} was not renamed: ${getReason(result)}.`);
}
