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
import {looksLikeFile} from '../../words.ts';

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
    if (!lines) return [];
    const manifest = parseManifest(path, lines);
    // Users of a gem install what its gemspec names, and not what its Gemfile adds.
    const isOfGem = path.endsWith('Gemfile') && paths.some((one) => one.endsWith('.gemspec'));
    return isOfGem
      ? [{...manifest, dependencies: manifest.dependencies.map((one) => ({...one, use: 'dev' as const}))}]
      : [manifest];
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
function isAsked({use}: Fact, text: string): boolean {
  return /\bdev/i.test(text) ? use === 'dev' : !(use === 'dev' && /\b(?:runtime|production)\b/i.test(text));
}

export function* listFromManifests(
  kind: 'scripts' | 'dependencies',
  text: string,
  scope: string | undefined,
  job: Job,
): Work<string> {
  // The request may name the manifest itself.
  const isFile = scope !== undefined && looksLikeFile(scope);
  const result = isFile ? undefined : yield* askOne(job.toolbox.files(`**/${MANIFESTS}`, {path: scope, limit: 60}));
  if (result && result.outcome !== 'ok') return notDone(`I could not look for manifests: ${getReason(result)}.`);
  const paths = result ? parsePaths(result).paths.toSorted(compareDepth) : [scope!];
  const facts = yield* readManifests(paths.slice(0, MAX_MANIFESTS), job, 600);
  const known = facts.map(({path}) => path).filter((path) => kind === 'scripts' || LISTS_DEPENDENCIES.test(path));
  const [use] = kind === 'scripts' ? [] : (/\b(?:dev|runtime|production)\w*/i.exec(text) ?? []);
  const items = facts.flatMap((fact) => citeFacts(fact, kind, text));
  const commands = (['build', 'start', 'test'] as const).flatMap((one) =>
    facts.flatMap((fact) => citeFacts(fact, one, text)),
  );
  const rest = paths.filter((path) => !known.includes(path));
  if (known.length === 0 && rest.length > 0) return notDone(`I do not read ${kind} from ${rest.join(', ')}.`);
  return paragraphs(
    items.length > 0
      ? `${count(items.length, kind === 'scripts' ? 'script' : 'dependency', kind)}:\n\n${bullets(items, 60)}`
      : `No ${use === undefined ? kind : `${use} ${kind}`} in ${known.join(', ') || 'a manifest: none that I know is here'}.`,
    items.length === 0 &&
      kind === 'scripts' &&
      commands.length > 0 &&
      `Commands of the build tools:\n${bullets(commands)}`,
    rest.length > 0 && `Not read: ${rest.slice(0, 5).join(', ')}${rest.length > 5 ? ', …' : ''}.`,
  );
}

/** Cites the lines of a manifest about one topic. It cites only the dependencies of the asked use. */
export function citeFacts(
  manifest: Manifest,
  kind: 'scripts' | 'dependencies' | 'build' | 'start' | 'test',
  asked: string,
): readonly string[] {
  return [manifest[kind] ?? []]
    .flat()
    .filter((fact: Fact) => kind !== 'dependencies' || isAsked(fact, asked))
    .map((fact: Fact) => citeFact(manifest.path, fact));
}
