/** Gives the checkpoints of the open session. The session changes when `/clear` starts a new one. */
import path from 'node:path';
import type {CheckpointedWork, Checkpoints, Writer} from '../../core/contract/checkpoints.ts';
import {NO_CHECKPOINTS} from '../../core/turn/checkpointed-call.ts';
import {getErrorMessage} from '../../core/util/errors.ts';
import {SessionCheckpoints} from './session-checkpoints.ts';

interface CheckpointStoreOptions {
  readonly sessionFolder: () => string;
  readonly root: string;
  readonly home: string;
  /** Removes keys from labels before they are stored. */
  readonly redact: (label: string) => string;
  /** Called with the reason, for the user, why a command, or the whole session, has no checkpoint. */
  readonly onNone: (why: string) => void;
}

export class CheckpointStore implements Checkpoints {
  readonly #options: CheckpointStoreOptions;
  #folder: string | undefined;
  #current: SessionCheckpoints | undefined;

  constructor(options: CheckpointStoreOptions) {
    this.#options = options;
  }

  /** @throws MiniCcError when a newer mini-cc wrote them */
  get current(): SessionCheckpoints {
    const {sessionFolder, root, home, onNone} = this.#options;
    const folder = path.join(sessionFolder(), 'checkpoints');
    if (this.#current && this.#folder === folder) return this.#current;
    this.close();
    this.#current = new SessionCheckpoints({folder, root, home, onUncounted: onNone});
    this.#folder = folder;
    return this.#current;
  }

  /**
   * Opens the checkpoints of a session that is not open. The caller closes them.
   * @param folder folder of that session
   * @throws MiniCcError when a newer mini-cc wrote them
   */
  openOther(folder: string): SessionCheckpoints {
    const {root, home, onNone} = this.#options;
    return new SessionCheckpoints({folder: path.join(folder, 'checkpoints'), root, home, onUncounted: onNone});
  }

  async beforeWrite(by: Writer, file: string): Promise<void> {
    return this.#usable().beforeWrite(this.#redactLabel(by), file);
  }

  async afterWrite(by: Writer, file: string): Promise<void> {
    return this.#usable().afterWrite(this.#redactLabel(by), file);
  }

  async around<T>(by: Writer, work: (saved: Promise<void>) => Promise<T>): Promise<CheckpointedWork<T>> {
    return this.#usable().around(this.#redactLabel(by), work);
  }

  prepare(isNext?: boolean): void {
    this.#usable().prepare(isNext);
  }

  /** Waits until the changes of all commands of the open session that ended so far are recorded. */
  async settled(): Promise<void> {
    await this.#current?.settled();
  }

  close(): void {
    this.#current?.close();
    this.#current = undefined;
  }

  #redactLabel({agentId, label}: Writer): Writer {
    return {agentId, label: this.#options.redact(label)};
  }

  /** Files of a newer mini-cc are not changed. There are no checkpoints then, and the user learns the reason. */
  #usable(): Checkpoints {
    try {
      return this.current;
    } catch (error) {
      this.#options.onNone(getErrorMessage(error));
      return NO_CHECKPOINTS;
    }
  }
}
