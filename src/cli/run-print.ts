import {type Composed, compose} from '../compose.ts';
import {print} from '../print/print.ts';
import type {Arguments} from './arguments.ts';
import type {Start} from './main.ts';
import {onSignals} from './signals.ts';

/** @returns the exit code. */
export async function runPrint(start: Start, parsed: Arguments, prompt: string): Promise<number> {
  let composed: Composed | undefined;
  onSignals(async () => composed?.session.close());
  composed = await compose({...parsed.session, env: process.env, home: start.home, interactive: false});
  const {session, warnings, offlineByDefault} = composed;
  const stderr = (line: string) => void process.stderr.write(`${line}\n`);
  for (const warning of warnings) stderr(`mini-cc: ${warning}`);
  if (offlineByDefault) {
    stderr('mini-cc: no API key or server is set: the offline model answers. ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL sets one.');
  }
  try {
    return await print(session, {
      prompt,
      format: parsed.format,
      verbose: parsed.verbose,
      stdout: text => void process.stdout.write(text),
      stderr,
      stdoutIsTerminal: Boolean(process.stdout.isTTY),
    });
  } finally {
    await session.close();
  }
}
