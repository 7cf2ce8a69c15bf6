/**
 * Reports to an editor what a session does, as `session/update`. The same translation serves live events and loaded
 * sessions. A subagent is shown as one card, which is the card of the call that dispatched it. The subagent's
 * own calls have a card only where they change files or need the person's answer.
 */
import type {ContentBlock, PlanEntry, SessionUpdate} from '@agentclientprotocol/sdk/unstable';
import type {AgentEvent, AgentEventBody, SessionInfo} from '../../core/contract/events.ts';
import type {SubagentSummary, Todo} from '../../core/contract/results.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {formatSubagentSummary} from '../../core/runs/delegation-log.ts';
import {getText} from '../../core/util/messages.ts';
import {formatRetry} from '../../core/util/text.ts';
import {isCommand} from '../../core/util/tool-names.ts';
import {type AnnouncedCall, describeCall, formatTitle, outputContent, readPatch, textContent} from './tool-calls.ts';

/** Maximal number of lines about a subagent's calls on its card. */
const MAX_RUN_LINES = 20;

/** The card of a subagent's run. */
interface RunCard {
  readonly cardId: string;
  readonly title: string;
  readonly lines: string[];
  isActive: boolean;
}

type Of<T extends AgentEventBody['type']> = Extract<AgentEvent, {type: T}>;
type CardChange = Omit<Extract<SessionUpdate, {sessionUpdate: 'tool_call_update'}>, 'sessionUpdate' | 'toolCallId'>;
type Send = (update: SessionUpdate) => void;

export class Updates {
  readonly #cwd: string;
  readonly #tools: readonly ToolFacts[];
  readonly #send: Send;
  readonly #showsTerminals: boolean;
  readonly #calls = new Map<string, AnnouncedCall>();
  /** Ids of calls that have a card. */
  readonly #shown = new Set<string>();
  readonly #runs = new Map<string, RunCard>();
  #mode: string;
  #cost = 0;
  /** True when text was streamed since the last message. */
  #isStreamed = false;

  /** @param showsTerminals true when the editor shows the output of a command, which mini-cc ran, as a terminal */
  constructor({cwd, permissionMode, toolFacts}: SessionInfo, send: Send, showsTerminals: boolean) {
    this.#cwd = cwd;
    this.#mode = permissionMode;
    this.#tools = toolFacts;
    this.#send = send;
    this.#showsTerminals = showsTerminals;
  }

  /** Sends text of mini-cc itself or of the model. */
  say(text: string): void {
    this.#send({sessionUpdate: 'agent_message_chunk', content: {type: 'text', text}});
  }

  /** Says what the subagents of a turn brought. */
  summarize(subagents: SubagentSummary): void {
    this.say(`\n\n${formatSubagentSummary(subagents)}`);
  }

  prompt(content: ContentBlock): void {
    this.#send({sessionUpdate: 'user_message_chunk', content});
  }

  take(event: AgentEvent): void {
    if (event.parent === undefined) this.#takeOwn(event);
    else this.#takeRun(event);
  }

  /** Shows a card for the call, unless it has one. */
  showCall(call: AnnouncedCall, title: string): void {
    this.#calls.set(call.callId, call);
    if (this.#shown.has(call.callId)) return;
    this.#shown.add(call.callId);
    const {callId, tool} = call;
    const terminal = this.#isInTerminal(tool) && {_meta: {terminal_info: {terminal_id: callId, cwd: this.#cwd}}};
    const described = describeCall(call, this.#cwd, this.#tools);
    this.#send({sessionUpdate: 'tool_call', ...described, title, status: 'pending', ...terminal});
  }

  findCall(callId: string): AnnouncedCall | undefined {
    return this.#calls.get(callId);
  }

  #takeOwn(event: AgentEvent): void {
    switch (event.type) {
      case 'run_start':
        this.#isStreamed = false;
        break;
      case 'text_delta':
        this.#isStreamed = true;
        this.say(event.text);
        break;
      case 'thinking_delta':
        this.#send({sessionUpdate: 'agent_thought_chunk', content: {type: 'text', text: event.text}});
        break;
      case 'retry':
        if (this.#isStreamed) this.say(`\n\n${formatRetry(event, true)}\n\n`);
        this.#isStreamed = false;
        break;
      case 'message':
        if (event.role === 'assistant') this.#endReply(event.content);
        break;
      case 'tool_start':
        this.#startCall(event);
        break;
      case 'tool_progress':
        this.#update(event.callId, {status: 'in_progress', content: [outputContent(event.text)]});
        break;
      case 'tool_end':
        this.#endCall(event);
        break;
      case 'session':
        this.#setMode(event.info.permissionMode);
        break;
      case 'run_end':
        if (event.subagents) this.summarize(event.subagents);
        break;
      case 'cost':
        this.#cost = event.usage.cost_usd ?? 0;
        break;
    }
  }

  /** Shows cards for the calls of a reply. Text that was not streamed, e.g. the summary of a fan-out, is sent here. */
  #endReply(content: Extract<Of<'message'>, {role: 'assistant'}>['content']): void {
    const text = getText(content);
    if (!this.#isStreamed && text !== '') this.say(text);
    this.#isStreamed = false;
    for (const block of content) {
      if (block.type !== 'tool_use') continue;
      const call = {callId: block.id, tool: block.name, input: block.input};
      this.#calls.set(call.callId, call);
      // The editor shows todos as its plan, so they need no card.
      if (call.tool !== 'todo_write') this.showCall(call, formatTitle(call.tool, '', this.#tools));
    }
  }

  #startCall({callId, tool, title}: Of<'tool_start'>): void {
    if (!this.#calls.has(callId)) this.#calls.set(callId, {callId, tool, input: {}});
    this.#update(callId, {title: formatTitle(tool, title, this.#tools), status: 'in_progress'});
  }

  #endCall(event: Of<'tool_end'>): void {
    const {callId, isError, display} = event;
    if (display?.type === 'todos') this.#sendPlan(display.todos);
    // A subagent in the background continues, so its card ends when the subagent does.
    const isAtWork = [...this.#runs.values()].some(({cardId, isActive}) => cardId === callId && isActive);
    if (isAtWork) return;
    const status = isError ? 'failed' : 'completed';
    if (!this.#isInTerminal(event.tool)) {
      this.#update(callId, {status, ...describeResult(event, this.#tools)});
      return;
    }
    // This is how Zed and agents for it have agreed to show output; the protocol itself can only start commands.
    this.#update(callId, {_meta: {terminal_output: {terminal_id: callId, data: event.preview}}});
    const exit = {terminal_id: callId, exit_code: isError ? null : 0, signal: null};
    this.#update(callId, {status, content: [{type: 'terminal', terminalId: callId}], _meta: {terminal_exit: exit}});
  }

  #isInTerminal(tool: string): boolean {
    return this.#showsTerminals && isCommand(tool, this.#tools);
  }

  #takeRun(event: AgentEvent): void {
    if (event.type === 'run_start') this.#startRun(event);
    const run = this.#runs.get(event.agentId);
    if (!run) return;
    switch (event.type) {
      case 'message':
        if (event.role !== 'assistant') break;
        for (const block of event.content) {
          if (block.type !== 'tool_use') continue;
          this.#calls.set(block.id, {callId: block.id, tool: block.name, input: block.input});
        }
        break;
      case 'tool_start':
        run.lines.push(formatTitle(event.tool, event.title, this.#tools));
        this.#showLines(run);
        break;
      case 'tool_end':
        this.#endRunCall(run, event);
        break;
      case 'run_end':
        this.#endRun(run, event);
        break;
    }
  }

  #startRun({agentId, callId, agent, description}: Of<'run_start'>): void {
    const title = `[${agent}] ${description}`;
    const cardId = callId ?? agentId;
    const run = {cardId, title, lines: [], isActive: true};
    this.#runs.set(agentId, run);
    // A part of a fan-out and a continued run have no call of their own.
    if (callId === undefined) this.showCall({callId: cardId, tool: 'Task', input: {description}}, title);
    this.#update(cardId, {title, status: 'in_progress'});
  }

  #endRunCall(run: RunCard, event: Of<'tool_end'>): void {
    const call = this.#calls.get(event.callId);
    if (!call) return;
    if (event.display?.type === 'diff')
      this.showCall(call, `${run.title}: ${formatTitle(event.tool, '', this.#tools)}`);
    this.#endCall(event);
  }

  #endRun(run: RunCard, {outcome, reason = '', receipt = ''}: Of<'run_end'>): void {
    run.isActive = false;
    run.lines.push([outcome === 'success' ? 'done' : `${outcome}: ${reason}`, receipt].filter(Boolean).join(' · '));
    this.#showLines(run, outcome === 'success' ? 'completed' : 'failed');
  }

  #showLines(run: RunCard, status: 'in_progress' | 'completed' | 'failed' = 'in_progress'): void {
    const left = run.lines.length - MAX_RUN_LINES;
    const lines = left > 0 ? [`${left} earlier calls`, ...run.lines.slice(-MAX_RUN_LINES)] : run.lines;
    this.#update(run.cardId, {status, content: [textContent(lines.map((line) => `- ${line}`).join('\n'))]});
  }

  /** Does nothing when the call has no card. */
  #update(callId: string, change: CardChange): void {
    if (!this.#shown.has(callId)) return;
    this.#send({sessionUpdate: 'tool_call_update', toolCallId: callId, ...change});
  }

  #sendPlan(todos: readonly Todo[]): void {
    const entries = todos.map(({content, status}): PlanEntry => ({content, status, priority: 'medium'}));
    this.#send({sessionUpdate: 'plan', entries});
  }

  #setMode(mode: string): void {
    if (mode === this.#mode) return;
    this.#mode = mode;
    this.#send({sessionUpdate: 'current_mode_update', currentModeId: mode});
  }

  /** Reports used tokens and the size of the model's context window. */
  sendUsage(used: number, size: number): void {
    const cost = this.#cost > 0 ? {cost: {amount: this.#cost, currency: 'USD'}} : {};
    this.#send({sessionUpdate: 'usage_update', used, size, ...cost});
  }
}

function describeResult({tool, display, preview}: Of<'tool_end'>, tools: readonly ToolFacts[]): CardChange {
  if (display?.type === 'diff') {
    const {content, locations} = readPatch(display.path, display.patch);
    return {content: [...content], locations: [...locations]};
  }
  const text = display?.type === 'text' ? display.text : preview;
  return {content: text === '' ? [] : [isCommand(tool, tools) ? outputContent(text) : textContent(text)]};
}
