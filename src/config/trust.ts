/**
 * Stores what the user trusts of one directory's files, in `trust.json` of the user's home. Trust applies to exactly
 * the values that were shown, under the directory's real path. mini-cc asks again about another value, another file and
 * another directory, even a subdirectory or a worktree of this one.
 */
import path from 'node:path';
import {z} from 'zod';
import type {Claim, Trusts} from '../core/contract/permission.ts';
import {getErrorMessage} from '../core/util/errors.ts';
import {writePrivate} from '../core/util/files/whole-file.ts';
import {sha256} from '../core/util/hash.ts';
import {parseRoot} from '../core/util/json-syntax.ts';
import {ProblemList} from '../core/util/problem.ts';
import {JsonTree, readText} from './jsonc-file.ts';

const FORMAT_VERSION = 1;

type TrustAnswer = 'trusted' | 'refused';

/** The answer and a hash of its value, by file and key such as `.mini-cc/settings.json: hooks`. */
const answersSchema = z.record(z.string(), z.object({verdict: z.enum(['trusted', 'refused']), value: z.string()}));
type TrustAnswers = z.output<typeof answersSchema>;

const trustFileSchema = z.object({
  version: z.int().min(1),
  /** Answers by the real path of the directory. */
  directories: z.record(z.string(), answersSchema),
});

interface TrustFile {
  readonly directories: Readonly<Record<string, TrustAnswers>>;
  /** One line that says why the file is not written: it is damaged, or a newer mini-cc wrote it. */
  readonly problem?: string;
}

/** `changed` means that another value was trusted. `new` means that the user has not answered yet. */
export type TrustState = TrustAnswer | 'changed' | 'new';

export class DirectoryTrust {
  readonly #file: string;
  #read: TrustFile | undefined;
  /** Answers of this session. They apply even when the file cannot be written. */
  #answers: TrustAnswers = {};

  /** @param directory real path of the directory */
  constructor(
    home: string,
    readonly directory: string,
  ) {
    this.#file = path.join(home, 'trust.json');
  }

  readonly trusts: Trusts = (claim) => this.getState(claim) === 'trusted';

  getState(claim: Claim): TrustState {
    const name = this.getName(claim);
    const known = Object.hasOwn(this.#known, name) ? this.#known[name] : undefined;
    if (known?.value === getHash(claim.value)) return known.verdict;
    return known?.verdict === 'trusted' ? 'changed' : 'new';
  }

  /** The problem of `trust.json`, in one line. */
  get problem(): string | undefined {
    return this.#stored.problem;
  }

  /**
   * Applies the answer at once and writes it to `trust.json`.
   * @returns undefined, or one line when it cannot be written. The line has the reason unless `problem` has it.
   */
  async remember(claims: readonly Claim[], answer: TrustAnswer): Promise<string | undefined> {
    const answers = Object.fromEntries(
      claims.map((claim) => [this.getName(claim), {verdict: answer, value: getHash(claim.value)}]),
    );
    this.#answers = {...this.#answers, ...answers};
    // Another mini-cc may have written the file in the meantime.
    const {directories, problem} = readTrustFile(this.#file);
    if (problem !== undefined) return 'your answer about this directory holds for this session only';
    try {
      const own = {...directories[this.directory], ...this.#answers};
      const file = {version: FORMAT_VERSION, directories: {...directories, [this.directory]: own}};
      await writePrivate(this.#file, `${JSON.stringify(file, null, 2)}\n`);
      return undefined;
    } catch (error) {
      return `your answer about this directory holds for this session only: ${getErrorMessage(error)}`;
    }
  }

  /** Returns file and key: `.mini-cc/settings.json: permissions.allow`. */
  getName({file, key}: Claim): string {
    return `${path.relative(this.directory, file)}: ${key}`;
  }

  get #stored(): TrustFile {
    this.#read ??= readTrustFile(this.#file);
    return this.#read;
  }

  get #known(): TrustAnswers {
    const {directories} = this.#stored;
    return {...(Object.hasOwn(directories, this.directory) ? directories[this.directory] : {}), ...this.#answers};
  }
}

function getHash(value: unknown): string {
  return sha256(JSON.stringify(sorted(value)));
}

/** Sorts keys, so that their order makes no difference. The order of lists does. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  // Entries are pairs, because an object would put keys that look like numbers first, and lose `__proto__`.
  return {entries: entries.map(([key, each]) => [key, sorted(each)])};
}

/** Reads the file. A file that cannot be read trusts nothing. Never throws. */
function readTrustFile(file: string): TrustFile {
  const problems = new ProblemList(file);
  const text = readText(problems, false);
  const root = text === undefined ? undefined : parseRoot(text, problems);
  const values = root && new JsonTree(text!, root, problems).values;
  const [first] = problems.all;
  if (first) return reportDamage(file, first.message);
  if (values === undefined) return {directories: {}};
  const parsed = trustFileSchema.safeParse(values);
  if (!parsed.success) return reportDamage(file, `${parsed.error.issues[0]!.path.join('.') || 'it'} is wrong`);
  const {version, directories} = parsed.data;
  if (version <= FORMAT_VERSION) return {directories};
  const what = `was written by a newer mini-cc (format ${version}, this one knows ${FORMAT_VERSION})`;
  return {directories, problem: `${file}: ${what}: it is read, not written`};
}

function reportDamage(file: string, why: string): TrustFile {
  return {directories: {}, problem: `${file}: ${why}: nothing is trusted until you repair or delete it`};
}
