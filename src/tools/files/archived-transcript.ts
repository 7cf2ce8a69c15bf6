/** A run's transcript is renamed when it is archived; its path was printed before, and still finds it. */
import {readdir} from 'node:fs/promises';
import {basename, dirname, join} from 'node:path';
import {codeOf} from '../../core/util/file-errors.ts';

const TRANSCRIPT = 'session.jsonl';

/** Where the transcript with this path is now; undefined when it was not archived, or is none. */
export async function archivedTranscript(path: string): Promise<string | undefined> {
  if (basename(path) !== TRANSCRIPT || basename(dirname(dirname(path))) !== 'subagents') return undefined;
  const folder = dirname(path);
  const names = await readdir(folder).catch((error: unknown): string[] => {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return [];
    throw error;
  });
  if (names.includes(TRANSCRIPT)) return undefined;
  const newest = names
    .filter((name) => name.startsWith(`${TRANSCRIPT}.deleted.`))
    .sort()
    .at(-1);
  return newest === undefined ? undefined : join(folder, newest);
}
