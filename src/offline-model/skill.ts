/**
 * How a skill is written: as a generator that yields tool calls and is given their results.
 *
 * Nothing is remembered between requests. Each request runs the skill again from its start and feeds it the results
 * that the conversation already holds (`replay.ts`); the first calls without a result are the next reply.
 */

/** One tool call, before it has an id. */
export interface Call {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

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
