/** The prompt of print mode: the command line's, what is piped in, or both. */
import {fstatSync} from 'node:fs';

/** A pipe that nobody writes to must not hold us for ever when there is a prompt already. Milliseconds. */
const FIRST_BYTE_MS = 3_000;

export async function readPrompt(typed: string): Promise<string> {
  const piped = process.stdin.isTTY || !isReadable() ? '' : await readAll(typed.trim() !== '');
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

async function readAll(mayGoWithout: boolean): Promise<string> {
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
    if (mayGoWithout) timer = setTimeout(() => resolve(false), FIRST_BYTE_MS);
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
