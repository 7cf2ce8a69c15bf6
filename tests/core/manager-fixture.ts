/** A manager of subagents: everything is real except the model. Transcripts are files; a test may pass a clock. */
import {mkdirSync, mkdtempSync, realpathSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {AGENT_TYPES} from '../../src/core/agent-types.ts';
import type {AgentEvent} from '../../src/core/contract/events.ts';
import type {Model} from '../../src/core/contract/model.ts';
import type {Denial} from '../../src/core/contract/permission.ts';
import type {Tool} from '../../src/core/contract/tool.ts';
import type {PermitDeps} from '../../src/core/permissions/decision.ts';
import {PermissionPolicy} from '../../src/core/permissions/policy.ts';
import type {Questions} from '../../src/core/permissions/questions.ts';
import {RuleBook} from '../../src/core/permissions/rules/rule-book.ts';
import type {ManagerDeps, RunRequest, SubagentDeps} from '../../src/core/runs/dispatch.ts';
import {EventBus} from '../../src/core/session/event-bus.ts';
import {SubagentManager} from '../../src/core/subagent-manager.ts';
import {createBudget} from '../../src/core/turn/budget.ts';
import {NO_CHECKPOINTS} from '../../src/core/turn/checkpointed-call.ts';
import {WriteLog} from '../../src/core/turn/file-ledger.ts';
import {Inbox} from '../../src/core/turn/inbox.ts';
import {NO_HOOKS} from '../../src/core/turn/run-hooks.ts';
import {systemClock} from '../../src/core/turn/run-limits.ts';
import {Verifier} from '../../src/core/verification/verifier.ts';
import {SessionStore} from '../../src/storage/sessions/session-store.ts';
import {permissionSandbox} from '../support/sandbox.ts';
import {ScriptedModel, say} from './scripted-model.ts';

/** @returns a workspace with a file of two lines, `a.ts` */
export function createRoot(home = createHome()): string {
  const root = path.join(home, 'work');
  mkdirSync(root, {recursive: true});
  writeFileSync(path.join(root, 'a.ts'), 'one\ntwo\n');
  return root;
}

const createHome = () => realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-manager-')));

export interface ManagerFixtureOptions {
  /** Default: one in `home`. */
  readonly root?: string;
  readonly tools?: readonly Tool[];
  readonly maxConcurrent?: ManagerDeps['maxConcurrent'];
  readonly runs?: Partial<SubagentDeps>;
  readonly options?: Partial<ManagerDeps>;
  /** The folder of transcripts: a second fixture with the same home is mini-cc after a restart. */
  readonly home?: string;
  /** For runs that continue. */
  readonly model?: Model;
}

export function managerFixture(given: ManagerFixtureOptions = {}) {
  const events: AgentEvent[] = [];
  const home = given.home ?? createHome();
  const root = given.root ?? createRoot(home);
  const store = new SessionStore(home, root).runStore(() => 'session-1');
  const bus = new EventBus((message) => {
    throw new Error(message);
  });
  bus.subscribe((event) => void events.push(event));
  const inbox = new Inbox();
  const manager = new SubagentManager({
    maxConcurrent: given.maxConcurrent ?? 3,
    mainAgentId: 'main',
    budget: createBudget(),
    bus,
    inbox,
    store,
    fingerprint: async () => 'as it was',
    archiveAfterMinutes: 0,
    revive: ({agent}) => ({agent: AGENT_TYPES[agent]!, model: given.model ?? new ScriptedModel([say('continued')])}),
    runs: {
      baseTools: given.tools ?? [],
      worktrees: {open: async () => Promise.reject(new Error('no worktrees here')), settled: async () => undefined},
      workspace: {root, extraRoots: [], cwd: root, confinement: 'none', env: {}},
      confinement: 'none',
      readPromptContext: () => ({
        cwd: root,
        platform: 'linux',
        date: '2026-01-01',
        memory: [{path: 'AGENTS.md', text: 'be brief'}],
      }),
      writeLog: new WriteLog(),
      checkpoints: NO_CHECKPOINTS,
      permits: createPermitDeps(undefined, () => undefined),
      clock: systemClock,
      rawStream: false,
      summaryModel: undefined,
      limits: {profile: 'standard', agents: {}},
      toolRules: {deny: []},
      resultTokens: 500,
      hooks: NO_HOOKS,
      verifier: new Verifier({settings: {level: 'off', rounds: 0}, fingerprint: async () => ''}),
      ...given.runs,
    },
    ...given.options,
  });
  const request = (model: Model, change: Partial<RunRequest> = {}): RunRequest => ({
    agent: AGENT_TYPES.explore!,
    description: 'look around',
    prompt: 'find it',
    signal: new AbortController().signal,
    model,
    ...change,
  });
  return {
    manager,
    events,
    bus,
    inbox,
    home,
    store,
    request,
    spawn: (model: Model, change: Partial<RunRequest> = {}) => manager.spawn(request(model, change)),
    dispatch: (model: Model, change: Partial<RunRequest> = {}) => manager.dispatch(request(model, change)),
    read: (runId: string) => manager.read(runId),
  };
}

/** The default mode without rules. @param questions undefined: no person can be asked. */
export function createPermitDeps(questions: Questions | undefined, onDenied: (denial: Denial) => void): PermitDeps {
  const policy = new PermissionPolicy('default', new RuleBook([], []), {ownFolders: () => [], secretPaths: []});
  return {policy, questions, onDenied, sandbox: permissionSandbox()};
}
