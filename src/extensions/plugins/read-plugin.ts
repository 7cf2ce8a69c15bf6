/** Reads a plugin in Claude Code's form: `.claude-plugin/plugin.json` and what lies beside it. Nothing of it is run. */
import {existsSync, statSync} from 'node:fs';
import path from 'node:path';
import {z} from 'zod';
import {readHookSettings} from '../../config/hook-settings.ts';
import {PLUGIN_ROOT, type Plugin} from '../../core/contract/plugin.ts';
import {getErrorMessage, tryOr, UsageError} from '../../core/util/errors.ts';
import {MAX_JSON_BYTES, readProjectFile} from '../../core/util/files/project-file.ts';
import {isObject, toFields} from '../../core/util/objects.ts';
import {findLinkOut, isInside} from '../../core/util/paths.ts';
import {formatIssues} from '../../core/util/problem.ts';
import {showControls, toOneLine} from '../../core/util/text.ts';

/** Names become parts of commands, tools and folders. */
export const PLUGIN_NAME = /^[a-z0-9][\w.-]{0,63}$/i;

const paths = z.union([z.string(), z.array(z.string())]).optional();
const inFileOrHere = z.union([z.string(), z.array(z.string()), z.looseObject({})]).optional();
/** Fields of `plugin.json`; an entry of a marketplace may have them, too. */
export const manifestSchema = z.looseObject({
  name: z.string().regex(PLUGIN_NAME, 'is no name: letters, digits, -, _ and . alone'),
  version: z.string().optional(),
  description: z.string().optional(),
  commands: paths,
  agents: paths,
  skills: paths,
  hooks: inFileOrHere,
  mcpServers: inFileOrHere,
});
export type Manifest = z.output<typeof manifestSchema>;

const MANIFEST = '.claude-plugin/plugin.json';

/**
 * @param root folder of the plugin
 * @param entry what a marketplace says of it; its own file is stronger
 * @param marketplace name of the marketplace that it was installed from
 * @throws UsageError when the folder has no plugin
 */
export function readPlugin(root: string, entry: Partial<Manifest> | undefined, marketplace?: string): Plugin {
  const manifest = {...entry, ...readManifest(root, entry !== undefined)} as Manifest;
  const problems: string[] = [];
  const {name} = manifest;
  const place = new PluginFolder(root, problems);
  return {
    name,
    id: marketplace === undefined ? name : `${name}@${marketplace}`,
    version: showControls(manifest.version ?? ''),
    description: toOneLine(showControls(manifest.description ?? '')),
    root,
    agents: place.list('agents', manifest.agents),
    commands: place.list('commands', manifest.commands),
    skills: place.list('skills', manifest.skills),
    hooks: readHooks(place, manifest, problems),
    servers: readServers(place, manifest, problems),
    problems,
  };
}

/** @throws UsageError for a wrong file, and for a missing one unless it is optional */
function readManifest(root: string, isOptional: boolean): Partial<Manifest> {
  const file = path.join(root, MANIFEST);
  if (!existsSync(file)) {
    if (isOptional) return {};
    throw new UsageError(`${root} is no plugin: it has no ${MANIFEST}`);
  }
  return readChecked(file, root, manifestSchema);
}

/** @throws UsageError in one line when it cannot be read, or has another shape */
export function readChecked<T>(file: string, root: string, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(readJson(file, root));
  if (parsed.success) return parsed.data;
  throw new UsageError(`${file}: ${formatIssues(parsed.error)}`);
}

/** @throws UsageError in one line when it cannot be read */
function readJson(file: string, root: string): unknown {
  try {
    const target = findLinkOut(file, root);
    if (target !== undefined) throw new Error(`is a link to ${target}: it is not followed`);
    return JSON.parse(
      readProjectFile(file, MAX_JSON_BYTES)
        .toString()
        .replace(/^\uFEFF/, ''),
    );
  } catch (error) {
    throw new UsageError(toOneLine(`${file}: ${getErrorMessage(error)}`));
  }
}

/** Tells whether a path, or a link in it, leads out of the folder. @param file absolute path, which need not exist */
export function leadsOut(file: string, root: string): boolean {
  return !isInside(file, [root]) || tryOr(() => findLinkOut(file, root), undefined) !== undefined;
}

/** Finds the files of a plugin. No path leads out of its folder. */
class PluginFolder {
  constructor(
    readonly root: string,
    private readonly problems: string[],
  ) {}

  /** Returns the folder of this name, and what the manifest names besides. */
  list(kind: 'agents' | 'commands' | 'skills', named: string | readonly string[] | undefined): string[] {
    const usual = path.join(this.root, kind);
    const others = toList(named).flatMap((each) => this.find(each, kind) ?? []);
    return [...(existsSync(usual) ? [usual] : []), ...others.filter((each) => !isInside(each, [usual]))];
  }

  /** @returns the absolute path; undefined when it is missing or leads out of the plugin, which is a problem */
  find(written: string, kind: string): string | undefined {
    const file = path.resolve(this.root, written.replaceAll(`\${${PLUGIN_ROOT}}`, '.'));
    if (leadsOut(file, this.root)) {
      this.problems.push(`${kind}: ${showControls(written)} leads out of the plugin: it is not read`);
      return undefined;
    }
    if (tryOr(() => statSync(file), undefined)) return file;
    this.problems.push(`${kind}: there is no ${showControls(written)}`);
    return undefined;
  }

  /** Returns what the usual file has, what the manifest has itself, and what the files have that it names. */
  readAll(usual: string, value: Manifest['hooks'], kind: string): unknown[] {
    const files = [
      ...(existsSync(path.join(this.root, usual)) ? [path.join(this.root, usual)] : []),
      ...toList(isObject(value) ? undefined : value).flatMap((each) => this.find(each, kind) ?? []),
    ];
    const read = [...new Set(files)].flatMap((file) => {
      try {
        return [readJson(file, this.root)];
      } catch (error) {
        this.problems.push(getErrorMessage(error));
        return [];
      }
    });
    return isObject(value) ? [...read, value] : read;
  }
}

function toList(value: string | readonly string[] | undefined): readonly string[] {
  return value === undefined ? [] : typeof value === 'string' ? [value] : value;
}

function readHooks(place: PluginFolder, {name, hooks}: Manifest, problems: string[]): Plugin['hooks'] {
  return place.readAll('hooks/hooks.json', hooks, 'hooks').flatMap((value) => {
    const {hooks: inner = value} = toFields(value);
    const read = readHookSettings(inner, `plugin ${name}`);
    problems.push(...read.problems);
    return read.hooks.map((hook) => ({...hook, pluginRoot: place.root}));
  });
}

function readServers(place: PluginFolder, {name, mcpServers}: Manifest, problems: string[]): Plugin['servers'] {
  const all = place.readAll('.mcp.json', mcpServers, 'mcpServers').flatMap((value) => {
    const {mcpServers: inner = value} = toFields(value);
    if (!isObject(inner)) problems.push('mcpServers: must be an object of servers');
    return Object.entries(toFields(inner));
  });
  return Object.fromEntries(
    all.map(([server, entry]) => [`plugin:${name}:${server}`, withRoot(entry, place.root)] as const),
  );
}

/** Puts the plugin's folder into all texts of an entry, and into the environment of its program. */
function withRoot(entry: unknown, root: string): unknown {
  const put = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replaceAll(`\${${PLUGIN_ROOT}}`, root);
    if (Array.isArray(value)) return value.map(put);
    return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, put(each)])) : value;
  };
  const filled = put(entry);
  if (!isObject(filled) || filled.command === undefined) return filled;
  return {...filled, env: {[PLUGIN_ROOT]: root, ...toFields(filled.env)}};
}
