/**
 * Random files, edits and faults of the disk. After each fault a file is the old one or the new one, and the result says
 * which; the new one keeps encoding, line ends, mode, and every byte that the edit does not name.
 * `MINI_CC_FILE_CASES`: how many cases (`npm run soak`: thousands). `MINI_CC_FILE_SEED`: the first seed.
 */
import {execFileSync} from 'node:child_process';
import {chmodSync, linkSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {FileLocks} from '../../../src/tools/files/change-file.ts';
import {createEditFile} from '../../../src/tools/files/edit-file.ts';
import {createReadFile} from '../../../src/tools/files/read-file.ts';
import {decodeText} from '../../../src/tools/files/text-file.ts';
import {createWriteFile} from '../../../src/tools/files/write-file.ts';
import {createRandom} from '../../support/random.ts';
import {fixture} from '../fixture.ts';

const CASES = Number(process.env.MINI_CC_FILE_CASES ?? 100);
const FIRST_SEED = Number(process.env.MINI_CC_FILE_SEED ?? 1);
/** One case in so many has a file around the size from which files are edited in parts. */
const LARGE_EVERY = 25;

const writeTool = createWriteFile(new FileLocks());
const editTool = createEditFile(new FileLocks());

type Random = ReturnType<typeof createRandom>;
type Encoding = 'utf8' | 'utf8-mark' | 'utf16le' | 'utf16be' | 'latin1';
type LineEnds = '\n' | '\r\n' | 'mixed';

interface Case {
  readonly seed: number;
  readonly encoding: Encoding;
  readonly ends: LineEnds;
  /** Each with its line end, but perhaps the last. */
  readonly lines: readonly string[];
  readonly bytes: Buffer;
  readonly isLarge: boolean;
  readonly hasOtherName: boolean;
}

const pick = <T>(random: Random, from: readonly T[]): T => from[random(from.length)]!;

function encode(text: string, encoding: Encoding): Buffer {
  switch (encoding) {
    case 'utf8':
      return Buffer.from(text);
    case 'utf8-mark':
      return Buffer.from(`\ufeff${text}`);
    case 'utf16le':
      return Buffer.from(`\ufeff${text}`, 'utf16le');
    case 'utf16be':
      return Buffer.from(`\ufeff${text}`, 'utf16le').swap16();
    case 'latin1':
      // Not UTF-8.
      return Buffer.from(`\xe9 ${text}`, 'latin1');
  }
}

function createCase(seed: number): Case {
  const random = createRandom(seed * 7919);
  const isLarge = seed % LARGE_EVERY === 0;
  const encoding = pick<Encoding>(random, ['utf8', 'utf8', 'utf8-mark', 'utf16le', 'utf16be', 'latin1']);
  const ends = pick<LineEnds>(random, ['\n', '\n', '\r\n', 'mixed']);
  const size = isLarge
    ? pick(random, [10, 10, 12]) * 1024 * 1024 + pick(random, [-1, 0, 1, random(4000)])
    : pick(random, [0, 1, 40, 400, 4000, 8191, 8192, 8193, 30_000]) + random(3);
  const characters = encoding === 'latin1' ? 'abcé ü\t0' : 'abcé 日😀\t0';
  const word = () => Array.from({length: random(12)}, () => pick(random, [...characters])).join('');
  const lines: string[] = [];
  const filler = 'filler '.repeat(4000);
  for (let length = 0; length < size; ) {
    const end = ends === 'mixed' ? pick(random, ['\n', '\r\n']) : ends;
    // The number makes the line unique.
    const line = `${word()}<${lines.length}>${word()}${isLarge ? filler.slice(0, random(28_000)) : ''}${end}`;
    lines.push(line);
    length += Buffer.byteLength(line, encoding.startsWith('utf16') ? 'utf16le' : 'utf8');
  }
  if (lines.length > 0 && random(3) === 0) lines.push(`${word()}last`);
  const bytes = encode(lines.join(''), encoding);
  return {seed, encoding, ends, lines, bytes, isLarge, hasOtherName: random(5) === 0};
}

const fold = (text: string): string => text.replaceAll('\r\n', '\n');

/** What the model sends, and whether the bytes are a right result of it. */
interface Change {
  readonly run: (call: Call, path: string) => ReturnType<Call>;
  readonly assertResult: (bytes: Buffer) => void;
}

type Call = ReturnType<typeof fixture>['call'];

function createText(random: Random, given: Case): string {
  const parts = given.encoding === 'latin1' ? ['x', 'é', '\n', ' '] : ['x', 'é', '日', '😀', '\n', ' '];
  return Array.from({length: random(30)}, () => pick(random, parts)).join('');
}

function createEdit(random: Random, given: Case): Change {
  const {lines, encoding, ends, bytes} = given;
  const from = random(lines.length);
  const count = 1 + random(Math.min(4, lines.length - from));
  const passage = lines.slice(from, from + count).join('');
  const inserted = `${createText(random, given)}!`;
  const before = encode(lines.slice(0, from).join(''), encoding);
  const after = bytes.subarray(before.length + (encode(passage, encoding).length - encode('', encoding).length));
  const old_string = random(2) === 0 ? passage : fold(passage);
  return {
    run: (call, path) => call(editTool, {path, old_string, new_string: inserted}),
    assertResult(result) {
      expect(result.subarray(0, before.length).equals(before)).toBe(true);
      expect(result.subarray(result.length - after.length).equals(after)).toBe(true);
      const middle = result.subarray(before.length, result.length - after.length);
      const mark = encode('', encoding);
      const text = decodeText(Buffer.concat([mark, middle])).text.slice(encoding === 'latin1' ? 2 : 0);
      expect(fold(text)).toBe(inserted);
      if (lines.length > 1) assertLineEnds(text, ends);
    },
  };
}

function assertLineEnds(text: string, ends: LineEnds): void {
  if (ends === '\n') expect(text).not.toContain('\r\n');
  if (ends === '\r\n') expect(text).not.toMatch(/(?<!\r)\n/);
}

function createWrite(random: Random, given: Case): Change {
  const content = `${given.encoding === 'latin1' ? 'é ' : ''}${createText(random, given)}`;
  return {
    run: (call, path) => call(writeTool, {path, content}),
    assertResult(result) {
      // An empty file has no encoding that could be kept.
      const old = decodeText(given.bytes);
      const {text, mark} = decodeText(result);
      expect(fold(text)).toBe(content);
      expect(mark).toEqual(old.mark);
      if (given.lines.length > 1) assertLineEnds(text, given.ends);
    },
  };
}

/** A limit for the size of files acts like a full disk: the write that passes it is short, and the next one fails. */
async function withLimit<T>(bytes: number, work: () => Promise<T>): Promise<T> {
  const setLimit = (limit: string) =>
    execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${limit}:unlimited`]);
  // Node ignores the signal until somebody in the process has listened to it: Ink does.
  const ignore = () => undefined;
  process.on('SIGXFSZ', ignore);
  setLimit(String(bytes));
  try {
    return await work();
  } finally {
    setLimit('unlimited');
    process.off('SIGXFSZ', ignore);
  }
}

async function runCase(seed: number, {call, root}: ReturnType<typeof fixture>): Promise<'new' | 'old'> {
  const random = createRandom(seed);
  const given = createCase(seed);
  const path = join(root, `case-${seed}.txt`);
  writeFileSync(path, given.bytes);
  const mode = pick(random, [0o644, 0o755, 0o600, 0o664]);
  chmodSync(path, mode);
  if (given.hasOtherName) linkSync(path, `${path}.other`);
  const isRead = await call(createReadFile(), {path, limit: 5});
  if (given.lines.length > 0) expect(isRead.isError, isRead.text).toBeUndefined();
  const change = given.lines.length > 0 && random(3) > 0 ? createEdit(random, given) : createWrite(random, given);
  const hasFault = process.platform === 'linux' && random(3) === 0;
  const work = () => change.run(call, path);
  const result = hasFault ? await withLimit(random(given.bytes.length + 100), work) : await work();
  const now = readFileSync(path);
  if (result.isError) {
    expect(hasFault, result.text).toBe(true);
    expect(result.text).toMatch(/could not be written \(EFBIG: file too large\): it is as it was\.$/);
    expect(now.equals(given.bytes)).toBe(true);
  } else {
    change.assertResult(now);
  }
  expect(statSync(path).mode & 0o777).toBe(mode);
  if (given.hasOtherName) expect(readFileSync(`${path}.other`).equals(now)).toBe(true);
  expect(readdirSync(root).filter((name) => name.startsWith('.'))).toEqual([]);
  rmSync(path);
  rmSync(`${path}.other`, {force: true});
  return result.isError ? 'old' : 'new';
}

describe('a file that a tool changes', () => {
  test(
    `is the old one or the new one, and the result says which (${CASES} cases)`,
    async () => {
      const made = fixture();
      const ends = {new: 0, old: 0};
      for (let seed = FIRST_SEED; seed < FIRST_SEED + CASES; seed += 1) {
        await runCase(seed, made).then(
          (end) => (ends[end] += 1),
          (error: Error) => {
            error.message = `MINI_CC_FILE_SEED=${seed}: ${error.message}`;
            throw error;
          },
        );
      }
      expect(ends.new).toBeGreaterThan(CASES / 2);
      if (process.platform === 'linux') expect(ends.old).toBeGreaterThan(CASES / 20);
    },
    CASES * 2_000 + 300_000,
  );
});
