/** Carries out one round of a run at a worker. The manager uses it as it uses `runAgent` for a run of this machine. */

import type {AgentDefinition} from '../agent-types.ts';
import type {Emit} from '../contract/events.ts';
import type {Usage} from '../contract/model.ts';
import type {Workspace} from '../contract/permission.ts';
import type {RunResult} from '../contract/results.ts';
import type {Receipt} from '../contract/runs.ts';
import type {Budget, CallSize, Reservation} from '../contract/tool.ts';
import type {UsedSoFar} from '../contract/transcript.ts';
import type {PermissionPolicy} from '../permissions/policy.ts';
import {BudgetReached} from '../turn/budget.ts';
import {createInternalError, RunAborted} from '../turn/run-ending.ts';
import {addUsage, NO_USAGE} from '../util/messages.ts';
import {findTool} from '../util/tool-names.ts';
import type {RunRound} from './dispatch.ts';
import type {LiveRun} from './live-run.ts';
import {formatRunTitle} from './progress-line.ts';
import {makeReceipt} from './receipt.ts';
import type {RemotePermissions, RemoteReservation, RemoteRuns, RemoteTask, RemoteWatch} from './remote-runs.ts';
import {addBroughtBack} from './workplace.ts';

interface RemoteDeps {
  readonly remote?: RemoteRuns | undefined;
  readonly workspace: Workspace;
  readonly permits: {readonly policy: PermissionPolicy};
}

function getPermissions(policy: PermissionPolicy, agent: AgentDefinition): RemotePermissions {
  const rules = policy.rules.list();
  const isEdit = ({tool}: {readonly tool: string}) => findTool(tool, policy.rules.tools)?.kind === 'edit';
  return {
    mode: policy.getAgentMode(agent.permissionMode),
    deny: rules.flatMap(({kind, text}) => (kind === 'allow' ? [] : [text])),
    edits: rules.flatMap((rule) => (rule.kind === 'allow' && isEdit(rule) ? [rule.text] : [])),
  };
}

/**
 * @param begun called when a worker starts the run
 * @returns undefined when the session ends and leaves the run there
 */
export async function workRemotely(
  live: LiveRun,
  round: RunRound,
  {remote, workspace, permits}: RemoteDeps,
  emit: Emit,
  begun: (worker: string) => void,
): Promise<{readonly result: RunResult; readonly receipt: Receipt; acknowledge(): Promise<void>} | undefined> {
  const {agent, prompt, limits, budget} = round;
  const {spec} = live;
  const spent = new RemoteSpending(budget);
  const stop = new AbortController();
  const stopListening = budget.onUsedUp(() => stop.abort(new RunAborted('budget', budget.usedUp)));
  const signal = AbortSignal.any([live.signal, stop.signal]);
  const watch = {
    ...createWatch(live, budget, spent, emit, begun),
    label: formatRunTitle(spec),
    signal,
  };
  try {
    const {history} = live;
    const messages = history.messages.slice(0, -1);
    const permissions = getPermissions(permits.policy, agent);
    const task: RemoteTask = {
      spec,
      round: live.round,
      agent,
      prompt,
      limits,
      messages,
      permissions,
      isBudgeted: budget.isLimited,
    };
    const end = await (round.isPending ? remote!.resume(spec.runId, watch) : remote!.run(task, watch));
    if (!end) {
      live.isLeft = true;
      return undefined;
    }
    spent.settle(end.result);
    history.appendLines(end.entries);
    const result = limitedBy(end.result, stop.signal, budget);
    const places = {root: workspace.root, citedIn: workspace.root};
    return {...addBroughtBack(result, end.brought, places, emit), acknowledge: end.acknowledge};
  } catch (error) {
    // A failure becomes an ordinary end of the run, so that the transcript records it.
    const result = createInternalError(error);
    return {result, receipt: makeReceipt(result, workspace.root), acknowledge: async () => undefined};
  } finally {
    stopListening();
    spent.giveBack();
    live.inbox.watch({});
  }
}

/** Creates what the manager receives from a run and sends to it. What its calls use is spent here. */
function createWatch(
  live: LiveRun,
  budget: Budget,
  spent: RemoteSpending,
  emit: Emit,
  begun: (worker: string) => void,
): Omit<RemoteWatch, 'label' | 'signal'> {
  return {
    begun(worker) {
      spent.next();
      begun(worker);
    },
    event(event) {
      if (!budget.isLimited && event.type === 'message' && event.role === 'assistant') {
        spent.add(event.usage, event.model);
      }
      emit(event);
    },
    reserve: (id, call) => spent.reserve(id, call),
    release: (id, used) => spent.release(id, used),
    delivered: (id) => live.inbox.takeBack(id),
    onMessage: (listener) => {
      for (const message of live.inbox.list('prompt')) listener(message);
      live.inbox.watch({queued: listener});
    },
  };
}

/** A run that was stopped because the session's budget was used up ends with that limit as its outcome. */
function limitedBy(result: RunResult, {aborted}: AbortSignal, {usedUp}: Budget): RunResult {
  if (!aborted || result.outcome !== 'stopped' || usedUp === undefined) return result;
  return {...result, outcome: 'limit', limit: usedUp};
}

/** Counts what a run used at its workers, in all attempts. */
class RemoteSpending {
  /** Usage of the current attempt, as its replies reported it. */
  #counted = NO_USAGE;
  /** Reservations of calls. While a call waits for its own, `release` ends the wait. */
  readonly #calls = new Map<string, Pick<Reservation, 'release'> & Partial<Pick<Reservation, 'count'>>>();

  constructor(private readonly budget: Budget) {}

  /** Begins another attempt. The usage of earlier attempts stays spent. */
  next(): void {
    this.giveBack();
    this.#counted = NO_USAGE;
  }

  async reserve(id: string, call: CallSize): Promise<RemoteReservation | undefined> {
    const abort = new AbortController();
    this.#calls.set(id, {release: () => abort.abort()});
    try {
      const reserved = await this.budget.reserve(call, abort.signal);
      if (abort.signal.aborted) reserved.release();
      else this.#calls.set(id, reserved);
      return reserved;
    } catch (error) {
      this.#calls.delete(id);
      return error instanceof BudgetReached ? {limit: error.limit} : undefined;
    }
  }

  release(id: string, used: readonly UsedSoFar[]): void {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    for (const {usage, model} of used) {
      call?.count?.(usage);
      this.add(usage, model);
    }
    call?.release();
  }

  /** Gives back what calls of the attempt have reserved. */
  giveBack(): void {
    for (const id of [...this.#calls.keys()]) this.release(id, []);
  }

  add(usage: Usage, model: string): void {
    this.#counted = addUsage(this.#counted, usage);
    this.budget.spend(usage, model);
  }

  /** Spends what the ended attempt used apart from its replies: for retried calls, and for tools. */
  settle({usage, usageByModel}: RunResult): void {
    const [model = ''] = Object.keys(usageByModel);
    const rest = (key: 'input_tokens' | 'output_tokens' | 'cache_read_input_tokens' | 'cache_creation_input_tokens') =>
      Math.max(0, usage[key] - this.#counted[key]);
    const left: Usage = {
      input_tokens: rest('input_tokens'),
      output_tokens: rest('output_tokens'),
      cache_read_input_tokens: rest('cache_read_input_tokens'),
      cache_creation_input_tokens: rest('cache_creation_input_tokens'),
      ...(usage.cost_usd !== undefined && {cost_usd: Math.max(0, usage.cost_usd - (this.#counted.cost_usd ?? 0))}),
      ...(usage.cost_unknown && {cost_unknown: true}),
      ...(usage.cost_estimated && {cost_estimated: true}),
    };
    if (Object.values(left).some((value) => typeof value === 'number' && value > 0)) this.budget.spend(left, model);
  }
}
