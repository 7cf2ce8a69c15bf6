/** Reads from the value of --settings what Claude Code's settings say under other names than those of mini-cc. */
import type {ForeignWord, PermissionMode} from '../core/contract/events.ts';
import {ANY_MODES, readMode} from '../core/permissions/foreign-modes.ts';
import {isObject} from '../core/util/objects.ts';

export interface ForeignSettings {
  /** `permissions.defaultMode`, except for the mode that needs a flag of its own. */
  readonly mode?: PermissionMode;
  /** Replaces a weaker mode of the sandbox, which the permission mode asks for. */
  readonly sandboxMode?: 'auto';
  /** `permissions.additionalDirectories` as they are written. */
  readonly directories: readonly string[];
  readonly foreignWords: readonly ForeignWord[];
}

/** Takes these keys out of the values, and sets those that mini-cc has under another name. */
export function takeForeignSettings(values: unknown): ForeignSettings {
  if (!isObject(values)) return {directories: [], foreignWords: []};
  // A null value leaves the key unset.
  for (const key of Object.keys(values)) if (values[key] === null) delete values[key];
  const {sandbox, permissions} = values;
  if (isObject(sandbox) && 'enabled' in sandbox) {
    const {enabled, failIfUnavailable, ...rest} = sandbox;
    const mode = failIfUnavailable === true ? 'required' : 'auto';
    Object.assign(values, {sandbox: {...rest, ...(enabled === true && {mode})}});
  }
  if (!isObject(permissions)) return {directories: [], foreignWords: []};
  const {defaultMode, additionalDirectories, ...rules} = permissions;
  const {mode, sandboxMode, foreignWords = []} = readMode(ANY_MODES.find((each) => each === defaultMode));
  const isKnown = mode !== undefined && mode !== 'bypassPermissions';
  const areFolders = isTexts(additionalDirectories);
  Object.assign(values, {
    permissions: {
      ...rules,
      ...(!isKnown && defaultMode !== undefined && {defaultMode}),
      ...(!areFolders && additionalDirectories !== undefined && {additionalDirectories}),
    },
  });
  return {
    ...(isKnown && {mode}),
    ...(sandboxMode && {sandboxMode}),
    directories: areFolders ? additionalDirectories : [],
    foreignWords,
  };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
