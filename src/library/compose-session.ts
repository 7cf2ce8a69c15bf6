/** Composes the session behind the library, with the configuration of a program instead of a command line. */
import type {SessionOptions} from '../compose/options.ts';
import {composeParts} from '../compose/session.ts';
import {type AgentEvent, PERMISSION_MODES, type PermissionMode} from '../core/contract/events.ts';
import type {SessionParts} from '../core/session/parts.ts';
import {UsageError} from '../core/util/errors.ts';
import {getMiniCcHome} from '../core/util/home-folder.ts';
import {withoutUndefined} from '../core/util/objects.ts';
import type {RunEvent, SessionConfig} from './public.d.ts';

/** Variables that decide which server answers. They are removed, because the configuration decides this here. */
const SERVER_VARIABLES = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL'];

/** Types of the events that programs see. The others concern the screen and the main agent's conversation. */
const RUN_EVENTS: Readonly<Record<RunEvent['type'], true>> = {
  run_start: true,
  run_active: true,
  run_state: true,
  text_delta: true,
  thinking_delta: true,
  message: true,
  tool_start: true,
  tool_progress: true,
  tool_end: true,
  notice: true,
  retry: true,
  run_end: true,
};

/** @throws UsageError when the configuration or the settings are wrong. */
export async function composeSession(config: SessionConfig, more: Partial<SessionOptions>): Promise<SessionParts> {
  return composeParts({...toSessionOptions(config), ...more});
}

export function toSessionOptions(config: SessionConfig): SessionOptions {
  const {apiKey, baseURL, debug = false, cwd = process.cwd(), home, permissionMode} = config;
  const environment = Object.entries(process.env).filter(([name]) => !SERVER_VARIABLES.includes(name));
  return {
    cwd,
    debug,
    interactive: false,
    isLibrary: true,
    which: {type: 'new'},
    env: {
      ...Object.fromEntries(environment),
      ...(apiKey && {ANTHROPIC_API_KEY: apiKey}),
      ...(baseURL && {ANTHROPIC_BASE_URL: baseURL}),
    },
    home: home ?? getMiniCcHome(),
    // A timer would keep a program alive that does not close its session.
    archiveAfterMinutes: 0,
    ...withoutUndefined({permissionMode}),
  };
}

export function isRunEvent(event: AgentEvent): event is Extract<AgentEvent, {type: RunEvent['type']}> {
  return Object.hasOwn(RUN_EVENTS, event.type);
}

/** @throws UsageError when a path is empty, because it would mean the working directory. */
export function checkFolders({home, cwd}: Pick<SessionConfig, 'home' | 'cwd'>): void {
  if (home?.trim() === '') throw new UsageError('session directory cannot be empty: home is the folder for sessions');
  if (cwd?.trim() === '') throw new UsageError('cwd cannot be empty');
}

/** @throws UsageError when it is not a number of milliseconds from 0 on. */
export function checkTimeout(timeout: number | undefined): void {
  if (timeout !== undefined && !(Number.isFinite(timeout) && timeout >= 0)) {
    throw new UsageError(`timeout must be a number of milliseconds, or 0 for none, not ${String(timeout)}`);
  }
}

/** @param timeout milliseconds */
export function toSeconds(timeout: number | undefined): number | undefined {
  return timeout === undefined ? undefined : timeout / 1000;
}

/** @throws UsageError when the number is not whole or below 1. */
export function checkCount(name: string, count: number | undefined): void {
  if (count !== undefined && !(Number.isSafeInteger(count) && count >= 1)) {
    throw new UsageError(`${name} must be a whole number from 1 on, not ${String(count)}`);
  }
}

/** @throws UsageError when the word is not a permission mode. */
export function checkMode(mode: PermissionMode | undefined): void {
  if (mode !== undefined && !PERMISSION_MODES.includes(mode)) {
    throw new UsageError(`permissionMode must be ${PERMISSION_MODES.join(', ')}, not ${String(mode)}`);
  }
}
