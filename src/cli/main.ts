/** Picks the front end, and turns its end into an exit code. */

import {getErrorMessage, MiniCcError, UsageError} from '../core/util/errors.ts';
import {showControls} from '../core/util/text.ts';
import type {Arguments} from './arguments.ts';
import {createEnvironmentRedactor, type Pipes, watchPipes} from './process.ts';
import {getCurrentFolder, isDebugSet, type Start} from './start.ts';

/** Runs the program and sets the exit code. It prints one line for any error. */
export async function main(start: Start): Promise<void> {
  const pipes = watchPipes();
  const debug = start.args.includes('--debug') || isDebugSet(process.env);
  // Node's warnings are for developers, and would appear in the middle of the screen.
  if (!debug) process.removeAllListeners('warning');
  const fail = (error: unknown) => {
    start.firstPaint?.remove();
    // Errors of mini-cc and of the system explain themselves. Any other error is a defect of mini-cc.
    const isNamed = error instanceof MiniCcError || (error instanceof Error && 'syscall' in error);
    const text = isNamed ? getErrorMessage(error) : `internal error: ${getErrorMessage(error)}`;
    const stack = debug && error instanceof Error ? `${error.stack}\n` : '';
    process.stderr.write(showControls(createEnvironmentRedactor(process.env).text(`mini-cc: ${text}\n${stack}`)));
    return error instanceof UsageError ? 2 : 1;
  };
  process.on('uncaughtException', (error) => {
    // The screen restores the terminal at the exit, which erases text that was printed before. So the error is printed
    // later.
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
  // Most starts have no arguments. They need no parser, so meow is not loaded.
  if (start.args.length === 0 && isTerminal()) return repl(start, undefined);
  const {parseArguments} = await import('./arguments.ts');
  // When rules follow a flag, the names of the tools show which words are rules and which are the prompt.
  const hasRules = start.args.some((arg) => /^--(?:dis)?allowed-?tools$/i.test(arg));
  const tools = hasRules ? (await import('../compose/known-tools.ts')).ALL_TOOLS : [];
  const parsed = parseArguments(start.args, process.env, getCurrentFolder, tools);
  const {subcommand} = parsed;
  if (subcommand?.name === 'acp') {
    const {runAcp} = await import('./acp.ts');
    return runAcp(start, parsed, subcommand.words, pipes);
  }
  if (subcommand?.name === 'runs' && subcommand.words[0] === 'open') {
    const {findClosedSession} = await import('../commands/runs/command-line.ts');
    const {session, folder} = findClosedSession(start.home, subcommand.words.slice(1));
    if (!isTerminal())
      throw new UsageError(
        `no terminal for a REPL: type mini-cc --cwd '${folder}' --resume ${session} -p "your question"`,
      );
    return repl(start, parseArguments(['--resume', session, '--cwd', folder], process.env, getCurrentFolder));
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
