/**
 * Makes the state of the screen from the session's events, as a pure function. Finished items are appended to
 * `finished` and never change; the rest is live. Text is made safe for the screen here, except the end of the stream,
 * which is made safe when it is drawn.
 */
import type {AgentEvent, SessionInfo} from '../../core/contract/events.ts';
import type {AssistantBlock} from '../../core/contract/model.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {formatSubagentSummary} from '../../core/runs/delegation-log.ts';
import {formatDuration, formatSeconds} from '../../core/runs/progress-line.ts';
import {addUsage, countInputTokens, getText} from '../../core/util/messages.ts';
import {isCommandLine} from '../../core/util/prompt-syntax.ts';
import {formatLimit, formatRetry, formatTokens} from '../../core/util/text.ts';
import {findTool, formatCall, isCommand} from '../../core/util/tool-names.ts';
import {screenLine, screenText} from '../text/screen-text.ts';
import {addDelta, addThought, dropText, finishText} from './answer.ts';
import {addItem, addItems, addNotice} from './finished-items.ts';
import {addQuestion, endQuestion} from './questions.ts';
import {addRestored} from './restored.ts';
import {
  announceRun,
  forgetEndedRuns,
  forgetRepeatedTask,
  reduceSubagent,
  repeatTask,
  settleSubagents,
} from './subagent-store.ts';
import {type FinishedTool, NO_CONTEXT, NO_REPLY, type RunningTool, type UiState} from './ui-state.ts';

export function reduce(state: UiState, event: AgentEvent): UiState {
  switch (event.type) {
    case 'ask':
      return addQuestion(state, event.question);
    case 'ask_end':
      return endQuestion(restartCall(state, event), event);
    case 'queued_prompt':
      return {...state, queued: [...state.queued, {id: event.id, text: screenText(event.text)}]};
    case 'queued_prompt_delivered':
      return takeQueued(state, event.id);
    case 'queued_prompt_taken_back':
      return withoutQueued(state, event.id);
    case 'queued_prompt_dropped':
      return addNotice(withoutQueued(state, event.id), 'warning', `not sent: ${screenText(event.text)}`);
    case 'session':
      return {...state, session: safeInfo(event.info)};
    case 'cleared':
      return {
        ...forgetEndedRuns(finishText(state)),
        todos: [],
        context: NO_CONTEXT,
        costBefore: undefined,
        hasRun: false,
      };
    case 'resumed':
      return addRestored({...state, session: safeInfo(event.info), hasRun: true}, event.info, reduce);
    case 'rewound':
      return {...finishText(state), todos: [], context: NO_CONTEXT};
    case 'announcement':
      return announceRun(state, event);
    case 'cost':
      return addCost(state, event);
    case 'notice':
      return addItem(
        // A notice of a subagent is part of its transcript, too.
        event.parent === undefined ? state : reduceSubagent(state, event),
        {
          kind: 'notice',
          level: event.level,
          text: agentPrefix(state, event) + screenText(event.text).replace(/\n+$/, ''),
          ...(event.look && {look: event.look}),
        },
      );
    default:
      return event.parent === undefined ? reduceMain(state, event) : reduceSubagent(state, event);
  }
}

function addCost(state: UiState, {usage, before}: Extract<AgentEvent, {type: 'cost'}>): UiState {
  const costBefore = before ?? state.costBefore;
  return {...state, costBefore, cost: costBefore ? addUsage(costBefore, usage) : usage};
}

/** Events after which no retry is shown: the model answers, or its call has ended. */
const ENDS_RETRY: ReadonlySet<AgentEvent['type']> = new Set([
  ...(['text_delta', 'thinking_delta', 'message', 'tool_start', 'run_end'] as const),
]);

function reduceMain(before: UiState, event: AgentEvent): UiState {
  const state = before.retry && ENDS_RETRY.has(event.type) ? {...before, retry: undefined} : before;
  switch (event.type) {
    case 'context': {
      const {tokens, limit} = event;
      return {...state, context: limit === undefined ? {tokens} : {tokens, limit}};
    }
    case 'compacted':
      return {...state, context: {...state.context, tokens: event.postTokens}};
    case 'run_start':
      return {...state, busy: true, busySince: event.at, turnTokens: 0, hasRun: true, reply: NO_REPLY};
    case 'text_delta': {
      const {reply} = state;
      return {...addDelta(state, event.text), reply: {...reply, text: reply.text + event.text}};
    }
    case 'thinking_delta': {
      const {reply} = state;
      return {...addThought(state, event.text), reply: {...reply, thinking: reply.thinking + event.text}};
    }
    case 'message': {
      const messages = state.messages + 1;
      if (event.role === 'user') return {...state, messages};
      const turnTokens = state.turnTokens + countInputTokens(event.usage) + event.usage.output_tokens;
      return {...finishText(addUnstreamed(state, event)), reply: NO_REPLY, turnTokens, messages};
    }
    case 'retry':
      return retryCall(state, event);
    case 'tool_start':
      return {
        ...(event.byUser ? state : finishText(state)),
        tools: [...state.tools.filter(({callId}) => callId !== event.callId), startedTool(event, getToolFacts(state))],
      };
    case 'tool_progress':
      return {
        ...state,
        tools: state.tools.map((tool) =>
          tool.callId === event.callId ? {...tool, progress: screenText(event.text)} : tool,
        ),
      };
    case 'repeated_task':
      return repeatTask(state, event);
    case 'tool_end':
      return endTool(forgetRepeatedTask(state, event.callId), event);
    case 'run_end':
      return endTurn(state, event);
    default:
      return state;
  }
}

/** Adds the parts of a whole message that did not come as deltas. */
function addUnstreamed(state: UiState, {content}: {readonly content: readonly AssistantBlock[]}): UiState {
  const {reply} = state;
  const thinking = content.map((block) => (block.type === 'thinking' ? block.thinking : '')).join('');
  const thought = reply.thinking === '' && reply.text === '' && thinking !== '' ? addThought(state, thinking) : state;
  return addDelta(thought, reply.text === '' ? getText(content) : '');
}

/**
 * Shows the retry live until the model answers. It is printed when a part of the answer was shown or another model
 * takes over.
 */
function retryCall(state: UiState, event: AgentEvent & {type: 'retry'}): UiState {
  const {fallback, at, waitMs} = event;
  const retry = fallback ? undefined : {...event, until: at + waitMs};
  const stopped = {...dropText(state), reply: NO_REPLY, retry};
  const isShown = state.reply.text !== '';
  if (!isShown && !fallback) return stopped;
  return addNotice(stopped, 'warning', screenLine(formatRetry(event, isShown)));
}

export function addPrompt(state: UiState, text: string): UiState {
  return addItem(state, {kind: 'prompt', text: screenText(text)});
}

/** Prints the warnings of an opened session and the end of a resumed conversation. */
export function openSession(state: UiState, info: SessionInfo): UiState {
  const warned = info.warnings.map((text) => ({kind: 'notice', level: 'warning', text: screenText(text)}) as const);
  return addRestored(addItems({...state, session: safeInfo(info)}, warned), info, reduce);
}

type ToolStart = AgentEvent & {type: 'tool_start'};

function getToolFacts({session}: UiState): readonly ToolFacts[] {
  return session?.toolFacts ?? [];
}

function startedTool(
  {callId, tool, title, description = '', byUser, at}: ToolStart,
  tools: readonly ToolFacts[],
): RunningTool {
  const call = byUser ? `!${title}` : formatCall(tool, title, tools);
  const about = {call: screenLine(call), description: screenLine(description)};
  const isOne = byUser || isCommand(tool, tools);
  const facts = findTool(tool, tools);
  const path = facts?.pathInputs && /^(?:read|edit)$/.test(facts.kind ?? '') ? screenLine(title) : undefined;
  return {callId, ...about, path, since: at, progress: '', ...(isOne && {isCommand: true}), ...(byUser && {byUser})};
}

/** Restarts the clock of a call after its question, so that the person's time does not count. */
function restartCall(state: UiState, {askId, at}: AgentEvent & {type: 'ask_end'}): UiState {
  const asked = state.questions.find(({id}) => id === askId)?.callId;
  return {...state, tools: state.tools.map((tool) => (tool.callId === asked ? {...tool, since: at} : tool))};
}

function endTool(state: UiState, event: AgentEvent & {type: 'tool_end'}): UiState {
  const running = state.tools.find((tool) => tool.callId === event.callId);
  const next = {
    ...state,
    tools: state.tools.filter((tool) => tool !== running),
    dispatched: state.dispatched.filter((callId) => callId !== event.callId),
    printedDiffs: state.printedDiffs.filter((callId) => callId !== event.callId),
    todos: event.display?.type === 'todos' ? safeDisplay(event.display).todos : state.todos,
  };
  // A notice shows the output of a command that the user typed.
  if (event.byUser) return next;
  // The subagent's own line shows how the call ended. A run in the background has no line, and may begin after its call
  // has ended.
  const isDispatched = state.dispatched.includes(event.callId);
  if (event.display?.type === 'text' && (isDispatched || event.tool === 'Task')) {
    return addNotice(finishText(next), 'info', screenLine(event.display.text));
  }
  if (isDispatched) return next;
  const tool: FinishedTool = {
    call: running?.call ?? screenLine(formatCall(event.tool, '', getToolFacts(state))),
    path: running?.path,
    isCommand: isCommand(event.tool, getToolFacts(state)),
    description: running?.description ?? '',
    isError: event.isError,
    summary: screenLine(event.summary ?? ''),
    preview: screenText(event.preview),
    isEnd: event.previewIsEnd ?? false,
    lines: event.lines,
    ...(event.display && {display: safeDisplay(event.display)}),
    ...(event.outputFile !== undefined && {outputFile: screenLine(event.outputFile)}),
    durationMs: event.durationMs,
    ...(state.printedDiffs.includes(event.callId) && {isDiffPrinted: true as const}),
  };
  return addItem(finishText(next), {kind: 'tool', tool});
}

function endTurn(state: UiState, event: AgentEvent & {type: 'run_end'}): UiState {
  let next: UiState = {
    ...finishText(state, event.outcome !== 'success'),
    busy: false,
    tools: state.tools.filter(({byUser}) => byUser),
    dispatched: [],
    reply: NO_REPLY,
  };
  next = settleSubagents(next);
  next = addTime(addEnding(next, event), event.at - next.busySince);
  const {subagents} = event;
  return subagents ? addItem(next, {kind: 'remark', text: formatSubagentSummary(subagents)}) : next;
}

function addEnding(next: UiState, event: AgentEvent & {type: 'run_end'}): UiState {
  const reason = screenText(event.reason ?? '');
  switch (event.outcome) {
    case 'success':
      return next;
    case 'stopped':
      return addNotice(next, 'warning', 'interrupted');
    case 'limit':
      return addNotice(next, 'warning', formatLimit(reason));
    case 'timeout':
      return addNotice(next, 'warning', reason || 'timed out');
    default:
      return isShown(next, reason) ? next : addNotice(next, 'error', reason || 'the turn failed');
  }
}

function addTime(state: UiState, ms: number): UiState {
  const took = ms < 1000 ? formatDuration(ms) : formatSeconds(ms);
  const used = state.turnTokens > 0 ? ` · ${formatTokens(state.turnTokens)} tokens` : '';
  return addItem(state, {kind: 'remark', text: `Took ${took}${used}`});
}

/**
 * Tells whether the last item on the screen shows the reason already: a refused Task that the user typed shows it in
 * its line.
 */
function isShown(state: UiState, reason: string): boolean {
  // The offline model's answer is its reason.
  if (/^the offline model(?:: | could)/.test(reason)) return true;
  const last = state.finished.at(-1);
  return last?.kind === 'tool' && last.tool.isError && last.tool.preview.trim() === reason.trim();
}

function withoutQueued(state: UiState, id: string): UiState {
  return {...state, queued: state.queued.filter((queued) => queued.id !== id)};
}

function takeQueued(state: UiState, id: string): UiState {
  const prompt = state.queued.find((queued) => queued.id === id);
  const next = withoutQueued(state, id);
  // A command was already printed when it was sent.
  return prompt && !isCommandLine(prompt.text) ? addItem(next, {kind: 'prompt', text: prompt.text}) : next;
}

function safeInfo(info: SessionInfo): SessionInfo {
  return {
    ...info,
    model: screenLine(info.model),
    ...(info.branch !== undefined && {branch: screenLine(info.branch)}),
    cwd: screenLine(info.cwd),
    commands: info.commands.map(({name, description, argumentHint}) => ({
      name: screenLine(name).replace(/^\//, ''),
      description: screenLine(description),
      ...(argumentHint !== undefined && {argumentHint: screenLine(argumentHint)}),
    })),
  };
}

function safeDisplay<T extends NonNullable<FinishedTool['display']>>(display: T): T {
  if (display.type === 'diff') return {...display, path: screenLine(display.path), patch: screenText(display.patch)};
  if (display.type === 'text') return {...display, text: screenText(display.text)};
  return {...display, todos: display.todos.map((todo) => ({...todo, content: screenLine(todo.content)}))};
}

/** Returns `[explore] ` for a notice of that subagent; empty for the main agent. */
function agentPrefix(state: UiState, event: AgentEvent): string {
  const run = event.parent === undefined ? undefined : state.subagents.find((one) => one.agentId === event.agentId);
  return run ? `[${run.agent}] ` : '';
}
