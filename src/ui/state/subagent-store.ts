/**
 * Reduces the runs of subagents, in order of dispatch. An awaited run has a live line, and these lines are printed when
 * all awaited runs have ended. A background run has a row in the panel until its end is announced, even after the turn.
 */

import type {AgentEvent, RunStart} from '../../core/contract/events.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {ANNOUNCE_SKIP} from '../../core/runs/announcement.ts';
import {describeInBackground, type ProgressState} from '../../core/runs/progress-line.ts';
import {countInputTokens, getText} from '../../core/util/messages.ts';
import {formatRetry} from '../../core/util/text.ts';
import {formatCall} from '../../core/util/tool-names.ts';
import {screenLine, screenText} from '../text/screen-text.ts';
import {addItem, addNotice, announcementItem} from './finished-items.ts';
import {EMPTY_TAIL, feedTail} from './run-tail.ts';
import type {SubagentRun, UiState} from './ui-state.ts';

export function reduceSubagent(state: UiState, event: AgentEvent): UiState {
  if (event.type === 'run_start') return startRun(state, event);
  const index = state.subagents.findIndex((run) => run.agentId === event.agentId);
  const run = state.subagents[index];
  if (!run) return state;
  const next = {
    ...state,
    subagents: state.subagents.with(index, changeRun(run, event, state.session?.toolFacts ?? [])),
  };
  switch (event.type) {
    case 'run_background': {
      if (run.isBackground) return next;
      if (event.count === 0) return settleGroup(next);
      const text =
        event.count > 1 ? `${event.count} agents run in the background: /subagents` : describeInBackground(run);
      return settleGroup(addNotice(next, 'info', text));
    }
    case 'run_end':
      if (!run.isBackground) return settleGroup(next);
      return run.isSilent && event.outcome === 'success'
        ? removeRuns(next, (one) => one.agentId === run.agentId)
        : next;
    default:
      return next;
  }
}

/** Adds a run in the order in which the calls began that dispatched the runs. */
function insertRun({subagents, tools}: UiState, run: SubagentRun): readonly SubagentRun[] {
  const order = (callId: string | undefined) => tools.findIndex((tool) => tool.callId === callId);
  const own = order(run.callId);
  const at = own < 0 ? -1 : subagents.findIndex(({callId}) => order(callId) > own);
  return at < 0 ? [...subagents, run] : subagents.toSpliced(at, 0, run);
}

/** Shows a Task that joined another run, or got the result of an earlier one, by a line of its own. */
export function repeatTask(state: UiState, event: AgentEvent & {type: 'repeated_task'}): UiState {
  const {callId, source, tools, durationMs, reason = ''} = event;
  const index = state.subagents.findIndex((run) => run.agentId === callId);
  if (index < 0) {
    const {type: _, state: _s, ...start} = event;
    const begun = startRun(state, {...start, type: 'run_start', agentId: callId, model: '', queued: false});
    return repeatTask(begun, event);
  }
  const run = {...state.subagents[index]!, source, state: event.state, tools, durationMs, reason: screenLine(reason)};
  const next = {...state, subagents: state.subagents.with(index, run)};
  return hasEnded(run) ? settleGroup(next) : next;
}

/** Removes the line of a Task that no longer waits for the run that it joined, since this went to the background. */
export function forgetRepeatedTask(state: UiState, callId: string): UiState {
  return removeRuns(state, (run) => run.source !== undefined && run.agentId === callId && !hasEnded(run));
}

function startRun(state: UiState, event: AgentEvent & RunStart): UiState {
  const dispatched = event.callId ? [...state.dispatched, event.callId] : state.dispatched;
  const index = state.subagents.findIndex((run) => run.agentId === event.agentId);
  // A run that continues after its end keeps its place and its transcript.
  const before = state.subagents[index] ?? (state.removedRun?.agentId === event.agentId ? state.removedRun : undefined);
  const run: SubagentRun = {
    agentId: event.agentId,
    callId: event.callId,
    agent: screenLine(event.agent),
    worker: before?.worker,
    color: before?.color ?? state.runCount,
    description: screenLine(event.label ?? event.description),
    state: event.queued ? 'queued' : 'running',
    tools: 0,
    startedAt: event.at,
    durationMs: 0,
    reason: '',
    note: '',
    receipt: [],
    isBackground: event.background ?? before?.isBackground ?? false,
    isSilent: false,
    isCommand: event.tool !== undefined,
    tokens: 0,
    lastTool: '',
    lastAt: event.at,
    tail: before?.tail ?? EMPTY_TAIL,
  };
  const removedRun = before === state.removedRun ? undefined : state.removedRun;
  const subagents = index < 0 ? insertRun(state, run) : state.subagents.with(index, run);
  return {...state, dispatched, subagents, removedRun, runCount: state.runCount + (before ? 0 : 1)};
}

function changeRun(before: SubagentRun, event: AgentEvent, tools: readonly ToolFacts[]): SubagentRun {
  const run = {...before, lastAt: event.at, tail: feedTail(before.tail, event, tools)};
  switch (event.type) {
    case 'run_active':
      return {...run, state: 'running', startedAt: event.at};
    case 'run_place':
      return {...run, worker: screenLine(event.worker)};
    case 'run_note':
      return {...run, note: screenLine(event.text)};
    case 'run_background':
      return {...run, isBackground: true};
    case 'tool_start':
      return {...run, note: '', lastTool: screenLine(formatCall(event.tool, event.title, tools))};
    case 'tool_end':
      return {...run, tools: run.tools + 1, note: '', ...(run.isCommand && {output: screenText(event.preview)})};
    case 'retry':
      // Esc stops the runs that the turn waits for.
      return {
        ...run,
        note: screenLine(`${formatRetry(event)}${event.pause && !run.isBackground ? ' · Esc stops' : ''}`),
      };
    case 'message': {
      if (event.role === 'user') return {...run, note: ''};
      const tokens = run.tokens + countInputTokens(event.usage) + event.usage.output_tokens;
      return {...run, note: '', tokens, isSilent: getText(event.content) === ANNOUNCE_SKIP};
    }
    case 'run_end':
      return {
        ...run,
        state: event.outcome,
        tools: event.tools,
        durationMs: event.durationMs,
        reason: screenLine(event.reason ?? ''),
        receipt: shortenReceipt(screenLine(event.receipt ?? '')),
        note: '',
        // The event of the end counts all tokens, including those of failed model calls.
        tokens: Math.max(run.tokens, countInputTokens(event.usage) + event.usage.output_tokens),
      };
    default:
      return run;
  }
}

/** Returns the informative parts of a receipt that the run's line does not show already; `UNVERIFIED` comes first. */
function shortenReceipt(receipt: string): string[] {
  const [, , ...parts] = receipt.split(/^Receipt: | · /);
  const told = parts.filter(
    (part) => !/^(?:commands 0|citations 0|read 0 files|est n\/a|UNVERIFIED|[\d.]+s|\d+m\d+s)$/.test(part),
  );
  return parts.includes('UNVERIFIED') ? ['UNVERIFIED', ...told] : told;
}

/** Prints how a background run ended, and removes the run from the panel. */
export function announceRun(state: UiState, event: AgentEvent & {type: 'announcement'}): UiState {
  const run = findRun(state, event.runId);
  const announcement = announcementItem(event, run && withDuration(run, event.at));
  const next = removeRuns(state, (one) => one.agentId === event.runId);
  return addItem(next, {kind: 'announcement', announcement});
}

/** Prints the awaited runs when all of them have ended, or when the turn that awaited them has ended. */
function settleGroup(state: UiState): UiState {
  return !state.busy || awaitedRuns(state).every(hasEnded) ? settleSubagents(state) : state;
}

/** Prints the awaited runs that have ended. */
export function settleSubagents(state: UiState): UiState {
  const isOver = (run: SubagentRun) => !run.isBackground && hasEnded(run);
  const ended = state.subagents.filter(isOver);
  if (ended.length === 0) return state;
  const next = removeRuns(state, isOver);
  return addItem(next, {
    kind: 'subagents',
    // The end of a transcript is kept only for a run that can be opened.
    runs: ended.map((run) => ({...run, tail: EMPTY_TAIL})),
  });
}

/** Removes ended background runs when a new conversation begins, because their ends will not be announced. */
export function forgetEndedRuns(state: UiState): UiState {
  return removeRuns(state, (run) => run.isBackground && hasEnded(run));
}

function removeRuns(state: UiState, isRemoved: (run: SubagentRun) => boolean): UiState {
  const subagents = state.subagents.filter((run) => !isRemoved(run));
  if (subagents.length === state.subagents.length) return state;
  const opened = state.subagents.find((run) => run.agentId === state.openedRun);
  return {...state, subagents, removedRun: opened && isRemoved(opened) ? opened : state.removedRun};
}

export function openRun(state: UiState, runId: string): UiState {
  return {...state, openedRun: runId, removedRun: undefined};
}

export function closeRun(state: UiState): UiState {
  return {...state, openedRun: undefined, removedRun: undefined};
}

/** Returns the run whose transcript is shown. */
export function openedRun(state: UiState): SubagentRun | undefined {
  return state.openedRun === undefined ? undefined : findRun(state, state.openedRun);
}

function findRun(state: UiState, runId: string): SubagentRun | undefined {
  const {removedRun} = state;
  return (
    state.subagents.find((run) => run.agentId === runId) ?? (removedRun?.agentId === runId ? removedRun : undefined)
  );
}

/** Returns the runs that the turn waits for. Each has a live line. */
export function awaitedRuns(state: UiState): readonly SubagentRun[] {
  return state.subagents.filter((run) => !run.isBackground);
}

/** Tells whether the turn waits for a run, or a command is at work: Ctrl+B can send them to the background. */
export function hasAwaitedWork({busy, subagents, tools, questions}: UiState): boolean {
  const isAsked = (id: string) => questions.some(({callId}) => callId === id);
  return (
    (busy && subagents.some((run) => !run.isBackground && !hasEnded(run))) ||
    tools.some(({isCommand, callId}) => isCommand && !isAsked(callId))
  );
}

/** Returns the text after `> Task: ` above the live lines. */
export function groupTitle(runs: readonly {description: string}[]): string {
  return runs.length === 1 ? runs[0]!.description : `${runs.length} agents`;
}

/** Returns the run with its duration. @param now end of the duration of a run that has not ended */
export function withDuration(run: SubagentRun, now: number): SubagentRun {
  return hasEnded(run) ? run : {...run, durationMs: Math.max(0, now - run.startedAt)};
}

export function hasEnded(run: {readonly state: ProgressState['state']}): boolean {
  return run.state !== 'queued' && run.state !== 'running';
}

/** Ranks running runs before queued ones, and these before ended ones. */
export function rankRun(run: SubagentRun): number {
  if (hasEnded(run)) return 2;
  return run.state === 'queued' ? 1 : 0;
}
