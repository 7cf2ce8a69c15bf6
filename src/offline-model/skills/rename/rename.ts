/**
 * Handles "rename A to B", which renames a symbol in all files by the syntax tree or not at all, and "replace A with B
 * in src/", which replaces a text.
 */
import {applyEdits} from '../../../code-index/rename/source-lines.ts';
import {isCode, isGenerated} from '../../../core/util/file-kinds.ts';
import {bullets, cannot, clip, getProblem, getReason, notDone, paragraphs} from '../../report.ts';
import {parsePaths} from '../../results.ts';
import {ask, askOne, type Job, type Route, say, type Work} from '../../skill.ts';
import {parseRenamePlan, type RenamePlan} from '../../symbols.ts';
import {escapeRegExp, looksLikeFile} from '../../words.ts';
import {applyChanges, type FileChange, MAX_FILES, readFiles} from './change-files.ts';
import {parseRename, type RenameRequest} from './rename-request.ts';
import {replaceText} from './text-edits.ts';

export const rename: Route = (job) => {
  const request = parseRename(job.text);
  if (!request) return undefined;
  if ('unclear' in request) return say(cannot(`${request.unclear} Nothing was changed.`));
  const {from, to, files, folders} = request;
  const isFile = request.rename && [from, to].every((name) => looksLikeFile(name.replaceAll(' ', '_')));
  if (isFile && files.length + folders.length === 0)
    return say(
      notDone(`I rename names in code, and no files. Say: run \`git mv ${from} ${to}\`. Nothing was changed.`),
    );
  if (!job.toolbox.has('edit_file')) return say(cannot('I have no edit_file tool here, so I cannot change files.'));
  if (from === to) return say(notDone('both names are the same. Nothing was changed.'));
  // In files without code the name is replaced as text.
  const isProse = files.length > 0 && folders.length + request.globs.length === 0 && !files.some(isCode);
  return request.rename && !isProse ? renameSymbol(request, job) : changeTexts(request, job);
};

function* renameSymbol(request: RenameRequest, job: Job): Work<string> {
  const {from, to, files, folders, globs} = request;
  const scopes = [...files, ...folders];
  if (globs.length > 0)
    return cannot(
      `a rename by syntax is made in all files or in none, and ${globs.join(', ')} leaves some out. Say \`rename ${from} to ${to}\`. Nothing was changed.`,
    );
  const path = scopes.length === 1 ? scopes[0] : undefined;
  const call = job.toolbox.symbols('rename', {name: `${from} as ${to}`, path});
  if (!call)
    return notDone(
      `I have no \`symbols\` tool here, so I rename no code. To change it as text, say: replace "${from}" with "${to}".`,
    );
  const result = yield* askOne(call);
  if (result.outcome !== 'ok') return notDone(`${getReason(result)}. Nothing was changed.`);
  const plan = parseRenamePlan(result, from, to);
  const outside = plan.edits.filter((edit) => scopes.length > 1 && !scopes.some((one) => isBelow(edit.path, one)));
  if (plan.refused !== undefined || outside.length > 0) return formatRefusal(request, plan, outside);
  const paths = [...new Set(plan.edits.map((edit) => edit.path))];
  if (paths.length > MAX_FILES)
    return notDone(`it concerns ${paths.length} files, and I change at most ${MAX_FILES}. Nothing was changed.`);
  const texts = yield* readFiles(paths, job);
  const changes = texts.map((text): FileChange => {
    const edits = plan.edits.filter((edit) => edit.path === text.path);
    const after = text.lines && applyEdits(text.lines, edits);
    const problem = text.problem || (after ? '' : 'it is not as the index saw it');
    return {path: text.path, before: text.lines ?? [], after: after ?? [], places: edits.length, problem};
  });
  const bad = changes.filter((change) => change.problem !== '');
  if (bad.length > 0)
    return notDone(
      'it would not be whole, so nothing was changed.',
      bullets(bad.map((one) => `${one.path}: ${one.problem}`)),
    );
  return paragraphs(yield* applyChanges(`Renamed \`${from}\` to \`${to}\``, changes, job), formatMentions(plan));
}

const isBelow = (path: string, scope: string) => path === scope || path.startsWith(`${scope.replace(/\/$/, '')}/`);

function formatRefusal({from, to}: RenameRequest, plan: RenamePlan, outside: RenamePlan['edits']): string {
  const why = plan.refused ?? `\`${from}\` is also used outside of the files that you named, which would break`;
  const broken = outside.map((edit) => `${edit.path}:${edit.line} — would break`);
  return notDone(
    `${why.replace(/[.\s]+$/, '')}. Nothing was changed.`,
    paragraphs(
      bullets([...plan.concerns, ...new Set(broken)], 12),
      /no definition/i.test(why) && `To change it as text, say: replace "${from}" with "${to}" in FILE.`,
    ),
  );
}

function formatMentions({mentions}: RenamePlan): string {
  return mentions.length > 0 ? `Left alone, because it is no code; look at it yourself:\n${bullets(mentions, 10)}` : '';
}

function* changeTexts(request: RenameRequest, job: Job): Work<string> {
  const targets = yield* findTargets(request, job);
  if (typeof targets === 'string') return targets;
  const texts = yield* readFiles(targets, job);
  const change = (lines: readonly string[]) => {
    const asWords = request.words && replaceText(lines, request.from, request.to, true);
    return asWords && asWords.places > 0 ? asWords : replaceText(lines, request.from, request.to, false);
  };
  const changes = texts.map((text): FileChange => {
    const {lines, places} = change(text.lines ?? []);
    return {path: text.path, before: text.lines ?? [], after: lines, places, problem: text.problem};
  });
  const from = clip(request.from, 80);
  if (changes.every((one) => one.places === 0 && one.problem === ''))
    return notDone(`Nothing was changed: \`${from}\` is not in ${targets.slice(0, 5).join(', ')}.`);
  const verb = request.rename ? 'Renamed' : 'Replaced';
  return yield* applyChanges(
    `${verb} \`${from}\` ${request.rename ? 'to' : 'with'} \`${clip(request.to, 80)}\``,
    changes,
    job,
  );
}

/**
 * Finds the files in the request, and the files in its folders that contain the text.
 * @returns the reason as a text when there are none
 */
function* findTargets(request: RenameRequest, job: Job): Work<readonly string[] | string> {
  const {files, folders, globs} = request;
  if (files.length > 0 && folders.length + globs.length === 0) return files;
  const pattern = request.words
    ? `(^|[^A-Za-z0-9_$])${escapeRegExp(request.from)}([^A-Za-z0-9_$]|$)`
    : escapeRegExp(request.from);
  const places = (folders.length > 0 ? folders : [undefined]).flatMap((path) =>
    (globs.length > 0 ? globs : [undefined]).map((glob) => ({path, glob})),
  );
  const calls = places.map((place) => job.toolbox.search({pattern, ...place, mode: 'files', limit: MAX_FILES + 1}));
  if (calls.some((call) => call === undefined))
    return cannot('I have no tool here that finds the files. Name them, and I change those.');
  const results = yield* ask(calls);
  const found = results.map(parsePaths);
  const failed = results.find((_, index) => !found[index]!.known);
  // A folder that cannot be searched may contain the text, so nothing is changed.
  if (failed) return notDone(`the search failed: ${getProblem(failed)}. Nothing was changed.`);
  const paths = [...new Set([...files, ...found.flatMap((one) => one.paths)])].filter((path) => !isGenerated(path));
  if (found.some((one) => one.more !== 0) || paths.length > MAX_FILES)
    return notDone(`it is in more than ${MAX_FILES} files. Name a folder. Nothing was changed.`);
  const place = [...folders, ...globs].join(', ') || 'any file here';
  return paths.length > 0 ? paths : notDone(`\`${clip(request.from, 80)}\` is not in ${place}. Nothing was changed.`);
}
