/** Defines what the subcommands share, e.g. `mini-cc agents …`: words go in, an exit code and text come out. */
import {UsageError} from '../../core/util/errors.ts';
import {formatMeant} from '../../core/util/names.ts';
import {formatFileName} from '../../core/util/paths.ts';
import {formatJson, showControls} from '../../core/util/text.ts';

export interface SubcommandArguments {
  readonly verb: string;
  readonly words: readonly string[];
  readonly json: boolean;
  /** True with `--yes`, which answers all questions with yes. */
  readonly sure: boolean;
  readonly template?: string;
}

export interface CommandLineOutcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Creates the error for a word that a command does not have.
 * @param command e.g. `mini-cc agents`
 * @param forms all forms of the command, each beginning with its word
 */
export function createUnknownVerb(command: string, verb: string, forms: string): UsageError {
  const verbs = forms.split(', ').map((form) => form.split(' ')[0]!);
  return new UsageError(
    `there is no command ${command} ${formatFileName(verb)}${formatMeant(verb, verbs)}. There is ${forms}`,
  );
}

/**
 * Asks a person for a yes.
 * @param stopping is aborted by Ctrl+C at the question
 * @returns undefined where no person can be asked
 */
export async function askInTerminal(question: string, stopping?: AbortController): Promise<boolean | undefined> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const {createInterface} = await import('node:readline/promises');
  const terminal = createInterface({input: process.stdin, output: process.stderr});
  if (stopping) terminal.once('SIGINT', () => stopping.abort());
  try {
    const answer = await (stopping
      ? terminal.question(question, {signal: stopping.signal})
      : terminal.question(question));
    return /^(?:1|y|yes)$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}

/** Returns the outcome as JSON for scripts. */
export function printJson(value: unknown): CommandLineOutcome {
  return {exitCode: 0, stdout: `${formatJson(value)}\n`, stderr: ''};
}

/** Returns the outcome as text for people. */
export function printText(text: string): CommandLineOutcome {
  const shown = showControls(text);
  return {exitCode: 0, stdout: shown === '' || shown.endsWith('\n') ? shown : `${shown}\n`, stderr: ''};
}
