/** The checkpoints of whichever session is open now: `/clear` begins a new one. */
import path from 'node:path';
import {type Checkpoints, NO_CHECKPOINTS, type Observed, type Writer} from '../../core/contract/checkpoints.ts';
import {messageOf} from '../../core/util/errors.ts';
import {SessionCheckpoints} from './session-checkpoints.ts';

export interface CheckpointStoreOptions {
  /** Of the session that is open now. */
  readonly sessionFolder: () => string;
  readonly root: string;
  readonly home: string;
  /** Takes keys out of labels, which are stored. */
  readonly redact: (label: string) => string;
  /** For the person: why commands have no checkpoint, or why there are none at all. */
  readonly onNone: (why: string) => void;
}

export class CheckpointStore implements Checkpoints {
  readonly #options: CheckpointStoreOptions;
  #folder: string | undefined;
  #current: SessionCheckpoints | undefined;

  constructor(options: CheckpointStoreOptions) {
    this.#options = options;
  }

  /** @throws MiniCcError when a newer mini-cc wrote them. */
  get current(): SessionCheckpoints {
    const {sessionFolder, root, home, onNone} = this.#options;
    const folder = path.join(sessionFolder(), 'checkpoints');
    if (this.#current && this.#folder === folder) return this.#current;
    this.close();
    this.#current = new SessionCheckpoints({folder, root, home, onUncounted: onNone});
    this.#folder = folder;
    return this.#current;
  }

  async beforeWrite(by: Writer, file: string): Promise<void> {
    return this.#usable().beforeWrite(this.#named(by), file);
  }

  async afterWrite(by: Writer, file: string): Promise<void> {
    return this.#usable().afterWrite(this.#named(by), file);
  }

  async around<T>(by: Writer, work: () => Promise<T>): Promise<Observed<T>> {
    return this.#usable().around(this.#named(by), work);
  }

  close(): void {
    this.#current?.close();
    this.#current = undefined;
  }

  #named({agentId, label}: Writer): Writer {
    return {agentId, label: this.#options.redact(label)};
  }

  /** What a newer mini-cc wrote is left alone: then nothing is kept, and that is said. */
  #usable(): Checkpoints {
    try {
      return this.current;
    } catch (error) {
      this.#options.onNone(messageOf(error));
      return NO_CHECKPOINTS;
    }
  }
}
