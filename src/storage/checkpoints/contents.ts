/** Contents of files, wherever they are kept: those of tools in files of their own, those of commands in snapshots. */
import type {ContentSource} from './batches.ts';
import type {Blobs} from './blobs.ts';
import type {ShadowGit} from './shadow-git.ts';

export class Contents implements ContentSource {
  constructor(
    private readonly blobs: Blobs,
    /** Undefined when there never was a snapshot. */
    private readonly openShadow: () => Promise<ShadowGit | undefined>,
  ) {}

  /** How many bytes each of these contents has; those that are not kept any more are left out. */
  async sizes(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>();
    for (const id of ids) {
      const size = await this.blobs.size(id);
      if (size !== undefined) found.set(id, size);
    }
    return this.#withShadow(ids, found, (shadow, rest) => shadow.sizes(rest));
  }

  /** Contents by their ids, whole; those that are not kept any more are left out. All are held in memory. */
  async contents(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    const found = new Map<string, Buffer>();
    for (const id of ids) {
      const content = await this.blobs.get(id);
      if (content) found.set(id, content);
    }
    return this.#withShadow(ids, found, (shadow, rest) => shadow.contents(rest));
  }

  /** Adds what the snapshots have. Without git, what only its repository holds is as good as gone. */
  async #withShadow<T>(
    ids: readonly string[],
    found: ReadonlyMap<string, T>,
    look: (shadow: ShadowGit, rest: readonly string[]) => Promise<ReadonlyMap<string, T>>,
  ): Promise<ReadonlyMap<string, T>> {
    const rest = ids.filter((id) => !found.has(id));
    const shadow = rest.length > 0 ? await this.openShadow().catch(() => undefined) : undefined;
    return shadow ? new Map([...found, ...(await look(shadow, rest))]) : found;
  }
}
