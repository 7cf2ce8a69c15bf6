import {compose} from '../compose.ts';
import type {Session} from '../core/session.ts';
import {print} from '../print/print.ts';
import type {Arguments} from './arguments.ts';
import {shownOn} from './shown-on.ts';
import {onSignals} from './signals.ts';
import type {Start} from './start.ts';

/** @returns the exit code. */
export async function runPrint(start: Start, parsed: Arguments, prompt: string): Promise<number> {
  let session: Session | undefined;
  let isLeaving = false;
  onSignals(async () => {
    isLeaving = true;
    await session?.close();
  });
  session = await compose({...parsed.session, env: process.env, home: start.home, interactive: false});
  try {
    return await print(session, {
      prompt,
      format: parsed.format,
      verbose: parsed.verbose,
      stdout: shownOn(process.stdout),
      stderr: (line) => void process.stderr.write(`${line}\n`),
      isLeaving: () => isLeaving,
      ...(process.stderr.isTTY ? {liveTerminal: process.stderr} : {}),
    });
  } finally {
    await session.close();
  }
}
