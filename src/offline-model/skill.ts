/**
 * Runs skills. A skill is a generator that yields tool calls and gets their results.
 *
 * No state is kept between requests. For each request, `replay` runs the skill again from its start and gives it the
 * results that the conversation contains. The first calls without a result become the next reply.
 */
import type {Call, Toolbox} from './toolbox.ts';

export interface Observation {
  /** `missing`: the call was not made. */
  readonly outcome: 'ok' | 'denied' | 'failed' | 'missing';
  /** What the tool returned, or why the call was not made. */
  readonly text: string;
}

/** Work that yields the calls of one reply, which run side by side. */
export type Work<T> = Generator<readonly Call[], T, readonly Observation[]>;

const NOT_MADE: Observation = {outcome: 'missing', text: 'no more calls were allowed'};
const NO_TOOL: Observation = {outcome: 'missing', text: 'this agent has no tool for it'};

/** Thrown when every call of a step was denied. The skill ends, and the person decides how to go on. */
export class NotPermitted extends Error {
  constructor(
    readonly calls: readonly Call[],
    readonly reason: string,
  ) {
    super(reason);
  }
}

/**
 * Makes the calls and returns their results in order. An undefined call, which no tool can make, has the result
 * `missing`.
 * @throws NotPermitted when all calls were denied
 */
export function* ask(calls: readonly (Call | undefined)[]): Work<readonly Observation[]> {
  const made = calls.filter((call) => call !== undefined);
  const results = made.length > 0 ? yield made : [];
  const [first] = results;
  if (first && results.every((result) => result.outcome === 'denied')) throw new NotPermitted(made, first.text);
  let next = 0;
  return calls.map((call) => (call ? (results[next++] ?? NOT_MADE) : NO_TOOL));
}

export function* askOne(call: Call | undefined): Work<Observation> {
  const [result] = yield* ask([call]);
  return result ?? NOT_MADE;
}

/** Does one work after the other, and returns their results in order. */
export function* inTurn<T>(works: readonly Work<T>[]): Work<readonly T[]> {
  const results: T[] = [];
  for (const work of works) results.push(yield* work);
  return results;
}

/**
 * Returns the same key for calls with the same name and input, in any order of the fields.
 * Inputs have no objects inside.
 * @param changes number of file changes before the call, because a read before a change is not valid after it
 */
export function getCallKey(call: Call, changes: number): string {
  return `${changes} ${call.name} ${JSON.stringify(call.input, Object.keys(call.input).sort())}`;
}

export function isChange(tool: string): boolean {
  return ['edit_file', 'write_file', 'rename_symbol'].includes(tool);
}

export interface Job {
  /** The request without polite phrases. */
  readonly text: string;
  readonly toolbox: Toolbox;
  /** The agent is the main agent, which has the Task tool. */
  readonly main: boolean;
  /** The role that the system prompt gives to the agent. It counts when the request itself does not say what to do. */
  readonly role: 'plan' | 'review' | 'other';
  /** The name of the working directory, by which people call the project. */
  readonly project: string;
  /** The agent does one part of a fan-out. */
  readonly isPart: boolean;
  /** Requests before this one, oldest first. */
  readonly earlier: readonly string[];
}

/** Starts a skill. Returns undefined when the request is not for the skill. */
export type Route = (job: Job) => Work<string> | undefined;

/** Answers without any call. */
// biome-ignore lint/correctness/useYield: it makes no call
export function* say(text: string): Work<string> {
  return text;
}

type Next =
  | {readonly type: 'calls'; readonly calls: readonly Call[]}
  | {readonly type: 'answer'; readonly text: string};

/**
 * @param seen results by the key of their call; a call with a result is made again only after a file change
 * @param mayCall when false, further calls have the result `missing`, so that the skill answers with what it has
 */
export function replay(work: Work<string>, seen: ReadonlyMap<string, Observation>, mayCall: boolean): Next {
  let next = work.next();
  let changes = 0;
  while (!next.done) {
    const calls = next.value;
    const key = (call: Call) => getCallKey(call, changes);
    const open = new Map(calls.map((call) => [key(call), call] as const).filter(([key]) => !seen.has(key)));
    if (open.size > 0 && mayCall) return {type: 'calls', calls: [...open.values()]};
    const results = calls.map((call) => seen.get(key(call)) ?? NOT_MADE);
    if (calls.some((call) => isChange(call.name) && seen.has(key(call)))) changes++;
    next = work.next(results);
  }
  return {type: 'answer', text: next.value};
}
