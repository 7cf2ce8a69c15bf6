/** Stores which plugins are installed and which marketplaces are known, in `plugins/` of the user's home. */
import {existsSync, mkdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {z} from 'zod';
import type {Plugin} from '../../core/contract/plugin.ts';
import {getErrorMessage, MiniCcError, UsageError} from '../../core/util/errors.ts';
import {writeWhole} from '../../core/util/files/whole-file.ts';
import {formatIssues} from '../../core/util/problem.ts';
import {hashFiles, joinHashes} from './plugin-files.ts';
import {type Manifest, readPlugin} from './read-plugin.ts';

const FORMAT_VERSION = 1;

const recordSchema = z.object({
  name: z.string(),
  marketplace: z.string().optional(),
  /** Folder or address that it came from, when it comes from no marketplace. */
  source: z.string().optional(),
  version: z.string(),
  /** Hash of the files that the user said yes to. */
  hash: z.string(),
  enabled: z.boolean(),
  /** What the marketplace said of it. */
  entry: z.looseObject({}).optional(),
});
const fileSchema = z.object({
  version: z.int(),
  /** Folders and addresses by the marketplace's name. */
  marketplaces: z.record(z.string(), z.object({source: z.string()})),
  plugins: z.record(z.string(), recordSchema),
});

export type PluginRecord = z.output<typeof recordSchema>;
type Records = z.output<typeof fileSchema>;

const EMPTY: Records = {version: FORMAT_VERSION, marketplaces: {}, plugins: {}};

export class PluginRecords {
  readonly folder: string;
  readonly #file: string;

  /** @param home mini-cc's own folder */
  constructor(home: string) {
    this.folder = path.join(home, 'plugins');
    this.#file = path.join(this.folder, 'plugins.json');
  }

  /** @throws UsageError for a damaged file */
  read(): Records {
    if (!existsSync(this.#file)) return EMPTY;
    try {
      const parsed = fileSchema.safeParse(JSON.parse(readFileSync(this.#file, 'utf8')));
      if (parsed.success) return parsed.data;
      throw new Error(formatIssues(parsed.error));
    } catch (error) {
      throw new UsageError(`${this.#file}: ${getErrorMessage(error)}: repair or delete it`);
    }
  }

  /** @throws MiniCcError `PLUGINS` when a newer mini-cc wrote the file */
  async change(change: (records: Records) => Records): Promise<void> {
    const records = this.read();
    if (records.version > FORMAT_VERSION) {
      throw new MiniCcError('PLUGINS', `${this.#file} was written by a newer mini-cc: it is not changed`);
    }
    mkdirSync(this.folder, {recursive: true, mode: 0o700});
    await writeWhole(this.#file, `${JSON.stringify(change(records), null, 2)}\n`, {mode: 0o600});
  }

  /** Returns the folder of an installed plugin. Each content has its own. It bears the name, by which Python imports it. */
  getRoot({name, marketplace = '', hash}: Pick<PluginRecord, 'name' | 'marketplace' | 'hash'>): string {
    return path.join(this.folder, 'installed', `${name}@${marketplace}`, hash.slice(0, 16), name);
  }

  getMarketplaceFolder(name: string): string {
    return path.join(this.folder, 'marketplaces', name);
  }

  /** Reads an installed plugin. @throws UsageError when its files are not those that the user said yes to */
  load(id: string, record: PluginRecord): Plugin {
    const root = this.getRoot(record);
    if (!existsSync(root) || joinHashes(hashFiles(root)) !== record.hash) {
      throw new UsageError(
        `the files of the plugin ${id} changed since you installed it: it is not used. mini-cc plugin update ${id} repairs it`,
      );
    }
    return readPlugin(root, record.entry as Partial<Manifest> | undefined, record.marketplace);
  }
}
