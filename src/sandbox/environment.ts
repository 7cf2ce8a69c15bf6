/** The environment of commands that the agent runs under a hold: nothing that opens doors elsewhere. */
import {isAbsolute, resolve} from 'node:path';
import {holdsSecret} from '../core/secret-names.ts';
import {isInside} from './mounts.ts';

type Environment = Readonly<Record<string, string>>;

/** Ways to programs outside that act for the user. Their sockets are closed too; nobody need try. */
const DOORS =
  /^(?:SSH_AUTH_SOCK|SSH_AGENT_PID|GPG_AGENT_INFO|DBUS_\w+|XAUTHORITY|DISPLAY|WAYLAND_DISPLAY|TMUX\w*|STY)$/;

/** For a command in the sandbox: without keys, and without ways to the user's other programs. */
export function heldEnvironment(env: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(([name, value]) => !DOORS.test(name) && !holdsSecret(name, value)),
  );
}

const NEUTRAL = /^(?:HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TERM|COLUMNS|LINES)$/;
/** In force over each repository's own configuration, which could name programs to run. */
const GIT_SETTINGS: Environment = {
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'core.pager': 'cat',
  'safe.bareRepository': 'explicit',
};

/**
 * For a command that runs without a sandbox because it is proven to read: variables can make a program run another
 * (`BASH_ENV`, `LESSOPEN`, `GIT_EXTERNAL_DIFF`), so only those are left that cannot, and programs come from outside of
 * the workspace.
 */
export function neutralEnvironment(env: Environment, roots: readonly string[]): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => NEUTRAL.test(name));
  const search = (env.PATH ?? '')
    .split(':')
    .filter((folder) => isAbsolute(folder) && !roots.some((root) => isInside(resolve(folder), root)));
  const git = Object.entries(GIT_SETTINGS).flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return {
    ...Object.fromEntries([...kept, ...git]),
    PATH: search.join(':'),
    GIT_CONFIG_COUNT: String(Object.keys(GIT_SETTINGS).length),
    GIT_OPTIONAL_LOCKS: '0',
    PAGER: 'cat',
  };
}
