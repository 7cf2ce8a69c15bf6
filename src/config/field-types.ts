/** Kinds of values that settings hold. Each says in its error text what it takes and what it got. */
import {z} from 'zod';
import {kindOf} from '../core/util/problem.ts';

type ErrorText = (issue: {readonly input: unknown}) => string;

/** Zod gives the text to the issue of this field only; what the value was is part of it. */
export function mustBe(what: string): {error: ErrorText} {
  return {error: ({input}) => (input === undefined ? 'is missing' : `must be ${what}, not ${kindOf(input)}`)};
}

export function text(what: string) {
  return z.string(mustBe(what)).regex(/\S/, {error: `must be ${what}, and is empty`});
}

/** `item` names one entry, `items` the whole: `list('the name of a tool', 'a list of tool names')`. */
export function list(item: string, items: string) {
  return z.array(text(item), mustBe(items));
}

export function oneOf<const T extends readonly string[]>(values: T) {
  return z.enum(values, mustBe(`${values.slice(0, -1).join(', ')} or ${values.at(-1)}`));
}

export function whole(least: number, most?: number, what?: string) {
  const words = mustBe(what ?? `a whole number from ${least}${most === undefined ? '' : ` to ${most}`}`);
  const number = z.int(words).min(least, words);
  return most === undefined ? number : number.max(most, words);
}

export function atLeastZero(what: string) {
  return z.number(mustBe(what)).min(0, mustBe(what));
}

export function flag() {
  return z.boolean(mustBe('true or false'));
}

/** Knows its keys: any other is an issue, which the reader of files turns into a warning or an error. */
export function section<T extends z.core.$ZodLooseShape>(shape: T) {
  return z.strictObject(shape, mustBe('an object'));
}

/** People choose the keys: names of agents, providers, models. */
export function named<T extends z.core.$ZodType>(entry: T) {
  return z.record(z.string(), entry, mustBe('an object'));
}
