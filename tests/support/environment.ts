/** The environment of a program under test: a user's, without variables of the test runner, CI, or real keys. */
import {mkdir, mkdtemp, realpath, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';

/** Variables that are removed: Ink is not interactive in CI, and colours and keys must not depend on who runs the tests. */
const NOT_OF_A_USER =
  /^(?:CI|CI_.*|CONTINUOUS_INTEGRATION|GITHUB_.*|VITEST.*|TEST|NODE_ENV|NODE_OPTIONS|NODE_V8_COVERAGE|NO_COLOR|FORCE_COLOR|COLORTERM|TERM_PROGRAM.*|TMUX.*|STY|INIT_CWD|npm_.*|ANTHROPIC_.*|MINI_CC_.*|OTEL_.*|INK_.*)$/;

/** Code that Node has compiled, shared by all programs under test: each has a new home, where mini-cc would keep its own. */
const COMPILED = path.resolve(import.meta.dirname, '../../node_modules/.cache/mini-cc-compiled');

export type Environment = Readonly<Record<string, string | undefined>>;

export function createUserEnvironment(): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !NOT_OF_A_USER.test(name)) kept[name] = value;
  }
  // npm would tell of its newest version, where a network brings it in time.
  const npm = {npm_config_update_notifier: 'false'};
  return {...kept, ...npm, TERM: 'xterm-256color', LANG: 'C.UTF-8', NODE_COMPILE_CACHE: COMPILED};
}

/** An empty home folder: the user's own settings are neither read nor changed. */
export interface Home {
  readonly path: string;
  /** `HOME` and `MINI_CC_HOME`. */
  readonly env: Readonly<Record<string, string>>;
  readonly remove: () => Promise<void>;
}

export async function createHome(): Promise<Home> {
  const home = await realpath(await mkdtemp(path.join(tmpdir(), 'mini-cc-home-')));
  const settings = path.join(home, '.mini-cc');
  await mkdir(settings);
  return {
    path: home,
    env: {HOME: home, MINI_CC_HOME: settings},
    // A program that is ending may still write a line there.
    remove: () => rm(home, {recursive: true, force: true, maxRetries: 3}),
  };
}
