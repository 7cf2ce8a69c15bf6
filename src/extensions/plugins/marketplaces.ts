/** Reads marketplaces, and fetches them and plugins by git. Nothing that is fetched is run. */
import {existsSync, mkdtempSync, rmSync, statSync} from 'node:fs';
import {homedir} from 'node:os';
import path from 'node:path';
import {z} from 'zod';
import {withoutModelKeys} from '../../core/secrets/known-secrets.ts';
import {MiniCcError, tryOr, UsageError} from '../../core/util/errors.ts';
import {formatIssues} from '../../core/util/problem.ts';
import {runProgram} from '../../core/util/processes.ts';
import {removeLogins, toOneLine} from '../../core/util/text.ts';
import {leadsOut, type Manifest, manifestSchema, PLUGIN_NAME, readChecked} from './read-plugin.ts';

const MANIFEST = '.claude-plugin/marketplace.json';
/** Milliseconds for one copy of a repository. */
const CLONE_MS = 300_000;

const sourceSchema = z.union([
  z.string(),
  z.looseObject({source: z.literal('github'), repo: z.string(), ref: z.string().optional()}),
  z.looseObject({
    source: z.enum(['url', 'git', 'git-subdir']),
    url: z.string(),
    ref: z.string().optional(),
    path: z.string().optional(),
  }),
]);
const entrySchema = manifestSchema.extend({source: z.unknown()});
const marketplaceSchema = z.looseObject({
  name: z.string().regex(PLUGIN_NAME, 'is no name: letters, digits, -, _ and . alone'),
  plugins: z.array(z.looseObject({name: z.unknown()})),
  metadata: z.looseObject({pluginRoot: z.string().optional()}).optional(),
});

export interface Marketplace {
  readonly name: string;
  /** Folder of its files. */
  readonly root: string;
  readonly pluginRoot: string;
  readonly plugins: readonly z.output<typeof entrySchema>[];
  /** Entries that cannot be used, one line each. */
  readonly problems: readonly string[];
}

/** A plugin's files on this machine. */
interface FetchedPlugin {
  readonly folder: string;
  /** Removes what was fetched. */
  remove(): void;
}

/** @throws UsageError when the folder has no marketplace */
export function readMarketplace(root: string): Marketplace {
  const file = path.join(root, MANIFEST);
  if (!existsSync(file)) throw new UsageError(`${root} is no marketplace: it has no ${MANIFEST}`);
  const {name, plugins, metadata} = readChecked(file, root, marketplaceSchema);
  const read = plugins.map((entry) => ({entry, parsed: entrySchema.safeParse(entry)}));
  return {
    name,
    root,
    pluginRoot: metadata?.pluginRoot ?? '.',
    plugins: read.flatMap((each) => (each.parsed.success ? [each.parsed.data] : [])),
    problems: read.flatMap((each) =>
      each.parsed.success
        ? []
        : [`${file}: the plugin ${JSON.stringify(each.entry.name)}: ${formatIssues(each.parsed.error)}`],
    ),
  };
}

/** Returns the facts that a marketplace states about a plugin, without its place. */
export function toManifest({source: _, ...entry}: Marketplace['plugins'][number]): Manifest {
  return entry as Manifest;
}

/** @throws UsageError for a place that leads out of the marketplace; MiniCcError `GIT` when it cannot be fetched */
export async function fetchPlugin(
  {root, pluginRoot}: Pick<Marketplace, 'root' | 'pluginRoot'>,
  {name, source}: Marketplace['plugins'][number],
  scratch: string,
): Promise<FetchedPlugin> {
  const parsed = sourceSchema.safeParse(source);
  if (!parsed.success)
    throw new UsageError(`the plugin ${name} has a source that mini-cc does not know: ${JSON.stringify(source)}`);
  const place = parsed.data;
  if (typeof place === 'string') {
    const inRoot = findInside(root, place, name);
    return {
      folder: inRoot ?? findInside(root, path.join(pluginRoot, place), name) ?? throwMissing(name, place),
      remove: () => undefined,
    };
  }
  const url = place.source === 'github' ? toAddress(place.repo as string) : toAddress(place.url as string);
  const fetched = await fetchRepository(url, scratch, place.ref);
  const sub = 'path' in place && typeof place.path === 'string' ? place.path : '.';
  try {
    return {...fetched, folder: findInside(fetched.folder, sub, name) ?? throwMissing(name, sub)};
  } catch (error) {
    fetched.remove();
    throw error;
  }
}

function throwMissing(name: string, place: string): never {
  throw new UsageError(`the plugin ${name} has no folder ${JSON.stringify(place)}`);
}

/** @returns undefined when there is no such folder @throws UsageError when it leads out of the root */
function findInside(root: string, written: string, name: string): string | undefined {
  const folder = path.resolve(root, written);
  if (path.isAbsolute(written) || leadsOut(folder, path.resolve(root))) {
    throw new UsageError(
      `the plugin ${name} has a place that leads out of its marketplace: ${JSON.stringify(written)}`,
    );
  }
  return tryOr(() => statSync(folder).isDirectory(), false) ? folder : undefined;
}

/** Tells whether the text names a folder or an address, and not a plugin. */
export function isPlace(text: string): boolean {
  return /[/\\:]/.test(text) || text === '.' || text === '..' || text === '~';
}

/**
 * Reads what the user typed: a folder, an address of git, or `owner/repo` of GitHub.
 * @throws UsageError when it is a folder that does not exist
 */
export function toAddress(typed: string, cwd?: string): string {
  if (/^[a-z][a-z+]*:\/\//i.test(typed) || /^[\w.-]+@[\w.-]+:/.test(typed)) return typed;
  const folder = path.resolve(cwd ?? '/', typed.replace(/^~(?=\/|$)/, homedir()));
  if (cwd !== undefined && existsSync(folder)) return folder;
  if (/^[\w-][\w.-]*\/[\w.-]+$/.test(typed)) return `https://github.com/${typed.replace(/\.git$/, '')}.git`;
  if (cwd !== undefined) throw new UsageError(`there is no folder ${folder}`);
  return folder;
}

/** Tells whether the address is a folder whose files are read where they are; others are fetched by git. */
export function isFolder(address: string): boolean {
  return path.isAbsolute(address) && existsSync(path.join(address, MANIFEST));
}

/** Fetches the newest files of a repository, without its history. @throws MiniCcError `GIT` in one line */
export async function fetchRepository(address: string, scratch: string, ref?: string): Promise<FetchedPlugin> {
  const folder = mkdtempSync(path.join(scratch, 'fetched-'));
  const remove = () => rmSync(folder, {recursive: true, force: true});
  // Links come as plain files, no template brings hooks, and no address starts a program.
  const settings = [
    'core.symlinks=false',
    'core.hooksPath=/dev/null',
    'core.fsmonitor=false',
    'submodule.recurse=false',
  ];
  const options = [
    '--quiet',
    '--depth=1',
    '--no-tags',
    '--single-branch',
    '--no-local',
    '--template=',
    '--no-recurse-submodules',
  ];
  const env = {GIT_TERMINAL_PROMPT: '0', GIT_LFS_SKIP_SMUDGE: '1', GIT_ALLOW_PROTOCOL: 'https:http:ssh:git:file'};
  const {exitCode, stderr, message} = await runProgram(
    'git',
    [
      ...settings.flatMap((each) => ['-c', each]),
      'clone',
      ...options,
      ...(ref === undefined ? [] : [`--branch=${ref}`]),
      '--',
      address,
      folder,
    ],
    {env: {...withoutModelKeys(process.env, []), ...env}, limitMs: CLONE_MS},
  );
  if (exitCode === 0) return {folder, remove};
  remove();
  const why = stderr.trim().split('\n').at(-1) || message;
  throw new MiniCcError('GIT', toOneLine(removeLogins(`${address} cannot be fetched: ${why}`)));
}
