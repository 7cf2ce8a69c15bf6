/**
 * Makes spans of a session from its events, by the GenAI conventions: for the session and for each turn, model call,
 * tool call and subagent run. A run's span is below the span of its Task call. Texts are left out unless the user asks
 * for them. Keys are already removed from the events.
 */
import {type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, type Tracer, trace} from '@opentelemetry/api';
import type {AgentEvent} from '../core/contract/events.ts';
import type {Usage} from '../core/contract/model.ts';

type Attributes = Record<string, string | number | boolean | string[]>;
type Of<T extends AgentEvent['type']> = Extract<AgentEvent, {type: T}>;

/** The open spans of one agent. */
interface Agent {
  readonly span: Span;
  readonly context: Context;
  readonly tools: Map<string, Span>;
  model: string;
  /** Milliseconds since the epoch when the model last got something to answer. */
  askedAt: number;
  retries: {readonly at: number; readonly reason: string}[];
}

interface SessionSpansOptions {
  readonly sessionId: string;
  /** True to include prompts, answers and commands. */
  readonly withContent: boolean;
  /** The span of another process that the session belongs to. */
  readonly traceparent?: string | undefined;
}

const MAX_CONTENT = 8_000;
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

function toContext(traceparent = ''): Context {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, {traceId, spanId, traceFlags: Number.parseInt(flags!, 16), isRemote: true});
}

export class SessionSpans {
  readonly #session: Span;
  readonly #context: Context;
  readonly #agents = new Map<string, Agent>();
  /** Contexts of tool calls by their ids. A run may begin after its call has ended. */
  readonly #calls = new Map<string, Context>();

  constructor(
    private readonly tracer: Tracer,
    private readonly options: SessionSpansOptions,
  ) {
    this.#session = tracer.startSpan('session', {attributes: this.#common()}, toContext(options.traceparent));
    this.#context = trace.setSpan(ROOT_CONTEXT, this.#session);
  }

  listen(event: AgentEvent): void {
    switch (event.type) {
      case 'run_start':
        this.#startRun(event);
        break;
      case 'run_active':
        this.#asked(event);
        break;
      case 'message':
        if (event.role === 'assistant') this.#endModelCall(event);
        else this.#asked(event);
        break;
      case 'retry':
        this.#agents.get(event.agentId)?.retries.push({at: event.at, reason: event.reason});
        break;
      case 'tool_start':
        this.#startTool(event);
        break;
      case 'tool_end':
        this.#endTool(event);
        break;
      case 'run_end':
        this.#endRun(event);
    }
  }

  /** Returns the span of an agent for another process: version, trace, span, and whether it is sampled. */
  traceparent(agentId: string): string | undefined {
    const context = this.#agents.get(agentId)?.span.spanContext();
    if (!context) return undefined;
    return `00-${context.traceId}-${context.spanId}-${context.traceFlags.toString(16).padStart(2, '0')}`;
  }

  end(): void {
    for (const {span, tools} of this.#agents.values()) for (const each of [...tools.values(), span]) each.end();
    this.#agents.clear();
    this.#session.end();
  }

  #common(): Attributes {
    return {'gen_ai.conversation.id': this.options.sessionId, 'session.id': this.options.sessionId};
  }

  #startRun({agentId, parent, agent, model, at, callId, background = false, description}: Of<'run_start'>): void {
    const isSubagent = parent !== undefined;
    // A part of a fan-out has no call, so its span is below that of the turn.
    const call = callId === undefined ? undefined : this.#calls.get(callId);
    const above = call ?? (parent === undefined ? undefined : this.#agents.get(parent)?.context);
    const attributes: Attributes = {
      ...this.#common(),
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': agent,
      'gen_ai.agent.id': agentId,
      'gen_ai.request.model': model,
      ...(isSubagent && {'mini_cc.strategy': 'subagent', 'mini_cc.background': background}),
      ...(isSubagent && this.options.withContent && {'gen_ai.agent.description': description}),
    };
    const name = `${isSubagent ? 'invoke_agent' : 'turn'} ${agent}`;
    const span = this.tracer.startSpan(name, {startTime: at, attributes}, above ?? this.#context);
    const context = trace.setSpan(above ?? this.#context, span);
    this.#agents.set(agentId, {span, context, tools: new Map(), model, askedAt: at, retries: []});
  }

  #asked({agentId, at}: AgentEvent): void {
    const agent = this.#agents.get(agentId);
    if (agent) agent.askedAt = at;
  }

  #endModelCall(event: Of<'message'> & {readonly role: 'assistant'}): void {
    const agent = this.#agents.get(event.agentId);
    // The runtime wrote this message without a model.
    if (!agent || event.model.startsWith('<')) return;
    const {id, model, usage, stopReason, content, at} = event;
    const attributes: Attributes = {
      ...this.#common(),
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': getProvider(model),
      'gen_ai.request.model': agent.model,
      'gen_ai.response.model': model,
      'gen_ai.response.id': id,
      ...(stopReason !== null && {'gen_ai.response.finish_reasons': [stopReason]}),
      ...toUsageAttributes(usage),
      ...(this.options.withContent && {'gen_ai.output.messages': JSON.stringify(content).slice(0, MAX_CONTENT)}),
    };
    const options = {kind: SpanKind.CLIENT, startTime: agent.askedAt, attributes};
    const span = this.tracer.startSpan(`chat ${model}`, options, agent.context);
    for (const {at: time, reason} of agent.retries) span.addEvent('retry', {'error.type': reason}, time);
    agent.retries = [];
    span.end(at);
  }

  #startTool({agentId, callId, tool, title, at}: Of<'tool_start'>): void {
    const agent = this.#agents.get(agentId);
    if (!agent) return;
    const content = this.options.withContent && {'gen_ai.tool.call.arguments': title.slice(0, MAX_CONTENT)};
    const started = agent.tools.get(callId);
    // The event of a changed call comes again.
    if (started) {
      started.setAttributes({...content});
      return;
    }
    const attributes: Attributes = {
      ...this.#common(),
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.call.id': callId,
      'gen_ai.tool.type': 'function',
      ...content,
    };
    const span = this.tracer.startSpan(`execute_tool ${tool}`, {startTime: at, attributes}, agent.context);
    agent.tools.set(callId, span);
    this.#calls.set(callId, trace.setSpan(agent.context, span));
  }

  #endTool({agentId, callId, isError, at}: Of<'tool_end'>): void {
    const agent = this.#agents.get(agentId);
    const span = agent?.tools.get(callId);
    if (!agent || !span) return;
    agent.tools.delete(callId);
    if (isError) fail(span, 'tool_error');
    span.end(at);
  }

  #endRun(event: Of<'run_end'>): void {
    const {agentId, outcome, tools, durationMs, usage, at, filesRead = 0, filesScanned = 0} = event;
    const agent = this.#agents.get(agentId);
    if (!agent) return;
    this.#agents.delete(agentId);
    for (const span of agent.tools.values()) span.end(at);
    agent.span.setAttributes({
      'mini_cc.outcome': outcome,
      'mini_cc.tools': tools,
      'mini_cc.files.read': filesRead,
      'mini_cc.files.scanned': filesScanned,
      'mini_cc.duration_ms': Math.round(durationMs),
      ...toUsageAttributes(usage),
    });
    if (outcome !== 'success') fail(agent.span, outcome);
    agent.span.end(at);
  }
}

function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({code: SpanStatusCode.ERROR});
}

/** Converts usage. By the conventions, input includes the tokens of the cache. */
function toUsageAttributes(usage: Usage): Attributes {
  const {input_tokens, output_tokens, cache_read_input_tokens: read, cache_creation_input_tokens: written} = usage;
  return {
    'gen_ai.usage.input_tokens': input_tokens + read + written,
    'gen_ai.usage.output_tokens': output_tokens,
    'gen_ai.usage.cache_read.input_tokens': read,
    'gen_ai.usage.cache_creation.input_tokens': written,
    ...(usage.cost_usd !== undefined && {'mini_cc.cost_usd': usage.cost_usd}),
  };
}

function getProvider(model: string): string {
  const slash = model.indexOf('/');
  return slash < 0 ? 'anthropic' : model.slice(0, slash);
}
