/**
 * Runs the subcommands that print something and end, e.g. `agents`, `sessions`, `doctor`, `config`, `mcp` and
 * `workers`. They need no session and no REPL.
 */
import type {SessionOptions} from '../compose/options.ts';
import {UsageError} from '../core/util/errors.ts';
import type {Arguments, Subcommand} from './arguments.ts';
import type {SubcommandName} from './flags.ts';
import {createEnvironmentRedactor, createWriter, onSignals} from './process.ts';
import type {Start} from './start.ts';

/** A subcommand that prints something and ends. */
type Reporting = Subcommand & {readonly name: Exclude<SubcommandName, 'acp'>};

/** @returns the exit code @throws UsageError for bad usage */
export async function runSubcommand(start: Start, parsed: Arguments, subcommand: Reporting): Promise<number> {
  const options = {...parsed.session, env: process.env, home: start.home, interactive: false};
  const redactor = createEnvironmentRedactor(process.env);
  const write = (stream: NodeJS.WriteStream, text: string) => createWriter(stream)(redactor.text(text));
  const writeLine = (stream: NodeJS.WriteStream) => (line: string) => write(stream, `${line}\n`);
  const say = writeLine(subcommand.name === 'runs' ? process.stdout : process.stderr);
  const {exitCode, stdout, stderr} = await getOutcome(options, subcommand, say);
  write(process.stdout, stdout);
  write(process.stderr, stderr);
  return exitCode;
}

async function getOutcome(options: SessionOptions, subcommand: Reporting, say: (line: string) => void) {
  const [verb = '', ...words] = subcommand.words;
  const args = {...subcommand, verb, words};
  switch (subcommand.name) {
    case 'agents':
      if (verb === 'test')
        return (await import('../compose/evals-command-line.ts')).testCommandLine(options, args, 'agents', say);
      return (await import('../compose/agents.ts')).agentsCommandLine(options, args, say);
    case 'skills':
      if (verb !== 'test') throw new UsageError('skills: say what to do: mini-cc skills test [NAME…]');
      return (await import('../compose/evals-command-line.ts')).testCommandLine(options, args, 'skills', say);
    case 'sessions':
      return (await import('../compose/sessions.ts')).sessionsCommandLine(options, args);
    case 'doctor':
      return (await import('../compose/doctor.ts')).doctorCommandLine(options, args);
    case 'worker':
      return (await import('../compose/workers/command-line.ts')).workerCommandLine(options, args, say);
    case 'workers':
      return (await import('../compose/workers/command-line.ts')).workersCommandLine(options, args);
    case 'config':
      return (await import('../compose/commands.ts')).configCommandLine(options, args);
    case 'mcp':
      return (await import('../compose/mcp-command-line.ts')).mcpCommandLine(
        options,
        {...args, ...subcommand.server},
        say,
      );
    case 'plugin':
      return (await import('../compose/plugin-command-line.ts')).pluginCommandLine(options, args, say);
    case 'runs': {
      const {runRunsCommandLine} = await import('../commands/runs/command-line.ts');
      return runRunsCommandLine(options.home, {...args, ...subcommand.runs}, say);
    }
    case 'review':
      return review(options, subcommand.review!, say);
    case 'completion':
      return (await import('./completion.ts')).completionCommandLine(args);
  }
}

/** A second signal does not wait for the end of the runs. */
async function review(options: SessionOptions, args: NonNullable<Subcommand['review']>, say: (line: string) => void) {
  const [{reviewCommandLine}, {askInTerminal}, {readStandardInput}] = await Promise.all([
    import('../compose/review.ts'),
    import('../commands/shared/command-line.ts'),
    import('./print-mode.ts'),
  ]);
  const input = args.words.includes('-') ? await readStandardInput(false) : undefined;
  let close: (() => Promise<void>) | undefined;
  onSignals(async () => close?.());
  const ask = (question: string) => askInTerminal(`${question} [y/N] `);
  return reviewCommandLine(options, {...args, input, say, ask}, (closeSession) => {
    close = closeSession;
  });
}
