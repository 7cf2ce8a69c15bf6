/**
 * Removes the temporary files that a killed mini-cc left in its home, in the project's `.mini-cc`, and beside files
 * that it wrote.
 */
import {existsSync, readdirSync, rmSync} from 'node:fs';
import path from 'node:path';
import {removeDrafts} from '../../core/util/files/whole-file.ts';
import {readLastLines} from '../json-lines.ts';
import {findTranscript, listRunFolders} from './archive.ts';
import {listLeftLockFiles} from './session-lock.ts';
import {parseEntry, REPAIRED} from './transcript.ts';

/** Bytes at the end of a transcript that are searched for the calls that ran when mini-cc was killed. */
const SEARCHED_BYTES = 256 * 1024;

/**
 * @param home folder of mini-cc
 * @param sessionsFolder folder of the project's sessions
 * @param root the project's folder
 */
export function removeSharedLeftovers(home: string, sessionsFolder: string, root: string): void {
  const projectFolder = path.join(root, '.mini-cc');
  for (const each of [home, sessionsFolder, projectFolder]) {
    removeDrafts(each);
    removeDrafts(path.join(each, 'agents'));
  }
}

/**
 * Removes what the last mini-cc of this session was writing. The session must not be open in another process.
 * @param cwd folder to which relative paths of its calls refer
 */
export function removeSessionLeftovers(session: string, cwd: string): void {
  if (!existsSync(session)) return;
  const names = readdirSync(session);
  for (const name of listLeftLockFiles(names)) rmSync(path.join(session, name), {force: true});
  rmSync(path.join(session, REPAIRED), {force: true});
  const files = path.join(session, 'checkpoints', 'files');
  const blobs = existsSync(files) ? readdirSync(files).map((name) => path.join(files, name)) : [];
  const transcripts = [session, ...listRunFolders(session)].flatMap((folder) => findTranscript(folder) ?? []);
  const written = new Set(transcripts.flatMap((transcript) => listWrittenFolders(transcript, cwd)));
  for (const folder of [session, ...blobs, ...written]) removeDrafts(folder);
}

/** Returns the folders of files that the last calls of a transcript name. */
function listWrittenFolders(transcript: string, cwd: string): string[] {
  return readLastLines(transcript, SEARCHED_BYTES).flatMap((line) => {
    const entry = parseEntry(line);
    if (entry?.type !== 'message' || typeof entry.message.content === 'string') return [];
    return entry.message.content.flatMap((block) => {
      const file = block.type === 'tool_use' ? getPath(block.input) : undefined;
      return file === undefined ? [] : [path.dirname(path.resolve(cwd, file))];
    });
  });
}

function getPath(input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null || !('path' in input)) return undefined;
  return typeof input.path === 'string' ? input.path : undefined;
}
