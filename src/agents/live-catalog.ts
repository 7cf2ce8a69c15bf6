/** The agents as their files are now: asked for each Task, read again only when something changed. */
import {isDeepStrictEqual} from 'node:util';
import type {AgentCatalog, AgentDefinition} from '../core/agent-types.ts';
import {formatProblem, type Problem} from '../core/util/problem.ts';
import {
  assemble,
  type CatalogOptions,
  inlineEntries,
  type LoadedAgent,
  type LoadedCatalog,
  type ReadOptions,
  readEntry,
  type SourceEntry,
} from './catalog.ts';
import type {ParsedAgent} from './define.ts';
import {FolderWatch} from './folder-watch.ts';
import {agentFolders, type ListedFile, listAgentFiles} from './folders.ts';

export interface LiveCatalogOptions extends Omit<CatalogOptions, 'toolNames' | 'overrides'> {
  readonly toolNames: () => readonly string[];
  readonly overrides?: () => CatalogOptions['overrides'];
  /** One line for the user, once for each change after the first reading. */
  readonly onNotice: (text: string) => void;
}

interface KnownFile extends FileState {
  readonly stamp: string;
  /** The file changed so shortly before it was read that a later change may leave the same times. */
  readonly unsure: boolean;
  readonly good?: ParsedAgent;
}

/** Milliseconds: the coarsest clock of file times in use. */
const COARSEST_FILE_TIME = 2000;

/**
 * Each question looks at names, times and sizes, which takes no millisecond for fifty files; so edits by hand hold from
 * the next question on, without watching. `watch()` only makes the notices come sooner.
 */
export class LiveCatalog implements AgentCatalog {
  readonly #options: LiveCatalogOptions;
  readonly #watch: FolderWatch;
  #files: ReadonlyMap<string, KnownFile> = new Map();
  #stamp = '';
  #circumstances = '';
  #unsure = false;
  #loaded: LoadedCatalog | undefined;

  constructor(options: LiveCatalogOptions) {
    this.#options = options;
    this.#watch = new FolderWatch(
      agentFolders(options).map((folder) => folder.path),
      () => void this.snapshot(),
    );
  }

  list(): readonly AgentDefinition[] {
    return this.snapshot().agents.map(({definition}) => definition);
  }

  get(name: string): AgentDefinition | undefined {
    return this.snapshot().agents.find(({definition}) => definition.name === name)?.definition;
  }

  /** Everything about the agents, as the files are now. The same object as long as nothing changed. */
  snapshot(): LoadedCatalog {
    const listings = agentFolders(this.#options).map(listAgentFiles);
    const files = listings.flatMap((listing) => listing.files);
    const problems = listings.flatMap((listing) => listing.problems);
    const toolNames = this.#options.toolNames();
    const overrides = this.#options.overrides?.();
    // What else decides how a file is read.
    const circumstances = JSON.stringify([toolNames, overrides]);
    const stamp = JSON.stringify([files.map(({file, stamp: own}) => [file, own]), problems]);
    const sameCircumstances = circumstances === this.#circumstances;
    if (this.#loaded && sameCircumstances && stamp === this.#stamp && !this.#unsure) return this.#loaded;

    const options = {...this.#options, toolNames, overrides};
    const known = new Map(files.map((listed) => [listed.file, this.#read(listed, options, sameCircumstances)]));
    const entries = [...inlineEntries(options.extra, options), ...[...known.values()].map(entryInUse)];
    const loaded = assemble(entries, problems, options);
    const before = this.#loaded && {files: this.#files, agents: this.#loaded.agents};
    this.#files = known;
    this.#stamp = stamp;
    this.#circumstances = circumstances;
    this.#unsure = [...known.values()].some(({unsure}) => unsure);
    // Where nothing is different but times, whoever holds the old object holds the right one.
    const unchanged = this.#loaded !== undefined && isDeepStrictEqual(loaded, this.#loaded);
    if (!unchanged) this.#loaded = loaded;
    // All is in place before anybody is told, so that a listener may ask. Other tools make no agent a new one.
    if (before && sameCircumstances) {
      for (const text of changeNotices(before, {files: known, agents: loaded.agents})) this.#options.onNotice(text);
    }
    return this.#loaded!;
  }

  /** Notices come at once, not only with the next question. Does not keep the process alive. */
  watch(): void {
    this.snapshot();
    this.#watch.start();
  }

  close(): void {
    this.#watch.close();
  }

  #read({folder, file, stamp, changedAt}: ListedFile, options: ReadOptions, mayReuse: boolean): KnownFile {
    const old = this.#files.get(file);
    if (old && mayReuse && old.stamp === stamp && !old.unsure) return old;
    const unsure = Math.abs(Date.now() - changedAt) < COARSEST_FILE_TIME;
    const entry = readEntry(folder.source, file, options);
    const good = entry.agent ?? old?.good;
    return {entry, stamp, unsure, ...(good === undefined ? {} : {good})};
  }
}

/** A broken edit leaves the last good definition in use. */
function entryInUse({entry, good}: KnownFile): SourceEntry {
  return entry.agent || !good ? entry : {...entry, agent: good, stale: true};
}

interface FileState {
  readonly entry: SourceEntry;
  /** The last definition that was right. */
  readonly good?: ParsedAgent;
}

interface State {
  readonly files: ReadonlyMap<string, FileState>;
  readonly agents: readonly LoadedAgent[];
}

function changeNotices(before: State, after: State): string[] {
  return [...brokenFiles(before, after), ...changedAgents(before, after)];
}

function brokenFiles(before: State, after: State): string[] {
  const notices: string[] = [];
  for (const [file, {entry, good}] of after.files) {
    const error = firstError(entry);
    if (!error || isDeepStrictEqual(error, firstError(before.files.get(file)?.entry))) continue;
    notices.push(
      good
        ? `agent ${good.definition.name} changed and is broken, the last good one stays in use: ${formatProblem(error)}`
        : `an agent is broken and cannot be used: ${formatProblem(error)}`,
    );
  }
  return notices;
}

function changedAgents(before: State, after: State): string[] {
  const old = new Map(before.agents.map((agent) => [agent.definition.name, agent]));
  const notices: string[] = [];
  for (const agent of after.agents) {
    const {name} = agent.definition;
    const previous = old.get(name);
    old.delete(name);
    const changed = previous && !isDeepStrictEqual(previous.definition, agent.definition);
    if (!previous) notices.push(`new agent: ${name}${warningsOf(agent, after)}`);
    else if (previous.file !== agent.file) notices.push(`agent ${name} is now that of ${agent.file}`);
    else if (changed)
      notices.push(`agent ${name} changed: the new definition holds from the next Task on${warningsOf(agent, after)}`);
    else if (previous.stale && !agent.stale) notices.push(`agent ${name} is in order again`);
  }
  for (const name of old.keys()) notices.push(`agent ${name} is gone`);
  return notices;
}

function warningsOf({file = ''}: LoadedAgent, {files}: State): string {
  const warnings = files.get(file)?.entry.problems ?? [];
  const [first] = warnings;
  if (!first) return '';
  const more = warnings.length > 1 ? ` and ${warnings.length - 1} more` : '';
  return `; warning: ${formatProblem(first)}${more}`;
}

function firstError(entry: SourceEntry | undefined): Problem | undefined {
  return entry?.problems.find(({severity}) => severity === 'error');
}
