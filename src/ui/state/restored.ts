/**
 * Shows a resumed conversation as it looked. Its messages become the events that showed them, and the usual reducer
 * makes the screen from these. Prompts and marks of interrupted answers are not events; they are printed here.
 */
import type {AgentEvent, AgentEventBody, SessionInfo} from '../../core/contract/events.ts';
import type {ToolResultBlock, ToolUse} from '../../core/contract/model.ts';
import type {RunRecord} from '../../core/contract/runs.ts';
import type {CallShown, RestoredMessage} from '../../core/contract/transcript.ts';
import {formatSubagentSummary} from '../../core/runs/delegation-log.ts';
import {CUT_OFF, getText, INTERRUPTED, NO_USAGE} from '../../core/util/messages.ts';
import {dropOverwritten} from '../../core/util/text.ts';
import {replayCall} from '../../core/util/tool-output.ts';
import {screenText} from '../text/screen-text.ts';
import {addText, finishText} from './answer.ts';
import {addItem, addNotice} from './finished-items.ts';
import type {UiState} from './ui-state.ts';

/** Maximal number of messages that are shown again, with the results of calls. */
const MAX_RESTORED = 100;

const COMPACTED_HERE = '… the conversation was compacted here: a summary stands for what was before';

type Reduce = (state: UiState, event: AgentEvent) => UiState;

/** Prints the end of a resumed conversation. @param reduce the reducer that makes the screen from events */
export function addRestored(state: UiState, info: SessionInfo, reduce: Reduce): UiState {
  const {restored, earlierMessages = 0} = info;
  const shown = lastMessages(restored);
  const hidden = restored.length - shown.length + earlierMessages;
  const text = `… ${hidden} earlier ${hidden === 1 ? 'message' : 'messages'} · Ctrl+O shows all`;
  const start = hidden > 0 ? addNotice(state, 'info', text) : state;
  const replay = new Replay(info, reduce);
  const next = shown.reduce((before, message, index) => {
    const added = replay.add(before, message, shown[index + 1]);
    const {subagents} = message;
    return subagents ? addItem(added, {kind: 'remark', text: formatSubagentSummary(subagents)}) : added;
  }, start);
  // Restored events are history: they leave no row in the panel and no running call.
  return {...next, subagents: state.subagents, tools: [], dispatched: [], hasRun: state.hasRun};
}

/** Returns the last messages, from a prompt on when one is near. */
function lastMessages(restored: readonly RestoredMessage[]): readonly RestoredMessage[] {
  if (restored.length <= MAX_RESTORED) return restored;
  const last = restored.slice(-MAX_RESTORED);
  const prompt = last.findIndex((message) => message.prompt);
  return prompt > 0 && prompt < MAX_RESTORED / 2 ? last.slice(prompt) : last;
}

class Replay {
  readonly #reduce: Reduce;
  readonly #runs: readonly RunRecord[];
  readonly #calls = new Map<string, ToolUse>();
  /**
   * True when prompts are marked. Older transcripts have no marks, so text of the runtime looks like a prompt there.
   */
  readonly #areMarked: boolean;

  constructor({restored, restoredRuns}: SessionInfo, reduce: Reduce) {
    this.#reduce = reduce;
    this.#runs = restoredRuns;
    this.#areMarked = restored.some(({prompt}) => prompt);
  }

  add(state: UiState, restored: RestoredMessage, next: RestoredMessage | undefined): UiState {
    const {message, announcement, companion, summary, repeated, prompt} = restored;
    const text = getText(message.content);
    // A prompt that was repeated after a summary is not shown again.
    if (repeated) return state;
    if (summary) return addNotice(state, 'info', COMPACTED_HERE);
    if (announcement) return this.#announce(state, announcement);
    if (companion !== undefined) return this.#addCompanion(state, companion, text);
    if (message.role === 'assistant') {
      const after = next && getText(next.message.content);
      return this.#addReply(state, message.content, after === INTERRUPTED || after === CUT_OFF);
    }
    if (text === INTERRUPTED) return addNotice(state, 'warning', 'interrupted');
    if (text === CUT_OFF) return addNotice(state, 'warning', CUT_OFF.slice(1, -1));
    const ended = this.#addResults(state, restored, next);
    if (text === '' || (this.#areMarked && !prompt)) return ended;
    return addItem(ended, {kind: 'prompt', text: screenText(text)});
  }

  #emit(state: UiState, body: AgentEventBody, run?: string): UiState {
    const from = run === undefined ? {agentId: 'main'} : {agentId: run, parent: 'main'};
    return this.#reduce(state, {...body, ...from, seq: 0, at: 0});
  }

  /**
   * Shows the prompt that brought a companion message. Files of an `@` mention are not shown, because the prompt names
   * them.
   */
  #addCompanion(state: UiState, companion: string, text: string): UiState {
    if (companion.startsWith('@')) return state;
    const prompted = addItem(state, {kind: 'prompt', text: screenText(companion)});
    // For a command that the user typed, the screen showed its output, too.
    const output = companion.startsWith('!') ? text.split('\n\n').slice(1).join('\n\n') : '';
    return output === '' ? prompted : addNotice(prompted, 'info', screenText(dropOverwritten(output)));
  }

  /** @param isCut true when the end of the reply is missing */
  #addReply(state: UiState, content: RestoredMessage['message']['content'], isCut: boolean): UiState {
    if (typeof content === 'string') return addText(state, content);
    let next = state;
    for (const block of content) {
      if (block.type === 'tool_use') this.#calls.set(block.id, block as ToolUse);
      if (block.type === 'thinking') next = this.#emit(next, {type: 'thinking_delta', text: block.thinking});
    }
    const facts = {id: '', content: [], model: '', usage: NO_USAGE, stopReason: null};
    const text = getText(content);
    if (text !== '') next = this.#emit(next, {type: 'text_delta', text});
    if (isCut) next = finishText(next, true);
    return this.#emit(next, {type: 'message', role: 'assistant', ...facts});
  }

  #addResults(state: UiState, {message: {content}, calls = {}}: RestoredMessage, next: RestoredMessage | undefined) {
    if (typeof content === 'string') return state;
    const results = content.flatMap((block) => (block.type === 'tool_result' ? [block] : []));
    // In the turn of a Task that the user typed no model writes, so its result is the answer.
    const isTyped = results.length === 1 && results[0]!.tool_use_id.startsWith('toolu_typed_');
    let ended = state;
    for (const result of results) ended = this.#addResult(ended, result, calls[result.tool_use_id]);
    if (!isTyped || next?.message.role === 'assistant') return ended;
    return addText(ended, getText(results[0]!.content ?? ''));
  }

  #addResult(state: UiState, result: ToolResultBlock, shown: CallShown | undefined): UiState {
    const call = this.#calls.get(result.tool_use_id);
    if (!call) return state;
    const [start, end] = replayCall(call.name, call.input, result, shown);
    let next = this.#emit(state, start);
    for (const run of this.#runs) if (run.callId === call.id) next = this.#addRun(next, run, run.background);
    return this.#emit(next, end);
  }

  #addRun(state: UiState, run: RunRecord, background: boolean): UiState {
    const {runId, agent, worker, description, label, callId, outcome = 'unknown', reason = '', receipt, tools} = run;
    const about = {agent, description, label, callId, background, model: '', queued: false};
    const started = this.#emit(state, {type: 'run_start', ...about}, runId);
    const durationMs = run.result?.durationMs ?? 0;
    const placed = worker === undefined ? started : this.#emit(started, {type: 'run_place', worker}, runId);
    const facts = {outcome, reason, tools, durationMs, usage: NO_USAGE, ...(receipt && {receipt})};
    return this.#emit(placed, {type: 'run_end', ...facts}, runId);
  }

  #announce(state: UiState, announcement: NonNullable<RestoredMessage['announcement']>): UiState {
    const run = this.#runs.find(({runId}) => runId === announcement.runId);
    const isKnown = state.subagents.some(({agentId}) => agentId === announcement.runId);
    const started = run && !isKnown ? this.#addRun(state, run, true) : state;
    return this.#emit(started, {type: 'announcement', ...announcement});
  }
}
