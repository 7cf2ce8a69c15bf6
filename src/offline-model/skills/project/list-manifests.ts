/** Handles "list the scripts" and "list dependencies": lists what the manifests name, with lines. */

import {
  type Fact,
  LISTS_DEPENDENCIES,
  MANIFEST_NAMES,
  type Manifest,
  parseManifest,
} from '../../../core/util/manifests.ts';
import {compareDepth} from '../../places.ts';
import {bullets, citeFact, count, getReason, notDone, paragraphs} from '../../report.ts';
import {parseLines, parsePaths} from '../../results.ts';
import {ask, askOne, type Job, type Observation, type Work} from '../../skill.ts';

const MAX_MANIFESTS = 3;
/** Names of manifests as a glob with alternatives. */
export const MANIFESTS = `{${MANIFEST_NAMES.join(',')}}`;

/** Reads manifests. @param limit maximum number of lines of each */
function* readManifests(paths: readonly string[], {toolbox}: Job, limit: number): Work<readonly Manifest[]> {
  return parseManifests(paths, yield* ask(paths.map((path) => toolbox.read(path, undefined, limit))));
}

/** Leaves out manifests that could not be read. @param read the result for each path */
export function parseManifests(paths: readonly string[], read: readonly Observation[]): readonly Manifest[] {
  return paths.flatMap((path, index) => {
    const lines = parseLines(read[index]);
    return lines ? [parseManifest(path, lines)] : [];
  });
}

/** Puts the test project of .NET first, which is seldom in the root folder. */
export function withTestProject(paths: readonly string[]): readonly string[] {
  const project = paths.find((path) => /tests?\.csproj$/i.test(path));
  const hasSolution = paths.some((path) => /^[^/]*\.sln$/.test(path));
  return project === undefined || hasSolution ? paths : [...new Set([project, ...paths])];
}

/** Reads the manifests in the root folder, which say how the project is built and tested. */
export function* readOwnManifests(job: Job) {
  const {paths} = parsePaths(yield* askOne(job.toolbox.files(`{${MANIFESTS.slice(1, -1)},**/*.csproj}`, {limit: 300})));
  const all = withTestProject(paths);
  const near = all.filter((path, index) => !path.includes('/') || (index === 0 && all !== paths)).slice(0, 4);
  return {near, facts: yield* readManifests(near, job, 400)};
}

/** Leaves out the dependencies that are not of the asked use: for development, or at run time. */
export function isAsked({use}: Fact, text: string): boolean {
  return /\bdev/i.test(text) ? use === 'dev' : !(use === 'dev' && /\b(?:runtime|production)\b/i.test(text));
}

export function* listFromManifests(
  kind: 'scripts' | 'dependencies',
  text: string,
  scope: string | undefined,
  job: Job,
): Work<string> {
  const result = yield* askOne(job.toolbox.files(`**/${MANIFESTS}`, {path: scope, limit: 60}));
  const found = parsePaths(result);
  if (!found.known) return notDone(`I could not look for manifests: ${getReason(result)}.`);
  const all = found.paths.toSorted(compareDepth);
  const near = all.slice(0, MAX_MANIFESTS);
  const facts = yield* readManifests(near, job, 600);
  const unread = near.filter((path) => !facts.some((fact) => fact.path === path));
  const items = facts.flatMap((fact) =>
    fact[kind].filter((one) => kind === 'scripts' || isAsked(one, text)).map((one) => citeFact(fact.path, one)),
  );
  const [use] = kind === 'scripts' ? [] : (/\b(?:dev|runtime|production)\w*/i.exec(text) ?? []);
  const more = all.length - near.length;
  return paragraphs(
    items.length > 0
      ? `${count(items.length, kind === 'scripts' ? 'script' : 'dependency', kind)}:\n\n${bullets(items, 60)}`
      : formatNone(use === undefined ? kind : `${use} ${kind}`, facts, unread),
    items.length === 0 && kind === 'scripts' && formatCommands(facts),
    unread.length > 0 && items.length > 0 && `Not read: ${unread.join(', ')}.`,
    more > 0 && `Not read: ${count(more, 'more manifest')}, e.g. ${all[MAX_MANIFESTS]}.`,
  );
}

/** Says that there are none, but only for manifests that were read and understood. */
function formatNone(kind: string, facts: readonly Manifest[], unread: readonly string[]): string {
  const paths = facts.map((fact) => fact.path);
  const known = paths.filter((path) => kind === 'scripts' || LISTS_DEPENDENCIES.test(path));
  const rest = [...paths.filter((path) => !known.includes(path)), ...unread];
  if (facts.length + unread.length === 0) return `No ${kind}: no package.json, Makefile or other manifest is here.`;
  if (known.length === 0) return notDone(`I do not read ${kind} from ${rest.join(', ')}.`);
  return `No ${kind} in ${known.join(', ')}.${rest.length > 0 ? ` I do not read them from ${rest.join(', ')}.` : ''}`;
}

/** Lists the commands of the build tools, which need no script. */
function formatCommands(facts: readonly Manifest[]): string {
  const found = facts.flatMap((fact) =>
    [fact.build, fact.start, fact.test].flatMap((one) => (one ? [`\`${one.name}\` — ${fact.path}:${one.line}`] : [])),
  );
  return found.length > 0 ? `Commands of the build tools:\n${bullets(found)}` : '';
}
