/** Reads the permission modes of Claude Code, of which mini-cc has two under other names. */
import {type ForeignWord, PERMISSION_MODES, type PermissionMode} from '../contract/events.ts';

export const ANY_MODES = [...PERMISSION_MODES, 'auto'] as const;
export type AnyMode = (typeof ANY_MODES)[number];

interface ReadMode {
  readonly mode?: PermissionMode;
  readonly sandboxMode?: 'auto';
  readonly foreignWords?: readonly ForeignWord[];
}

/** Returns what a mode means here. A mode that mini-cc lacks comes with a warning. */
export function readMode(name: AnyMode | undefined): ReadMode {
  if (name === undefined) return {};
  if (name === 'dontAsk') return {mode: name, foreignWords: [warn(name, 'what would be a question is refused')]};
  if (name !== 'auto') return {mode: name};
  const text = 'it is default, with commands confined where there is a sandbox (sandbox: auto)';
  return {mode: 'default', sandboxMode: 'auto', foreignWords: [warn(name, text)]};
}

function warn(name: string, text: string): ForeignWord {
  return {kind: 'mode', name, text: `permission mode ${name}: ${text}`};
}
