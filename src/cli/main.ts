/** Picks the front end, and turns how it ended into an exit code. */

import {getErrorMessage, MiniCcError, UsageError} from '../core/util/errors.ts';
import {showControls} from '../core/util/text.ts';
import type {Arguments} from './arguments.ts';
import {createEnvironmentRedactor, type Pipes, watchPipes} from './process.ts';
import {getCurrentFolder, isDebugSet, type Start} from './start.ts';

/** Sets the exit code; prints one line for any error. */
export async function main(start: Start): Promise<void> {
  const pipes = watchPipes();
  const debug = start.args.includes('--debug') || isDebugSet(process.env);
  // Node's warnings speak to developers, and would stand in the middle of the screen.
  if (!debug) process.removeAllListeners('warning');
  const fail = (error: unknown) => {
    start.firstPaint?.remove();
    // What mini-cc or the system says itself needs no other words; all else is a fault of mini-cc.
    const isNamed = error instanceof MiniCcError || (error instanceof Error && 'syscall' in error);
    const text = isNamed ? getErrorMessage(error) : `internal error: ${getErrorMessage(error)}`;
    const stack = debug && error instanceof Error ? `${error.stack}\n` : '';
    process.stderr.write(showControls(createEnvironmentRedactor(process.env).text(`mini-cc: ${text}\n${stack}`)));
    return error instanceof UsageError ? 2 : 1;
  };
  process.on('uncaughtException', (error) => {
    // The screen gives the terminal back at the exit, and what was printed into it before would be gone.
    process.once('exit', () => fail(error));
    process.exit(1);
  });
  try {
    process.exitCode = await run(start, pipes);
  } catch (error) {
    process.exitCode = fail(error);
  }
}

async function run(start: Start, pipes: Pipes): Promise<number> {
  const isTerminal = () => Boolean(process.stdin.isTTY && process.stdout.isTTY);
  // A bare start is the common one: there is nothing to parse, so meow is not loaded for it.
  if (start.args.length === 0 && isTerminal()) return repl(start, undefined);
  const {parseArguments} = await import('./arguments.ts');
  // Where rules follow a flag, their names tell which of the words are the prompt.
  const hasRules = start.args.some((arg) => /^--(?:dis)?allowed-?tools$/i.test(arg));
  const tools = hasRules ? (await import('../compose/known-tools.ts')).ALL_TOOLS : [];
  const parsed = parseArguments(start.args, process.env, getCurrentFolder, tools);
  const {subcommand} = parsed;
  if (subcommand?.name === 'acp') {
    const {runAcp} = await import('./acp.ts');
    return runAcp(start, parsed, subcommand.words, pipes);
  }
  if (subcommand) {
    const {runSubcommand} = await import('./subcommands.ts');
    return runSubcommand(start, parsed, {...subcommand, name: subcommand.name});
  }
  if (!parsed.print && isTerminal()) return repl(start, parsed);
  const {runPrint, runDriver} = await import('./print-mode.ts');
  if (parsed.driver) return runDriver(start, parsed, parsed.driver.mayBypass, pipes);
  return runPrint(start, parsed, pipes);
}

async function repl(start: Start, parsed: Arguments | undefined): Promise<number> {
  const {runRepl} = await import('./repl.ts');
  return runRepl(start, parsed);
}
