/** Whether a file may be read or written. */
import path from 'node:path';
import type {Verdict} from '../../contract/permission.ts';
import {isInside} from '../../util/paths.ts';
import type {PermissionContext} from '../context.ts';
import {EDITS, readGrant, WORKTREE_EDITS, writeGrant} from '../grants.ts';
import {exactly, ruleWords} from '../rules/rule-book.ts';
import {ALLOWED, deny} from '../verdict.ts';
import {isAlwaysAsked, placeOf, rootsOf} from './file-zone.ts';
import {homePath, resolveLinks} from './paths.ts';

/** @param given as the call has it: absolute, relative to the agent's directory, or with `~`. */
export function judgeRead(given: string, context: PermissionContext): Verdict {
  const {workspace, rules, tool, neverAsks, mode, isGranted} = context;
  const target = resolveLinks(given, workspace.cwd);
  const targets = [path.resolve(workspace.cwd, homePath(given)), target];
  const denied = rules.aboutFile(tool, 'deny', targets, workspace.root);
  if (denied) return deny(`${ruleWords(denied)} refuses to read ${target}`);
  // Nothing is there, and much is tested with it.
  if (target === '/dev/null') return ALLOWED;
  const place = placeOf(target, workspace, context.places);
  if (place === 'own') return ALLOWED;
  const isSecret = place === 'secret';
  if (isSecret && neverAsks) return deny(`${target} is where keys are kept`);
  const asked = rules.aboutFile(tool, 'ask', targets, workspace.root);
  if (asked && neverAsks) return deny(`${ruleWords(asked)} asks, and a read-only agent does not ask`);
  const isOutside = place === 'outside';
  if (isOutside && neverAsks) {
    return deny(`${target} is outside the workspace, and a read-only agent does not ask`);
  }
  if (mode === 'bypassPermissions') return ALLOWED;
  if (asked) return {verdict: 'ask', because: `reads ${target}: ${ruleWords(asked)}`, onlyOnce: true};
  if (!isSecret && !isOutside) return ALLOWED;
  if (isGranted(readGrant(given, workspace, context.places))) return ALLOWED;
  if (isSecret) return {verdict: 'ask', because: `reads where keys are kept: ${target}`, onlyPerson: true};
  if (rules.aboutFile(tool, 'allow', [target], workspace.root)) return ALLOWED;
  return {verdict: 'ask', because: `reads outside the workspace: ${target}`, rule: readRuleFor(target)};
}

/**
 * What of folders that may be searched is left out: files that a rule refuses or asks about, and keys.
 * @param searched as the call has them
 * @returns undefined where nothing is left out
 */
export function readFilter(
  context: PermissionContext,
  searched: readonly string[],
): ((file: string) => boolean) | undefined {
  const {workspace, rules, tool, mode, places} = context;
  const folders = searched.map((given) => resolveLinks(given, workspace.cwd));
  const hasKeys = places.secretPlaces.some((place) => isInside(place, [...rootsOf(workspace), ...folders]));
  if (!hasKeys && !rules.refusesReading(tool)) return undefined;
  const kinds = mode === 'bypassPermissions' ? (['deny'] as const) : (['deny', 'ask'] as const);
  const isSecret = (target: string) => placeOf(target, workspace, places) === 'secret';
  // Whoever may search where keys are kept was asked for just that.
  const permitted = folders.filter(isSecret);
  return (file) => {
    const target = resolveLinks(file, workspace.cwd);
    if (mode !== 'bypassPermissions' && isSecret(target) && !isInside(target, permitted)) return false;
    return !kinds.some((kind) => rules.aboutFile(tool, kind, [file, target], workspace.root));
  };
}

export function judgeWrite(given: string, context: PermissionContext): Verdict {
  const {workspace, confinement, rules, tool, mode, isGranted} = context;
  const target = resolveLinks(given, workspace.cwd);
  const targets = [path.resolve(workspace.cwd, homePath(given)), target];
  // Also where a command writes it, whose tool is another.
  const denied = rules.aboutFile(tool, 'deny', targets, workspace.root) ?? rules.about(tool, 'deny')[0];
  if (denied) return deny(`${ruleWords(denied)} refuses to write ${target}`);
  if (context.neverAsks) return deny('this agent is read-only');
  if (confinement === 'read-only') return deny('plan mode changes nothing');
  if (confinement === 'worktree' && !isInside(target, rootsOf(workspace))) {
    return deny('it writes outside of its worktree');
  }
  if (mode === 'bypassPermissions') return ALLOWED;
  const grant = writeGrant(given, workspace, context.places);
  const asked = rules.aboutFile(tool, 'ask', targets, workspace.root) ?? rules.about(tool, 'ask')[0];
  if (asked) return {verdict: 'ask', because: `writes ${target}: ${ruleWords(asked)}`, onlyOnce: true};
  if (isGranted(grant)) return ALLOWED;
  if (isAlwaysAsked(target, workspace, context.places))
    return {verdict: 'ask', because: `writes a protected file: ${target}`, onlyPerson: true};
  const allowed = rules.aboutFile(tool, 'allow', [target], workspace.root);
  if (grant !== EDITS && grant !== WORKTREE_EDITS) {
    return allowed ? ALLOWED : {verdict: 'ask', because: `writes outside the workspace: ${target}`};
  }
  if (mode === 'acceptEdits' || allowed || rules.about(tool, 'allow').length > 0) return ALLOWED;
  const shown = path.relative(workspace.root, target);
  return {
    verdict: 'ask',
    because: `writes ${shown.startsWith('..') ? target : shown}`,
    ...ruleForEdits(target, workspace.root),
  };
}

/** The folder of the file; of one at the top of the workspace, that file alone. */
function ruleForEdits(target: string, root: string): {rule?: string} {
  const relative = path.relative(root, target);
  if (relative.startsWith('..')) return {};
  const folder = path.dirname(relative);
  return {rule: folder === '.' ? `edit_file(/${exactly(relative)})` : `edit_file(/${exactly(folder)}/**)`};
}

function readRuleFor(target: string): string {
  return `read_file(/${exactly(target)})`;
}
