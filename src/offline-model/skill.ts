/**
 * How a skill is written: as a generator that yields tool calls and is given their results.
 *
 * Nothing is remembered between requests. Each request runs the skill again from its start and feeds it the results
 * that the conversation already holds (`replay`); the first calls without a result are the next reply.
 */
import type {Call, Toolbox} from './toolbox.ts';

/** What came of a call. */
export interface Observation {
  /** `missing`: it was never made, for want of a tool or because no more calls are allowed. */
  readonly outcome: 'ok' | 'denied' | 'failed' | 'missing';
  readonly text: string;
}

/** Calls that go side by side in one reply. */
export interface Step {
  readonly calls: readonly Call[];
  /** Said before the calls. */
  readonly say?: string;
}

export type Work<T> = Generator<Step, T, readonly Observation[]>;

export const NOT_MADE: Observation = {outcome: 'missing', text: ''};

/** Every call of a step was denied: the skill ends here, the person decides how to go on. */
export class NotPermitted extends Error {
  readonly calls: readonly Call[];
  readonly reason: string;

  constructor(calls: readonly Call[], reason: string) {
    super(reason);
    this.calls = calls;
    this.reason = reason;
  }
}

/**
 * Makes the calls and gives an observation for each, in order. An undefined call is one that no tool here can make.
 * @throws NotPermitted when all that were made were denied.
 */
export function* ask(calls: readonly (Call | undefined)[], say?: string): Work<readonly Observation[]> {
  const made = calls.filter((call) => call !== undefined);
  const results = made.length > 0 ? yield say === undefined ? {calls: made} : {calls: made, say} : [];
  const [first] = results;
  if (first && results.every((result) => result.outcome === 'denied')) throw new NotPermitted(made, first.text);
  let next = 0;
  return calls.map((call) => (call ? (results[next++] ?? NOT_MADE) : NOT_MADE));
}

/** Makes one call. */
export function* askOne(call: Call | undefined, say?: string): Work<Observation> {
  const [result] = yield* ask([call], say);
  return result ?? NOT_MADE;
}

/**
 * Equal for calls with the same name and input, whatever the order of keys.
 * @param changes how often files were changed before the call: what was read before a change is not true after it.
 */
export function keyOf(call: Call, changes: number): string {
  return `${changes} ${call.name} ${stableJson(call.input)}`;
}

export function isChange(tool: string): boolean {
  return tool === 'edit_file' || tool === 'write_file';
}

function stableJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stableJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${stableJson(inner)}`).join(',')}}`;
}

export interface Job {
  /** The request, without courtesies. */
  readonly text: string;
  readonly toolbox: Toolbox;
  /** The main agent: it has Task. */
  readonly main: boolean;
  /** What the system prompt makes of this agent, where the request itself doesn't say. */
  readonly role: 'plan' | 'review' | 'other';
  /** Requests before this one, oldest first. */
  readonly earlier: readonly string[];
}

/** The skill for the job, or undefined when it is about something else. */
export type Route = (job: Job) => Work<string> | undefined;

/** A work that makes no call. */
// biome-ignore lint/correctness/useYield: a skill that knows its answer has nothing to ask for
export function* say(text: string): Work<string> {
  return text;
}

export type Next =
  | {readonly type: 'calls'; readonly calls: readonly Call[]; readonly say: string | undefined}
  | {readonly type: 'answer'; readonly text: string};

/** Results by `keyOf` their call. A call that has one is not made again, unless files were changed since. */
export type Seen = ReadonlyMap<string, Observation>;

/** With `mayCall` false the skill is told that its calls were not made, until it answers from what it has. */
export function replay(work: Work<string>, seen: Seen, mayCall: boolean): Next {
  let next = work.next();
  let changes = 0;
  while (!next.done) {
    const {calls, say} = next.value;
    const key = (call: Call) => keyOf(call, changes);
    const open = new Map(calls.map((call) => [key(call), call] as const).filter(([key]) => !seen.has(key)));
    if (open.size > 0 && mayCall) return {type: 'calls', calls: [...open.values()], say};
    const results = calls.map((call) => seen.get(key(call)) ?? NOT_MADE);
    if (calls.some((call) => isChange(call.name) && seen.has(key(call)))) changes++;
    next = work.next(results);
  }
  return {type: 'answer', text: next.value};
}
