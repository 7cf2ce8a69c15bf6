/** Contents of files, each once, in files that are named by what they hold. */
import {randomUUID} from 'node:crypto';
import {mkdir, readdir, readFile, rename, stat, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {blobId} from './file-state.ts';

export class Blobs {
  /** Names of those that are here: looked up once, since thousands may be asked for. */
  #ids: Promise<Set<string>> | undefined;

  constructor(private readonly folder: string) {}

  /** It is there whole when this has resolved, also after a `kill -9`: a torn one never has the name. */
  async put(id: string, content: Buffer): Promise<void> {
    const ids = await this.#known();
    if (ids.has(id)) return;
    const place = this.#placeOf(id);
    await mkdir(path.dirname(place), {recursive: true, mode: 0o700});
    const draft = `${place}.${randomUUID()}`;
    await writeFile(draft, content, {mode: 0o600, flag: 'wx'});
    await rename(draft, place);
    ids.add(id);
  }

  /** Undefined when it is not here, or is not what its name says any more. */
  async get(id: string): Promise<Buffer | undefined> {
    if (!(await this.#known()).has(id)) return undefined;
    const content = await readFile(this.#placeOf(id));
    return blobId(content) === id ? content : undefined;
  }

  /** In bytes. Undefined when it is not here. */
  async size(id: string): Promise<number | undefined> {
    return (await this.#known()).has(id) ? (await stat(this.#placeOf(id))).size : undefined;
  }

  #known(): Promise<Set<string>> {
    this.#ids ??= namesIn(this.folder);
    return this.#ids;
  }

  #placeOf(id: string): string {
    return path.join(this.folder, id.slice(0, 2), id.slice(2));
  }
}

async function namesIn(folder: string): Promise<Set<string>> {
  const names = await readdir(folder, {recursive: true}).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return new Set(names.map((name) => name.replace(path.sep, '')));
}
