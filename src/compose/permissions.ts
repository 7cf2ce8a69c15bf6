/** Creates the permissions of a session, and the workspace that they apply to. */

import {homedir} from 'node:os';
import path from 'node:path';
import {createRuleTeller} from '../agents/rules.ts';
import type {LoadedSettings} from '../config/settings.ts';
import type {AgentDefinition} from '../core/agent-types.ts';
import type {Emit, PermissionMode} from '../core/contract/events.ts';
import type {HookListing, HookSetting} from '../core/contract/hook.ts';
import type {Denial, Workspace} from '../core/contract/permission.ts';
import type {AfterCall} from '../core/contract/tool.ts';
import {PermissionPolicy} from '../core/permissions/policy.ts';
import type {Questions} from '../core/permissions/questions.ts';
import {parseRule} from '../core/permissions/rules/rule.ts';
import {type AgentHooks, createToolHooks} from '../core/permissions/tool-hooks.ts';
import type {OuterRequests, SessionParts} from '../core/session/parts.ts';
import {NO_HOOKS} from '../core/turn/run-hooks.ts';
import {inBackground, neverRejects} from '../core/util/background.ts';
import {UsageError} from '../core/util/errors.ts';
import {createHooks, createSettingsHook, type Hook, HooksAtWork, type HookWorkplace} from '../extensions/hooks.ts';
import type {SessionAgents} from './agents.ts';
import {createAnsweringTool} from './answering-tool.ts';
import type {FileChanges} from './file-changes.ts';
import {createHookPost} from './hook-requests.ts';
import {ALL_TOOLS} from './known-tools.ts';
import type {SessionModels} from './models.ts';
import {createPermissionSandbox, getExistingFolder, getZoneFolders} from './permission-settings.ts';
import type {Project, Records} from './project.ts';
import type {SessionTools} from './tools.ts';

export type SessionPermissions = ReturnType<typeof createPermissions>;

/** @throws UsageError for a mode that the settings turn off */
export function createPermissions({
  project: {options, root, folders, extraRoots, env, redactor, loaded, settings},
  records: {store, emit, questions},
  tools: {rules, found, sandbox, sandboxControl, processes, mcp},
  agents: {mainAgent, notes},
  models: {state},
  changes: {checkpoints},
}: {
  readonly project: Project;
  readonly records: Records;
  readonly tools: SessionTools;
  readonly agents: SessionAgents;
  readonly models: SessionModels;
  readonly changes: FileChanges;
}) {
  const skillFolders = found.prompts.filter(({kind}) => kind === 'skill').map(({folder}) => folder);
  const denials: Denial[] = [];
  const startMode = loaded.mode ?? (loaded.isPlan ? 'plan' : mainAgent?.permissionMode) ?? 'default';
  const ownFolders = () => [store.sessionFolder(state.conversation.id), ...skillFolders];
  const mayBypass = settings.permissions?.disableBypassPermissionsMode === undefined;
  const zones = {ownFolders, ...getZoneFolders(settings, {miniCcHome: options.home, root})};
  const policy = new PermissionPolicy(options.permissionMode ?? startMode, rules, zones, mayBypass);
  const workspace: Workspace = {
    root,
    extraRoots,
    cwd: root,
    notes,
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
  const tellRules = createRuleTeller(folders, ({subagent}) => subagent?.id ?? state.conversation.id);
  const beforeRun = () => checkpoints.settled();
  const own = {driverHooks: options.driverHooks ?? [], mainAgent, tellRules, beforeRun};
  const place = {root, env, processes, post: createHookPost(rules)};
  const hooks = createSessionHooks(loaded, own, place, getCommon, emit);
  const permits = {
    beforeCall: hooks.beforeCall,
    answerCall: hooks.answerCall ?? findAnsweringTool(options, mcp),
    policy,
    questions: options.interactive || options.driverAnswers ? questions : undefined,
    sandbox: createPermissionSandbox(sandbox, settings.sandbox),
    // Only front ends without a screen read the denials.
    onDenied(denial: Denial) {
      if (!options.interactive) denials.push(redactor.values(denial));
    },
  };
  const modes = new ModeControl(policy, questions);
  return {policy, questions, denials, workspace, permits, hooks, modes};
}

/** Sets the permission mode of a session, and tells the session of it. */
class ModeControl {
  /** Set by the session. */
  onChange: () => void = () => undefined;

  constructor(
    private readonly policy: PermissionPolicy,
    private readonly questions: Questions,
  ) {}

  get mode(): PermissionMode {
    return this.policy.mode;
  }

  set(mode: PermissionMode): void {
    this.policy.mode = mode;
    // After a change, an open question may not be needed any more.
    inBackground(this.questions.recheck(), neverRejects);
    this.onChange();
  }
}

export function createPermissionParts({
  policy,
  modes,
}: SessionPermissions): Pick<SessionParts, 'permissions' | 'setPermissionMode' | 'onPermissionMode' | 'allowInTurn'> {
  return {
    permissions: () => ({
      mode: policy.mode,
      rules: policy.rules.list(),
      granted: policy.granted,
      mayBypass: policy.mayBypass,
    }),
    allowInTurn: (allowed) => policy.allowInTurn(allowed),
    setPermissionMode: (mode) => modes.set(mode),
    onPermissionMode(listener) {
      modes.onChange = listener;
    },
  };
}

export function createPermissionRequests({
  policy,
  questions,
  hooks,
  denials,
}: SessionPermissions): Pick<OuterRequests, 'change_rule' | 'denials' | 'hooks' | 'set_rules'> {
  return {
    async change_rule({rule, change}) {
      await policy.changeRule(rule, change);
      inBackground(questions.recheck(), neverRejects);
    },
    set_rules(given) {
      policy.setDriverRules(given);
      inBackground(questions.recheck(), neverRejects);
    },
    hooks: () => hooks.listing,
    denials: () => denials,
  };
}

/** Returns the tool that answers questions instead of a person, if the command line names one. */
function findAnsweringTool({answeringTool: name}: Project['options'], mcp: SessionTools['mcp']) {
  return name === undefined ? undefined : createAnsweringTool(name, mcp.forMain());
}

/** Manages the additional folders of a session. A new folder applies from the next call on. */
export function createFolders(
  {root, extraRoots}: Project,
  {mcp}: SessionTools,
  {policy, questions}: SessionPermissions,
): SessionParts['folders'] {
  return {
    list: () => [...extraRoots],
    add(folder) {
      const added = getExistingFolder(folder, root);
      if (added === root || extraRoots.includes(added)) throw new UsageError(`agents work in ${added} already`);
      extraRoots.push(added);
      policy.noteChange();
      inBackground(mcp.noteRoots(), neverRejects);
      // An open question may not be needed any more.
      inBackground(questions.recheck(), neverRejects);
    },
  };
}

interface SessionHooks extends AgentHooks {
  readonly listing: readonly HookListing[];
  /** Warnings for the user, one line each. */
  readonly warnings: readonly string[];
  /** Returns the session's hooks with those of the agent, or undefined if the agent has none of its own. */
  createAgentHooks(agent: Pick<AgentDefinition, 'hooks'>): AgentHooks | undefined;
}

interface HookSources {
  /** Callbacks of the program that drives the session. */
  readonly driverHooks: readonly Hook[];
  /** Agent that the session runs as. */
  readonly mainAgent: AgentDefinition | undefined;
  /** Adds the rules about a file to the result by which an agent read it. */
  readonly tellRules: AfterCall;
  /** Waits until the changes of earlier commands are recorded, so that those of a hook are not among them. */
  readonly beforeRun: () => Promise<void>;
}

function createSessionHooks(
  {hooks: found, settings}: Pick<LoadedSettings, 'hooks' | 'settings'>,
  {driverHooks, mainAgent, tellRules, beforeRun}: HookSources,
  workplace: HookWorkplace,
  getCommon: () => Readonly<Record<string, unknown>>,
  emit: Emit,
): SessionHooks {
  const ofClaude = path.join(homedir(), '.claude', 'settings.json');
  const used = settings.claude?.hooks === false ? found.filter(({from}) => from !== ofClaude) : found;
  const toHooks = (list: readonly HookSetting[]) => list.map((setting) => createSettingsHook(setting, workplace));
  const shared = [...toHooks(used), ...driverHooks];
  const all = [...shared, ...toHooks(mainAgent?.hooks ?? [])];
  const late = new HooksAtWork();
  const create = (list: readonly Hook[]): AgentHooks => {
    const hooks = list.length === 0 ? NO_HOOKS : createHooks(list, getCommon, emit, late, beforeRun);
    const ofTools = createToolHooks(hooks, ALL_TOOLS);
    return {hooks, ...ofTools, afterCall: [...ofTools.afterCall, tellRules]};
  };
  const borrowed = used.filter(({from}) => from === ofClaude).length;
  return {
    ...create(all),
    createAgentHooks: ({hooks = []}) =>
      // A subagent's run ends with the event `SubagentStop`, so its `Stop` hooks listen to that.
      hooks.length === 0
        ? undefined
        : create([
            ...shared,
            ...toHooks(hooks.map((hook) => (hook.event === 'Stop' ? {...hook, event: 'SubagentStop'} : hook))),
          ]),
    listing: all.map(({event, matcher, command, from}) => ({event, matcher, command, from})),
    warnings: [
      ...all.flatMap(explainNeverCalled),
      ...(borrowed === 0
        ? []
        : [
            `${borrowed} hook${borrowed === 1 ? '' : 's'} of ~/.claude/settings.json run here too; "claude": {"hooks": false} turns them off`,
          ]),
    ],
  };
}

/** Says why a hook is never called, if the rule in its `if` is wrong. */
function explainNeverCalled({event, command, from, if: rule}: Hook): string[] {
  const parsed = rule === undefined ? undefined : parseRule(rule, ALL_TOOLS);
  if (!parsed || !('problem' in parsed)) return [];
  const meant = parsed.suggestion === undefined ? '' : ` (did you mean ${parsed.suggestion}?)`;
  return [`the ${event} hook ${command} (${from}) is never called: its if: ${parsed.problem}${meant}`];
}
