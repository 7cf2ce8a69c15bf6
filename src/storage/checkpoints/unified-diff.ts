/** Changes as `git diff` writes them. */
import path from 'node:path';
import type {Stretch} from './changes.ts';
import {batchesOf, type ContentSource} from './contents.ts';
import {type FileState, idOf} from './file-state.ts';

export interface DiffOptions {
  /** The workspace. */
  readonly root: string;
  /** What is different between two texts: unified hunks. */
  patchOf(before: string, after: string): string;
}

/** Beyond so many characters in all, files are only named. */
const MOST_CHARS = 100_000;

/** @returns a part for each file. */
export async function unifiedDiff(
  stretches: readonly Stretch[],
  source: ContentSource,
  room: DiffOptions,
): Promise<readonly string[]> {
  const parts: string[] = [];
  let chars = 0;
  const contentsOf = ({before, after}: Stretch) => [idOf(before) ?? [], idOf(after) ?? []].flat();
  for await (const {items, contents} of batchesOf(stretches, contentsOf, source)) {
    for (const stretch of items) {
      const part =
        chars > MOST_CHARS
          ? `${headOf(stretch, room.root)}\n(left out: the diff is too long)`
          : fileDiff(stretch, contents, room);
      parts.push(part);
      chars += part.length;
    }
  }
  return parts;
}

function fileDiff(stretch: Stretch, contents: ReadonlyMap<string, Buffer>, {patchOf, root}: DiffOptions): string {
  const {before, after} = stretch;
  const head = headOf(stretch, root);
  if (idOf(before) === idOf(after)) return head;
  const [old, now] = [contentOf(before, contents), contentOf(after, contents)];
  if (old === undefined || now === undefined) return `${head}\n(its content is not kept any more)`;
  const [a, b] = namesOf(stretch, root);
  if (isBinary(old) || isBinary(now)) return `${head}\nBinary files ${a} and ${b} differ`;
  const patch = patchOf(old.toString(), now.toString());
  return patch === '' ? head : `${head}\n--- ${a}\n+++ ${b}\n${patch}`;
}

/** Who had a hand in it too, the names, and modes where they changed. */
function headOf(stretch: Stretch, root: string): string {
  const {before, after, path, sharedWith, cutOff} = stretch;
  const name = shownPath(path, root);
  const lines = [
    ...(sharedWith.length > 0 ? [`shared with ${sharedWith.join(', ')}:`] : []),
    ...(cutOff ? ['mini-cc ended amid this; as it was found when it was started again:'] : []),
    `diff --git ${quoted(`a/${name}`)} ${quoted(`b/${name}`)}`,
  ];
  const [old, now] = [modeOf(before), modeOf(after)];
  if (old === undefined) lines.push(`new file mode ${now}`);
  else if (now === undefined) lines.push(`deleted file mode ${old}`);
  else if (old !== now) lines.push(`old mode ${old}`, `new mode ${now}`);
  return lines.join('\n');
}

function namesOf({path, before, after}: Stretch, root: string): [string, string] {
  const name = shownPath(path, root);
  const nothing = '/dev/null';
  return [before === null ? nothing : quoted(`a/${name}`), after === null ? nothing : quoted(`b/${name}`)];
}

/** A name that would not stay on its line, or not end where it seems to. */
function quoted(name: string): string {
  return /["\\\p{Cc}]/u.test(name) ? JSON.stringify(name) : name;
}

function modeOf(state: FileState): string | undefined {
  if (state === null) return undefined;
  if (state.kind === 'link') return '120000';
  return state.kind === 'file' && state.executable ? '100755' : '100644';
}

function contentOf(state: FileState, contents: ReadonlyMap<string, Buffer>): Buffer | undefined {
  const id = idOf(state);
  return id === undefined ? Buffer.alloc(0) : contents.get(id);
}

function isBinary(content: Buffer): boolean {
  return content.includes(0);
}

/** Relative to the workspace where it lies inside. */
export function shownPath(file: string, root: string): string {
  return file.startsWith(`${root}${path.sep}`) ? path.relative(root, file) : file;
}
