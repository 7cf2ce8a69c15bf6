/** Runs of subagents and their events, for tests. */
import type {AgentEventBody} from '../../src/core/contract/events.ts';
import type {Outcome} from '../../src/core/contract/results.ts';
import {NO_USAGE} from '../../src/core/util/messages.ts';
import {EMPTY_TAIL} from '../../src/ui/state/run-tail.ts';
import type {SubagentRun} from '../../src/ui/state/ui-state.ts';

export function subagentRun(change: Partial<SubagentRun> = {}): SubagentRun {
  return {
    agentId: 'a',
    callId: undefined,
    agent: 'explore',
    color: 0,
    description: 'look around',
    state: 'running',
    tools: 0,
    startedAt: 0,
    durationMs: 0,
    reason: '',
    receipt: [],
    note: '',
    isBackground: false,
    isSilent: false,
    tokens: 0,
    lastTool: '',
    lastAt: 0,
    tail: EMPTY_TAIL,
    ...change,
  };
}

export const mainStart: AgentEventBody = {type: 'run_start', agent: 'main', description: '', model: 'm', queued: false};

export const started = (description: string, agent = 'explore'): AgentEventBody => ({
  type: 'run_start',
  agent,
  description,
  callId: `call ${description}`,
  model: 'm',
  queued: false,
});

export const background: AgentEventBody = {type: 'run_background', count: 1};

export const delta = (text: string): AgentEventBody => ({type: 'text_delta', text});

export const reply = (text: string, tokens = 0): AgentEventBody => ({
  type: 'message',
  role: 'assistant',
  id: 'm1',
  content: [{type: 'text', text, citations: null}],
  model: 'm',
  usage: {...NO_USAGE, input_tokens: tokens},
  stopReason: 'end_turn',
});

export const toolStart = (title: string, callId = title): AgentEventBody => ({
  type: 'tool_start',
  callId,
  tool: 'grep',
  title,
});

export const toolEnd = (callId: string, preview = '', isError = false): AgentEventBody => ({
  type: 'tool_end',
  callId,
  tool: 'grep',
  isError,
  preview,
  durationMs: 1,
});

export const runEnd = (tools = 8, outcome: Outcome = 'success', reason = '', receipt = ''): AgentEventBody => ({
  type: 'run_end',
  receipt,
  outcome,
  reason,
  tools,
  durationMs: 5100,
  usage: NO_USAGE,
});

export const STATS =
  'Stats: runtime 5m12s • tokens 1.2k (in 1.0k / out 200) • est n/a • sessionKey agent:explore:subagent:run-1 • ' +
  'sessionId s • transcript /tmp/t.jsonl';

export const announcement = (
  runId: string,
  text: string,
  {outcome = 'success', reason = ''}: {outcome?: Outcome; reason?: string} = {},
): AgentEventBody => ({
  ...{type: 'announcement', runId, round: 1, agent: 'explore', description: 'look', outcome, reason, text},
});
