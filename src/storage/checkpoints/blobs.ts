/** Contents of files, each once, in files that are named by what they hold. */
import {randomUUID} from 'node:crypto';
import {mkdir, readFile, rename, stat, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {blobId} from './file-state.ts';

export class Blobs {
  constructor(private readonly folder: string) {}

  /** It is there whole when this has resolved, also after a `kill -9`: a torn one never has the name. */
  async put(id: string, content: Buffer): Promise<void> {
    const place = this.#placeOf(id);
    if (await stat(place).catch(() => undefined)) return;
    await mkdir(path.dirname(place), {recursive: true, mode: 0o700});
    const draft = `${place}.${randomUUID()}`;
    await writeFile(draft, content, {mode: 0o600, flag: 'wx'});
    await rename(draft, place);
  }

  /** Undefined when it is not here, or is not what its name says any more. */
  async get(id: string): Promise<Buffer | undefined> {
    const content = await readFile(this.#placeOf(id)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    return content && blobId(content) === id ? content : undefined;
  }

  #placeOf(id: string): string {
    return path.join(this.folder, id.slice(0, 2), id.slice(2));
  }
}
