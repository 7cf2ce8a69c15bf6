/** What mini-cc left on disk, read without its own code. */
import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';

export interface Line {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** All transcripts below a home, of sessions and of runs, archived or not. */
export function transcriptsBelow(home: string): string[] {
  return readdirSync(home, {recursive: true, withFileTypes: true})
    .filter((entry) => entry.isFile() && entry.name.startsWith('session.jsonl'))
    .map((entry) => path.join(entry.parentPath, entry.name));
}

export function isRun(transcript: string): boolean {
  return transcript.includes('/subagents/');
}

/** @throws Error that names a line that does not parse, but for a torn last one. */
export function wholeLines(transcript: string): Line[] {
  const lines = readFileSync(transcript, 'utf8').split('\n');
  // What stands behind the last newline is torn, or nothing.
  lines.pop();
  return lines.map((line, index) => {
    try {
      return JSON.parse(line) as Line;
    } catch {
      throw new Error(`${transcript}:${index + 1} is no JSON: ${line.slice(0, 200)}`);
    }
  });
}

/** How often each announcement stands in the history of a session. */
export function announcementsIn(transcript: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of wholeLines(transcript)) {
    const {role, content} = (line.message ?? {}) as {role?: string; content?: unknown};
    if (role !== 'user' || typeof content !== 'string') continue;
    for (const [, id = ''] of content.matchAll(/^<task_announcement run="([^"]+)">$/gm)) {
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
  }
  return counts;
}
