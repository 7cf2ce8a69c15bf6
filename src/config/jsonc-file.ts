/** A JSON file with comments: its text, and its values with their positions. */
import {devNull} from 'node:os';
import type {Node} from 'jsonc-parser';
import {describeReadError, MiniCcError} from '../core/util/errors.ts';
import {MAX_JSON_BYTES, readProjectFile} from '../core/util/files/project-file.ts';
import {getProperties} from '../core/util/json-syntax.ts';
import {type Position, type ProblemList, positionAt, START} from '../core/util/problem.ts';
import {formatPath, isAmong, STRICT} from './setting-keys.ts';

const NOT_THERE = 'no such file, and the command line names it';

/**
 * Reads a file as UTF-8 without its byte order mark. Never throws.
 * @param isRequired true when the command line names the file (--settings, --managed-settings): it must exist, and may be a pipe (`<(…)`)
 * @returns undefined when it does not exist or has a problem
 */
export function readText(problems: ProblemList, isRequired: boolean): string | undefined {
  if (isRequired && problems.file === devNull) return '';
  const missing = isRequired ? NOT_THERE : undefined;
  const bytes = readBytes(problems, {missing, maxBytes: MAX_JSON_BYTES, mayBePipe: isRequired});
  return bytes && decode(bytes, problems);
}

interface ReadOptions {
  /** Problem text for a file that does not exist. Undefined when that is not a problem. */
  readonly missing: string | undefined;
  readonly maxBytes: number;
  readonly mayBePipe?: boolean;
}

/** Reads the bytes of a file. Never throws. @returns undefined when it does not exist or has a problem */
export function readBytes(problems: ProblemList, options: ReadOptions): Buffer | undefined {
  const {file} = problems;
  try {
    return readProjectFile(file, options.maxBytes, options.mayBePipe);
  } catch (error) {
    const isOurs = error instanceof MiniCcError;
    const why = isOurs ? error.message : describeReadError(file, error, options.missing);
    const rule = isOurs && error.code === 'TOO_LARGE' ? 'too-large' : 'unreadable';
    if (why !== undefined) problems.error(rule, START, why);
    return undefined;
  }
}

function decode(bytes: Buffer, problems: ProblemList): string | undefined {
  try {
    // TextDecoder removes the byte order mark.
    return new TextDecoder('utf-8', {fatal: true}).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    problems.error('encoding', START, 'is not UTF-8: save it as UTF-8');
    return undefined;
  }
}

/** Deeper than any setting, and far below the depth that overflows the stack. */
const MAX_DEPTH = 100;

export type Path = readonly string[];

export class JsonTree {
  readonly values: unknown;
  /** Keys named `__proto__`. They are left out of the values, because an object cannot have one as a plain key. */
  readonly protoKeys: Path[] = [];
  readonly #offsets = new Map<string, {readonly key: number; readonly value: number}>();

  /** If a key appears twice, the last value counts. */
  constructor(
    private readonly text: string,
    root: Node,
    private readonly problems: ProblemList,
  ) {
    this.values = this.#readValue(root, []);
  }

  /** Returns line and column of the key, or of the entry of a list. */
  keyPlace(path: Path): Position {
    const offsets = this.#offsets.get(JSON.stringify(path));
    return offsets ? positionAt(this.text, offsets.key) : this.valuePlace(path);
  }

  /** Returns line and column of the value. For a missing value it returns those of the enclosing object. */
  valuePlace(path: Path): Position {
    for (let length = path.length; length > 0; length--) {
      const offsets = this.#offsets.get(JSON.stringify(path.slice(0, length)));
      if (offsets) return positionAt(this.text, offsets.value);
    }
    return START;
  }

  #readValue(node: Node, path: Path): unknown {
    if (path.length > MAX_DEPTH) {
      if (!this.problems.failed)
        this.problems.error('syntax', positionAt(this.text, node.offset), 'is nested too deeply');
      return null;
    }
    if (node.type === 'array') {
      return (node.children ?? []).map((item, index) => {
        const own = [...path, String(index)];
        this.#offsets.set(JSON.stringify(own), {key: item.offset, value: item.offset});
        return this.#readValue(item, own);
      });
    }
    if (node.type !== 'object') return node.value;
    const values: Record<string, unknown> = {};
    for (const [key, value] of getProperties(node)) {
      const own = [...path, String(key.value)];
      if (this.#offsets.has(JSON.stringify(own))) this.#reportDouble(own, positionAt(this.text, key.offset));
      this.#offsets.set(JSON.stringify(own), {key: key.offset, value: value?.offset ?? key.offset});
      if (key.value === '__proto__') this.protoKeys.push(own);
      else if (value) values[String(key.value)] = this.#readValue(value, own);
    }
    return values;
  }

  #reportDouble(path: Path, place: Position): void {
    const words = `${JSON.stringify(formatPath(path))} stands twice`;
    if (isAmong(path, STRICT)) this.problems.error('double-key', place, words);
    else this.problems.warn('double-key', place, `${words}: the last one counts`);
  }
}
