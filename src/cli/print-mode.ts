/** Runs the front ends without a screen: `mini-cc -p` answers one prompt, and a driver sends any number of prompts. */
import {fstatSync, readdirSync, readlinkSync} from 'node:fs';
import type {Session} from '../core/contract/session-requests.ts';
import {inBackground, neverRejects} from '../core/util/background.ts';
import {tryOr, UsageError} from '../core/util/errors.ts';
import {showControls} from '../core/util/text.ts';
import type {Arguments} from './arguments.ts';
import {createWriter, onSignals, type Pipes, watchReader} from './process.ts';
import type {Start} from './start.ts';

/** @returns the exit code @throws UsageError without a prompt, and for wrong settings or names */
export async function runPrint(start: Start, parsed: Arguments, pipes: Pipes): Promise<number> {
  const {prompt, isTyped} = await readPrompt(parsed.prompt);
  if (prompt === '') {
    throw new UsageError('no prompt, and no terminal for a REPL: type mini-cc -p "your question", or pipe it in');
  }
  const ending = watchEnding(pipes);
  // These two modules load everything else, so they are loaded when there is a prompt.
  const [{compose}, {print}] = await Promise.all([import('../compose/session.ts'), import('../drivers/print.ts')]);
  const session = await compose({...parsed.session, env: process.env, home: start.home, interactive: false});
  // A program that reads stream-json drives this process, which must notice when that program leaves. Output in the
  // other formats is read after the end.
  if (parsed.format === 'stream-json') watchReader(pipes);
  return ending.during(session, () =>
    print(session, {
      prompt,
      isTyped,
      format: parsed.format,
      verbose: parsed.verbose,
      includeHookEvents: parsed.includeHookEvents,
      stdout: createWriter(process.stdout),
      stderr: writeError,
      getLeaving: ending.getLeaving,
      ...(process.stderr.isTTY ? {liveTerminal: process.stderr} : {}),
    }),
  );
}

/**
 * Runs `mini-cc --input-format stream-json`.
 * @returns the exit code
 * @throws UsageError in the same cases as `runPrint`
 */
export async function runDriver(start: Start, parsed: Arguments, mayBypass: boolean, pipes: Pipes): Promise<number> {
  if (parsed.prompt.trim() !== '') throw new UsageError('--input-format stream-json takes its prompts as lines');
  const ending = watchEnding(pipes);
  const [{compose}, {drive}, {readLines}, {toSessionOptions}] = await Promise.all([
    import('../compose/session.ts'),
    import('../drivers/stream-json/driver.ts'),
    import('../drivers/stream-json/lines.ts'),
    import('../drivers/stream-json/initialize.ts'),
  ]);
  const write = createWriter(process.stdout);
  // A driver that went away sends nothing more, but its end of standard input may stay open.
  pipes.onClosed = () => {
    inBackground(
      ending.leave('the driver has left').finally(() => process.exit(1)),
      neverRejects,
    );
  };
  // While the driver may send something, it is there.
  process.stdin.once('end', () => watchReader(pipes));
  return ending.during(undefined, (opened) =>
    drive({
      mayBypass,
      includeHookEvents: parsed.includeHookEvents,
      saveSetting: async (key, value) => {
        const {saveUserSetting} = await import('../config/user-settings.ts');
        return saveUserSetting(start.home, key, value);
      },
      getLeaving: ending.getLeaving,
      lines: readLines(process.stdin),
      write: (object) => write(`${JSON.stringify(object)}\n`),
      warn: (line) => writeError(`mini-cc: ${showControls(line)}`),
      open: async (initialize, callHook, servers) => {
        const {foreignWords, ...given} = toSessionOptions(initialize, callHook, servers);
        const all = [...(parsed.session.foreignWords ?? []), ...foreignWords];
        const asked = parsed.session.driverAnswers && {driverIsAsked: 'calls' as const};
        const options = {...parsed.session, ...given, foreignWords: all, ...asked};
        const session = await compose({...options, env: process.env, home: start.home, interactive: false});
        opened(session);
        return session;
      },
    }),
  );
}

function writeError(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Ends the work in order at a signal, or when the reader of standard output has left. */
function watchEnding(pipes: Pipes) {
  let session: Session | undefined;
  let leaving: string | undefined;
  let closed: Promise<void> | undefined;
  const leave = async (why: string) => {
    leaving ??= why;
    closed ??= session?.close();
    await closed;
  };
  onSignals(() => leave('stopped'));
  // After the work this changes nothing: the exit code is that of the work.
  pipes.onClosed = () => {
    inBackground(leave('stopped: standard output was closed before the work was done'), neverRejects);
  };
  return {
    getLeaving: () => leaving,
    leave,
    /** @param first the session when it is already open; otherwise `work` passes it to `opened` */
    async during(first: Session | undefined, work: (opened: (session: Session) => void) => Promise<number>) {
      session = first;
      try {
        return await work((opened) => {
          session = opened;
        });
      } finally {
        await (closed ?? session?.close());
      }
    },
  };
}

/**
 * Milliseconds to wait for the first byte of standard input. A silent pipe must not stop a prompt that is already
 * there. An earlier command of a pipeline may need time for its first byte. A program that started mini-cc and left the
 * pipe open has already written, or never will.
 */
const FIRST_BYTE_MS = {pipeline: 3_000, other: 300};

/**
 * Joins the prompt of the command line and the piped text. The piped text may come from any source, so its words attach no
 * files.
 */
async function readPrompt(typed: string): Promise<{prompt: string; isTyped: boolean}> {
  const piped = isReadable() ? await readStandardInput(typed.trim() !== '') : '';
  const parts = [typed.trim(), piped.trim()].filter((part) => part !== '');
  return {prompt: parts.join('\n\n'), isTyped: piped.trim() === ''};
}

/** Tells whether standard input can be read to its end. A terminal cannot, and this check needs no stream. */
function isReadable(): boolean {
  // Standard input may have been closed before mini-cc started.
  const stat = tryOr(() => fstatSync(0), undefined);
  return stat !== undefined && (stat.isFile() || stat.isFIFO() || stat.isSocket());
}

/** @param isOptional true to continue without it when its first byte does not come in time */
export async function readStandardInput(isOptional: boolean): Promise<string> {
  const chunks: Buffer[] = [];
  let timer: NodeJS.Timeout | undefined;
  const waitMs = isOptional && !(await isPipeline()) ? FIRST_BYTE_MS.other : FIRST_BYTE_MS.pipeline;
  const ended = (async () => {
    for await (const chunk of process.stdin) {
      clearTimeout(timer);
      chunks.push(chunk as Buffer);
    }
    return true;
  })();
  const silent = new Promise<false>((resolve) => {
    if (isOptional) timer = setTimeout(() => resolve(false), waitMs);
  });
  const complete = await Promise.race([ended, silent]);
  clearTimeout(timer);
  if (!complete) {
    const seconds = waitMs / 1000;
    const text = `nothing came on standard input within ${seconds} s: going on without it (< /dev/null avoids the wait)`;
    process.stderr.write(`mini-cc: ${text}\n`);
    process.stdin.unref();
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Tells whether another command may write into standard input: a process that has it open and did not start mini-cc.
 * Only Linux shows this; on other systems the answer is always true.
 */
async function isPipeline(): Promise<boolean> {
  if (process.platform !== 'linux') return true;
  const {listProcesses} = await import('../sandbox/launch/process-groups.ts');
  const table = listProcesses();
  const parents = new Map(table.map(({pid, parent}) => [pid, parent]));
  const ancestors = new Set<number>();
  for (let pid: number | undefined = process.pid; pid !== undefined; pid = parents.get(pid)) ancestors.add(pid);
  const pipe = readlinkSync('/proc/self/fd/0');
  return table.some(({pid}) => !ancestors.has(pid) && hasOpen(pid, pipe));
}

/** Returns false for a process of another user and for one that has ended. */
function hasOpen(pid: number, name: string): boolean {
  const folder = `/proc/${pid}/fd`;
  const open = tryOr(() => readdirSync(folder), []);
  return open.some((fd) => tryOr(() => readlinkSync(`${folder}/${fd}`), undefined) === name);
}
