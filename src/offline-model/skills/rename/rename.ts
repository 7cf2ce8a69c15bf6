/**
 * Handles "rename A to B", which renames a symbol in all files by the syntax tree or not at all, and "replace A with B
 * in src/", which replaces a text.
 */
import {posix} from 'node:path';
import {isCode, isGenerated} from '../../../core/util/file-kinds.ts';
import {isInside} from '../../../core/util/paths.ts';
import {bullets, cannot, citeHit, clip, getReason, notDone, paragraphs} from '../../report.ts';
import {parsePaths} from '../../results.ts';
import {ask, askOne, type Job, type Observation, type Route, say, type Work} from '../../skill.ts';
import {parseDefinitions} from '../../symbols.ts';
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

/** Has `rename_symbol` plan the rename, and applies the plan when it leaves out no definition and no place is elsewhere. */
function* renameSymbol({from, to, files, folders, globs}: RenameRequest, job: Job): Work<string> {
  if (globs.length > 0)
    return cannot(
      `a rename by syntax is made in all files or in none, and ${globs.join(', ')} leaves some out. Say \`rename ${from} to ${to}\`. Nothing was changed.`,
    );
  const asText = `To change it as text, say: replace "${from}" with "${to}" in FILE.`;
  if (!job.toolbox.has('rename_symbol'))
    return notDone(`I have no \`rename_symbol\` tool here, so I rename no code. ${asText}`);
  const scopes = [...files, ...folders].map((one) => posix.normalize(one));
  const isNamed = (path: string) => scopes.length === 0 || isInside(path, scopes);
  const result = yield* askOne(job.toolbox.symbols('definitions', {name: from}));
  const {found} = parseDefinitions(result);
  const [first, ...others] = found.filter((one) => isNamed(one.path));
  if (!first && found.length > 0)
    return notDone(`\`${from}\` is defined elsewhere. Nothing was changed.`, bullets(found.map(citeHit), 12));
  if (!first) return notDone(`${getReason(result)}. Nothing was changed.`, asText);
  const rename = {path: first.path, line: first.line, name: from, new_name: to};
  const preview = yield* askOne(job.toolbox.renameSymbol(rename));
  if (preview.outcome !== 'ok') return formatRefusal(preview);
  const [, ...shown] = preview.text.split('\n');
  const places = parsePlaces(shown);
  const strangers = others.filter(({path, line}) => !places.get(path)?.includes(line));
  if (strangers.length > 0)
    return notDone(
      `\`${from}\` has several definitions. Name the file of the one that is meant. Nothing was changed.`,
      bullets([first, ...strangers].map(citeHit), 12),
    );
  const outside = [...places.keys()].filter((path) => !isNamed(path));
  if (outside.length > 0)
    return notDone(`files that you did not name would have to change, too. Nothing was changed.`, bullets(outside, 12));
  const applied = yield* askOne(job.toolbox.renameSymbol({...rename, apply: true}));
  if (applied.outcome !== 'ok') return formatRefusal(applied);
  const size = /: (.*)\.$/.exec(applied.text.split('\n')[0]!)?.[1];
  return paragraphs(`Renamed \`${from}\` to \`${to}\` in ${size}:\n\n${bullets(shown, 60)}`, 'I ran no check.');
}

/** Parses lines such as `src/a.ts: 3, 17`. Other lines of the preview are notes. */
function parsePlaces(lines: readonly string[]): ReadonlyMap<string, readonly number[]> {
  return new Map(
    lines.flatMap((line) => {
      const [, path, numbers] = /^(\S.*): (\d+(?:, \d+)*)$/.exec(line) ?? [];
      return path === undefined ? [] : [[path, numbers!.split(', ').map(Number)] as const];
    }),
  );
}

/** @param result its first line is the reason; the others are the places that the reason is about */
function formatRefusal({text}: Observation): string {
  const [reason = '', ...places] = text.replace(/^Refused, nothing was changed: /, '').split('\n');
  return notDone(`${reason.replace(/\.?( Nothing was changed\.)?$/, '')}. Nothing was changed.`, bullets(places));
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
  const results = yield* ask(calls);
  const found = results.map(parsePaths);
  const failed = results.find((_, index) => !found[index]!.known);
  // A folder that cannot be searched may contain the text, so nothing is changed.
  if (failed) return notDone(`the search failed: ${getReason(failed)}. Nothing was changed.`);
  const paths = [...new Set([...files, ...found.flatMap((one) => one.paths)])].filter((path) => !isGenerated(path));
  if (found.some((one) => one.more !== 0) || paths.length > MAX_FILES)
    return notDone(`it is in more than ${MAX_FILES} files. Name a folder. Nothing was changed.`);
  const place = [...folders, ...globs].join(', ') || 'any file here';
  return paths.length > 0 ? paths : notDone(`\`${clip(request.from, 80)}\` is not in ${place}. Nothing was changed.`);
}
