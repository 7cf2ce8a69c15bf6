/** `mini-cc agents …` and the like: no session, no REPL. */
import {agentsCommandLine} from '../compose/agents.ts';
import type {Arguments, Subcommand} from './arguments.ts';
import type {Start} from './start.ts';

/** @returns the exit code. @throws UsageError for bad usage */
export async function runSubcommand(start: Start, parsed: Arguments, subcommand: Subcommand): Promise<number> {
  const options = {...parsed.session, env: process.env, home: start.home, interactive: false};
  const [verb = '', ...words] = subcommand.words;
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const {exitCode, stdout, stderr} = await agentsCommandLine(options, {...subcommand, verb, words}, say);
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  return exitCode;
}
