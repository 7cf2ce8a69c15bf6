/** Creates the permissions of a session, and the workspace that they apply to. */
import type {Denial, Workspace} from '../core/contract/permission.ts';
import {PermissionPolicy} from '../core/permissions/policy.ts';
import {Questions} from '../core/permissions/questions.ts';
import type {SessionParts} from '../core/session/parts.ts';
import {inBackground, neverRejects} from '../core/util/background.ts';
import {UsageError} from '../core/util/errors.ts';
import {ProcessGroups} from '../sandbox/launch/process-groups.ts';
import type {SessionAgents} from './agents.ts';
import {createSessionHooks} from './configured-hooks.ts';
import type {SessionModels} from './models.ts';
import {createPermissionSandbox, getExistingFolder, getZoneFolders} from './permission-settings.ts';
import type {Project, Records} from './project.ts';
import type {SessionTools} from './tools.ts';

export type SessionPermissions = ReturnType<typeof createPermissions>;

/** @throws UsageError for an additional folder that does not exist */
export function createPermissions({
  project: {options, root, env, redactor, loaded, settings},
  records: {store, emit},
  tools: {rules, found, sandbox, sandboxControl},
  agents: {mainAgent},
  models: {state},
}: {
  readonly project: Project;
  readonly records: Records;
  readonly tools: SessionTools;
  readonly agents: SessionAgents;
  readonly models: SessionModels;
}) {
  const skillFolders = found.prompts.filter(({kind}) => kind === 'skill').map(({folder}) => folder);
  const questions = new Questions();
  const denials: Denial[] = [];
  const mode = options.permissionMode ?? (loaded.isPlan ? 'plan' : mainAgent?.permissionMode) ?? 'default';
  const policy = new PermissionPolicy(mode, rules, {
    ownFolders: () => [store.sessionFolder(state.conversation.id), ...skillFolders],
    ...getZoneFolders(options.home),
  });
  const extraRoots = [
    ...(options.addDirs ?? []).map((folder) => getExistingFolder(folder, root)),
    ...loaded.directories,
  ];
  const workspace: Workspace = {
    root,
    extraRoots,
    cwd: root,
    get confinement() {
      return policy.getConfinement(mainAgent?.readOnly ? 'read-only' : sandboxControl.confinement);
    },
    get seen() {
      return [...store.getReadablePlaces(state.conversation.id), ...skillFolders];
    },
    env,
  };
  const getCommon = () => ({
    session_id: state.conversation.id,
    transcript_path: state.conversation.transcript,
    cwd: workspace.cwd,
    permission_mode: policy.mode,
  });
  const own = {driverHooks: options.driverHooks ?? [], mainAgent};
  const hooks = createSessionHooks(loaded, own, {root, env, processes: new ProcessGroups()}, getCommon, emit);
  const permits = {
    beforeCall: hooks.beforeCall,
    answerCall: hooks.answerCall,
    policy,
    questions: options.interactive || options.driverAnswers ? questions : undefined,
    sandbox: createPermissionSandbox(sandbox, settings.sandbox),
    // Only front ends without a screen read the denials.
    onDenied(denial: Denial) {
      if (!options.interactive) denials.push(redactor.values(denial));
    },
  };
  return {policy, questions, denials, workspace, extraRoots, permits, hooks};
}

export function createPermissionParts({
  policy,
  questions,
}: SessionPermissions): Pick<SessionParts, 'permissions' | 'setPermissionMode' | 'allowInTurn' | 'setRules'> {
  return {
    permissions: () => ({mode: policy.mode, rules: policy.rules.list(), granted: policy.granted}),
    allowInTurn: (allowed) => policy.allowInTurn(allowed),
    // After a change, an open question may not be needed any more.
    setPermissionMode(mode) {
      policy.mode = mode;
      inBackground(questions.recheck(), neverRejects);
    },
    setRules(given) {
      policy.setDriverRules(given);
      inBackground(questions.recheck(), neverRejects);
    },
  };
}

/** Manages the additional folders of a session. A new folder applies from the next call on. */
export function createFolders(
  root: string,
  {extraRoots, policy, questions}: SessionPermissions,
): SessionParts['folders'] {
  return {
    list: () => [...extraRoots],
    add(folder) {
      const added = getExistingFolder(folder, root);
      if (added === root || extraRoots.includes(added)) throw new UsageError(`agents work in ${added} already`);
      extraRoots.push(added);
      policy.noteChange();
      // An open question may not be needed any more.
      inBackground(questions.recheck(), neverRejects);
    },
  };
}
