/** `mini-cc -p`: reads the prompt, answers it in a session of its own, and ends. */
import {fstatSync} from 'node:fs';
import type {Session} from '../core/contract/session.ts';
import {UsageError} from '../core/util/errors.ts';
import type {Arguments} from './arguments.ts';
import {createWriter, onSignals, type Start} from './process.ts';

/** @returns the exit code. @throws UsageError without a prompt, and for settings or names that are wrong */
export async function runPrint(start: Start, parsed: Arguments): Promise<number> {
  const prompt = await readPrompt(parsed.prompt);
  if (prompt === '') {
    throw new UsageError('no prompt, and no terminal for a REPL: type mini-cc -p "your question", or pipe it in');
  }
  let session: Session | undefined;
  let isLeaving = false;
  onSignals(async () => {
    isLeaving = true;
    await session?.close();
  });
  // Loaded when there is something to answer: everything else is in these two.
  const [{compose}, {print}] = await Promise.all([import('../compose/session.ts'), import('../print/print.ts')]);
  session = await compose({...parsed.session, env: process.env, home: start.home, interactive: false});
  try {
    return await print(session, {
      prompt,
      format: parsed.format,
      verbose: parsed.verbose,
      stdout: createWriter(process.stdout),
      stderr: (line) => void process.stderr.write(`${line}\n`),
      isLeaving: () => isLeaving,
      ...(process.stderr.isTTY ? {liveTerminal: process.stderr} : {}),
    });
  } finally {
    await session.close();
  }
}

/** A pipe into which nothing is written must not stop a prompt that is there already. */
const FIRST_BYTE_MS = 3_000;

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
  const silent = new Promise<false>((resolve) => {
    if (isOptional) timer = setTimeout(() => resolve(false), FIRST_BYTE_MS);
  });
  const complete = await Promise.race([ended, silent]);
  clearTimeout(timer);
  if (!complete) {
    process.stderr.write(
      'mini-cc: nothing came on standard input within 3 s: going on without it (< /dev/null avoids the wait)\n',
    );
    process.stdin.unref();
  }
  return Buffer.concat(chunks).toString('utf8');
}
