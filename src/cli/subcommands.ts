/** `mini-cc agents …`, `mini-cc sessions …` and `mini-cc doctor`: no session, no REPL. */
import type {SessionOptions} from '../compose/options.ts';
import type {Arguments, Subcommand} from './arguments.ts';
import {environmentRedactor} from './environment-redactor.ts';
import {shownOn} from './shown-on.ts';
import type {Start} from './start.ts';

/** @returns the exit code. @throws UsageError for bad usage */
export async function runSubcommand(start: Start, parsed: Arguments, subcommand: Subcommand): Promise<number> {
  const options = {...parsed.session, env: process.env, home: start.home, interactive: false};
  const [verb = '', ...words] = subcommand.words;
  const args = {...subcommand, verb, words};
  const {exitCode, stdout, stderr} = await outcomeOf(options, args);
  const redactor = environmentRedactor(process.env);
  shownOn(process.stdout)(redactor.text(stdout));
  shownOn(process.stderr)(redactor.text(stderr));
  return exitCode;
}

async function outcomeOf(options: SessionOptions, args: Subcommand & {readonly verb: string}) {
  if (args.name === 'sessions') {
    const {sessionsCommandLine} = await import('../compose/sessions.ts');
    return sessionsCommandLine(options, args);
  }
  if (args.name === 'doctor') {
    const {doctorCommandLine} = await import('../compose/doctor.ts');
    return doctorCommandLine(options, args);
  }
  const {agentsCommandLine} = await import('../compose/agents.ts');
  return agentsCommandLine(options, args, (line) =>
    shownOn(process.stderr)(`${environmentRedactor(process.env).text(line)}\n`),
  );
}
