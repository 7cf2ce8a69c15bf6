/** `mini-cc -p`: reads the prompt, answers it in a session of its own, and ends. */
import {fstatSync, readdirSync, readlinkSync} from 'node:fs';
import type {Session} from '../core/contract/session.ts';
import {UsageError} from '../core/util/errors.ts';
import {listProcesses} from '../sandbox/launch/process-groups.ts';
import type {Arguments} from './arguments.ts';
import {createWriter, onSignals, type Pipes, type Start} from './process.ts';

/** @returns the exit code. @throws UsageError without a prompt, and for settings or names that are wrong */
export async function runPrint(start: Start, parsed: Arguments, pipes: Pipes): Promise<number> {
  const prompt = await readPrompt(parsed.prompt);
  if (prompt === '') {
    throw new UsageError('no prompt, and no terminal for a REPL: type mini-cc -p "your question", or pipe it in');
  }
  let session: Session | undefined;
  let leaving: string | undefined;
  let closed: Promise<void> | undefined;
  const leave = async (why: string) => {
    leaving ??= why;
    closed ??= session?.close();
    await closed;
  };
  onSignals(() => leave('stopped'));
  // Once the work is done, this changes nothing: the exit code is that of the work.
  pipes.onClosed = () => void leave('stopped: standard output was closed before the work was done');
  // Loaded when there is something to answer: everything else is in these two.
  const [{compose}, {print}] = await Promise.all([import('../compose/session.ts'), import('../drivers/print.ts')]);
  session = await compose({...parsed.session, env: process.env, home: start.home, interactive: false});
  try {
    return await print(session, {
      prompt,
      format: parsed.format,
      verbose: parsed.verbose,
      stdout: createWriter(process.stdout),
      stderr: (line) => void process.stderr.write(`${line}\n`),
      getLeaving: () => leaving,
      ...(process.stderr.isTTY ? {liveTerminal: process.stderr} : {}),
    });
  } finally {
    await (closed ?? session.close());
  }
}

/**
 * A pipe into which nothing is written must not stop a prompt that is there already. A command before us in a pipeline
 * may take its time for the first byte; a program that started us and left the pipe open has written already, or never will.
 */
const FIRST_BYTE_MS = {pipeline: 3_000, other: 300};

/** The prompt of the command line, what is piped in, or both. */
async function readPrompt(typed: string): Promise<string> {
  const piped = process.stdin.isTTY || !isReadable() ? '' : await readStandardInput(typed.trim() !== '');
  return [typed.trim(), piped.trim()].filter((part) => part !== '').join('\n\n');
}

function isReadable(): boolean {
  try {
    const stat = fstatSync(0);
    return stat.isFile() || stat.isFIFO() || stat.isSocket();
  } catch (error) {
    // Standard input was closed before we started.
    if (error instanceof Error && 'code' in error && error.code === 'EBADF') return false;
    throw error;
  }
}

/** @param isOptional go on without it when its first byte does not come in time */
async function readStandardInput(isOptional: boolean): Promise<string> {
  const chunks: Buffer[] = [];
  let timer: NodeJS.Timeout | undefined;
  const ended = (async () => {
    for await (const chunk of process.stdin) {
      clearTimeout(timer);
      chunks.push(chunk as Buffer);
    }
    return true;
  })();
  const waitMs = isOptional && !isPipeline() ? FIRST_BYTE_MS.other : FIRST_BYTE_MS.pipeline;
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
 * Whether a command beside us may write into our standard input: a process that has it open and did not start us. Known
 * on Linux; elsewhere it may always be so.
 */
function isPipeline(): boolean {
  if (process.platform !== 'linux') return true;
  const table = listProcesses();
  const parents = new Map(table.map(({pid, parent}) => [pid, parent]));
  const ancestors = new Set<number>();
  for (let pid: number | undefined = process.pid; pid !== undefined; pid = parents.get(pid)) ancestors.add(pid);
  const pipe = readlinkSync('/proc/self/fd/0');
  return table.some(({pid}) => !ancestors.has(pid) && hasOpen(pid, pipe));
}

/** False for another user's process, and for one that has ended. */
function hasOpen(pid: number, name: string): boolean {
  const read = <T>(look: () => T): T | undefined => {
    try {
      return look();
    } catch {
      return undefined;
    }
  };
  const folder = `/proc/${pid}/fd`;
  return (read(() => readdirSync(folder)) ?? []).some((fd) => read(() => readlinkSync(`${folder}/${fd}`)) === name);
}
