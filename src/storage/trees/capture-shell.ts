/**
 * Keeps one small shell that runs git for captures: it lists the files that differ from the index, and adds those that
 * are named in a file to it. A command needs two captures, and each start of a process from mini-cc blocks it for some
 * milliseconds, while the shell starts git in less than one.
 */
import type {ChildProcess} from 'node:child_process';
import type {Socket} from 'node:net';
import {type GitOptions, splitNames, startGitScript} from './git.ts';

/** What follows the name of the index in that of its draft. */
export const DRAFT = '.draft';
/** File in the git directory with the names that `RECORD` adds, each with a NUL. */
export const NAMES = 'names';
/** File in the git directory with the entries that `RECORD` changes before, as `update-index --index-info` reads them. */
export const ENTRIES = 'entries';
/** File in the git directory with the ids of contents that the shell copies into a pack. */
export const IDS = 'ids';
/**
 * Changes the index and writes its tree. Prints the tree, `1` when git refused a name and else `0`, and the difference
 * from the tree `$1`, or from that of the index before, each with a NUL. Returns the exit code of `update-index`. The
 * shell reads from files what git prints, since `$(…)` starts a further process.
 */
export const RECORD = `
umask 077
write_tree() {
  git write-tree --missing-ok >"$GIT_DIR/tree" && read -r tree <"$GIT_DIR/tree"
}
record() {
  last=$1
  [ -n "$last" ] || { write_tree && last=$tree; } || return 1
  [ ! -s "$GIT_DIR/${ENTRIES}" ] || git update-index -z --index-info <"$GIT_DIR/${ENTRIES}" || return 1
  refused=0 code=0
  if [ -s "$GIT_DIR/${NAMES}" ]; then
    git -C "$GIT_WORK_TREE" update-index -z --add --remove --replace --stdin <"$GIT_DIR/${NAMES}" 2>"$GIT_DIR/said"
    code=$?
    [ ! -s "$GIT_DIR/said" ] || note_said
  fi
  write_tree || return 1
  printf '%s\\0%s\\0' "$tree" "$refused"
  git diff-tree --no-ext-diff --no-textconv -r -z --raw --no-renames "$last" "$tree" || return 1
  return $code
}
note_said() {
  said=$(cat "$GIT_DIR/said")
  printf '%s\\n' "$said" >&2
  case $said in *'Ignoring path '*) refused=1 ;; esac
}`;
/** What a job prints is followed by an empty part and by its exit code. What git says about a failure is left out. */
const SCRIPT = `${RECORD}
while read -r job last; do
  case $job in
    refresh) (GIT_INDEX_FILE=$GIT_INDEX_FILE${DRAFT} && git update-index -q --refresh); printf '%s\\0' "$?" ;;
    list) git "$@" ;;
    tree) write_tree && printf '%s\\0' "$tree" ;;
    keep) git pack-objects -q --window=0 "$GIT_DIR/objects/pack/pack" <"$GIT_DIR/${IDS}" >&2; printf '%s\\0' "$?" ;;
    record) record "$last" ;;
  esac 2>/dev/null
  printf '\\0%s\\0' "$?"
done`;
const END = /(?:^|\0)\0(\d{1,3})\0$/;
const END_BYTES = 6;
/** Milliseconds for a job. One that takes longer is done without the shell, where more time is allowed. */
const LIMIT_MS = 2_000;
/** Milliseconds without a job after which the shell ends. */
const WAIT_MS = 30_000;

interface JobOptions {
  readonly signal?: AbortSignal | undefined;
  readonly limitMs?: number | undefined;
}

export class CaptureShell {
  #shell: {readonly child: Promise<ChildProcess>; readonly ending: AbortController} | undefined;
  #hasFailed = false;
  #idle: NodeJS.Timeout | undefined;

  /**
   * @param args the subcommand of git that lists, and its arguments, with `-z`
   * @param options their `env` names the git directory and the work tree
   */
  constructor(
    private readonly cwd: string,
    private readonly args: readonly string[],
    private readonly options: GitOptions,
  ) {}

  /** Starts the shell, so that its first job finds it ready. */
  start(): void {
    this.#shell ??= this.#start();
    this.#shell.child.catch(() => undefined);
  }

  /** Notes in the draft of an index which files have not changed. @returns false when git failed, or the shell is gone */
  async refresh(options: JobOptions): Promise<boolean> {
    const [code] = (await this.#do('refresh', options)) ?? [];
    return ['0', '1'].includes(String(code));
  }

  /** Lists the files that differ from the index. @returns as `#do` */
  list(signal?: AbortSignal): Promise<Buffer[] | undefined> {
    return this.#do('list', {signal});
  }

  /** Writes the tree of the index. @returns undefined when it has to be done without the shell */
  async tree(): Promise<string | undefined> {
    const [tree] = (await this.#do('tree')) ?? [];
    return tree?.length ? tree.toString() : undefined;
  }

  /** Copies the contents that `IDS` names into a pack. @returns false when git failed, or the shell is gone */
  async keep(): Promise<boolean> {
    const [code] = (await this.#do('keep')) ?? [];
    return String(code) === '0';
  }

  /**
   * Runs `RECORD`.
   * @param last a tree, or an empty text
   * @returns as `#do`. A git that was ended may have left the lock of the index.
   */
  record(last: string): Promise<Buffer[] | undefined> {
    return this.#do(`record ${last}`);
  }

  /**
   * Does one job after the other: a caller waits for the end of its job before it asks for the next one.
   * @returns undefined when the job has to be done without the shell, which also says why it fails
   */
  async #do(job: string, options: JobOptions = {}): Promise<Buffer[] | undefined> {
    const {signal} = options;
    if (this.#hasFailed || signal?.aborted) return undefined;
    clearTimeout(this.#idle);
    const answer = await this.#ask(job, options).catch(() => undefined);
    if (answer === undefined) this.#end();
    else this.#idle = setTimeout(() => this.#end(), WAIT_MS).unref();
    this.#hasFailed = answer === undefined && !signal?.aborted;
    return answer;
  }

  async #ask(job: string, {signal, limitMs = LIMIT_MS}: JobOptions): Promise<Buffer[] | undefined> {
    this.#shell ??= this.#start();
    const child = await this.#shell.child;
    const handles = [child, child.stdin as Socket, child.stdout as Socket];
    for (const handle of handles) handle.ref();
    const limit = AbortSignal.any([AbortSignal.timeout(limitMs), ...(signal ? [signal] : [])]);
    const answer = await readAnswer(child, job, limit);
    // While it waits it does not keep mini-cc from exiting.
    for (const handle of handles) handle.unref();
    return answer;
  }

  #start() {
    const ending = new AbortController();
    return {child: startGitScript(this.cwd, SCRIPT, this.args, {...this.options, signal: ending.signal}), ending};
  }

  /** Ends the shell, and a git that it waits for. It also ends with mini-cc, since its input is closed then. */
  #end(): void {
    this.#shell?.ending.abort();
    this.#shell = undefined;
  }
}

/** @returns undefined when the answer is not complete when `signal` aborts, when git failed, and when the shell is gone */
function readAnswer(child: ChildProcess, job: string, signal: AbortSignal): Promise<Buffer[] | undefined> {
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    const stop = (parts?: Buffer[]) => {
      child.stdout?.off('data', onData).off('close', onEnd);
      signal.removeEventListener('abort', onEnd);
      resolve(parts);
    };
    const onEnd = () => stop();
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      const last = Buffer.concat(chunks.slice(-END_BYTES)).subarray(-END_BYTES);
      const [end, code] = END.exec(last.toString('latin1')) ?? [];
      if (end === undefined) return;
      const all = Buffer.concat(chunks);
      stop(code === '0' ? splitNames(all.subarray(0, all.lastIndexOf('\0\0') + 1)) : undefined);
    };
    if (signal.aborted || child.stdout?.closed) return stop();
    child.stdout?.on('data', onData).once('close', onEnd);
    signal.addEventListener('abort', onEnd);
    child.stdin?.write(`${job}\n`);
  });
}
