/** What `mini-cc agents …` and `mini-cc sessions …` share: words in, an exit code and text out. */

export interface SubcommandArguments {
  readonly verb: string;
  readonly words: readonly string[];
  readonly json: boolean;
  /** `--yes`: questions are answered. */
  readonly sure: boolean;
  readonly template?: string;
}

export interface CommandLineOutcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** An answer for scripts. */
export function printed(value: unknown): CommandLineOutcome {
  return {exitCode: 0, stdout: `${JSON.stringify(value, null, 2)}\n`, stderr: ''};
}

/** An answer for people. */
export function told(text: string): CommandLineOutcome {
  return {exitCode: 0, stdout: text === '' || text.endsWith('\n') ? text : `${text}\n`, stderr: ''};
}
