/** Installs, updates and removes plugins and marketplaces. The user says yes to what a plugin brings before it counts. */
import {existsSync, mkdirSync, mkdtempSync, renameSync, rmSync} from 'node:fs';
import path from 'node:path';
import type {Plugin} from '../../core/contract/plugin.ts';
import {getErrorMessage, tryOr, UsageError} from '../../core/util/errors.ts';
import {findNearest} from '../../core/util/names.ts';
import {
  fetchPlugin,
  fetchRepository,
  isFolder,
  isPlace,
  type Marketplace,
  readMarketplace,
  toAddress,
  toManifest,
} from './marketplaces.ts';
import {copyFiles, describeChanges, hashFiles, joinHashes} from './plugin-files.ts';
import {type PluginRecord, PluginRecords} from './plugin-records.ts';
import {type Manifest, readPlugin} from './read-plugin.ts';

export interface PluginsOptions {
  /** mini-cc's own folder. */
  readonly home: string;
  readonly cwd: string;
  /** Addresses of marketplaces that settings name, by their names. A project's addresses are here once they are trusted. */
  readonly known: Readonly<Record<string, string>>;
  /** Lists what a plugin brings, a part a line. */
  readonly describe: (plugin: Plugin) => readonly string[];
  /** Asks the user about what a plugin brings. @returns undefined where no person can be asked */
  readonly confirm: (question: string, detail: string) => Promise<boolean | undefined>;
}

/** How to fetch a plugin, and the facts about its origin that are stored. */
interface Found {
  readonly fetch: () => ReturnType<typeof fetchPlugin>;
  readonly entry?: Manifest;
  readonly record: Pick<PluginRecord, 'marketplace' | 'source'>;
}

/** A plugin that was fetched and copied, but does not count yet. */
interface Staged {
  readonly plugin: Plugin;
  readonly folder: string;
  readonly hash: string;
  readonly leftOut: readonly string[];
  readonly record: Omit<PluginRecord, 'version' | 'hash' | 'enabled'>;
}

export class Plugins {
  readonly #options: PluginsOptions;
  readonly #records: PluginRecords;

  constructor(options: PluginsOptions) {
    this.#options = options;
    this.#records = new PluginRecords(options.home);
  }

  /** Lists the installed plugins. `problem` says why one cannot be used. */
  list(): readonly {
    readonly id: string;
    readonly record: PluginRecord;
    readonly plugin?: Plugin;
    readonly problem?: string;
  }[] {
    return Object.entries(this.#records.read().plugins)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, record]) => {
        try {
          return {id, record, plugin: this.#records.load(id, record)};
        } catch (error) {
          return {id, record, problem: getErrorMessage(error)};
        }
      });
  }

  /** @param typed `NAME`, `NAME@MARKETPLACE`, a folder or an address @returns a text for the user @throws UsageError */
  async install(typed: string): Promise<string> {
    return this.#stage(await this.#find(typed), async (staged) => {
      const {id} = staged.plugin;
      const before = this.#records.read().plugins[id];
      if (before?.hash === staged.hash) return `${id} is installed already.`;
      return this.#accept(staged, before);
    });
  }

  /** Fetches newer files of one plugin, or of all. @returns a text for the user */
  async update(name: string | undefined): Promise<string> {
    const ids = name === undefined ? this.list().map(({id}) => id) : [this.#getId(name)];
    const marketplaces = new Set(ids.flatMap((id) => this.#records.read().plugins[id]!.marketplace ?? []));
    for (const each of marketplaces) await this.updateMarketplace(each);
    const lines: string[] = [];
    for (const id of ids) {
      const record = this.#records.read().plugins[id]!;
      const typed = record.marketplace === undefined ? record.source! : id;
      lines.push(
        await this.#stage(await this.#find(typed), async (staged) => {
          if (staged.hash === record.hash && this.#isWhole(record)) return `${id} is up to date.`;
          return this.#accept(staged, record);
        }),
      );
    }
    return lines.length === 0 ? 'No plugins are installed.' : lines.join('\n');
  }

  async setEnabled(name: string, enabled: boolean): Promise<string> {
    const id = this.#getId(name);
    await this.#change(id, (record) => ({...record, enabled}));
    return `${id} is ${enabled ? 'on' : 'off'}, from the next session on.`;
  }

  async remove(name: string): Promise<string> {
    const id = this.#getId(name);
    const record = this.#records.read().plugins[id]!;
    await this.#records.change(({plugins: {[id]: _, ...plugins}, ...others}) => ({...others, plugins}));
    rmSync(path.resolve(this.#records.getRoot(record), '../..'), {recursive: true, force: true});
    return `Removed ${id}.`;
  }

  listMarketplaces(): readonly {
    readonly name: string;
    readonly source: string;
    readonly plugins: readonly string[];
    readonly problem?: string;
  }[] {
    return Object.entries(this.#records.read().marketplaces).map(([name, {source}]) => {
      try {
        return {name, source, plugins: this.#open(name).plugins.map((plugin) => plugin.name)};
      } catch (error) {
        return {name, source, plugins: [], problem: getErrorMessage(error)};
      }
    });
  }

  /** @param typed folder, address of git, or `owner/repo` @param expected name that settings give it */
  async addMarketplace(typed: string, expected?: string): Promise<Marketplace> {
    const address = toAddress(typed, this.#options.cwd);
    const fetched = isFolder(address) ? undefined : await fetchRepository(address, this.#makeScratch());
    try {
      const folder = fetched?.folder ?? address;
      const {name} = namePlace(folder, address, () => readMarketplace(folder));
      if (expected !== undefined && name !== expected)
        throw new UsageError(`${typed} is the marketplace ${name}, not ${expected}`);
      const known = this.#records.read().marketplaces[name];
      if (known && known.source !== address) {
        throw new UsageError(
          `there is a marketplace ${name} already, of ${known.source}: mini-cc plugin marketplace remove ${name}`,
        );
      }
      if (fetched) this.#replace(this.#records.getMarketplaceFolder(name), fetched.folder);
      await this.#records.change((records) => ({
        ...records,
        marketplaces: {...records.marketplaces, [name]: {source: address}},
      }));
      return this.#open(name);
    } finally {
      fetched?.remove();
    }
  }

  async updateMarketplace(name: string): Promise<Marketplace> {
    return this.addMarketplace(this.#getMarketplace(name).source, name);
  }

  /** The plugins of the marketplace stay installed. */
  async removeMarketplace(name: string): Promise<void> {
    this.#getMarketplace(name);
    await this.#records.change(({marketplaces: {[name]: _, ...marketplaces}, ...others}) => ({
      ...others,
      marketplaces,
    }));
    rmSync(this.#records.getMarketplaceFolder(name), {recursive: true, force: true});
  }

  #getMarketplace(name: string): {readonly source: string} {
    const {marketplaces} = this.#records.read();
    if (Object.hasOwn(marketplaces, name)) return marketplaces[name]!;
    throw createUnknown(
      'marketplace',
      name,
      Object.keys(marketplaces),
      'mini-cc plugin marketplace add PATH|GIT-URL adds one',
    );
  }

  #open(name: string): Marketplace {
    const {source} = this.#getMarketplace(name);
    return readMarketplace(isFolder(source) ? source : this.#records.getMarketplaceFolder(name));
  }

  async #find(typed: string): Promise<Found> {
    if (isPlace(typed)) {
      const address = toAddress(typed, this.#options.cwd);
      const isHere = path.isAbsolute(address) && !existsSync(path.join(address, 'HEAD'));
      const fetch = async () =>
        isHere ? {folder: address, remove: () => undefined} : fetchRepository(address, this.#makeScratch());
      return {fetch, record: {source: address}};
    }
    const [name = '', marketplace] = typed.split('@');
    const found = (await this.#listSources(marketplace)).flatMap((market) =>
      market.plugins.filter((plugin) => plugin.name === name).map((plugin) => ({market, plugin})),
    );
    const [first, second] = found;
    if (!first) {
      const names = this.listMarketplaces().flatMap(({plugins}) => plugins);
      throw createUnknown('plugin', typed, names, 'mini-cc plugin marketplace list shows what there is');
    }
    if (second) {
      throw new UsageError(
        `several marketplaces have ${name}: ${found.map(({market}) => `${name}@${market.name}`).join(', ')}`,
      );
    }
    const {market, plugin} = first;
    return {
      fetch: () => fetchPlugin(market, plugin, this.#makeScratch()),
      entry: toManifest(plugin),
      record: {marketplace: market.name},
    };
  }

  /** Opens the marketplaces to look in. One that only settings name is added first. */
  async #listSources(name: string | undefined): Promise<readonly Marketplace[]> {
    const {marketplaces} = this.#records.read();
    if (name === undefined) return Object.keys(marketplaces).flatMap((each) => tryOr(() => [this.#open(each)], []));
    if (Object.hasOwn(marketplaces, name)) return [this.#open(name)];
    const {known} = this.#options;
    if (Object.hasOwn(known, name)) return [await this.addMarketplace(known[name]!, name)];
    return [this.#open(name)];
  }

  /** Copies the plugin's files to a folder of its own, where nothing uses them, and works with them there. */
  async #stage({fetch, entry, record}: Found, work: (staged: Staged) => Promise<string>): Promise<string> {
    const fetched = await fetch();
    const folder = mkdtempSync(path.join(this.#makeScratch(), 'staged-'));
    try {
      const {hashes, leftOut} = copyFiles(fetched.folder, folder);
      const shown = record.source ?? `${entry?.name}@${record.marketplace}`;
      const plugin = namePlace(folder, shown, () => readPlugin(folder, entry, record.marketplace));
      const stored = {...record, name: plugin.name, ...(entry && {entry})};
      return await work({plugin, folder, leftOut, hash: joinHashes(hashes), record: stored});
    } finally {
      fetched.remove();
      rmSync(folder, {recursive: true, force: true});
    }
  }

  /** Asks about what it brings, and installs it after a yes. */
  async #accept({plugin, folder, hash, leftOut, record}: Staged, before: PluginRecord | undefined): Promise<string> {
    const {id, version, description, problems} = plugin;
    const verb = before ? 'Update' : 'Install';
    const changes = before
      ? describeChanges(
          tryOr(() => hashFiles(this.#records.getRoot(before)), new Map()),
          hashFiles(folder),
        )
      : [];
    const notUsed = [...problems, ...leftOut];
    const lines = [`${id} ${version}`.trim(), description, `sha256 ${hash}`].filter((line) => line !== '');
    if (changes.length > 0) lines.push('', 'Changes:', ...indent(changes));
    lines.push('', 'It brings:', ...indent(this.#options.describe(plugin)));
    if (notUsed.length > 0) lines.push('', 'Not used:', ...indent(notUsed));
    const detail = lines.join('\n').replaceAll(folder, '${CLAUDE_PLUGIN_ROOT}');
    const answer = await this.#options.confirm(`${verb} the plugin ${id}?`, detail);
    if (answer === undefined) {
      throw new UsageError(
        `plugin ${verb.toLowerCase()} ${id}: nobody can be asked here: --yes says yes to what it brings`,
      );
    }
    if (!answer) return `${id} is not ${before ? 'updated' : 'installed'}.`;
    const stored = {...record, version, hash, enabled: before?.enabled ?? true};
    const root = this.#records.getRoot(stored);
    this.#replace(root, folder);
    await this.#records.change((records) => ({...records, plugins: {...records.plugins, [id]: stored}}));
    const old = before && this.#records.getRoot(before);
    if (old !== undefined && old !== root) rmSync(path.dirname(old), {recursive: true, force: true});
    return `${before ? 'Updated' : 'Installed'} ${id}. It counts from the next session on.`;
  }

  #isWhole(record: PluginRecord): boolean {
    return tryOr(() => joinHashes(hashFiles(this.#records.getRoot(record))) === record.hash, false);
  }

  #getId(name: string): string {
    const ids = Object.keys(this.#records.read().plugins);
    const found = ids.filter((id) => id === name || id.split('@')[0] === name);
    if (found.length > 1) throw new UsageError(`several plugins are called ${name}: ${found.join(', ')}`);
    if (found[0] !== undefined) return found[0];
    throw createUnknown('installed plugin', name, ids, 'mini-cc plugin list shows them');
  }

  async #change(id: string, change: (record: PluginRecord) => PluginRecord): Promise<void> {
    await this.#records.change((records) => ({
      ...records,
      plugins: {...records.plugins, [id]: change(records.plugins[id]!)},
    }));
  }

  #replace(target: string, folder: string): void {
    mkdirSync(path.dirname(target), {recursive: true, mode: 0o700});
    rmSync(target, {recursive: true, force: true});
    renameSync(folder, target);
  }

  #makeScratch(): string {
    const folder = path.join(this.#records.folder, 'scratch');
    mkdirSync(folder, {recursive: true, mode: 0o700});
    return folder;
  }
}

/**
 * Reads a folder that is removed before a person reads a message about it. Such a message therefore names the origin of
 * the plugin.
 */
function namePlace<T>(folder: string, shown: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UsageError(getErrorMessage(error).replaceAll(folder, shown), {cause: error});
  }
}

function indent(lines: readonly string[]): string[] {
  return lines.length === 0 ? ['  nothing'] : lines.map((line) => `  ${line}`);
}

function createUnknown(kind: string, name: string, names: readonly string[], hint: string): UsageError {
  const meant = names.length === 0 ? undefined : findNearest(name, names);
  const nearest = meant === undefined ? '' : ` (did you mean ${meant}?)`;
  return new UsageError(`there is no ${kind} ${JSON.stringify(name)}${nearest}: ${hint}`);
}
