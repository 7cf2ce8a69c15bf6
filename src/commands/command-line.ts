/** What `mini-cc agents …`, `mini-cc sessions …` and the like share: words in, an exit code and text out. */

export interface SubcommandArguments {
  readonly verb: string;
  readonly words: readonly string[];
  readonly json: boolean;
  /** `--yes`: the answer to all questions. */
  readonly sure: boolean;
  readonly template?: string;
}

export interface CommandLineOutcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** For scripts. */
export function printJson(value: unknown): CommandLineOutcome {
  return {exitCode: 0, stdout: `${JSON.stringify(value, null, 2)}\n`, stderr: ''};
}

/** For people. */
export function printText(text: string): CommandLineOutcome {
  return {exitCode: 0, stdout: text === '' || text.endsWith('\n') ? text : `${text}\n`, stderr: ''};
}
