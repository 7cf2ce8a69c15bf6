/** Judges whether a call may read or write a file. */
import path from 'node:path';
import type {Verdict, Workspace} from '../../contract/permission.ts';
import {isInside} from '../../util/paths.ts';
import {findTool} from '../../util/tool-names.ts';
import type {PermissionContext} from '../context.ts';
import {EDITS, getReadGrant, getWriteGrant, WORKTREE_EDITS} from '../grants.ts';
import {formatRule} from '../rules/rule.ts';
import {toPathPattern} from '../rules/rule-book.ts';
import {ALLOWED, askByRule, deny, refuseToAsk} from '../verdict.ts';
import {getFileZone, getRoots, isAlwaysAsked, isInNotes} from './file-zone.ts';
import {expandHome, resolvePlace} from './resolve-links.ts';

const ONLY_PERSON = {onlyPerson: true} as const;
const OUTSIDE = {isOutside: true} as const;

/**
 * @param given path of the call: absolute, relative to the agent's directory, or with `~`
 * @param target the place that it leads to; default: it is resolved now
 * @throws as `resolveLinks`
 */
export function judgeRead(
  given: string,
  context: PermissionContext,
  target: string = resolvePlace(given, context.workspace.cwd),
): Verdict {
  const {workspace, rules, tool, neverAsks, mode, isGranted, zonePaths} = context;
  const targets = [path.resolve(workspace.cwd, expandHome(given)), target];
  const denied = rules.findFileRule(tool, 'deny', targets, workspace.root);
  if (denied) return deny(`${formatRule(denied)} refuses to read ${target}`);
  // Many commands name this file, and it is empty.
  if (target === '/dev/null') return ALLOWED;
  const zone = getFileZone(target, workspace, zonePaths);
  if (zone === 'own') return ALLOWED;
  if (zone === 'secret' && neverAsks) return deny(`${target} is where keys are kept`);
  const asked = rules.findFileRule(tool, 'ask', targets, workspace.root);
  if (asked && neverAsks) return refuseToAsk(asked);
  if (zone === 'outside' && neverAsks) {
    return deny(`${target} is outside the workspace, and a read-only agent does not ask`);
  }
  if (mode === 'bypassPermissions') return ALLOWED;
  const place = {...(zone === 'secret' && ONLY_PERSON), ...(zone === 'outside' && OUTSIDE)};
  if (asked) return {...askByRule(asked, `reads ${target}`), ...place};
  if (zone === 'workspace' || zone === 'system') return ALLOWED;
  if (isGranted(getReadGrant(target, workspace, zonePaths))) return ALLOWED;
  if (zone === 'secret') return {verdict: 'ask', because: `reads where keys are kept: ${target}`, ...place};
  if (rules.findFileRule(tool, 'allow', [target], workspace.root)) return ALLOWED;
  return {
    verdict: 'ask',
    because: `reads outside the workspace: ${target}`,
    ...place,
    rules: [`read_file(/${toPathPattern(target)})`],
  };
}

/**
 * Tests which files a search through folders may read: no keys, and no files that a rule denies or asks about.
 * @param folders folders that the call searches, with links resolved
 * @returns undefined when the search may read all files
 */
export function createReadFilter(
  context: PermissionContext,
  folders: readonly string[],
): ((file: string) => boolean) | undefined {
  const {workspace, rules, tool, mode, zonePaths} = context;
  const searched = [...getRoots(workspace), ...folders];
  const hasSecrets = zonePaths.secretPaths.some((each) => isInside(each, searched));
  if (!hasSecrets && !rules.restrictsFiles(tool)) return undefined;
  const kinds = mode === 'bypassPermissions' ? (['deny'] as const) : (['deny', 'ask'] as const);
  const isSecret = (target: string) => getFileZone(target, workspace, zonePaths) === 'secret';
  // `judgeRead` already asked about a search that names a secret folder itself.
  const permitted = folders.filter(isSecret);
  return (file) => {
    const target = resolvePlace(file, workspace.cwd);
    if (mode !== 'bypassPermissions' && isSecret(target) && !isInside(target, permitted)) return false;
    return !kinds.some((kind) => rules.findFileRule(tool, kind, [file, target], workspace.root));
  };
}

/** Takes the same parameters as `judgeRead`, and throws the same errors. */
export function judgeWrite(
  given: string,
  context: PermissionContext,
  target: string = resolvePlace(given, context.workspace.cwd),
): Verdict {
  const {workspace, confinement, rules, tool, mode, isGranted, zonePaths} = context;
  const targets = [path.resolve(workspace.cwd, expandHome(given)), target];
  // Rules for the whole tool count here, because a command that writes the file is a call of another tool.
  const denied = rules.findFileRule(tool, 'deny', targets, workspace.root) ?? rules.getToolRules(tool, 'deny')[0];
  if (denied) return deny(`${formatRule(denied)} refuses to write ${target}`);
  const asked = rules.findFileRule(tool, 'ask', targets, workspace.root) ?? rules.getToolRules(tool, 'ask')[0];
  const {notes} = workspace;
  if (notes && mode !== 'plan' && findTool(tool, rules.tools)?.kind === 'edit') {
    if (isInNotes(target, notes)) {
      if (!asked || mode === 'bypassPermissions') return {...ALLOWED, because: 'these are its own notes'};
      return context.neverAsks ? refuseToAsk(asked) : askByRule(asked, `writes ${target}`);
    }
    if (notes.tools.includes(tool)) return deny(`this agent may change only its notes, in ${notes.folder}`);
  }
  if (context.neverAsks) return deny('this agent is read-only');
  if (confinement === 'read-only') return deny('plan mode changes nothing');
  if (confinement === 'worktree' && !isInside(target, getRoots(workspace))) {
    return deny('it writes outside of its worktree');
  }
  if (workspace.scope && !workspace.scope.files.includes(target)) {
    return deny(`${describeTarget(target, workspace)} is not among the files of this part, which alone it may write`);
  }
  if (mode === 'bypassPermissions') return ALLOWED;
  const grant = getWriteGrant(target, workspace, zonePaths);
  const isKept = isAlwaysAsked(target, workspace, zonePaths);
  const isOutside = grant !== EDITS && grant !== WORKTREE_EDITS;
  const place = {...(isKept && ONLY_PERSON), ...(isOutside && OUTSIDE)};
  if (asked) return {...askByRule(asked, `writes ${target}`), ...place};
  if (isGranted(grant)) return ALLOWED;
  if (isKept) return {verdict: 'ask', because: `writes a protected file: ${target}`, ...place};
  if (workspace.scope?.allowed.includes(target)) return {...ALLOWED, because: 'it was allowed with the fan-out'};
  const allowed = rules.findFileRule(tool, 'allow', [target], workspace.root);
  if (isOutside) {
    if (allowed) return ALLOWED;
    const rules = [`edit_file(/${toPathPattern(target)})`];
    return {verdict: 'ask', because: `writes outside the workspace: ${target}`, ...place, rules};
  }
  if (mode === 'acceptEdits' || allowed || rules.getToolRules(tool, 'allow').length > 0) return ALLOWED;
  const relative = path.relative(workspace.root, target);
  if (relative.startsWith('..')) {
    return {verdict: 'ask', because: `writes ${target}`, rules: [`edit_file(/${toPathPattern(target)})`]};
  }
  return {verdict: 'ask', because: `writes ${relative}`, rules: [formatEditRule(relative)]};
}

/** Returns a path relative to the workspace for a file inside it, and the absolute path for others. */
function describeTarget(target: string, {root}: Workspace): string {
  return isInside(target, [root]) ? path.relative(root, target) : target;
}

/** Returns a rule for the folder of the file. For a file at the top of the workspace it names that file only. */
function formatEditRule(relative: string): string {
  const folder = path.dirname(relative);
  return folder === '.' ? `edit_file(/${toPathPattern(relative)})` : `edit_file(/${toPathPattern(folder)}/**)`;
}
