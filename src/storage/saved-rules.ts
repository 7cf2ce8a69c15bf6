/** Rules that a person chose for good: `<home>/projects/<slug>/permissions.json`, by the project's folder. */
import {readFileSync} from 'node:fs';
import {mkdir} from 'node:fs/promises';
import path from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import {z} from 'zod';
import type {RuleStore} from '../core/permissions/rules/rule-book.ts';
import type {Redactor} from '../core/secrets/redaction.ts';
import {MiniCcError, messageOf} from '../core/util/errors.ts';
import {codeOf} from '../core/util/file-errors.ts';

const FORMAT_VERSION = 1;
const NAME = 'permissions.json';
const MODE = 0o600;

/** Folders whose paths make the same name share the file. */
const format = z.object({
  version: z.number(),
  projects: z.record(z.string(), z.object({allow: z.array(z.string())})),
});

type Kept = z.infer<typeof format>;

export class KeptRules implements RuleStore {
  readonly source: string;

  /**
   * @param folder of the project's sessions.
   * @param root of the project, with links resolved: the rules of another are not these.
   */
  constructor(
    private readonly folder: string,
    private readonly root: string,
    private readonly redactor: Redactor,
  ) {
    this.source = path.join(folder, NAME);
  }

  /** @returns the rules of this project, and what is wrong with the file in one line. */
  read(): {readonly rules: readonly string[]; readonly warning?: string} {
    try {
      return {rules: this.#load().projects[this.root]?.allow ?? []};
    } catch (error) {
      return {rules: [], warning: `${messageOf(error)}: its rules do not hold`};
    }
  }

  mayHold(rule: string): boolean {
    return this.redactor.text(rule) === rule;
  }

  /** Another mini-cc may have written meanwhile: its rules stay. @throws MiniCcError when it cannot be written. */
  async add(rules: readonly string[]): Promise<void> {
    const kept = this.#load();
    const allow = [...new Set([...(kept.projects[this.root]?.allow ?? []), ...rules])];
    const next: Kept = {...kept, projects: {...kept.projects, [this.root]: {allow}}};
    await mkdir(this.folder, {recursive: true, mode: 0o700});
    await writeFileAtomic(this.source, `${JSON.stringify(next, null, 2)}\n`, {mode: MODE});
  }

  #load(): Kept {
    const text = readOrNothing(this.source);
    if (text === undefined) return {version: FORMAT_VERSION, projects: {}};
    const parsed = format.safeParse(jsonOf(text));
    if (!parsed.success) throw new MiniCcError('RULES_FILE', `${this.source} holds no rules of mini-cc`);
    if (parsed.data.version > FORMAT_VERSION) {
      throw new MiniCcError('RULES_FILE', `${this.source} was written by a newer version of mini-cc`);
    }
    return parsed.data;
  }
}

function readOrNothing(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new MiniCcError('RULES_FILE', `${file} cannot be read: ${messageOf(error)}`, {cause: error});
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // What it is not, the schema says.
    return undefined;
  }
}
