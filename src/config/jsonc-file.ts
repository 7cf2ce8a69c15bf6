/** A JSON file with comments: its text, and its values with the places where they stand. */
import {closeSync, constants, fstatSync, openSync, readFileSync} from 'node:fs';
import {devNull} from 'node:os';
import type {Node} from 'jsonc-parser';
import {propertiesOf} from '../core/util/json-syntax.ts';
import {type Place, type ProblemList, placeAt, START} from '../core/util/problem.ts';
import {whyUnreadable} from '../core/util/unreadable.ts';
import {isAmong, pathText, STRICT} from './keys.ts';

/** Bytes. */
const MAX_SIZE = 1024 * 1024;
const NOT_THERE = 'no such file, and --settings names it';

/**
 * The file as UTF-8 without its byte order mark; undefined if it is not there, or with a problem. Never throws.
 * @param named a person named it on the command line: it must be there, and `<(…)` is read too
 */
export function readSettingsText(problems: ProblemList, named: boolean): string | undefined {
  const {file} = problems;
  if (named && file === devNull) return '';
  let handle: number | undefined;
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for somebody to write into it.
    handle = openSync(file, constants.O_RDONLY | (named ? 0 : constants.O_NONBLOCK));
    const about = fstatSync(handle);
    if (about.isDirectory()) problems.error('unreadable', START, 'is a folder, not a file');
    else if (!about.isFile() && !(named && about.isFIFO()))
      problems.error('unreadable', START, 'is not a regular file');
    else if (about.size > MAX_SIZE) problems.error('too-large', START, 'is larger than 1 MB');
    else return decode(readFileSync(handle), problems);
  } catch (error) {
    // Undefined: there is nothing, and nothing has to be.
    const why = whyUnreadable(file, error, named ? NOT_THERE : undefined);
    if (why !== undefined) problems.error('unreadable', START, why);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
  return undefined;
}

function decode(bytes: Buffer, problems: ProblemList): string | undefined {
  try {
    // TextDecoder takes the byte order mark off.
    return new TextDecoder('utf-8', {fatal: true}).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    problems.error('encoding', START, 'is not UTF-8: save it as UTF-8');
    return undefined;
  }
}

/** Deeper than any setting, and far from the end of the stack. */
const MAX_DEPTH = 100;

export type Path = readonly string[];

export class SettingsTree {
  readonly values: unknown;
  /** Keys `__proto__`, which no object can hold like any other: left out of the values. */
  readonly unsayable: Path[] = [];
  readonly #offsets = new Map<string, {readonly key: number; readonly value: number}>();

  /** A key that stands twice counts where it stands last. */
  constructor(
    private readonly text: string,
    root: Node,
    private readonly problems: ProblemList,
  ) {
    this.values = this.#valueOf(root, []);
  }

  /** Where the key stands; of an entry of a list, where the entry does. */
  keyPlace(path: Path): Place {
    const offsets = this.#offsets.get(JSON.stringify(path));
    return offsets ? placeAt(this.text, offsets.key) : this.valuePlace(path);
  }

  /** Where the value stands; of one that is missing, where its object does. */
  valuePlace(path: Path): Place {
    for (let length = path.length; length > 0; length--) {
      const offsets = this.#offsets.get(JSON.stringify(path.slice(0, length)));
      if (offsets) return placeAt(this.text, offsets.value);
    }
    return START;
  }

  #valueOf(node: Node, path: Path): unknown {
    if (path.length > MAX_DEPTH) {
      if (!this.problems.failed) this.problems.error('syntax', placeAt(this.text, node.offset), 'is nested too deeply');
      return null;
    }
    if (node.type === 'array') {
      return (node.children ?? []).map((item, index) => {
        const own = [...path, String(index)];
        this.#offsets.set(JSON.stringify(own), {key: item.offset, value: item.offset});
        return this.#valueOf(item, own);
      });
    }
    if (node.type !== 'object') return node.value;
    const values: Record<string, unknown> = {};
    for (const [key, value] of propertiesOf(node)) {
      const own = [...path, String(key.value)];
      if (this.#offsets.has(JSON.stringify(own))) this.#reportDouble(own, placeAt(this.text, key.offset));
      this.#offsets.set(JSON.stringify(own), {key: key.offset, value: value?.offset ?? key.offset});
      if (key.value === '__proto__') this.unsayable.push(own);
      else if (value) values[String(key.value)] = this.#valueOf(value, own);
    }
    return values;
  }

  #reportDouble(path: Path, place: Place): void {
    const words = `${JSON.stringify(pathText(path))} stands twice`;
    if (isAmong(path, STRICT)) this.problems.error('double-key', place, words);
    else this.problems.warn('double-key', place, `${words}: the last one counts`);
  }
}
