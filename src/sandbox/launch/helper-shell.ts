/**
 * Keeps one small shell beside mini-cc, in a session of its own. It starts commands, because Node starts a program by a
 * fork, which copies the page tables of all its memory and blocks mini-cc for milliseconds. When mini-cc has ended, also
 * by `kill -9`, the shell kills the process groups that are left. It does not find a process that made a session of its
 * own (`setsid`).
 */
import type {Socket} from 'node:net';
import {inBackground} from '../../core/util/background.ts';
import {startProcess} from '../../core/util/processes.ts';

/**
 * `+7` adds a group and `-7` removes it. Any other line names a file with a job, which a fork of the shell runs. At the end
 * of its input the script kills the groups that are left, lets each job end what it has started, and kills itself.
 */
const SCRIPT = `
unset PATH
groups=
while IFS= read -r line; do
  case $line in
    [+-]*)
      rest=
      for each in $groups; do [ "$each" = "\${line#?}" ] || rest="$rest $each"; done
      case $line in +*) rest="$rest \${line#?}" ;; esac
      groups=$rest ;;
    *) . "$line" & ;;
  esac
done
for each in $groups; do kill -s KILL -- "-$each"; done 2>/dev/null
trap '' TERM
kill -s TERM 0
kill -s CONT 0
wait
kill -s KILL 0
`;
/** Milliseconds in which a job must start. A shell that takes longer was stopped, and is not used any more. */
const START_MS = 10_000;

export interface Job {
  /** Resolves to the process id that the job names; undefined when the shell ended before that. */
  readonly started: Promise<number | undefined>;
  /** Resolves to the exit code that the job names; undefined when the shell ended before that. */
  readonly ended: Promise<number | undefined>;
  /** A job keeps mini-cc running until `unref`. */
  ref(): void;
  unref(): void;
}

interface Waiting {
  readonly onStart: (pid: number | undefined) => void;
  readonly onEnd: (code: number | undefined) => void;
}

interface Shell {
  readonly input: Socket;
  readonly answers: Socket;
}

export class HelperShell {
  #shell: Promise<Shell | undefined> | undefined;
  /** Whether the shell ended or was stopped: it runs no job any more. */
  hasEnded = false;
  #answers: Socket | undefined;
  #jobs = 0;
  readonly #waiting = new Map<string, Waiting>();
  /** Ids of the jobs that keep mini-cc running. */
  readonly #kept = new Set<string>();

  /** Makes the group end with mini-cc, even after `kill -9`. */
  watch(group: number): void {
    this.#send(`+${group}`);
  }

  forget(group: number): void {
    if (this.#shell) this.#send(`-${group}`);
  }

  /** Starts the shell, so that a job waits for a shorter time. */
  prepare(): void {
    if (!this.hasEnded) this.#shell ??= this.#open();
  }

  /** Ends the shell, which kills the groups that are left. Nothing is started by it afterwards. */
  close(): void {
    this.#end();
  }

  /**
   * Runs a job.
   * @param write writes the job into a file, with the id that it is given, and returns the path. The job may print
   *   `ID started PID`, and prints `ID ended CODE` at its end.
   * @throws what `write` throws
   */
  run(write: (id: string) => string): Job {
    this.#jobs += 1;
    const id = String(this.#jobs);
    const file = write(id);
    const [start, end] = [Promise.withResolvers<number | undefined>(), Promise.withResolvers<number | undefined>()];
    if (this.hasEnded) {
      start.resolve(undefined);
      end.resolve(undefined);
    } else {
      this.#waiting.set(id, {onStart: start.resolve, onEnd: end.resolve});
      const timer = setTimeout(() => this.#end(), START_MS).unref();
      const clear = () => clearTimeout(timer);
      inBackground(Promise.race([start.promise, end.promise]).then(clear), clear);
      this.#keep(id, true);
      this.#send(file);
    }
    return {
      started: start.promise,
      ended: end.promise,
      ref: () => this.#keep(id, this.#waiting.has(id)),
      unref: () => this.#keep(id, false),
    };
  }

  #keep(id: string, isKept: boolean): void {
    if (isKept) this.#kept.add(id);
    else this.#kept.delete(id);
    if (this.#kept.size > 0) this.#answers?.ref();
    else this.#answers?.unref();
  }

  #send(line: string): void {
    this.prepare();
    if (this.hasEnded) return;
    const sent = this.#shell!.then((shell) => shell?.input.write(`${line}\n`));
    // A failure of writing is ignored, because the end of the shell also ends the jobs. Processes are left only when
    // mini-cc is killed as well.
    inBackground(sent, () => undefined);
  }

  async #open(): Promise<Shell | undefined> {
    // Without `--norc`, a shell whose input is a socket reads the settings of the user. Any process of the user can read
    // the environment of the shell, so it is empty.
    const {pid, child} = await startProcess('bash', ['--norc', '-p', '-c', SCRIPT], {
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
      cwd: '/',
      env: {},
    });
    if (pid === undefined || this.hasEnded) {
      this.#end();
      return undefined;
    }
    const [input, answers] = [child.stdin, child.stdout] as unknown as [Socket, Socket];
    for (const handle of [child, input, answers]) handle.unref();
    for (const stream of [input, answers]) stream.on('error', () => undefined).on('close', () => this.#end());
    this.#answers = answers;
    if (this.#kept.size > 0) answers.ref();
    let rest = '';
    answers.setEncoding('latin1').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const line of lines) this.#take(line);
    });
    return {input, answers};
  }

  #take(line: string): void {
    const [id = '', what, value] = line.split(' ');
    const waiting = this.#waiting.get(id);
    if (what === 'started') waiting?.onStart(Number(value));
    if (what !== 'ended') return;
    waiting?.onStart(undefined);
    waiting?.onEnd(Number(value));
    this.#waiting.delete(id);
    this.#keep(id, false);
  }

  /** Nothing is started by the shell any more. The exit codes of the jobs that run are lost. */
  #end(): void {
    this.hasEnded = true;
    this.#kept.clear();
    for (const {onStart, onEnd} of this.#waiting.values()) {
      onStart(undefined);
      onEnd(undefined);
    }
    this.#waiting.clear();
    inBackground(
      (this.#shell ?? Promise.resolve(undefined)).then((shell) => {
        shell?.input.destroy();
        shell?.answers.destroy();
      }),
      () => undefined,
    );
  }
}
