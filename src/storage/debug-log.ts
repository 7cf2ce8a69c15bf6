/** Writes the log of `--debug`: events and texts as JSON lines in `<home>/logs/`, never on the screen. */
import {statSync} from 'node:fs';
import path from 'node:path';
import type {AgentEvent} from '../core/contract/events.ts';
import type {Redactor} from '../core/secrets/redaction.ts';
import {UsageError} from '../core/util/errors.ts';
import {appendPrivateFile, createPrivateFolder} from '../core/util/files/private-file.ts';

export class DebugLog {
  readonly path: string;

  /** @param file the log; default: a new file in the home @throws UsageError when it is no regular file */
  constructor(
    home: string,
    private readonly redactor: Redactor,
    file?: string,
  ) {
    if (file !== undefined) {
      this.path = path.resolve(file);
      // A pipe without a reader would hold the process up, and a device is not mini-cc's to change.
      const stat = statSync(this.path, {throwIfNoEntry: false});
      if (stat && !stat.isFile()) throw new UsageError(`--debug-file ${file}: it is no regular file`);
      return;
    }
    const folder = path.join(home, 'logs');
    createPrivateFolder(folder);
    const stamp = new Date().toISOString().replaceAll(/[:.]/g, '-');
    this.path = path.join(folder, `${stamp}-${process.pid}.jsonl`);
  }

  event(event: AgentEvent): void {
    // Skip deltas and raw events, because the messages contain their text again.
    if (event.type === 'text_delta' || event.type === 'thinking_delta' || event.type === 'stream') return;
    this.#line({...event, at: new Date(event.at).toISOString()});
  }

  write(text: string): void {
    this.#line({type: 'log', at: new Date().toISOString(), text});
  }

  #line(value: unknown): void {
    appendPrivateFile(this.path, `${JSON.stringify(this.redactor.values(value))}\n`);
  }
}
