/** Reads what git prints of the differences between two trees. */

/** Mode of a path that does not exist. */
export const ABSENT = '000000';

/** A path that differs between two trees. Modes and ids are as git writes them. */
export interface TreeDiff {
  readonly path: string;
  /** Bytes of the path, which need not be UTF-8. */
  readonly name: Buffer;
  readonly oldMode: string;
  readonly newMode: string;
  readonly oldId: string;
  readonly newId: string;
}

/** The result of `RECORD`. */
export interface Recorded {
  readonly tree: string;
  /** Whether git refused a name. */
  readonly isRefused: boolean;
  /** False when git stopped before it added all. */
  readonly isWhole: boolean;
  readonly diff: readonly TreeDiff[];
}

/** @param parts what `RECORD` prints */
export function parseRecorded([tree, refused, ...parts]: readonly Buffer[], isWhole: boolean): Recorded {
  return {tree: String(tree), isRefused: String(refused) === '1', isWhole, diff: parseDiff(parts)};
}

export function parseDiff(parts: readonly Buffer[]): TreeDiff[] {
  const found: TreeDiff[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [oldMode = '', newMode = '', oldId = '', newId = ''] = parts[at]!.toString().slice(1).split(' ');
    const name = parts[at + 1]!;
    found.push({path: name.toString(), name, oldMode, newMode, oldId, newId});
  }
  return found;
}
