/** Runs a skill over the results that the conversation holds, up to its next calls or its answer. */
import {type Call, isChange, keyOf, NOT_MADE, type Observation, type Work} from './skill.ts';

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
