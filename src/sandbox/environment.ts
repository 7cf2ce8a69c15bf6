/** The environment of confined commands: without keys and without the addresses of agents, displays and buses. */
import {isSecretVariable} from '../core/secrets/known-secrets.ts';

type Environment = Readonly<Record<string, string>>;

/** They name programs outside that act for the user. Confined commands cannot reach their sockets, so the names are useless there. */
const AGENT_VARIABLES =
  /^(?:SSH_AUTH_SOCK|SSH_AGENT_PID|GPG_AGENT_INFO|DBUS_\w+|XAUTHORITY|DISPLAY|WAYLAND_DISPLAY|TMUX\w*|STY)$/;

/** For a command in the sandbox: without keys, and without ways to the user's other programs. */
export function confinedEnvironment(env: Environment): Record<string, string> {
  const isKept = ([name, value]: [string, string]) => !AGENT_VARIABLES.test(name) && !isSecretVariable(name, value);
  const entries = Object.entries(env);
  // Git counts on each that is counted: where one is missing, it does nothing at all.
  const isGitWhole = entries.filter(([name]) => name.startsWith('GIT_CONFIG_')).every(isKept);
  return Object.fromEntries(
    entries.filter((entry) => isKept(entry) && (isGitWhole || entry[0] !== 'GIT_CONFIG_COUNT')),
  );
}
