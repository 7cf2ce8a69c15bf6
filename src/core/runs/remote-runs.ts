/**
 * Runs that work at a worker, on another machine. The manager keeps their records, limits and ends as it does for all
 * others: only the turns are made elsewhere. `workers/` implements `RemoteRuns` over a queue.
 */
import type {AgentDefinition} from '../agent-types.ts';
import type {AgentEventBody, Emit, PermissionMode} from '../contract/events.ts';
import type {WriteScope} from '../contract/fan-out.ts';
import type {Message, Usage} from '../contract/model.ts';
import type {Workspace} from '../contract/permission.ts';
import type {RunLimits, RunResult} from '../contract/results.ts';
import type {Receipt} from '../contract/runs.ts';
import type {Budget} from '../contract/tool.ts';
import type {TranscriptEntry} from '../contract/transcript.ts';
import type {BroughtBack, Isolation, Where} from '../contract/worktree.ts';
import type {PermissionPolicy} from '../permissions/policy.ts';
import type {QueuedMessage} from '../turn/inbox.ts';
import {RunAborted} from '../turn/run-ending.ts';
import {MiniCcError} from '../util/errors.ts';
import {addUsage, NO_USAGE} from '../util/messages.ts';
import type {LiveRun} from './live-run.ts';
import {makeReceipt} from './receipt.ts';

/** What the session's rules and mode allow a run, besides what the worker's own settings allow. */
export interface RemotePermissions {
  readonly mode: PermissionMode;
  /** Rules that refuse, and those that ask: there is no person to ask. */
  readonly deny: readonly string[];
  /** Rules that allow edits of files. */
  readonly edits: readonly string[];
}

export interface RemoteTask {
  readonly runId: string;
  readonly round: number;
  readonly agent: AgentDefinition;
  readonly description: string;
  readonly prompt: string;
  readonly model: string;
  readonly limits: RunLimits;
  /** The conversation before the prompt. */
  readonly messages: readonly Message[];
  readonly scope?: WriteScope | undefined;
  readonly permissions: RemotePermissions;
}

/** What the manager hears of a run at a worker, and says to it. */
export interface RemoteWatch {
  readonly label: string;
  /** Aborted: the run is stopped there. With the reason `close` it is left, and found again at the next start. */
  readonly signal: AbortSignal;
  /** A worker has it. Called again when another one takes it over. */
  begun(worker: string): void;
  event(event: AgentEventBody): void;
  /** The run has read this message. */
  delivered(id: string): void;
  /** Calls the listener with each message that waits for the run, those of before too. */
  onMessage(listener: (message: QueuedMessage) => void): void;
}

export interface RemoteEnd {
  /** With paths of this workspace. */
  readonly result: RunResult;
  /** The lines that its transcript gets. */
  readonly entries: readonly TranscriptEntry[];
  readonly brought: BroughtBack;
  /** Its end is on disk here: nothing of it need be kept elsewhere. */
  taken(): Promise<void>;
}

export interface RemoteRuns {
  /** Whether a worker could take a run now. Never rejects. */
  isServed(): Promise<boolean>;
  /** Runs a round at a worker. @returns undefined when the run was left there. @throws MiniCcError when it cannot be given away */
  run(task: RemoteTask, watch: RemoteWatch): Promise<RemoteEnd | undefined>;
  /** The run of an earlier process goes on at a worker, or its end waits. */
  isPending(runId: string): boolean;
  /** Waits for the end of a pending run. */
  resume(runId: string, watch: RemoteWatch): Promise<RemoteEnd | undefined>;
}

export interface RemoteRound {
  readonly agent: AgentDefinition;
  readonly description: string;
  readonly prompt: string;
  readonly model: {readonly name: string};
  readonly limits: RunLimits;
  readonly budget: Budget;
  readonly scope?: WriteScope | undefined;
  /** It was given away by an earlier process. */
  readonly isPending?: boolean | undefined;
}

interface RemoteDeps {
  readonly remote?: RemoteRuns | undefined;
  readonly workspace: Workspace;
  readonly permits: {readonly policy: PermissionPolicy};
}

/**
 * Where a run is to work, and whether that is possible.
 * @throws MiniCcError `WHERE` when it must work at a worker and cannot
 */
export function chooseWhere(
  asked: Where | undefined,
  isolation: Isolation,
  remote: RemoteRuns | undefined,
): Exclude<Where, 'local'> | undefined {
  if (asked === undefined || asked === 'local') return undefined;
  if (asked === 'auto') return remote && isolation === 'worktree' ? 'auto' : undefined;
  if (!remote) {
    throw new MiniCcError(
      'WHERE',
      'where: "workers" needs the setting subagents.queue, the address of a queue: {"subagents": {"queue": {"url": "redis://…", "secretEnv": "…"}}}',
    );
  }
  if (isolation !== 'worktree') throw new MiniCcError('WHERE', 'where: "workers" needs isolation: "worktree"');
  return 'workers';
}

/** Tools whose rules are about edits of files. */
const EDITORS = new Set(['edit_file', 'write_file']);

function getPermissions(policy: PermissionPolicy, agent: AgentDefinition): RemotePermissions {
  const rules = policy.rules.list();
  const isEdit = ({tool}: {readonly tool: string}) => EDITORS.has(tool);
  return {
    mode: policy.getAgentMode(agent.permissionMode),
    deny: rules.flatMap(({kind, text}) => (kind === 'allow' ? [] : [text])),
    edits: rules.flatMap((rule) => (rule.kind === 'allow' && isEdit(rule) ? [rule.text] : [])),
  };
}

/**
 * What `runAgent` is for a run of this machine.
 * @param begun called when a worker has the run. @returns undefined when the session ends and leaves the run there
 */
export async function workRemotely(
  live: LiveRun,
  round: RemoteRound,
  {remote, workspace, permits}: RemoteDeps,
  emit: Emit,
  begun: (worker: string) => void,
): Promise<{readonly result: RunResult; readonly receipt: Receipt; taken(): Promise<void>} | undefined> {
  const {agent, description, prompt, model, limits, budget, scope} = round;
  const spent = new RemoteSpending(budget);
  const stop = new AbortController();
  const stopListening = budget.onUsedUp(() => stop.abort(new RunAborted('budget', budget.usedUp)));
  const watch: RemoteWatch = {
    label: `[${agent.name}] ${description}`,
    signal: AbortSignal.any([live.signal, stop.signal]),
    begun(worker) {
      spent.next();
      begun(worker);
    },
    event(event) {
      if (event.type === 'message' && event.role === 'assistant') spent.add(event.usage, event.model);
      emit(event);
    },
    delivered: (id) => void live.inbox.takeBack(id),
    onMessage: (listener) => {
      for (const message of live.inbox.list('prompt')) listener(message);
      live.inbox.watch({queued: listener});
    },
  };
  try {
    const {runId, history} = live;
    const messages = history.messages.slice(0, -1);
    const permissions = getPermissions(permits.policy, agent);
    const task = {
      runId,
      round: live.round,
      agent,
      description,
      prompt,
      model: model.name,
      limits,
      messages,
      scope,
      permissions,
    };
    const end = await (round.isPending ? remote!.resume(runId, watch) : remote!.run(task, watch));
    if (!end) {
      live.isLeft = true;
      return undefined;
    }
    spent.settle(end.result);
    history.appendLines(end.entries);
    const result = limitedBy(end.result, stop.signal, budget);
    return {...finish({...end, result}, workspace, emit), taken: end.taken};
  } finally {
    stopListening();
    live.inbox.watch({});
  }
}

/** A run that was stopped because the session's budget was used up ends by that limit. */
function limitedBy(result: RunResult, {aborted}: AbortSignal, {usedUp}: Budget): RunResult {
  if (!aborted || result.outcome !== 'stopped' || usedUp === undefined) return result;
  return {...result, outcome: 'limit', limit: usedUp};
}

function finish({result: worked, brought}: RemoteEnd, {root}: Workspace, emit: Emit) {
  const {applied, kept, notes} = brought;
  if (kept) emit({type: 'notice', level: 'warning', text: `changes kept in ${kept.patch} (${kept.why})`});
  const missing = kept ? [`Not all that this run changed is in the workspace. ${kept.explanation}`] : [];
  const receipt = makeReceipt(worked, root, {citedIn: root, changed: applied, ...(kept && {kept})});
  return {result: {...worked, text: [...missing, worked.text, ...notes].join('\n\n')}, receipt};
}

/** What a run used at its workers: all attempts of it count. */
class RemoteSpending {
  /** Of the attempt at work, as its replies told. */
  #told = NO_USAGE;

  constructor(private readonly budget: Budget) {}

  /** Another attempt begins: what the one before used stays spent. */
  next(): void {
    this.#told = NO_USAGE;
  }

  add(usage: Usage, model: string): void {
    this.#told = addUsage(this.#told, usage);
    this.budget.spend(usage, model);
  }

  /** Spends what the attempt that ended used beside its replies: by calls that were retried, and by tools. */
  settle({usage, usageByModel}: RunResult): void {
    const [model = ''] = Object.keys(usageByModel);
    const rest = (key: 'input_tokens' | 'output_tokens' | 'cache_read_input_tokens' | 'cache_creation_input_tokens') =>
      Math.max(0, usage[key] - this.#told[key]);
    const left: Usage = {
      input_tokens: rest('input_tokens'),
      output_tokens: rest('output_tokens'),
      cache_read_input_tokens: rest('cache_read_input_tokens'),
      cache_creation_input_tokens: rest('cache_creation_input_tokens'),
      ...(usage.cost_usd !== undefined && {cost_usd: Math.max(0, usage.cost_usd - (this.#told.cost_usd ?? 0))}),
      ...(usage.cost_unknown && {cost_unknown: true}),
    };
    if (Object.values(left).some((value) => typeof value === 'number' && value > 0)) this.budget.spend(left, model);
  }
}
