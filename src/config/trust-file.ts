/** `trust.json` in the user's home: which values of which directories' files the user has judged. */
import {chmodSync, mkdirSync} from 'node:fs';
import path from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import {z} from 'zod';
import {parseRoot} from '../core/util/json-syntax.ts';
import {ProblemList} from '../core/util/problem.ts';
import {SettingsTree} from './jsonc-file.ts';
import {readSettingsText} from './settings-text.ts';

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
