/** The code indexes of a session: one for each folder that its agents work in. */
import {createHash} from 'node:crypto';
import path from 'node:path';
import {inBackground, neverRejects} from '../core/util/background.ts';
import type {CodeIndex} from './contract.ts';
import {openCodeIndex} from './index.ts';

/** Further ones take the place of those that were used longest ago. */
const MAX_OPEN = 3;

interface CodeIndexesOptions {
  /** The session's own folder: only what is parsed of it is kept for later sessions. */
  readonly root: string;
  /** `<home>/projects/<slug>/code-index` */
  readonly cacheFolder: string;
  readonly env: Readonly<Record<string, string>>;
}

export class CodeIndexes {
  readonly #options: CodeIndexesOptions;
  /** The one that was used last comes last. */
  readonly #open = new Map<string, CodeIndex>();

  constructor(options: CodeIndexesOptions) {
    this.#options = options;
  }

  /** Costs nothing until its first question. @param root absolute, links resolved */
  for(root: string): CodeIndex {
    const {env, cacheFolder} = this.#options;
    // Two folders may share the project's data.
    const place = path.join(cacheFolder, createHash('sha1').update(root).digest('hex').slice(0, 16));
    const index =
      this.#open.get(root) ?? openCodeIndex({root, env, ...(root === this.#options.root && {cacheFolder: place})});
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

  /** Ends their threads. */
  async close(): Promise<void> {
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(open.map((index) => index.close()));
  }
}
