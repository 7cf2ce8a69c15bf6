/** A tool call in one line. */
import {toOneLine, toShortLine} from '../../core/util/text.ts';

/** Inputs that say best what a call does, the best first. */
const TELLING = ['description', 'command', 'path', 'file_path', 'pattern', 'url', 'query', 'name'];
const MAX_CHARS = 120;

/** `read_file src/a.ts` */
export function describeCall({name, input}: {readonly name: string; readonly input: unknown}): string {
  const fields = typeof input === 'object' && input !== null ? (input as Readonly<Record<string, unknown>>) : {};
  const told = TELLING.map((key) => fields[key]).find((value) => typeof value === 'string' && value !== '');
  return toShortLine(toOneLine(typeof told === 'string' ? `${name} ${told}` : name), MAX_CHARS);
}
