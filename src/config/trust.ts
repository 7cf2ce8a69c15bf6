/**
 * What the user trusts of one directory's files. Remembered by the directory's real path for exactly the values that
 * were shown: another value, another file, another directory, also one below it or a worktree of it, is asked for anew.
 */
import {createHash} from 'node:crypto';
import path from 'node:path';
import type {Claim, Trusts} from '../core/contract/trust.ts';
import {messageOf} from '../core/util/errors.ts';
import {readTrustFile, type TrustFile, trustFileIn, type Verdict, type Verdicts, writeTrustFile} from './trust-file.ts';

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
