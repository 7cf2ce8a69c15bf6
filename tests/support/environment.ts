/** The environment that a program under test sees: a person's, with nothing of the test runner, CI, or real keys. */
import {mkdir, mkdtemp, realpath, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';

/** Ink turns non-interactive in CI; colours and keys must not depend on who runs the tests. */
const NOT_OF_A_PERSON =
  /^(?:CI|CI_.*|CONTINUOUS_INTEGRATION|GITHUB_.*|VITEST.*|TEST|NODE_ENV|NODE_OPTIONS|NODE_V8_COVERAGE|NO_COLOR|FORCE_COLOR|COLORTERM|TERM_PROGRAM.*|TMUX.*|STY|INIT_CWD|npm_.*|ANTHROPIC_.*|MINI_CC_.*|OTEL_.*|INK_.*)$/;

export type Environment = Readonly<Record<string, string | undefined>>;

export function environmentOfAPerson(): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !NOT_OF_A_PERSON.test(name)) kept[name] = value;
  }
  return {...kept, TERM: 'xterm-256color', LANG: 'C.UTF-8'};
}

/** An empty home; nothing of the user's settings is seen or touched. */
export interface Home {
  readonly path: string;
  /** `HOME` and `MINI_CC_HOME`. */
  readonly env: Readonly<Record<string, string>>;
  readonly remove: () => Promise<void>;
}

export async function makeHome(): Promise<Home> {
  const home = await realpath(await mkdtemp(path.join(tmpdir(), 'mini-cc-home-')));
  const ours = path.join(home, '.mini-cc');
  await mkdir(ours);
  return {
    path: home,
    env: {HOME: home, MINI_CC_HOME: ours},
    // A program that is being ended may still write a last line there.
    remove: () => rm(home, {recursive: true, force: true, maxRetries: 3}),
  };
}
