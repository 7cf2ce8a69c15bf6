/**
 * Keeps the agents according to their current files. Each Task asks for them. Files are read again only when something
 * changed.
 */

import {realpathSync} from 'node:fs';
import {isDeepStrictEqual} from 'node:util';
import type {AgentCatalog, AgentDefinition} from '../core/agent-types.ts';
import {tryOr} from '../core/util/errors.ts';
import {formatProblem, type Problem} from '../core/util/problem.ts';
import {
  type AgentReadOptions,
  buildCatalog,
  type CatalogOptions,
  type LoadedAgent,
  type LoadedCatalog,
  readEntry,
  readInlineEntries,
  type SourceEntry,
} from './catalog.ts';
import type {ParsedAgent} from './define.ts';
import {FolderWatch} from './folder-watch.ts';
import {type ListedFile, listAgentFiles, listAgentFolders} from './folders.ts';
import type {ListableTools} from './tool-list.ts';

export interface LiveCatalogOptions extends Omit<CatalogOptions, 'listable' | 'overrides'> {
  readonly listable: () => ListableTools;
  readonly overrides?: () => CatalogOptions['overrides'];
  /** Gets one line for the user for each change after the first reading. `warning` means that an agent is broken. */
  readonly onNotice: (text: string, level: 'info' | 'warning') => void;
}

interface KnownFile extends FileVersion {
  readonly stamp: string;
  /**
   * True when the file changed so shortly before reading that a later change may have the same times. It is then read
   * again.
   */
  readonly isRecent: boolean;
}

/** Milliseconds. FAT stores file times in steps of 2 s, the largest steps in use. */
const COARSEST_FILE_TIME_MS = 2000;

/**
 * Each call compares names, times and sizes of the files, which takes less than a millisecond for fifty files. An edit
 * therefore takes effect with the next call, even without watching. `watch()` only makes the notices come sooner.
 */
export class LiveCatalog implements AgentCatalog {
  readonly #options: LiveCatalogOptions;
  #watch: FolderWatch | undefined;
  #files: ReadonlyMap<string, KnownFile> = new Map();
  #filesStamp = '';
  #optionsStamp = '';
  #hasRecentFiles = false;
  #loaded: LoadedCatalog | undefined;

  constructor(options: LiveCatalogOptions) {
    this.#options = options;
  }

  list(): readonly AgentDefinition[] {
    return this.snapshot().agents.map(({definition}) => definition);
  }

  get(name: string): AgentDefinition | undefined {
    const {agents, shipped} = this.snapshot();
    return [...agents, ...shipped].find(({definition}) => definition.name === name)?.definition;
  }

  /**
   * Returns all agents according to their current files. The object stays the same while nothing changes.
   * @param own agent that the caller has changed and tells the user about: no notice says it again
   */
  snapshot(own?: string): LoadedCatalog {
    const folders = listAgentFolders(this.#options);
    const listings = folders.map(listAgentFiles);
    const files = listings.flatMap((listing) => listing.files);
    const subfolders = listings.flatMap((listing) => listing.folders);
    this.#watch?.set([...folders.map((folder) => folder.path), ...subfolders, ...files.flatMap(listTarget)]);
    const problems = listings.flatMap((listing) => listing.problems);
    const listable = this.#options.listable();
    const overrides = this.#options.overrides?.();
    const optionsStamp = JSON.stringify([listable.names, overrides]);
    const filesStamp = JSON.stringify([files.map(({file, stamp: own}) => [file, own]), problems]);
    const hasSameOptions = optionsStamp === this.#optionsStamp;
    if (this.#loaded && hasSameOptions && filesStamp === this.#filesStamp && !this.#hasRecentFiles) return this.#loaded;

    const options = {...this.#options, listable, overrides};
    const known = new Map(files.map((listed) => [listed.file, this.#read(listed, options, hasSameOptions)]));
    const entries = [...readInlineEntries(options.extra, options), ...[...known.values()].map(getEntryInUse)];
    const loaded = buildCatalog(entries, problems, options);
    const before = this.#loaded && {files: this.#files, agents: this.#loaded.agents};
    this.#files = known;
    this.#filesStamp = filesStamp;
    this.#optionsStamp = optionsStamp;
    this.#hasRecentFiles = [...known.values()].some(({isRecent}) => isRecent);
    // When only times changed, the object that callers already have stays valid.
    const unchanged = this.#loaded !== undefined && isDeepStrictEqual(loaded, this.#loaded);
    if (!unchanged) this.#loaded = loaded;
    // The notices come last, so that a listener may call this method. Other tools or settings are no news about agents.
    if (before && hasSameOptions) {
      const now = {files: known, agents: loaded.agents};
      const [broken, changed] = [describeBrokenFiles(before, now), describeChangedAgents(before, now, own)];
      for (const text of broken) this.#options.onNotice(text, 'warning');
      for (const text of changed) this.#options.onNotice(text, 'info');
    }
    return this.#loaded!;
  }

  /** Makes notices come soon after a change, not only with the next call. The watch does not keep the process alive. */
  watch(): void {
    this.#watch ??= new FolderWatch(() => this.snapshot());
    this.snapshot();
  }

  close(): void {
    this.#watch?.close();
    this.#watch = undefined;
  }

  #read({folder, file, stamp, changedAt}: ListedFile, options: AgentReadOptions, mayReuse: boolean): KnownFile {
    const old = this.#files.get(file);
    if (old && mayReuse && old.stamp === stamp && !old.isRecent) return old;
    const isRecent = Math.abs(Date.now() - changedAt) < COARSEST_FILE_TIME_MS;
    const entry = readEntry(folder, file, options);
    const good = entry.agent ?? old?.good;
    return {entry, stamp, isRecent, good};
  }
}

/** Returns the file to which a link leads: a change of it changes no folder of agents. */
function listTarget({file, isLink}: ListedFile): string[] {
  return isLink ? [tryOr(() => realpathSync(file), file)] : [];
}

/** Returns the last valid definition after an edit that broke the file. */
function getEntryInUse({entry, good}: KnownFile): SourceEntry {
  return entry.agent || !good ? entry : {...entry, agent: good, stale: true};
}

interface FileVersion {
  readonly entry: SourceEntry;
  /** Last valid definition. */
  readonly good: ParsedAgent | undefined;
}

interface CatalogVersion {
  readonly files: ReadonlyMap<string, FileVersion>;
  readonly agents: readonly LoadedAgent[];
}

function describeBrokenFiles(before: CatalogVersion, after: CatalogVersion): string[] {
  const notices: string[] = [];
  for (const [file, {entry, good}] of after.files) {
    const error = getFirstError(entry);
    if (!error || isDeepStrictEqual(error, getFirstError(before.files.get(file)?.entry))) continue;
    notices.push(
      good
        ? `Agent ${good.definition.name} is broken; its last valid definition stays in use: ${formatProblem(error)}`
        : `This agent is broken and cannot be used: ${formatProblem(error)}`,
    );
  }
  return notices;
}

function describeChangedAgents(before: CatalogVersion, after: CatalogVersion, own?: string): string[] {
  const old = new Map(before.agents.map((agent) => [agent.definition.name, agent]));
  const notices: string[] = [];
  for (const agent of after.agents) {
    const {name} = agent.definition;
    const previous = old.get(name);
    old.delete(name);
    if (name === own) continue;
    const changed = previous && !isDeepStrictEqual(previous.definition, agent.definition);
    if (!previous) notices.push(`New agent ${name}.${formatWarnings(agent, after)}`);
    else if (previous.file !== agent.file) notices.push(`Agent ${name} now comes from ${agent.file}.`);
    else if (changed)
      notices.push(`Agent ${name} changed. The next Task uses the new definition.${formatWarnings(agent, after)}`);
    else if (previous.stale && !agent.stale) notices.push(`Agent ${name} is valid again.`);
  }
  for (const name of old.keys()) if (name !== own) notices.push(`Deleted agent ${name}.`);
  return notices;
}

function formatWarnings({file = ''}: LoadedAgent, {files}: CatalogVersion): string {
  const warnings = files.get(file)?.entry.problems ?? [];
  const [first] = warnings;
  if (!first) return '';
  const more = warnings.length > 1 ? ` and ${warnings.length - 1} more` : '';
  return ` Warning: ${formatProblem(first)}${more}`;
}

function getFirstError(entry: SourceEntry | undefined): Problem | undefined {
  return entry?.problems.find(({severity}) => severity === 'error');
}
