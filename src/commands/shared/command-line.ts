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

/** Returns the outcome as JSON for scripts. */
export function printJson(value: unknown): CommandLineOutcome {
  return {exitCode: 0, stdout: `${formatJson(value)}\n`, stderr: ''};
}

/** Returns the outcome as text for people. */
export function printText(text: string): CommandLineOutcome {
  const shown = showControls(text);
  return {exitCode: 0, stdout: shown === '' || shown.endsWith('\n') ? shown : `${shown}\n`, stderr: ''};
}
