/** Keeps the runs of a session, oldest first, and finds them by number, by the beginning of an id, or by path. */

import type {RunRecord} from '../contract/runs.ts';
import {MiniCcError} from '../util/errors.ts';

/** A shorter number is always a place in the list, even if an id begins with it. */
const MIN_ID_DIGITS = 4;

export class RunRegistry {
  readonly #records = new Map<string, RunRecord>();

  add(record: RunRecord): void {
    this.#records.set(record.runId, record);
  }

  /** @returns the updated record; undefined when the run is unknown */
  update(runId: string, change: Partial<RunRecord>): RunRecord | undefined {
    const record = this.#records.get(runId);
    if (!record) return undefined;
    const updated = {...record, ...change};
    this.#records.set(runId, updated);
    return updated;
  }

  get(runId: string): RunRecord | undefined {
    return this.#records.get(runId);
  }

  list(): readonly RunRecord[] {
    return [...this.#records.values()];
  }

  clear(): void {
    this.#records.clear();
  }

  /**
   * @param name `#2` or `2` (1 is the newest), the beginning of an id, a session key, or the path of a transcript
   * @throws MiniCcError `RUN_NOT_FOUND` that says what is wrong with the name
   */
  find(name: string): RunRecord {
    const [, hash, index] = /^(#?)(\d{1,7})$/.exec(name) ?? [];
    if (index !== undefined) {
      const record = Number(index) > 0 ? this.list().at(-Number(index)) : undefined;
      if (record) return record;
      // The beginning of an id may be all digits.
      const mayBeId = hash === '' && index.length >= MIN_ID_DIGITS;
      if (!mayBeId || !this.list().some(({runId}) => runId.startsWith(index))) {
        throw notFound(`Invalid subagent index: ${index}`);
      }
    }
    const id = idIn(name);
    const matches = id === '' ? [] : this.list().filter((record) => record.runId.startsWith(id));
    const exact = matches.find((record) => record.runId === id);
    if (exact) return exact;
    if (matches.length > 1) throw notFound(`Ambiguous run id prefix: ${name}`);
    if (!matches[0]) throw notFound(`Unknown subagent id: ${name}`);
    return matches[0];
  }
}

/** Returns the id in a session key, `agent:explore:subagent:ID`, or in a path, `…/subagents/ID/session.jsonl`. */
function idIn(name: string): string {
  const [, fromPath] = /\/subagents\/([^/]+)\/[^/]+$/.exec(name) ?? [];
  return fromPath ?? name.replace(/^agent:.*:subagent:/, '');
}

function notFound(message: string): MiniCcError {
  return new MiniCcError('RUN_NOT_FOUND', message);
}
