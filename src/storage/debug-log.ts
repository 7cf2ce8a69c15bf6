/** `--debug`: what happened, one JSON line each, in `<home>/logs/`. Never on the screen. */
import path from 'node:path';
import type {AgentEvent} from '../core/contract/events.ts';
import type {Redactor} from '../core/secrets/redaction.ts';
import {appendPrivate, privateFolder} from '../core/util/private-file.ts';

export class DebugLog {
  readonly path: string;

  constructor(
    home: string,
    private readonly redactor: Redactor,
  ) {
    const folder = path.join(home, 'logs');
    privateFolder(folder);
    const stamp = new Date().toISOString().replaceAll(/[:.]/g, '-');
    this.path = path.join(folder, `${stamp}-${process.pid}.jsonl`);
  }

  event(event: AgentEvent): void {
    // Deltas and raw events come again, whole, as messages.
    if (event.type === 'text_delta' || event.type === 'thinking_delta' || event.type === 'stream') return;
    this.#line({...event, at: new Date(event.at).toISOString()});
  }

  write(text: string): void {
    this.#line({type: 'log', at: new Date().toISOString(), text});
  }

  #line(value: unknown): void {
    appendPrivate(this.path, `${JSON.stringify(this.redactor.values(value))}\n`);
  }
}
