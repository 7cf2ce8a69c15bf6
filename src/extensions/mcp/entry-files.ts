/** Reads the places that define servers: `.mcp.json` of the project, settings, and `--mcp-config`. */

import {existsSync, statSync} from 'node:fs';
import path from 'node:path';
import {formatPath} from '../../config/setting-keys.ts';
import type {Claim, Trusts} from '../../core/contract/permission.ts';
import {getErrorMessage, UsageError} from '../../core/util/errors.ts';
import {MAX_JSON_BYTES, readProjectFile} from '../../core/util/files/project-file.ts';
import {isObject} from '../../core/util/objects.ts';
import {findLinkOut} from '../../core/util/paths.ts';
import {readServerEntry, type ServerEntry, toServerId} from './server-entry.ts';

export const PROJECT_FILE = '.mcp.json';

/** Entries of `mcpServers` from one place. */
export interface EntrySource {
  /** The file, the flag, or `driver`. */
  readonly from: string;
  readonly servers: Readonly<Record<string, unknown>>;
  /** True for entries of the project. Each of them needs the user's approval. */
  readonly isProjects?: boolean;
}

interface ProjectEntries {
  readonly source?: EntrySource;
  /** One claim for each server. */
  readonly claims: readonly Claim[];
  /** Why the file cannot be used, in one line. */
  readonly problem?: string;
}

/** Reads `.mcp.json`. It never throws. @param root the project's folder, with links resolved */
export function readProjectEntries(root: string): ProjectEntries {
  const file = path.join(root, PROJECT_FILE);
  if (!existsSync(file)) return {claims: []};
  const target = findLinkOut(file, root);
  if (target !== undefined) {
    return {claims: [], problem: `${file} is a link out of the project, to ${target}: it is not followed`};
  }
  let servers: Readonly<Record<string, unknown>>;
  try {
    servers = parseEntries(readProjectFile(file, MAX_JSON_BYTES).toString(), file);
  } catch (error) {
    const why = getErrorMessage(error);
    return {claims: [], problem: error instanceof UsageError ? why : `${file} ${why}: it is not read`};
  }
  const claims = Object.entries(servers).map(([name, value]) => ({file, key: getEntryKey(name), value}));
  return {source: {from: file, servers, isProjects: true}, claims};
}

/** Returns the key under which trust in a server is stored. */
export function getEntryKey(name: string): string {
  return formatPath(['mcpServers', name]);
}

/**
 * @param text content of a file, or the value of the flag
 * @throws UsageError in one line when it is not `{"mcpServers": {…}}`
 */
function parseEntries(text: string, from: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new UsageError(`${from}: is no JSON: ${getErrorMessage(error).replaceAll(/\s+/g, ' ')}`);
  }
  if (isObject(value) && isObject(value.mcpServers)) return value.mcpServers;
  throw new UsageError(`${from}: must be {"mcpServers": {"NAME": {"command": …}}}`);
}

/** Reads the value of `--mcp-config`: a file, or JSON. @throws UsageError when it cannot be used */
export function readTypedEntries(typed: string, cwd: string, isDriven: boolean): EntrySource {
  const from = '--mcp-config';
  if (typed.trimStart().startsWith('{')) return checkTyped({from, servers: parseEntries(typed, from)}, isDriven);
  if (typed.trim() === '') throw new UsageError('--mcp-config is empty: name a file, or write {"mcpServers": {…}}');
  const file = path.resolve(cwd, typed);
  const found = statSync(file, {throwIfNoEntry: false});
  if (!found) throw new UsageError(`--mcp-config: there is no file ${file}`);
  if (found.isDirectory()) throw new UsageError(`--mcp-config: ${file} is a folder, not a file`);
  const servers = parseEntries(readProjectFile(file, MAX_JSON_BYTES, true).toString(), file);
  return checkTyped({from: file, servers}, isDriven);
}

/** Rejects wrong entries, because a person typed them for this start. */
function checkTyped(source: EntrySource, isDriven: boolean): EntrySource {
  for (const [name, value] of Object.entries(source.servers)) {
    const {problem} = readServerEntry(name, value, source.from);
    if (problem !== undefined && !isDriven) throw new UsageError(`${source.from}: mcpServers.${name}: ${problem}`);
  }
  return source;
}

/**
 * Joins the servers of a session. When several have the same name, the first one counts.
 * @param sources entries, those of highest precedence first
 * @param trusts tells whether the user approved an entry of the project
 */
export function joinEntries(sources: readonly EntrySource[], trusts: Trusts): readonly ServerEntry[] {
  const entries = new Map<string, ServerEntry>();
  for (const {from, servers, isProjects = false} of sources) {
    for (const [name, value] of Object.entries(servers)) {
      const id = toServerId(name);
      const first = entries.get(id);
      if (first?.name === name) continue;
      const entry = readServerEntry(name, value, from);
      const isUnapproved = isProjects && !trusts({file: from, key: getEntryKey(name), value});
      const problem = first && `its tools would be named as those of ${first.name}: give it another name`;
      // A clashing server stays in the list, so that the user sees why it is not used.
      entries.set(first ? `${id}\0${name}` : id, {
        ...entry,
        ...(problem !== undefined && {problem}),
        ...(isUnapproved && {isUnapproved}),
      });
    }
  }
  return [...entries.values()].toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
}
