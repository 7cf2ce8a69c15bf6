/** Creates the part of a session that runs subagents: their manager, what all runs share, and the workers. */

import {findRules} from '../agents/rules.ts';
import {memoryFiles, toolNotes} from '../config/memory-files.ts';
import {LOWERS} from '../config/setting-keys.ts';
import type {Settings} from '../config/settings.ts';
import type {AgentRun} from '../core/agent-loop.ts';
import {restrictTools} from '../core/agent-types.ts';
import type {Emit} from '../core/contract/events.ts';
import type {Workspace} from '../core/contract/permission.ts';
import {createPermit} from '../core/permissions/decision.ts';
import type {Questions} from '../core/permissions/questions.ts';
import type {AskPerson, PerPrompt} from '../core/runs/delegation.ts';
import type {ManagerDeps, SubagentDeps} from '../core/runs/dispatch.ts';
import {RESULT_TOKENS} from '../core/runs/receipt.ts';
import {SubagentManager} from '../core/subagent-manager.ts';
import type {Caller} from '../core/tool-calls.ts';
import {Inbox} from '../core/turn/inbox.ts';
import {systemClock} from '../core/turn/run-limits.ts';
import type {SystemPromptContext} from '../core/turn/system-prompt.ts';
import {MiniCcError} from '../core/util/errors.ts';
import {readBranch} from '../core/util/files/git-folder.ts';
import {hashJson} from '../core/util/hash.ts';
import type {VerifySettings} from '../core/verification/find-checks.ts';
import {Verifier} from '../core/verification/verifier.ts';
import {WorkspaceFingerprint} from '../storage/workspace-fingerprint.ts';
import type {SessionAgents} from './agents.ts';
import type {FileChanges} from './file-changes.ts';
import type {SessionModels} from './models.ts';
import {getPoolSizes} from './options.ts';
import {getToolRules} from './permission-settings.ts';
import type {SessionPermissions} from './permissions.ts';
import {MAIN, type Project, type Records} from './project.ts';
import type {SessionTools} from './tools.ts';
import {createRemoteRuns} from './workers/remote-runs.ts';

type SessionRuns = ReturnType<typeof createRuns>;

/** Parts that are created before the runs. */
interface BaseParts {
  readonly project: Project;
  readonly records: Records;
  readonly tools: SessionTools;
  readonly agents: SessionAgents;
  readonly models: SessionModels;
  readonly permissions: SessionPermissions;
  readonly changes: FileChanges;
}

export interface ComposedParts extends BaseParts {
  readonly runs: SessionRuns;
}

export function createRuns(deps: BaseParts) {
  const {project, records, models, permissions, changes} = deps;
  const {options, root, env, settings} = project;
  const {state, budget} = models;
  const inbox = new Inbox();
  const fingerprint = new WorkspaceFingerprint(root);
  const archiveAfterMinutes = options.archiveAfterMinutes ?? settings.subagents?.archiveAfterMinutes ?? 60;
  const verifier = new Verifier({settings: getVerifySettings(settings), fingerprint: () => fingerprint.take()});
  const remote = createRemoteRuns(project, records, state, changes);
  const manager = new SubagentManager({
    mainAgentId: MAIN,
    inbox,
    bus: records.bus,
    budget,
    archiveAfterMinutes,
    perPrompt: getPerPrompt(settings),
    askPerson: options.interactive ? createAsk(permissions.questions, records.emit) : undefined,
    maxConcurrent: options.maxConcurrent ?? getPoolSizes(settings, env),
    store: records.store.runStore(() => state.conversation.id),
    fingerprint: async () => {
      // The memory of a subagent also comes from files that git ignores, or outside of the workspace.
      const {memory} = readSubagentPromptContext(project);
      return JSON.stringify([hashJson(memory), await fingerprint.take()]);
    },
    revive: createRevive(deps),
    runs: shareWithRuns(deps, {remote, verifier}),
  });
  return {manager, inbox, verifier, remote, archiveAfterMinutes};
}

function shareWithRuns(
  {project, tools, models, permissions, changes}: BaseParts,
  own: Pick<SubagentDeps, 'remote' | 'verifier'>,
): SubagentDeps {
  const {options, settings} = project;
  const {sandboxControl, mcp} = tools;
  const {hooks, createAgentHooks, afterCall} = permissions.hooks;
  const toolRules = getToolRules(project.loaded, tools.rules, tools.only);
  const {trials} = options;
  trials?.connect((run) => createShellCaller(run, tools, permissions));
  return {
    ...own,
    around: trials && ((run, work) => trials.around(run, work)),
    readPromptContext: () => readSubagentPromptContext(project),
    openNotes: project.openNotes,
    get confinement() {
      return sandboxControl.confinement;
    },
    hooks,
    createAgentHooks,
    afterCall,
    toolRules,
    baseTools: tools.baseTools,
    getSkill: tools.getSkill,
    createToolSource: (agent) => mcp.forAgent(agent, toolRules),
    workspace: permissions.workspace,
    permits: permissions.permits,
    writeLog: changes.writeLog,
    checkpoints: changes.checkpoints,
    worktrees: changes.worktrees,
    rawStream: options.rawStream ?? false,
    clock: options.clock ?? systemClock,
    summaryModel: models.summaryModel,
    limits: {
      profile: settings.limits?.profile ?? 'standard',
      agents: settings.agents ?? {},
      contextTokens: settings.contextTokens,
    },
    resultTokens: settings.subagents?.resultTokens ?? RESULT_TOKENS,
  };
}

/**
 * Creates the caller of commands that a person has agreed to, such as those of a case: they run in the run's workplace,
 * confined to it. Without a sandbox they are refused, like what the rules refuse.
 */
function createShellCaller(run: AgentRun, tools: SessionTools, {permits}: SessionPermissions): Caller {
  const workspace: Workspace = {...run.workspace, confinement: 'workspace-write'};
  const permit = createPermit(permits, run.label, workspace, run.emit, {runId: run.agentId});
  return {
    ...run,
    tools: tools.baseTools.filter(({name}) => name === 'bash'),
    moreTools: undefined,
    afterCall: [],
    workspace,
    async permit(request, signal) {
      const decision = await permit(request, signal);
      if (decision.verdict !== 'allow') return decision;
      // The workplace is thrown away, so there is nothing to save.
      const [first, ...others] = decision.attempts.map((attempt) => ({...attempt, checkpoint: false}));
      return {...decision, attempts: [first!, ...others]};
    },
  };
}

/** Applies the defaults. In the settings, `null` means no limit. */
function getPerPrompt({subagents}: Settings): PerPrompt {
  const given = subagents?.perPrompt;
  if (given === null) return {};
  const get = (key: keyof PerPrompt) =>
    given?.[key] === undefined ? LOWERS[`subagents.perPrompt.${key}`] : given[key];
  return {runs: get('runs') ?? undefined, tokens: get('tokens') ?? undefined, usd: get('usd') ?? undefined};
}

function createAsk(questions: Questions, emit: Emit): AskPerson {
  return async (question, signal) => {
    const answer = await questions.ask(question, emit, signal);
    return typeof answer === 'string' ? undefined : answer.choice;
  };
}

function getVerifySettings({verify = {}}: Settings): VerifySettings {
  const {level = 'off', rounds = 2, fast, thorough} = verify;
  return {level, rounds, fast, thorough};
}

/** Creates the function that finds the agent and the model of an earlier run that continues. */
function createRevive({agents: {agents}, tools, models}: BaseParts): ManagerDeps['revive'] {
  return (record, isLeft) => {
    const found = agents.get(record.agent);
    const gone = `The agent ${record.agent} was deleted`;
    if (!found && !isLeft) throw new MiniCcError('AGENT_GONE', `${gone}: its run cannot go on`);
    const agent = found ?? {name: record.agent, description: '', tools: [], prompt: '', readOnly: false};
    const names = tools.baseTools.map(({name}) => name);
    const narrowed = record.onlyTools ? restrictTools(agent, record.onlyTools, names) : agent;
    const chosen = models.chooser.choose(narrowed, {model: record.model || undefined, thinking: record.thinking});
    // The model of a run that was left at a worker was chosen when the run was sent there.
    const warnings = isLeft ? (found ? [] : [`${gone} meanwhile: this run had it as it was`]) : chosen.warnings;
    return {agent: narrowed, model: chosen.model, warnings};
  };
}

/** Subagents get notes on tools too. */
function readSubagentPromptContext(project: Project): SystemPromptContext {
  const context = readPromptContext(project);
  const notes = toolNotes({...project.folders, trusts: project.trusts});
  return {...context, memory: [...context.memory, ...notes]};
}

/** Reads the text of the system prompt about the place of the session, as it is now. */
export function readPromptContext({root, options, trusts, folders}: Project): SystemPromptContext {
  const branch = readBranch(root);
  const {appendSystemPrompt: appended} = options;
  return {
    cwd: root,
    platform: process.platform,
    date: new Date().toISOString().slice(0, 10),
    memory: [...memoryFiles({...folders, trusts}), ...findRules(folders).filter(({patterns}) => patterns.length === 0)],
    ...(branch === undefined ? {} : {gitBranch: branch}),
    ...(appended ? {appended} : {}),
  };
}
