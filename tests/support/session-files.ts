/** Reads the files that mini-cc writes, without using its code. */
import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';

export interface Line {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** All transcripts in a home folder, of sessions and runs, archived or not. */
export function findTranscripts(home: string): string[] {
  return readdirSync(home, {recursive: true, withFileTypes: true})
    .filter((entry) => entry.isFile() && entry.name.startsWith('session.jsonl'))
    .map((entry) => path.join(entry.parentPath, entry.name));
}

export function isRun(transcript: string): boolean {
  return transcript.includes('/subagents/');
}

/** All complete lines. @throws Error for a line that is not JSON */
export function readLines(transcript: string): Line[] {
  const lines = readFileSync(transcript, 'utf8').split('\n');
  // After the last newline there is nothing, or a line that was cut off.
  lines.pop();
  return lines.map((line, index) => {
    try {
      return JSON.parse(line) as Line;
    } catch {
      throw new Error(`${transcript}:${index + 1} is not JSON: ${line.slice(0, 200)}`);
    }
  });
}

/** How often the history of a session contains the announcement of each run. */
export function countAnnouncements(transcript: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of readLines(transcript)) {
    const {role, content} = (line.message ?? {}) as {role?: string; content?: unknown};
    if (role !== 'user' || typeof content !== 'string') continue;
    for (const [, id = ''] of content.matchAll(/^<task_announcement run="([^"]+)">$/gm)) {
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
  }
  return counts;
}

/** Ids of the runs whose end a call returned. */
export function findReturned(transcript: string): Set<string> {
  const results = readLines(transcript).flatMap(({message}) => {
    const {content} = (message ?? {}) as {content?: unknown};
    return Array.isArray(content)
      ? content.map((block: {content?: unknown}) => JSON.stringify(block.content ?? ''))
      : [];
  });
  return new Set(results.flatMap((text) => [...text.matchAll(/\\nRun: ([\w-]{36}) /g)].map(([, id]) => id!)));
}
