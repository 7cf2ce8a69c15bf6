/** What names mean across files: which definition an imported or free name stands for. */
import type {Definition} from '../contract.ts';
import type {RawDefinition, Use} from '../syntax/file-facts.ts';
import {createImportResolver} from './imported-files.ts';
import type {IndexedEntry, ProjectFiles} from './project-files.ts';

/** Re-exports of re-exports are followed so far. */
const MAX_STEPS = 12;

export interface Meaning {
  readonly path: string;
  /** Number of the definition in its file. -1: the file as a whole. */
  readonly index: number;
}

/** Valid as long as no file changes. */
export class Meanings {
  readonly #files: ProjectFiles;
  /** By file, the files that each of its imports names. */
  readonly importedFiles: ReadonlyMap<string, readonly (readonly string[])[]>;
  readonly #byName = new Map<string, Meaning[]>();
  readonly #exports = new Map<string, Meaning | undefined>();

  constructor(files: ProjectFiles) {
    this.#files = files;
    const resolve = createImportResolver(files);
    const imported = new Map<string, readonly (readonly string[])[]>();
    for (const entry of files.entries.values()) {
      if (!entry.facts) continue;
      imported.set(
        entry.path,
        entry.facts.imports.map((each) => resolve(entry, each).filter((file) => file !== entry.path)),
      );
      for (const [index, {name}] of entry.facts.definitions.entries()) {
        const list = this.#byName.get(name);
        if (list) list.push({path: entry.path, index});
        else this.#byName.set(name, [{path: entry.path, index}]);
      }
    }
    this.importedFiles = imported;
  }

  /** All definitions of a name. */
  named(name: string): readonly Meaning[] {
    return this.#byName.get(name) ?? [];
  }

  get({path, index}: Meaning): RawDefinition | undefined {
    return this.#files.entries.get(path)?.facts?.definitions[index];
  }

  /** @returns `local`, `unknown`, or the definition */
  meaningOf(use: Use, entry: IndexedEntry): Meaning | 'local' | 'unknown' {
    if (use.binding === 'local') return 'local';
    if (use.binding === 'definition' || use.binding === 'name') return {path: entry.path, index: use.to};
    if (use.binding === 'import') return this.#importedMeaning(use, entry) ?? 'unknown';
    if (use.kind === 'import') return this.#importedName(use, entry) ?? 'unknown';
    if (use.binding === 'free') return this.#freeMeaning(use, entry) ?? 'unknown';
    return 'unknown';
  }

  #importedMeaning(use: Use, entry: IndexedEntry): Meaning | undefined {
    const {names} = entry.facts!.imports[use.to]!;
    const targets = this.importedFiles.get(entry.path)?.[use.to] ?? [];
    const local = use.member ? use.receiver : use.name;
    const imported = names.find((each) => each.local === local)?.imported;
    if (imported === undefined) return undefined;
    if (imported === '*') {
      if (!use.member) return targets.length === 1 ? {path: targets[0]!, index: -1} : undefined;
      return this.#first(targets, (file) => this.exported(file, use.name));
    }
    const meaning = this.#first(targets, (file) => this.exported(file, imported));
    return use.member && meaning ? this.member(meaning, use.name) : meaning;
  }

  /** The foreign name in `import {name as x}` or `export {name} from`. */
  #importedName(use: Use, entry: IndexedEntry): Meaning | undefined {
    for (const [at, {names, line}] of entry.facts!.imports.entries()) {
      if (line > use.line || !names.some(({imported}) => imported === use.name)) continue;
      const targets = this.importedFiles.get(entry.path)?.[at] ?? [];
      const meaning = this.#first(targets, (file) => this.exported(file, use.name));
      if (meaning) return meaning;
    }
    return undefined;
  }

  #freeMeaning(_use: Use, _entry: IndexedEntry): Meaning | undefined {
    return undefined;
  }

  /** The member of a class, by its name. */
  member(owner: Meaning, name: string): Meaning | undefined {
    const found = this.get(owner);
    const facts = this.#files.entries.get(owner.path)?.facts;
    if (!found || !facts) return undefined;
    const container = [...found.container, found.name].join('.');
    const index = facts.definitions.findIndex((each) => each.name === name && each.container.join('.') === container);
    return index < 0 ? undefined : {path: owner.path, index};
  }

  /** What a file exports under a name, through re-exports. */
  exported(path: string, name: string): Meaning | undefined {
    const key = `${path}\n${name}`;
    if (!this.#exports.has(key)) {
      // While it is looked for, a ring of re-exports finds nothing.
      this.#exports.set(key, undefined);
      this.#exports.set(key, this.#findExported(path, name, 0));
    }
    return this.#exports.get(key);
  }

  #findExported(path: string, name: string, steps: number): Meaning | undefined {
    const facts = this.#files.entries.get(path)?.facts;
    if (!facts || steps > MAX_STEPS) return undefined;
    const own = facts.exports.find(([exported]) => exported === name)?.[1] ?? name;
    const matches = facts.definitions.flatMap((each, index) => (each.top && each.name === own ? [index] : []));
    const index = matches.find((at) => !facts.definitions[at]!.declaration) ?? matches[0];
    if (index !== undefined) return {path, index};
    for (const [at, {names, reexport}] of facts.imports.entries()) {
      const named = names.find(({local}) => local === own);
      const isAll =
        reexport && names.some(({imported, local}) => imported === '*' && local === '*') && name !== 'default';
      if (!named && !isAll) continue;
      const targets = this.importedFiles.get(path)?.[at] ?? [];
      if (named?.imported === '*' && named.local !== '*') {
        if (targets.length === 1) return {path: targets[0]!, index: -1};
        continue;
      }
      const wanted = named && named.local !== '*' ? named.imported : name;
      const found = this.#first(targets, (file) => this.#findExported(file, wanted, steps + 1));
      if (found) return found;
    }
    return undefined;
  }

  #first(targets: readonly string[], find: (file: string) => Meaning | undefined): Meaning | undefined {
    for (const target of targets) {
      const found = find(target);
      if (found) return found;
    }
    return undefined;
  }

  /** As answers show it. */
  toDefinition({path, index}: Meaning): Definition {
    const entry = this.#files.entries.get(path)!;
    const {top: _, ...definition} = entry.facts!.definitions[index]!;
    return {...definition, path, language: entry.language};
  }
}
