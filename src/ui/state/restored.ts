/**
 * A resumed conversation, as it looked: its messages become the events that showed them, and the same reducer makes the
 * screen of them. Prompts and marks of what was cut off are no events; they are printed here.
 */
import type {AgentEvent, AgentEventBody, SessionInfo} from '../../core/contract/events.ts';
import type {ToolResultBlock, ToolUse} from '../../core/contract/model.ts';
import type {RunRecord} from '../../core/contract/runs.ts';
import type {CallShown, RestoredMessage} from '../../core/contract/transcript.ts';
import {CUT_OFF, getText, INTERRUPTED, NO_USAGE} from '../../core/util/messages.ts';
import {describeInput} from '../../core/util/tool-output.ts';
import {screenText} from '../text/screen-text.ts';
import {addText, finishText} from './answer.ts';
import {addItem} from './finished-items.ts';
import type {UiState} from './ui-state.ts';

/** How many messages are shown again, results of calls counted. */
const MAX_RESTORED = 100;
/** Of a result, as much as a live one brings. Characters. */
const PREVIEW_CHARS = 2_000;

const COMPACTED_HERE = '… the conversation was compacted here: a summary stands for what was before';

type Reduce = (state: UiState, event: AgentEvent) => UiState;

/** Prints the end of a resumed conversation. @param reduce makes the screen of events */
export function addRestored(state: UiState, info: SessionInfo, reduce: Reduce): UiState {
  const {restored, earlierMessages = 0} = info;
  const shown = lastMessages(restored);
  const hidden = restored.length - shown.length + earlierMessages;
  const text = `… ${hidden} earlier ${hidden === 1 ? 'message' : 'messages'} · Ctrl+O shows all`;
  const start = hidden > 0 ? addItem(state, {kind: 'notice', level: 'info', text}) : state;
  const replay = new Replay(info, reduce);
  const next = shown.reduce((before, message, index) => replay.add(before, message, shown[index + 1]), start);
  // What was told here is history: no row of the panel, no answer under way.
  return {...next, subagents: state.subagents, tools: [], dispatched: [], hasRun: state.hasRun};
}

/** From a prompt on, where one is near. */
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
  /** Prompts are marked. In transcripts of earlier versions none is: then what the runtime wrote looks like one. */
  readonly #areMarked: boolean;

  constructor({restored, restoredRuns}: SessionInfo, reduce: Reduce) {
    this.#reduce = reduce;
    this.#runs = restoredRuns;
    this.#areMarked = restored.some(({prompt}) => prompt);
  }

  add(state: UiState, restored: RestoredMessage, next: RestoredMessage | undefined): UiState {
    const {message, announcement, companion, summary, repeated, prompt} = restored;
    const text = getText(message.content);
    // A prompt that was repeated after a summary is shown where it was typed, or not at all.
    if (repeated) return state;
    if (summary) return addItem(state, {kind: 'notice', level: 'info', text: COMPACTED_HERE});
    if (announcement) return this.#announce(state, announcement);
    if (companion !== undefined) return this.#addCompanion(state, companion, text);
    if (message.role === 'assistant') {
      const after = next && getText(next.message.content);
      return this.#addReply(state, message.content, after === INTERRUPTED || after === CUT_OFF);
    }
    if (text === INTERRUPTED) return addItem(state, {kind: 'notice', level: 'warning', text: 'interrupted'});
    if (text === CUT_OFF) return addItem(state, {kind: 'notice', level: 'warning', text: CUT_OFF.slice(1, -1)});
    const ended = this.#addResults(state, restored, next);
    if (text === '' || (this.#areMarked && !prompt)) return ended;
    return addItem(ended, {kind: 'prompt', text: screenText(text)});
  }

  #emit(state: UiState, body: AgentEventBody, run?: string): UiState {
    const from = run === undefined ? {agentId: 'main'} : {agentId: run, parent: 'main'};
    return this.#reduce(state, {...body, ...from, seq: 0, at: 0});
  }

  /** The prompt names the files that went along with it. */
  #addCompanion(state: UiState, companion: string, text: string): UiState {
    if (companion.startsWith('@')) return state;
    const prompted = addItem(state, {kind: 'prompt', text: screenText(companion)});
    // Of a command that the user typed, the output was shown.
    const output = companion.startsWith('!') ? text.split('\n\n').slice(1).join('\n\n') : '';
    return output === '' ? prompted : addItem(prompted, {kind: 'notice', level: 'info', text: screenText(output)});
  }

  /** @param isCut its end is missing */
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
    // After a task that the user typed no model writes: the result is the answer.
    const isTyped = results.length === 1 && results[0]!.tool_use_id.startsWith('toolu_typed_');
    let ended = state;
    for (const result of results) ended = this.#addResult(ended, result, calls[result.tool_use_id]);
    if (!isTyped || next?.message.role === 'assistant') return ended;
    return addText(ended, getText(results[0]!.content ?? ''));
  }

  #addResult(state: UiState, result: ToolResultBlock, shown: CallShown | undefined): UiState {
    const {tool_use_id: callId, content = '', is_error: isError = false} = result;
    const call = this.#calls.get(callId);
    if (!call) return state;
    const runs = this.#runs.filter((run) => run.callId === callId);
    const text = getText(content);
    const {title, description, ...seen}: CallShown = shown ?? {title: describeInput(call.input)};
    const about = {callId, tool: call.name, title, ...(description !== undefined && {description})};
    let next = this.#emit(state, {type: 'tool_start', ...about});
    for (const run of runs) next = this.#addRun(next, run, run.background);
    return this.#emit(next, {
      type: 'tool_end',
      callId,
      tool: call.name,
      isError,
      durationMs: 0,
      preview: seen.previewIsEnd ? text.slice(-PREVIEW_CHARS) : text.slice(0, PREVIEW_CHARS),
      ...seen,
    });
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
