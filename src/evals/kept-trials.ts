/**
 * Keeps trials in the home, so that none is paid for twice. The key is a hash of all that a trial depends on besides
 * its checks.
 */
import {lstatSync} from 'node:fs';
import {mkdir, readdir, readFile} from 'node:fs/promises';
import path from 'node:path';
import type {AgentDefinition} from '../core/agent-types.ts';
import {ignoreMissing, tryOr} from '../core/util/errors.ts';
import {writeWhole} from '../core/util/files/whole-file.ts';
import {hashJson, sha256} from '../core/util/hash.ts';
import type {EvalCase, TrialRecord} from './contract.ts';

const VERSION = 1;

interface StoredTrial {
  readonly version: number;
  /** Hash of all that the trial depends on. */
  readonly key: string;
  readonly agent: string;
  readonly case: string;
  /** `agent`, or the name of the baseline. */
  readonly arm: string;
  readonly trial: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly record: TrialRecord;
}

interface TrialKey {
  readonly definition: AgentDefinition;
  readonly evalCase: EvalCase;
  /** Identifies the files of the workspace. */
  readonly base: string;
  readonly model: string;
  readonly version: string;
}

export function getTrialKey({definition, evalCase, base, model, version}: TrialKey): string {
  const {id, prompt, files, link, setup, commit, patch} = evalCase;
  const given = files.map(({to, content}) => [to, sha256(content)]);
  // Two cases may differ only in their checks. Each has its own runs.
  return hashJson([
    String(id),
    definition,
    prompt,
    given,
    link,
    setup,
    commit,
    patch && sha256(patch),
    base,
    model,
    version,
  ]);
}

/** Returns a name for the file of a case. Two cases never have the same one. */
export function toFileName(id: string | number): string {
  const text = String(id);
  const name = text
    .replaceAll(/[^\w.-]/g, '_')
    .replace(/^\.+/, '_')
    .slice(0, 80);
  return name === text ? name : `${name}-${sha256(text).slice(0, 8)}`;
}

function getStamp(place: string): number | undefined {
  return tryOr(() => lstatSync(place).mtimeMs, undefined);
}

export class KeptTrials {
  /** @param folder created with the first trial */
  constructor(private readonly folder: string) {}

  async find(key: string, trial: number): Promise<TrialRecord | undefined> {
    const stored = await this.#read(this.#getFile(key, trial));
    return stored?.key === key ? stored.record : undefined;
  }

  async keep(trial: Omit<StoredTrial, 'version' | 'at'>): Promise<void> {
    await this.#write(this.#getFile(trial.key, trial.trial), {at: Date.now(), ...trial});
  }

  /**
   * Returns the newest kept trials of a case. They all have the same definition and workspace, which may be older than
   * the present ones.
   */
  async findNewest(agent: string, id: string, arm: string): Promise<readonly StoredTrial[]> {
    const names = (await readdir(this.folder).catch(ignoreMissing)) ?? [];
    const all = await Promise.all(names.map((name) => this.#read(path.join(this.folder, name))));
    const own = all.filter((each) => each?.agent === agent && each.case === id && each.arm === arm) as StoredTrial[];
    const newest = own.toSorted((a, b) => b.at - a.at)[0];
    return own.filter(({key}) => key === newest?.key).toSorted((a, b) => a.trial - b.trial);
  }

  /** Returns the marks that a judge gave, as they were kept. @param key hash of its question */
  async findMarks(key: string): Promise<unknown> {
    return (await this.#read<{readonly marks: unknown}>(this.#getMarksFile(key)))?.marks;
  }

  async keepMarks(key: string, marks: unknown): Promise<void> {
    await this.#write(this.#getMarksFile(key), {marks});
  }

  /** Returns the reports of earlier tests, unless another program has changed them since. */
  async findReports(): Promise<readonly string[]> {
    return (await this.#readReports()).map(([place]) => place);
  }

  /** Remembers files and folders that a test has written. @param places absolute paths */
  async addReports(places: readonly string[]): Promise<void> {
    const written = places.flatMap((place) => {
      const at = getStamp(place);
      return at === undefined ? [] : [[place, at] as const];
    });
    if (written.length === 0) return;
    const reports = new Map([...(await this.#readReports()), ...written]);
    await this.#write(this.#reportsFile, {reports: [...reports]});
  }

  async #readReports(): Promise<readonly (readonly [place: string, at: number])[]> {
    const stored = await this.#read<{readonly reports: readonly [string, number][]}>(this.#reportsFile);
    return (stored?.reports ?? []).filter(([place, at]) => getStamp(place) === at);
  }

  get #reportsFile(): string {
    return path.join(this.folder, 'reports.json');
  }

  async #write(file: string, value: object): Promise<void> {
    await mkdir(this.folder, {recursive: true, mode: 0o700});
    await writeWhole(file, JSON.stringify({version: VERSION, ...value}), {mode: 0o600});
  }

  #getMarksFile(key: string): string {
    return path.join(this.folder, `marks-${key}.json`);
  }

  #getFile(key: string, trial: number): string {
    return path.join(this.folder, `${key}-${trial}.json`);
  }

  /** Returns undefined for a file that is missing, damaged, or of another version. */
  async #read<Stored = StoredTrial>(file: string): Promise<Stored | undefined> {
    const text = await readFile(file, 'utf8').catch(ignoreMissing);
    try {
      const stored = text === undefined ? undefined : (JSON.parse(text) as Stored & Pick<StoredTrial, 'version'>);
      return stored?.version === VERSION ? stored : undefined;
    } catch {
      return undefined;
    }
  }
}
