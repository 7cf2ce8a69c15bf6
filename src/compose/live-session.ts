/** Lets `mini-cc runs` see a session: collects its state from its events, and opens a socket after the start. */
import type {AgentEvent} from '../core/contract/events.ts';
import type {RunRecord} from '../core/contract/runs.ts';
import type {Session} from '../core/contract/session-requests.ts';
import {hasEnded} from '../core/runs/run-record.ts';
import {formatState} from '../core/runs/run-table.ts';
import type {EventBus} from '../core/session/event-bus.ts';
import {inBackground} from '../core/util/background.ts';
import {getErrorMessage} from '../core/util/errors.ts';
import {addUsage, countTokens, NO_USAGE, toCost} from '../core/util/messages.ts';
import type {LiveRequest, LiveRun, LiveSession} from '../storage/live-sessions.ts';

/** Milliseconds after the start of a session at which its socket is opened. */
const OPEN_AFTER_MS = 1000;

interface LiveDeps {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly session: Session;
  readonly bus: EventBus;
}

/** @returns a function that ends it */
export function watchLiveSession({home, env, session, bus}: LiveDeps): () => void {
  const startedAt = Date.now();
  const state = new ShownState();
  const unsubscribe = bus.subscribe((event) => state.take(event));
  let close: (() => void) | undefined;
  let isClosed = false;
  const open = async () => {
    const {openSocket} = await import('./live-socket.ts');
    if (isClosed) return;
    close = openSocket({
      home,
      env,
      startedAt,
      getNames: () => ({session: session.info.sessionId, folder: session.info.cwd}),
      answer: (request) => answer(request, session, state, startedAt),
      bus,
    });
  };
  // Without a place for a socket, `mini-cc runs` lists this session from its file alone.
  const timer = setTimeout(() => inBackground(open(), () => undefined), OPEN_AFTER_MS);
  timer.unref();
  return () => {
    isClosed = true;
    clearTimeout(timer);
    unsubscribe();
    close?.();
  };
}

/** Events that come often and do not change the list of `mini-cc runs`. */
const UNSHOWN: ReadonlySet<AgentEvent['type']> = new Set(['text_delta', 'thinking_delta', 'stream', 'tool_progress']);

/** Collects from events what a session does. */
class ShownState {
  #changed = Promise.withResolvers<void>();
  isBusy = false;
  tools = 0;
  readonly #asked = new Map<string, string>();
  /** When the pause of each agent ends, in milliseconds since the epoch. */
  readonly #pauses = new Map<string, number>();

  take(event: AgentEvent): void {
    const {agentId} = event;
    if (event.type === 'retry' && event.pause) this.#pauses.set(agentId, event.pause.until);
    else if (this.#pauses.size > 0) this.#pauses.delete(agentId);
    if (event.type === 'ask') this.#asked.set(event.question.id, `${event.question.agent}: ${event.question.title}`);
    else if (event.type === 'ask_end') this.#asked.delete(event.askId);
    else if (event.type === 'tool_end' && event.parent === undefined) this.tools += 1;
    else if (event.parent === undefined && event.type === 'run_start') this.isBusy = true;
    else if (event.parent === undefined && event.type === 'run_end') this.isBusy = false;
    if (UNSHOWN.has(event.type)) return;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** Resolves at the next event that may change what is shown. */
  nextChange(): Promise<void> {
    return this.#changed.promise;
  }

  get waitsFor(): string | undefined {
    return [...this.#asked.values()][0];
  }

  get pausedUntil(): number | undefined {
    return this.#pauses.size === 0 ? undefined : Math.max(...this.#pauses.values());
  }
}

async function answer(request: LiveRequest, session: Session, state: ShownState, startedAt: number): Promise<unknown> {
  try {
    switch (request.type) {
      case 'status':
        return describeSession(session, state, startedAt);
      case 'changed':
        await state.nextChange();
        return {};
      case 'stop':
        return {stopped: (await session.request({type: 'stop_runs', run: request.run})).length};
      case 'log':
        return {entries: session.request({type: 'read_run', run: request.run})};
    }
  } catch (error) {
    return {error: getErrorMessage(error)};
  }
}

function describeSession(session: Session, state: ShownState, startedAt: number): LiveSession {
  const {sessionId, cwd} = session.info;
  const records = session.request({type: 'runs'});
  const atWork = records.filter((record) => !hasEnded(record));
  const usage = session.request({type: 'usage'}).entries.reduce((sum, entry) => addUsage(sum, entry.usage), NO_USAGE);
  const {waitsFor, pausedUntil} = state;
  const isWorking = state.isBusy || atWork.some(({tool}) => tool === undefined);
  return {
    session: sessionId,
    folder: cwd,
    state: waitsFor !== undefined ? 'waiting' : pausedUntil !== undefined ? 'paused' : isWorking ? 'working' : 'idle',
    ...(waitsFor !== undefined && {waits_for: waitsFor}),
    ...(pausedUntil !== undefined && {paused_until: new Date(pausedUntil).toISOString()}),
    pid: process.pid,
    tools: state.tools + records.reduce((sum, {tools}) => sum + tools, 0),
    tokens: countTokens(usage),
    cost: toCost(usage),
    age_ms: Date.now() - startedAt,
    runs: atWork.map(toLiveRun),
  };
}

function toLiveRun(record: RunRecord): LiveRun {
  const {runId, agent, label, description, tools, usage, createdAt} = record;
  return {
    run: runId,
    agent,
    description: label ?? description,
    state: formatState(record),
    tools,
    tokens: countTokens(usage),
    cost: toCost(usage),
    age_ms: Date.now() - createdAt,
  };
}
