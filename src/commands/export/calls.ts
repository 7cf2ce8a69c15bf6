import {toOneLine, toShortLine} from '../../core/util/text.ts';

/** Inputs that describe a call best, in order of preference. */
const TELLING = ['description', 'command', 'path', 'file_path', 'pattern', 'url', 'query', 'name'];
const MAX_CHARS = 120;

/** Describes a tool call in one line, e.g. `read_file src/a.ts`. */
export function describeCall({name, input}: {readonly name: string; readonly input: unknown}): string {
  const fields = typeof input === 'object' && input !== null ? (input as Readonly<Record<string, unknown>>) : {};
  const told = TELLING.map((key) => fields[key]).find((value) => typeof value === 'string' && value !== '');
  return toShortLine(toOneLine(typeof told === 'string' ? `${name} ${told}` : name), MAX_CHARS);
}
