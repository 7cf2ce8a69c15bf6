/** Resolves names across files: which definition an imported, free or member name stands for. */
import {posix} from 'node:path';
import type {Definition, Language} from '../contract.ts';
import {type RawDefinition, type Use, unpackUses} from '../syntax/file-facts.ts';
import {createImportResolver} from './imports/index.ts';
import type {ProjectFiles} from './project-files.ts';
import type {IndexedEntry} from './read-entry.ts';

/** Maximum number of re-exports or base classes that are followed in a chain. */
const MAX_STEPS = 12;
const SELF: ReadonlySet<string> = new Set([
  'this',
  'self',
  'Self',
  'cls',
  '$this',
  'static',
  'super',
  'parent',
  'base',
]);
const CLASSES: ReadonlySet<string> = new Set(['class', 'interface', 'struct', 'enum', 'trait', 'module', 'type']);

export interface Meaning {
  readonly path: string;
  /** Number of the definition in its file; -1 for the file as a whole. */
  readonly index: number;
}

/** Resolves names as long as no file changes. After a change a new instance is needed. */
export class Meanings {
  readonly #files: ProjectFiles;
  /** For each file, the files that each of its imports names. */
  readonly importedFiles: ReadonlyMap<string, readonly (readonly string[])[]>;
  readonly #byName: ReadonlyMap<string, readonly Meaning[]>;
  readonly #exports = new Map<string, Meaning | undefined>();
  readonly #bases = new Map<string, readonly Meaning[]>();

  constructor(files: ProjectFiles) {
    this.#files = files;
    const resolve = createImportResolver(files);
    this.importedFiles = new Map(
      files.sorted.map((entry) => [
        entry.path,
        (entry.facts?.imports ?? []).map((each) => resolve(entry, each).filter((file) => file !== entry.path)),
      ]),
    );
    const all = files.sorted.flatMap(({path, facts}) => facts?.definitions.map((_, index) => ({path, index})) ?? []);
    this.#byName = Map.groupBy(all, (each) => this.get(each)!.name);
  }

  named(name: string): readonly Meaning[] {
    return this.#byName.get(name) ?? [];
  }

  get({path, index}: Meaning): RawDefinition | undefined {
    return this.#files.entries.get(path)?.facts?.definitions[index];
  }

  /**
   * Returns the same key for definitions that are one thing: overloads, a prototype and its body, parts of one class.
   */
  groupOf(meaning: Meaning): string {
    const {container, top, exported, name} = this.get(meaning)!;
    const {language, facts} = this.#files.entries.get(meaning.path)!;
    const own = [...container, name].join('.');
    const isC = language === 'c' || language === 'cpp';
    if (isC && (exported || !top)) return `c\n${own}`;
    if (language === 'go') return `${posix.dirname(meaning.path)}\n${facts!.space}\n${own}`;
    if (language === 'ruby' || language === 'csharp') return `${language}\n${facts!.space}\n${own}`;
    return `${meaning.path}\n${own}\n${top}`;
  }

  meaningOf(use: Use, entry: IndexedEntry, steps = 0): Meaning | 'local' | 'unknown' {
    if (use.binding === 'local') return 'local';
    if (use.binding === 'definition' || use.binding === 'name') return {path: entry.path, index: use.to};
    if (steps > MAX_STEPS) return 'unknown';
    if (use.binding === 'import') return this.#importedMeaning(use, entry, steps) ?? 'unknown';
    if (use.kind === 'import') return this.#importedName(use, entry) ?? 'unknown';
    const found =
      use.binding === 'free' ? this.#freeMeaning(use, entry, steps) : this.#memberMeaning(use, entry, steps);
    return found ?? 'unknown';
  }

  #importedMeaning(use: Use, entry: IndexedEntry, steps: number): Meaning | undefined {
    const parts = use.member ? use.receiver.split('.') : [use.name];
    const path = use.member ? [...parts, use.name] : parts;
    const imports = entry.facts!.imports;
    // In Python, `import a.b` and `import a.c` both bind `a`.
    const whole = imports.findIndex(({specifier, names}) => specifier === use.receiver && names[0]?.imported === '*');
    if (use.member && whole >= 0 && parts.length > 1) {
      return this.#first(this.#targets(entry, whole), (file) => this.exported(file, use.name));
    }
    const {names} = imports[use.to]!;
    const targets = this.#targets(entry, use.to);
    const imported = names.find(({local}) => local === path[0])?.imported;
    if (imported === undefined) return undefined;
    const [, ...rest] = path;
    if (imported === '*') {
      if (rest.length === 0) return targets.length === 1 ? {path: targets[0]!, index: -1} : undefined;
      return this.#first(targets, (file) => this.#follow(this.exported(file, rest[0]!), rest.slice(1), steps));
    }
    const {specifier} = imports[use.to]!;
    const start =
      this.#first(targets, (file) => this.exported(file, imported)) ??
      this.#submodule(targets, imported) ??
      this.#staticMember(targets, specifier, imported);
    return this.#follow(start, rest, steps);
  }

  /** Resolves member after member, starting from a definition or a whole file. */
  #follow(start: Meaning | undefined, parts: readonly string[], steps: number): Meaning | undefined {
    let at = start;
    for (const part of parts) {
      if (!at) return undefined;
      at = at.index < 0 ? this.exported(at.path, part) : this.member(at, part, steps + 1);
    }
    return at;
  }

  /** In `from package import module` the name is a file. */
  #submodule(targets: readonly string[], name: string): Meaning | undefined {
    const file = targets.find((each) =>
      new RegExp(`(?:^|/)${name}(?:\\.pyi?|/__init__\\.py|\\.rs|/mod\\.rs)$`).test(each),
    );
    return file === undefined ? undefined : {path: file, index: -1};
  }

  /** Resolves `d` of `import static a.b.C.d`. */
  #staticMember(targets: readonly string[], specifier: string, name: string): Meaning | undefined {
    const owner = specifier.split(/\.|::/).at(-1)!;
    return this.#first(targets, (file) => {
      const index = this.#files.entries
        .get(file)!
        .facts!.definitions.findIndex((each) => each.name === name && each.container.at(-1) === owner);
      return index < 0 ? undefined : {path: file, index};
    });
  }

  /** Resolves the other file's name in `import {name as x}` or `export {name} from`. */
  #importedName(use: Use, entry: IndexedEntry): Meaning | undefined {
    for (const [at, {names, line}] of entry.facts!.imports.entries()) {
      if (line > use.line || !names.some(({imported}) => imported === use.name)) continue;
      const meaning = this.#first(this.#targets(entry, at), (file) => this.exported(file, use.name));
      if (meaning) return meaning;
    }
    return undefined;
  }

  /** Resolves a name that its file does not declare: inherited, imported by a wildcard, or visible in the package. */
  #freeMeaning(use: Use, entry: IndexedEntry, steps: number): Meaning | undefined {
    const inherited = /^(?:java|csharp|cpp|ruby)$/.test(entry.language)
      ? this.#ofClassAround(use, entry, steps)
      : undefined;
    if (inherited) return inherited;
    for (const [at, {names, reexport, specifier}] of entry.facts!.imports.entries()) {
      if (reexport || !names.some(({local}) => local === '*')) continue;
      const found =
        this.#first(this.#targets(entry, at), (file) => this.exported(file, use.name)) ??
        this.#usingStatic(entry, specifier, use.name, steps);
      if (found) return found;
    }
    const candidates = this.named(use.name).filter((each) => this.#isSeen(each, entry));
    const groups = new Set(candidates.map((each) => this.groupOf(each)));
    return groups.size === 1 ? this.#best(candidates) : undefined;
  }

  /** Resolves a member of the class that `using static` names in C#. */
  #usingStatic({language}: IndexedEntry, specifier: string, name: string, steps: number): Meaning | undefined {
    if (language !== 'csharp') return undefined;
    const owners = this.named(specifier.split('.').at(-1)!).filter((each) => {
      const {container, name: own, kind} = this.get(each)!;
      const space = this.#files.entries.get(each.path)!.facts!.space;
      return CLASSES.has(kind) && [space, ...container, own].filter(Boolean).join('.') === specifier;
    });
    return this.#first(owners, (owner) => this.member(owner, name, steps + 1));
  }

  /** Returns whether a definition is visible without an import. */
  #isSeen(meaning: Meaning, {path, language, facts}: IndexedEntry): boolean {
    const {top, exported, container, kind} = this.get(meaning)!;
    const other = this.#files.entries.get(meaning.path)!;
    if (!isSameFamily(other.language, language)) return false;
    const space = other.facts!.space;
    switch (language) {
      case 'go':
        return top && posix.dirname(meaning.path) === posix.dirname(path) && space === facts!.space;
      case 'java':
        return container.length === 0 && space === facts!.space;
      case 'csharp':
        return (
          container.length === 0 && (facts!.space === space || facts!.space.startsWith(`${space}.`) || space === '')
        );
      case 'php':
        return top && (space === facts!.space || space === '');
      case 'c':
      case 'cpp':
        return (top || CLASSES.has(kind)) && exported;
      case 'ruby':
        return CLASSES.has(kind) || kind === 'constant' || top;
      case 'rust':
        return kind === 'macro';
      default:
        return false;
    }
  }

  /** Prefers a definition with a body over a declaration. */
  #best(meanings: readonly Meaning[]): Meaning | undefined {
    return meanings.find((each) => !this.get(each)!.declaration) ?? meanings[0];
  }

  #memberMeaning(use: Use, entry: IndexedEntry, steps: number): Meaning | undefined {
    const {receiver} = use;
    if (SELF.has(receiver)) return this.#ofClassAround(use, entry, steps);
    const type = receiver.replace(/^:/, '');
    if (!/^[\w$]+(?:\.[\w$]+)*$/.test(type)) return undefined;
    const owner = this.#findClass(type.split('.'), entry, steps);
    return owner && this.member(owner, use.name, steps + 1);
  }

  /** Finds the class that a name means in a file. */
  #findClass([first = '', ...rest]: readonly string[], entry: IndexedEntry, steps: number): Meaning | undefined {
    const {definitions, imports} = entry.facts!;
    const own = definitions.findIndex(({name, kind}) => name === first && CLASSES.has(kind));
    const imported = imports.findIndex(({names, reexport}) => !reexport && names.some(({local}) => local === first));
    const bound = {
      name: first,
      kind: 'type',
      member: false,
      shorthand: false,
      line: 0,
      column: 0,
      inside: -1,
      receiver: '',
    } as const;
    const use: Use =
      own >= 0
        ? {...bound, binding: 'definition', to: own}
        : imported >= 0
          ? {...bound, binding: 'import', to: imported}
          : {...bound, binding: 'free', to: -1};
    const found = this.meaningOf(use, entry, steps + 1);
    const meaning = typeof found === 'string' ? undefined : this.#follow(found, rest, steps);
    return meaning && meaning.index >= 0 && CLASSES.has(this.get(meaning)!.kind) ? meaning : undefined;
  }

  /** Finds a member of one of the classes around a use, or of their bases. */
  #ofClassAround(use: Use, entry: IndexedEntry, steps: number): Meaning | undefined {
    const around = entry.facts!.definitions[use.inside];
    if (!around) return undefined;
    const names = [...around.container, around.name];
    for (let count = names.length; count > 0; count -= 1) {
      const container = names.slice(0, count - 1).join('.');
      const candidates = this.named(names[count - 1]!).filter((each) => {
        const definition = this.get(each)!;
        const isHere =
          each.path === entry.path || isSameFamily(this.#files.entries.get(each.path)!.language, entry.language);
        return isHere && CLASSES.has(definition.kind) && definition.container.join('.') === container;
      });
      const own = candidates.find(({path}) => path === entry.path) ?? candidates[0];
      const found = own && this.member(own, use.name, steps + 1);
      if (found) return found;
    }
    return undefined;
  }

  /** Finds a member of a class by its name, its own or an inherited one. */
  member(owner: Meaning, name: string, steps = 0): Meaning | undefined {
    const found = this.get(owner);
    if (!found || steps > MAX_STEPS) return undefined;
    const container = [...found.container, found.name].join('.');
    const language = this.#files.entries.get(owner.path)!.language;
    const isSpread = /^(?:go|c|cpp|ruby|csharp|rust)$/.test(language);
    const matches = this.named(name).filter((each) => {
      const isNear =
        each.path === owner.path || (isSpread && this.#files.entries.get(each.path)!.language === language);
      const {container: around} = this.get(each)!;
      return (
        isNear &&
        around.join('.') === container &&
        (language !== 'go' || posix.dirname(each.path) === posix.dirname(owner.path))
      );
    });
    const own = this.#best(matches);
    return own ?? this.#first(this.basesOf(owner, steps), (base) => this.member(base, name, steps + 1));
  }

  /** Finds the base classes of a class that are in the index. */
  basesOf(owner: Meaning, steps = 0): readonly Meaning[] {
    const key = `${owner.path}\n${owner.index}`;
    const known = this.#bases.get(key);
    if (known) return known;
    // This ends the search when classes inherit from each other in a cycle.
    this.#bases.set(key, []);
    const entry = this.#files.entries.get(owner.path)!;
    const {name} = this.get(owner)!;
    const bases = entry.facts!.bases.flatMap((each) => {
      if (each.name !== name) return [];
      const last = each.base.split(/\.|::|\\/).at(-1)!;
      const use = unpackUses(entry.facts!, last).find(({line, kind}) => line === each.line && kind !== 'import');
      const meaning = use && this.meaningOf(use, entry, steps + 1);
      return typeof meaning === 'object' && meaning.index >= 0 ? [meaning] : [];
    });
    this.#bases.set(key, bases);
    return bases;
  }

  /** Finds what a file exports under a name, and follows re-exports. */
  exported(path: string, name: string): Meaning | undefined {
    const key = `${path}\n${name}`;
    if (!this.#exports.has(key)) {
      // This ends the search when files re-export each other in a cycle.
      this.#exports.set(key, undefined);
      this.#exports.set(key, this.#findExported(path, name, 0));
    }
    return this.#exports.get(key);
  }

  #findExported(path: string, name: string, steps: number): Meaning | undefined {
    const entry = this.#files.entries.get(path);
    if (!entry?.facts || steps > MAX_STEPS) return undefined;
    const {definitions, exports, imports} = entry.facts;
    const own = exports.find(([exported]) => exported === name)?.[1] ?? name;
    const matches = definitions.flatMap((each, index) =>
      each.name === own && (each.top || isClassLike(each, entry.language)) ? [{path, index}] : [],
    );
    const found = this.#best(matches);
    if (found) return found;
    const isInclude = entry.language === 'c' || entry.language === 'cpp';
    for (const [at, {names, reexport}] of imports.entries()) {
      const named = names.find(({local}) => local === own && local !== '*');
      const isAll = (reexport || isInclude || entry.language === 'python') && names.some(({local}) => local === '*');
      if (!named && (!isAll || name === 'default')) continue;
      const targets = this.#targets(entry, at);
      if (named?.imported === '*') {
        if (targets.length === 1) return {path: targets[0]!, index: -1};
        continue;
      }
      const wanted = named?.imported ?? name;
      const further = this.#first(targets, (file) => this.#findExported(file, wanted, steps + 1));
      if (further) return further;
    }
    return undefined;
  }

  #targets({path}: IndexedEntry, at: number): readonly string[] {
    return this.importedFiles.get(path)?.[at] ?? [];
  }

  #first<T>(targets: readonly T[], find: (target: T) => Meaning | undefined): Meaning | undefined {
    for (const target of targets) {
      const found = find(target);
      if (found) return found;
    }
    return undefined;
  }

  toDefinition({path, index}: Meaning): Definition {
    const entry = this.#files.entries.get(path)!;
    const {top: _, ...definition} = entry.facts!.definitions[index]!;
    return {...definition, path, language: entry.language};
  }
}

/** Returns whether other files import the definition by its bare name, although it is in a namespace. */
function isClassLike({container, kind}: RawDefinition, language: Language): boolean {
  return (
    /^(?:java|csharp|php|cpp)$/.test(language) && CLASSES.has(kind) && (language === 'cpp' || container.length === 0)
  );
}

/** Returns whether files of the two languages can use each other's definitions. */
export function isSameFamily(a: Language, b: Language): boolean {
  const family = (language: Language) => {
    if (language === 'typescript' || language === 'tsx') return 'javascript';
    return language === 'c' ? 'cpp' : language;
  };
  return family(a) === family(b);
}
