/** Picks the front end, holds the signals, and turns how it ended into an exit code. */

import {showControls} from '../core/util/control-characters.ts';
import {messageOf, UsageError} from '../core/util/errors.ts';
import type {Arguments} from './arguments.ts';
import {currentFolder} from './current-folder.ts';
import {debugVariable} from './debug-variable.ts';
import {environmentRedactor} from './environment-redactor.ts';
import {shownOn} from './shown-on.ts';
import type {Start} from './start.ts';

/** Sets the exit code; prints one line for whatever went wrong. */
export async function main(start: Start): Promise<void> {
  ignoreClosedPipes();
  const debug = start.args.includes('--debug') || debugVariable(process.env);
  const fail = (error: unknown) => {
    const words = error instanceof UsageError ? error.message : `internal error: ${messageOf(error)}`;
    const stack = debug && error instanceof Error ? `${error.stack}\n` : '';
    process.stderr.write(showControls(environmentRedactor(process.env).text(`mini-cc: ${words}\n${stack}`)));
    return error instanceof UsageError ? 2 : 1;
  };
  process.on('uncaughtException', (error) => process.exit(fail(error)));
  try {
    process.exitCode = await run(start);
  } catch (error) {
    process.exitCode = fail(error);
  }
}

async function run(start: Start): Promise<number> {
  const terminal = Boolean(process.stdin.isTTY && process.stdout.isTTY);
  // A bare start is the common one: nothing to parse, so nothing to load for it.
  if (start.args.length === 0 && terminal) return repl(start, undefined);
  if (start.args[0] === 'config') {
    const {runConfigCommand} = await import('./config-command.ts');
    return runConfigCommand(start.args.slice(1), {
      home: start.home,
      cwd: currentFolder(),
      env: process.env,
      stdout: shownOn(process.stdout),
      stderr: (line) => shownOn(process.stderr)(environmentRedactor(process.env).text(`${line}\n`)),
    });
  }
  const {parseArguments} = await import('./arguments.ts');
  const parsed = parseArguments(start.args, process.env);
  if (parsed.subcommand) {
    const {runSubcommand} = await import('./subcommands.ts');
    return runSubcommand(start, parsed, parsed.subcommand);
  }
  if (!parsed.print && terminal) return repl(start, parsed);
  const {readPrompt} = await import('./standard-input.ts');
  const prompt = await readPrompt(parsed.prompt);
  if (prompt === '') {
    throw new UsageError('no prompt, and no terminal for a REPL: type mini-cc -p "your question", or pipe it in');
  }
  const {runPrint} = await import('./print-mode.ts');
  return runPrint(start, parsed, prompt);
}

async function repl(start: Start, parsed: Arguments | undefined): Promise<number> {
  const {runRepl} = await import('./repl.ts');
  return runRepl(start, parsed);
}

/** Whoever reads our output may leave early (`| head -1`): then we are done, without a word. */
function ignoreClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(0);
      // The terminal is gone; the signal that says so ends us.
      if (error.code === 'EIO') return;
      throw error;
    });
  }
}
