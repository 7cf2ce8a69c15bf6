/**
 * Uploads the parts of a tree to Redis. All runs of a tree share one upload, and there is none if all workers have the
 * tree.
 */
import type {Redis} from 'ioredis';
import type {ShippedTrees, TreeState} from '../../storage/worktrees/shipped-trees.ts';
import type {Blobs} from '../queue/blobs.ts';
import type {BlobRef, TreePart} from '../queue/messages.ts';
import type {Keys} from '../queue/redis-keys.ts';
import {formatCached, getServing, listWorkers} from '../queue/worker-list.ts';

interface UploadedParts {
  readonly patch?: BlobRef;
  readonly bundle?: BlobRef;
}

/** Bytes. Larger bundles are sent only to a worker that asks. */
const MAX_UPLOAD_BYTES = 32 * 1024 * 1024;

export class TreeUploads {
  /** Uploads by the key of their tree. */
  readonly #uploads = new Map<string, Promise<UploadedParts>>();

  constructor(
    private readonly trees: ShippedTrees,
    private readonly connection: Redis,
    private readonly keys: Keys,
    private readonly blobs: Blobs,
    private readonly signer: string,
  ) {}

  async upload(tree: TreeState): Promise<UploadedParts> {
    const known = this.#uploads.get(tree.key);
    if (known && (await this.#isThere(await known))) return known;
    // Another run of the same tree may have begun an upload in the meantime.
    const current = this.#uploads.get(tree.key);
    if (current && current !== known) return current;
    const uploading = this.#uploadNow(tree);
    this.#uploads.set(tree.key, uploading);
    uploading.catch(() => this.#uploads.delete(tree.key));
    return uploading;
  }

  read(tree: TreeState, part: TreePart): Promise<Buffer> {
    return part === 'patch' ? this.trees.readPatch(tree) : this.trees.readBundle(tree);
  }

  async #isThere({patch, bundle}: UploadedParts): Promise<boolean> {
    const refs = [patch, bundle].filter((ref) => ref !== undefined);
    const found = await Promise.all(refs.map((ref) => this.blobs.has(ref)));
    return refs.length > 0 && found.every(Boolean);
  }

  async #uploadNow(tree: TreeState): Promise<UploadedParts> {
    const serving = getServing(await listWorkers(this.connection, this.keys), this.signer);
    // A worker that comes later asks for the parts that it needs.
    if (serving.length > 0 && serving.every(({cached}) => cached.includes(formatCached(tree)))) return {};
    const patch = await this.#put(tree, 'patch', await this.read(tree, 'patch'));
    if (tree.remotes.length > 0) return {patch};
    const bundle = await this.read(tree, 'bundle');
    return bundle.length > MAX_UPLOAD_BYTES ? {patch} : {patch, bundle: await this.#put(tree, 'bundle', bundle)};
  }

  async #put(tree: TreeState, part: TreePart, bytes: Buffer): Promise<BlobRef> {
    const ref = this.blobs.describe(bytes, `tree-${tree.key.slice(0, 32)}-${part}`);
    if (!(await this.blobs.has(ref))) await this.blobs.put(bytes, ref);
    return ref;
  }
}
