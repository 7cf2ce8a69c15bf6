/** Stores the permission rules of a person for a project: `<home>/projects/<slug>/permissions.json`. */
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {z} from 'zod';
import type {RuleKind, RuleTexts} from '../core/contract/permission.ts';
import type {RuleStore} from '../core/permissions/rules/rule-book.ts';
import type {Redactor} from '../core/secrets/redaction.ts';
import {getErrorCode, getErrorMessage, MiniCcError} from '../core/util/errors.ts';
import {writePrivate} from '../core/util/files/whole-file.ts';
import {parseLine} from './json-lines.ts';

const FORMAT_VERSION = 1;
const NAME = 'permissions.json';

const texts = z.array(z.string()).optional();

/** Rules by project folder, because projects whose paths give the same slug share the file. */
const format = z.object({
  version: z.number(),
  projects: z.record(z.string(), z.object({allow: texts, ask: texts, deny: texts})),
});

type RuleFile = z.infer<typeof format>;

export class SavedRules implements RuleStore {
  readonly source: string;

  /** @param folder folder of the project's sessions @param root the project's own folder, with links resolved */
  constructor(
    folder: string,
    private readonly root: string,
    private readonly redactor: Redactor,
  ) {
    this.source = path.join(folder, NAME);
  }

  /** @returns the rules of this project, and one line when the file cannot be used */
  read(): {readonly rules: RuleTexts; readonly warning?: string} {
    try {
      return {rules: this.#load().projects[this.root] ?? {}};
    } catch (error) {
      return {rules: {}, warning: `${getErrorMessage(error)}: its rules are not used`};
    }
  }

  canSave(rule: string): boolean {
    return this.redactor.text(rule) === rule;
  }

  /**
   * Adds rules of one kind, and keeps what another mini-cc wrote meanwhile.
   * @throws MiniCcError when the file cannot be written
   */
  async add(rules: readonly string[], kind: RuleKind = 'allow'): Promise<void> {
    await this.#change(kind, (saved) => [...new Set([...saved, ...rules])]);
  }

  /** Removes a rule of one kind. @throws MiniCcError when the file cannot be written */
  async remove(rule: string, kind: RuleKind): Promise<void> {
    await this.#change(kind, (saved) => saved.filter((each) => each !== rule));
  }

  async #change(kind: RuleKind, change: (saved: readonly string[]) => string[]): Promise<void> {
    const file = this.#load();
    const rules = file.projects[this.root];
    const changed = {...rules, [kind]: change(rules?.[kind] ?? [])};
    const next: RuleFile = {...file, projects: {...file.projects, [this.root]: changed}};
    await writePrivate(this.source, `${JSON.stringify(next, null, 2)}\n`);
  }

  #load(): RuleFile {
    const text = readIfThere(this.source);
    if (text === undefined) return {version: FORMAT_VERSION, projects: {}};
    const parsed = format.safeParse(parseLine(text));
    if (!parsed.success)
      throw new MiniCcError('RULES_FILE', `${this.source} is not a file of permission rules of mini-cc`);
    if (parsed.data.version > FORMAT_VERSION) {
      throw new MiniCcError('RULES_FILE', `${this.source} was written by a newer version of mini-cc`);
    }
    return parsed.data;
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return undefined;
    throw new MiniCcError('RULES_FILE', `${file} cannot be read: ${getErrorMessage(error)}`, {cause: error});
  }
}
