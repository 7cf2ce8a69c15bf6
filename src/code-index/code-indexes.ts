/** The code indexes of a session: one for each folder that its agents work in. */
import {createHash} from 'node:crypto';
import path from 'node:path';
import {inBackground, neverRejects} from '../core/util/background.ts';
import type {CodeIndex} from './contract.ts';
import {openCodeIndex} from './index.ts';

/** Number of open indexes, above which an idle one is closed, the least recently used first. */
const MAX_OPEN = 3;

interface CodeIndexesOptions {
  /** The session's own folder. Only its parsed facts are stored for later sessions. */
  readonly root: string;
  /** The folder `<home>/projects/<slug>/code-index`. */
  readonly cacheFolder: string;
  readonly env: Readonly<Record<string, string>>;
}

export class CodeIndexes {
  /** Open indexes by root. The most recently used one is last. */
  readonly #open = new Map<string, CodeIndex>();

  constructor(private readonly options: CodeIndexesOptions) {}

  /** Returns the index of a folder, and opens it if needed. @param root absolute path, with links resolved */
  for(root: string): CodeIndex {
    const {env, cacheFolder} = this.options;
    // Two folders may share one project's data, so each has its own subfolder.
    const place = path.join(cacheFolder, createHash('sha1').update(root).digest('hex').slice(0, 16));
    const index =
      this.#open.get(root) ?? openCodeIndex({root, env, ...(root === this.options.root && {cacheFolder: place})});
    this.#open.delete(root);
    this.#open.set(root, index);
    if (this.#open.size > MAX_OPEN) this.#closeOldest();
    return index;
  }

  #closeOldest(): void {
    const idle = [...this.#open].find(([, index]) => !index.isBusy);
    if (!idle) return;
    this.#open.delete(idle[0]);
    inBackground(idle[1].close(), neverRejects);
  }

  async close(): Promise<void> {
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(open.map((index) => index.close()));
  }
}
