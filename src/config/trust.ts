/**
 * What the user trusts of one directory's files. Remembered by the directory's real path for exactly the values that
 * were shown: another value, another file, another directory, also one below it or a worktree of it, is asked for anew.
 */
import {createHash} from 'node:crypto';
import {chmodSync, mkdirSync} from 'node:fs';
import path from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import {z} from 'zod';
import type {Claim, Trusts} from '../core/contract/trust.ts';
import {messageOf} from '../core/util/errors.ts';
import {parseRoot} from '../core/util/json-syntax.ts';
import {ProblemList} from '../core/util/problem.ts';
import {readSettingsText, SettingsTree} from './jsonc-file.ts';

/** `changed`: another value was trusted. `new`: nothing was said about it yet. */
export type Standing = Verdict | 'changed' | 'new';

export class DirectoryTrust {
  readonly #file: string;
  #read: TrustFile | undefined;
  /** Said in this session: it holds also where it cannot be written. */
  #said: Verdicts = {};

  /** @param directory its real path */
  constructor(
    home: string,
    readonly directory: string,
  ) {
    this.#file = trustFileIn(home);
  }

  readonly trusts: Trusts = (claim) => this.standing(claim) === 'trusted';

  standing(claim: Claim): Standing {
    const name = this.nameOf(claim);
    const known = Object.hasOwn(this.#verdicts, name) ? this.#verdicts[name] : undefined;
    if (known?.value === hashOf(claim.value)) return known.verdict;
    return known?.verdict === 'trusted' ? 'changed' : 'new';
  }

  /** What is wrong with the file that remembers, in one line; undefined where nothing is. */
  get problem(): string | undefined {
    return this.#stored.problem;
  }

  /**
   * Holds from now on, and is remembered.
   * @returns that it is not remembered, in one line, with the reason unless `problem` tells it; undefined where it is
   */
  judge(claims: readonly Claim[], verdict: Verdict): string | undefined {
    const said = Object.fromEntries(claims.map((claim) => [this.nameOf(claim), {verdict, value: hashOf(claim.value)}]));
    this.#said = {...this.#said, ...said};
    // Another mini-cc may have written it meanwhile.
    const {directories, problem} = readTrustFile(this.#file);
    if (problem !== undefined) return 'what you said of this directory holds for this session only';
    try {
      writeTrustFile(this.#file, {...directories, [this.directory]: {...directories[this.directory], ...said}});
      return undefined;
    } catch (error) {
      return `what you said of this directory holds for this session only: ${messageOf(error)}`;
    }
  }

  /** Where it stands and what it is about: `.mini-cc/settings.json: permissions.allow`. */
  nameOf({file, key}: Claim): string {
    return `${path.relative(this.directory, file)}: ${key}`;
  }

  get #stored(): TrustFile {
    this.#read ??= readTrustFile(this.#file);
    return this.#read;
  }

  get #verdicts(): Verdicts {
    const {directories} = this.#stored;
    return {...(Object.hasOwn(directories, this.directory) ? directories[this.directory] : {}), ...this.#said};
  }
}

function hashOf(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest('hex');
}

/** The order of keys is no difference, that of lists is. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  // As pairs: an object would put keys that look like numbers first, and lose `__proto__`.
  return {entries: entries.map(([key, each]) => [key, sorted(each)])};
}

const FORMAT_VERSION = 1;

export type Verdict = 'trusted' | 'refused';

/** By what asks, such as `.mini-cc/settings.json: hooks`: how its value was judged, as a hash. */
const verdicts = z.record(z.string(), z.object({verdict: z.enum(['trusted', 'refused']), value: z.string()}));
export type Verdicts = z.output<typeof verdicts>;

const trustFile = z.object({
  version: z.int().min(1),
  /** By the real path of the directory. */
  directories: z.record(z.string(), verdicts),
});

export interface TrustFile {
  readonly directories: Readonly<Record<string, Verdicts>>;
  /** One line that says why it is not written: it is damaged, or a newer mini-cc's. */
  readonly problem?: string;
}

export function trustFileIn(home: string): string {
  return path.join(home, 'trust.json');
}

/** What cannot be read trusts nothing. Never throws. */
export function readTrustFile(file: string): TrustFile {
  const problems = new ProblemList(file);
  const text = readSettingsText(problems, false);
  const root = text === undefined ? undefined : parseRoot(text, problems);
  const values = root && new SettingsTree(text!, root, problems).values;
  const [first] = problems.all;
  if (first) return damaged(file, first.message);
  if (values === undefined) return {directories: {}};
  const parsed = trustFile.safeParse(values);
  if (!parsed.success) return damaged(file, `${parsed.error.issues[0]!.path.join('.') || 'it'} is wrong`);
  const {version, directories} = parsed.data;
  if (version <= FORMAT_VERSION) return {directories};
  const what = `was written by a newer mini-cc (format ${version}, this one knows ${FORMAT_VERSION})`;
  return {directories, problem: `${file}: ${what}: it is read, not written`};
}

function damaged(file: string, why: string): TrustFile {
  return {directories: {}, problem: `${file}: ${why}: nothing is trusted until it is mended or deleted`};
}

/** @throws Error of the file system. */
export function writeTrustFile(file: string, directories: TrustFile['directories']): void {
  mkdirSync(path.dirname(file), {recursive: true, mode: 0o700});
  const text = `${JSON.stringify({version: FORMAT_VERSION, directories}, null, 2)}\n`;
  writeFileAtomic.sync(file, text, {mode: 0o600});
  // Also where it was there before, and open to others.
  chmodSync(file, 0o600);
}
