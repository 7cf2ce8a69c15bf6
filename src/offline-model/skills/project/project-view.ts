/** Collects facts about a whole project: files, manifests, README, entry points and tests. */

import {getExtension, isCode, isGenerated, isTestPath, TEST_FILES} from '../../../core/util/file-kinds.ts';
import type {Manifest} from '../../../core/util/manifests.ts';
import {findSpeech, type Language} from '../../language.ts';
import {compareDepth, type InlineTests, inlineTestSearch, inlineTests} from '../../places.ts';
import {getFileHeader} from '../../prose.ts';
import {getReason, notDone} from '../../report.ts';
import {type Hit, type Line, type Paths, parseHits, parseLines, parsePaths} from '../../results.ts';
import {ask, type Job, type Observation, type Work} from '../../skill.ts';
import {parseFiles, type RankedFile} from '../../symbols.ts';
import {MANIFESTS, parseManifests, withTestProject} from './list-manifests.ts';

interface EntryPoint {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly header: string | undefined;
}

interface FileCounts {
  readonly total: number;
  readonly extensions: ReadonlyMap<string, number>;
  /** By the first two levels of folders; `.` for the files that are in none. */
  readonly folders: ReadonlyMap<string, number>;
}

export interface ProjectView {
  /** The folder of the request. */
  readonly language: Language;
  /** The folder in the request; undefined for the whole project. */
  readonly place: string | undefined;
  /** All files, or only the newest ones when there are many. */
  readonly paths: readonly string[];
  /** Counts over all files, or over `paths` when `isWhole` is false. */
  readonly counts: FileCounts & {readonly isWhole: boolean};
  /** Files by rank. The files that most others import come first. */
  readonly ranked: readonly RankedFile[];
  readonly facts: readonly Manifest[];
  readonly readme: {readonly path: string; readonly lines: readonly Line[]} | undefined;
  readonly documents: readonly string[];
  readonly entries: readonly EntryPoint[];
  readonly mains: readonly Hit[];
  readonly tests: Paths;
  readonly inline: readonly InlineTests[];
}

const ENTRY_NAMES = 'cli,main,index,app,server,__main__,lib,mod,program,Main,App,Program';
/** Names of files that start a program, wherever they stand. */
const STARTER = /(^|\/)(cli|main|__main__|server)\.\w+$/i;
const STARTS =
  '^(func main\\(|(pub )?(async )?fn main\\(|int main\\(|def main\\(|if __name__ ==|\\s*(public )?static (async )?(void|int|Task) [Mm]ain\\(|#!.*(node|python|bash|/sh|ruby|deno|bun|perl|php|lua))';
/** Scripts in other folders are tools of the developers, and no entry points. */
const PROGRAM = /^(?:(?:.*\/)?(?:bin|exe|src)\/)?[^/]+$/;
const DOCUMENTS = '**/{README*,readme*,CONTRIBUTING*,ARCHITECTURE*,DESIGN*,AGENTS.md,CLAUDE.md,CHANGELOG*}';
/** Counts files by extension and folder, for projects that are too large to list. */
const COUNTING = `awk -F/ '{n++; f=$NF; if (match(f, /\\.[A-Za-z0-9]+$/)) e[substr(f, RSTART+1)]++; d=(NF==1) ? "." : (NF==2 ? $1 : $1 "/" $2); c[d]++} END {print "total", n+0; for (x in e) print "ext", e[x], x; for (x in c) print "dir", c[x], x}' | sort -k2,2nr | head -n 300`;
/** Lists all files that .gitignore does not hide. Without git it lists all files outside of node_modules. */
const LIST_FILES =
  "{ git ls-files -co --exclude-standard 2>/dev/null || find . -type f -not -path '*/.git/*' -not -path '*/node_modules/*' | sed 's|^\\./||'; }";

/** Makes at most 17 calls in three replies. @returns the reason as a text when it cannot look into the folder */
export function* viewProject(job: Job, scope: string | undefined): Work<ProjectView | string> {
  const path = scope?.replace(/(.)\/$/, '$1').replace(/^\.(?:\/|$)/, '') || undefined;
  const {toolbox} = job;
  const found = yield* listFiles(job, path);
  const [listing, manifests, documents, starters, tests] = found.map(parsePaths) as [Paths, Paths, Paths, Paths, Paths];
  const counted = parseFileCounts(found[5]!);
  if (!listing.known && !counted)
    return notDone(`I could not look into ${path ?? 'this folder'}: ${getReason(found[0]!)}.`);
  const complete = listing.known && listing.more === 0;
  const own = listing.paths.map((one) => withoutPlace(one, path));
  const counts = complete || !counted ? {...countFiles(own), isWhole: complete} : {...counted, isWhole: true};
  if (counts.total === 0)
    return path === undefined
      ? 'This folder is empty: no files were found (except hidden and ignored ones).'
      : notDone(`no files were found in ${path} (except hidden and ignored ones).`);

  const near = withTestProject(sortByDepth(manifests.paths)).slice(0, 3);
  const prose = sortByDepth(documents.paths).filter((one) => PROSE.test(one));
  const readme = prose.find((one) => /^readme/i.test(withoutPlace(one, path)));
  const [opening, starts, inline, ranked, ...texts] = yield* ask([
    readme === undefined ? undefined : toolbox.read(readme, undefined, 250),
    toolbox.search({pattern: STARTS, path, limit: 60}),
    toolbox.search(inlineTestSearch(path)),
    toolbox.symbols('files', {path: path ?? '.'}),
    ...near.map((one) => toolbox.read(one, undefined, 300)),
  ]);
  const facts = parseManifests(near, texts);
  const mains = parseHits(starts!).hits.filter(
    ({path, line, text}) =>
      !isGenerated(path) &&
      !isTestPath(path) &&
      !/(?:^|\/)\./.test(path) &&
      (text.startsWith('#!') ? line === 1 && PROGRAM.test(path) : isCode(path)),
  );
  const candidates = selectEntries(facts, starters.paths.filter(isCode), mains);
  const heads = yield* ask(candidates.map((one) => toolbox.read(one, undefined, 60)));
  return {
    language: findSpeech(job.text),
    place: path,
    paths: listing.paths,
    counts,
    ranked: parseFiles(ranked).found,
    facts,
    readme: readme === undefined ? undefined : {path: readme, lines: parseLines(opening) ?? []},
    documents: prose,
    entries: candidates.flatMap((one, index) => findEntry(one, parseLines(heads[index]), mains)),
    mains,
    tests,
    inline: inlineTests(parseHits(inline!).hits),
  };
}

/** Makes the first reply: lists of files by kind, and the counts. */
function* listFiles({main, toolbox}: Job, path: string | undefined): Work<readonly Observation[]> {
  const folder = (path ?? '.').replaceAll("'", "'\\''");
  return yield* ask([
    toolbox.files('**/*', {path, limit: 400}),
    toolbox.files(`**/${MANIFESTS}`, {path, limit: 60}),
    toolbox.files(DOCUMENTS, {path, limit: 60}),
    toolbox.files(`**/{${ENTRY_NAMES}}.*`, {path, limit: 100}),
    toolbox.files(TEST_FILES, {path, limit: 300}),
    main ? undefined : toolbox.bash(`(cd '${folder}' && ${LIST_FILES}) | ${COUNTING}`, 'Count files'),
  ]);
}

/** Matches files of prose. `readme.ts` is code. */
const PROSE = /(\.(md|mdx|markdown|rst|txt|adoc|org)|(^|\/)[^/.]+)$/i;

/** Returns the path relative to the folder in the request. */
function withoutPlace(path: string, place: string | undefined): string {
  return place !== undefined && path.startsWith(`${place}/`) ? path.slice(place.length + 1) : path;
}

function sortByDepth(paths: readonly string[]): readonly string[] {
  return paths
    .filter((one) => !isGenerated(one) && !/(^|\/)(fixtures?|testdata|examples?|templates?)\//.test(one))
    .toSorted(compareDepth);
}

/** Chooses up to four entry points: files that manifests name, then files with a main function, then by name. */
function selectEntries(facts: readonly Manifest[], named: readonly string[], mains: readonly Hit[]): readonly string[] {
  const stem = (path: string) => path.replace(/^(?:\.\/)?(?:(?:dist|build|lib|out|src)\/)?|\.\w+$/g, '');
  const declared = facts.flatMap((fact) => fact.entries.map((entry) => stem(entry.value)));
  const starting = mains.map((hit) => hit.path);
  const rank = (path: string) => (declared.includes(stem(path)) ? 0 : starting.includes(path) ? 1 : 2);
  return sortByDepth([...new Set([...named, ...starting])])
    .filter((path) => !isTestPath(path) && !/\.d\.ts$|(^|\/)\./.test(path))
    .filter((path) => path.split('/').length <= (rank(path) < 2 || STARTER.test(path) ? 4 : 2))
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, 4);
}

function findEntry(path: string, lines: readonly Line[] | undefined, mains: readonly Hit[]): readonly EntryPoint[] {
  if (!lines) return [];
  const main = mains.find((hit) => hit.path === path && !hit.text.startsWith('#!'));
  const start =
    (main && {...main, number: main.line}) ??
    lines.find((line) => /\bmain\s*\(|__name__|^(await|void)\s|\.(listen|run|parse)\(/.test(line.text)) ??
    // A file that only has such a name, and starts nothing, may be what others import.
    lines.find((line) => /^\s*(?:export|pub|public|module\.exports)\b/.test(line.text));
  return start ? [{path, line: start.number, text: start.text, header: getFileHeader(lines)}] : [];
}

/** Parses the output of `COUNTING`. */
function parseFileCounts({outcome, text}: Observation): FileCounts | undefined {
  const found = outcome === 'ok' ? [...text.matchAll(/^(total|ext|dir) (\d+)(?: (.+))?$/gm)] : [];
  const list = (kind: string) =>
    new Map(found.flatMap(([, one, number, name = '']) => (one === kind ? [[name, Number(number)]] : [])));
  const total = list('total').get('');
  return total === undefined ? undefined : {total, extensions: list('ext'), folders: list('dir')};
}

/** Counts as `COUNTING` does. */
function countFiles(paths: readonly string[]): FileCounts {
  const tally = (getKey: (path: string) => string) =>
    new Map([...Map.groupBy(paths, getKey)].map(([key, files]) => [key, files.length]));
  const getFolders = (path: string) => path.split('/').slice(0, -1).slice(0, 2).join('/') || '.';
  return {total: paths.length, extensions: tally(getExtension), folders: tally(getFolders)};
}
