/** Resolves names across files: which definition an imported, free or member name stands for. */
import {posix} from 'node:path';
import type {Definition, Language} from '../contract.ts';
import {type RawDefinition, type Use, unpackUses} from '../syntax/file-facts.ts';
import {createImportResolver} from './imports/index.ts';
import {findFirst} from './imports/resolver.ts';
import type {ProjectFiles} from './project-files.ts';
import type {IndexedEntry} from './read-entry.ts';

/** Maximum number of re-exports or base classes that are followed in a chain. */
const MAX_STEPS = 12;
const SELF = /^(?:this|[sS]elf|cls|\$this|static|super|parent|base)$/;
const CLASSES = /^(?:class|interface|struct|enum|trait|module|type)$/;
/** Languages in which the bare name of a method calls it. */
const BARE = /^(?:java|csharp|cpp|ruby)$/;
/** Languages in which the members of a class may be in other files than the class. */
const SPREAD = /^(?:go|c|cpp|ruby|csharp|rust)$/;

/** A definition in its file. There is one object for each definition, so two are compared by `===`. */
export interface Known extends Definition, RawDefinition {
  exported: boolean;
  /** The package or namespace that the file declares. */
  readonly space: string;
}

/** What a name stands for: a definition, or a file as a whole. */
export type Meaning = Known | IndexedEntry;

/** The facts of a use that are needed to find its meaning. */
type AskedUse = Omit<Use, 'column' | 'shorthand'>;

/** Resolves names as long as no file changes. After a change a new instance is needed. */
export class Meanings {
  readonly #files: ProjectFiles;
  /** For each file, the files that each of its imports names. */
  readonly importedFiles: ReadonlyMap<string, readonly (readonly string[])[]>;
  /** All definitions, in the order of files and places. */
  readonly all: readonly Known[];
  readonly #byPath: ReadonlyMap<string, readonly Known[]>;
  readonly #byName: ReadonlyMap<string, readonly Known[]>;
  readonly #exports = new Map<string, Meaning | undefined>();
  readonly #bases = new Map<Known, readonly Known[]>();

  constructor(files: ProjectFiles) {
    this.#files = files;
    const resolve = createImportResolver(files);
    this.importedFiles = new Map(
      files.sorted.map((entry) => [entry.path, (entry.facts?.imports ?? []).map((each) => resolve(entry, each))]),
    );
    this.all = files.sorted.flatMap(({path, language, facts}) =>
      (facts?.definitions ?? []).map((each) => ({...each, path, language, space: facts!.space})),
    );
    this.#byPath = Map.groupBy(this.all, ({path}) => path);
    this.#byName = Map.groupBy(this.all, ({name}) => name);
  }

  named(name: string): readonly Known[] {
    return this.#byName.get(name) ?? [];
  }

  meaningOf(use: AskedUse, entry: IndexedEntry, steps = 0): Meaning | 'local' | 'unknown' {
    if (use.binding === 'local') return 'local';
    if (use.binding === 'definition' || use.binding === 'name') return this.#byPath.get(entry.path)![use.to]!;
    if (steps > MAX_STEPS) return 'unknown';
    if (use.binding === 'import') return this.#importedMeaning(use, entry, steps) ?? 'unknown';
    if (use.kind === 'import') return this.#importedName(use, entry) ?? 'unknown';
    const found =
      use.binding === 'free' ? this.#freeMeaning(use, entry, steps) : this.#memberMeaning(use, entry, steps);
    return found ?? 'unknown';
  }

  #importedMeaning({member, receiver, name, to}: AskedUse, entry: IndexedEntry, steps: number): Meaning | undefined {
    const {imports} = entry.facts!;
    // In Python, `import a.b` and `import a.c` both bind `a`.
    const whole = imports.findIndex(({specifier, names}) => specifier === receiver && names[0]?.imported === '*');
    if (member && whole >= 0 && receiver.includes('.')) return this.#exportedBy(this.#targets(entry, whole), name);
    const [first, ...rest] = member ? [...receiver.split('.'), name] : [name];
    const {names, specifier} = imports[to]!;
    const targets = this.#targets(entry, to);
    const imported = names.find(({local}) => local === first)?.imported;
    if (imported === undefined) return undefined;
    if (imported === '*') {
      if (rest.length === 0) return this.#onlyFile(targets);
      return findFirst(targets, (file) => this.#follow(this.exported(file, rest[0]!), rest.slice(1), steps));
    }
    const start =
      this.#exportedBy(targets, imported) ??
      this.#submodule(targets, imported) ??
      this.#staticMember(targets, specifier, imported);
    return this.#follow(start, rest, steps);
  }

  #exportedBy(files: readonly string[], name: string): Meaning | undefined {
    return findFirst(files, (file) => this.exported(file, name));
  }

  #onlyFile(files: readonly string[]): Meaning | undefined {
    return files.length === 1 ? this.#files.entries.get(files[0]!) : undefined;
  }

  /** Resolves member after member, starting from a definition or a whole file. */
  #follow(start: Meaning | undefined, parts: readonly string[], steps: number): Meaning | undefined {
    let at = start;
    for (const part of parts) {
      if (!at) return undefined;
      at = isKnown(at) ? this.member(at, part, steps + 1) : this.exported(at.path, part);
    }
    return at;
  }

  /** In `from package import module` the name is a file. */
  #submodule(targets: readonly string[], name: string): Meaning | undefined {
    const pattern = new RegExp(`(?:^|/)${name}(?:\\.pyi?|/__init__\\.py|\\.rs|/mod\\.rs)$`);
    return this.#onlyFile(targets.filter((each) => pattern.test(each)).slice(0, 1));
  }

  /** Resolves `d` of `import static a.b.C.d`, and of `using static a.b.C`. */
  #staticMember(targets: readonly string[], specifier: string, name: string): Meaning | undefined {
    const owner = specifier.split(/\.|::/).at(-1)!;
    return findFirst(targets, (file) =>
      this.named(name).find(({path, container}) => path === file && container.at(-1) === owner),
    );
  }

  /** Resolves the other file's name in `import {name as x}` or `export {name} from`. */
  #importedName(use: AskedUse, entry: IndexedEntry): Meaning | undefined {
    return findFirst(entry.facts!.imports, ({names, line}, at) => {
      const isIt = line <= use.line && names.some(({imported}) => imported === use.name);
      return isIt ? this.#exportedBy(this.#targets(entry, at), use.name) : undefined;
    });
  }

  /** Resolves a name that its file does not declare: inherited, imported by a wildcard, or visible in the package. */
  #freeMeaning(use: AskedUse, entry: IndexedEntry, steps: number): Meaning | undefined {
    const {name} = use;
    const found =
      (BARE.test(entry.language) ? this.#ofClassAround(use, entry, steps) : undefined) ??
      findFirst(entry.facts!.imports, ({names, reexport, specifier}, at) => {
        if (reexport || !names.some(({local}) => local === '*')) return undefined;
        const targets = this.#targets(entry, at);
        return this.#exportedBy(targets, name) ?? this.#staticMember(targets, specifier, name);
      });
    if (found) return found;
    const candidates = this.named(name).filter((each) => isSeen(each, entry));
    return new Set(candidates.map(groupOf)).size === 1 ? getBest(candidates) : undefined;
  }

  #memberMeaning(use: AskedUse, entry: IndexedEntry, steps: number): Meaning | undefined {
    if (SELF.test(use.receiver)) return this.#ofClassAround(use, entry, steps);
    const type = use.receiver.replace(/^:/, '');
    if (!/^[\w$]+(?:\.[\w$]+)*$/.test(type)) return undefined;
    const owner = this.#findClass(type.split('.'), entry, steps);
    return owner && this.member(owner, use.name, steps + 1);
  }

  /** Finds the class that a name means in a file. */
  #findClass([name = '', ...rest]: readonly string[], entry: IndexedEntry, steps: number): Known | undefined {
    const {definitions, imports} = entry.facts!;
    const own = definitions.findIndex((each) => each.name === name && CLASSES.test(each.kind));
    const imported = imports.findIndex(({names, reexport}) => !reexport && names.some(({local}) => local === name));
    const binding = own >= 0 ? 'definition' : imported >= 0 ? 'import' : 'free';
    const to = own >= 0 ? own : imported;
    const use = {name, kind: 'type', member: false, line: 0, inside: -1, receiver: '', binding, to} as const;
    const found = this.meaningOf(use, entry, steps + 1);
    const meaning = typeof found === 'string' ? undefined : this.#follow(found, rest, steps);
    return meaning && isKnown(meaning) && CLASSES.test(meaning.kind) ? meaning : undefined;
  }

  /** Finds a member of one of the classes around a use, or of their bases. */
  #ofClassAround(use: AskedUse, {path, language, facts}: IndexedEntry, steps: number): Known | undefined {
    const around = facts!.definitions[use.inside];
    const names = around ? [...around.container, around.name] : [];
    while (names.length > 0) {
      const name = names.pop()!;
      const candidates = this.named(name).filter(
        (each) =>
          isSameFamily(each.language, language) &&
          CLASSES.test(each.kind) &&
          each.container.join('.') === names.join('.'),
      );
      const own = candidates.find((each) => each.path === path) ?? candidates[0];
      const found = own && this.member(own, use.name, steps + 1);
      if (found) return found;
    }
    return undefined;
  }

  /** Finds a member of a class by its name, its own or an inherited one. */
  member(owner: Known, name: string, steps = 0): Known | undefined {
    if (steps > MAX_STEPS) return undefined;
    const container = formatName(owner);
    const own = this.named(name).filter((each) => mayHoldMember(owner, each) && each.container.join('.') === container);
    return getBest(own) ?? findFirst(this.basesOf(owner, steps), (base) => this.member(base, name, steps + 1));
  }

  /** Finds the classes that a member belongs to. There are several where a class has several parts. */
  ownersOf(member: Known): Known[] {
    const {container, top} = member;
    if (top || container.length === 0) return [];
    return this.named(container.at(-1)!).filter(
      (each) =>
        (each.path === member.path || SPREAD.test(member.language)) &&
        /^(?:class|interface|struct|trait|module)$/.test(each.kind) &&
        formatName(each) === container.join('.'),
    );
  }

  /** Finds the base classes of a class that are in the index. */
  basesOf(owner: Known, steps = 0): readonly Known[] {
    const known = this.#bases.get(owner);
    if (known) return known;
    // This ends the search when classes inherit from each other in a cycle.
    this.#bases.set(owner, []);
    const entry = this.#files.entries.get(owner.path)!;
    const bases = entry.facts!.bases.flatMap((each) => {
      if (each.name !== owner.name) return [];
      const last = each.base.split(/\.|::|\\/).at(-1)!;
      const use = unpackUses(entry.facts!, last).find(({line, kind}) => line === each.line && kind !== 'import');
      const meaning = use && this.meaningOf(use, entry, steps + 1);
      return typeof meaning === 'object' && isKnown(meaning) ? [meaning] : [];
    });
    this.#bases.set(owner, bases);
    return bases;
  }

  /** Says whether a class inherits from another one, also through others. */
  inherits(owner: Known, from: Known, steps = 0): boolean {
    return (
      steps < MAX_STEPS && this.basesOf(owner).some((base) => base === from || this.inherits(base, from, steps + 1))
    );
  }

  /**
   * Says whether a use may mean one of these definitions. A call through a base class may reach the method of a derived
   * one. A member of a module or class from outside of the project never means one of them. Neither does a bare name
   * mean a method, except in the languages of `BARE`.
   * @param qualifier the part of the asked name before the last dot
   */
  mayMean(use: AskedUse, entry: IndexedEntry, wanted: readonly Known[], qualifier: string): boolean {
    const meaning = this.meaningOf(use, entry);
    if (typeof meaning === 'object') {
      if (!isKnown(meaning) || wanted.includes(meaning)) return true;
      const bases = this.ownersOf(meaning);
      return wanted.some((each) => this.ownersOf(each).some((one) => bases.some((base) => this.inherits(one, base))));
    }
    const {binding, to, receiver, member, kind} = use;
    const parts = receiver.split('.');
    const imported = binding === 'import' ? entry.facts!.imports[to]! : undefined;
    // The name is defined outside of the project, so the text before it decides.
    if (wanted.length === 0) return (member ? receiver : (imported?.specifier ?? '')).split(/\W/).at(-1) === qualifier;
    if (kind === 'import') return true;
    if (!member) return BARE.test(entry.language) || wanted.some((each) => each.kind !== 'method');
    const isModule = (parts.length === 1 || entry.language === 'go') && imported?.names[0]?.imported === '*';
    if (isModule && this.#targets(entry, to).length === 0) return false;
    return !/^[A-Z]\w|^string$/.test(receiver) || parts.some((part) => part === 'Self' || this.named(part).length > 0);
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
    const {exports, imports} = entry.facts;
    const own = exports.find(([exported]) => exported === name)?.[1] ?? name;
    const found = getBest(this.named(own).filter((each) => each.path === path && (each.top || isClassLike(each))));
    if (found) return found;
    const passesOn = /^(?:c|cpp|python)$/.test(entry.language);
    for (const [at, {names, reexport}] of imports.entries()) {
      const named = names.find(({local}) => local === own && local !== '*');
      const isAll = (reexport || passesOn) && names.some(({local}) => local === '*');
      if (!named && (!isAll || name === 'default')) continue;
      const targets = this.#targets(entry, at);
      const wanted = named?.imported ?? name;
      const further =
        wanted === '*'
          ? this.#onlyFile(targets)
          : findFirst(targets, (file) => this.#findExported(file, wanted, steps + 1));
      if (further) return further;
    }
    return undefined;
  }

  #targets({path}: IndexedEntry, at: number): readonly string[] {
    return this.importedFiles.get(path)?.[at] ?? [];
  }
}

export function isKnown(meaning: Meaning): meaning is Known {
  return 'kind' in meaning;
}

/** The name with those around it: `Parser.parse`. */
export function formatName({container, name}: Pick<Known, 'container' | 'name'>): string {
  return [...container, name].join('.');
}

/**
 * Returns the same key for definitions that are one thing: overloads, a prototype and its body, parts of one class.
 */
export function groupOf(definition: Known): string {
  const {path, language, space, top, exported} = definition;
  const own = formatName(definition);
  if (/^(?:c|cpp)$/.test(language) && (exported || !top)) return `c\n${own}`;
  if (language === 'go') return `${posix.dirname(path)}\n${space}\n${own}`;
  if (language === 'ruby' || language === 'csharp') return `${language}\n${space}\n${own}`;
  return `${path}\n${own}\n${top}`;
}

/** Prefers a definition with a body over a declaration. */
function getBest(definitions: readonly Known[]): Known | undefined {
  return definitions.find(({declaration}) => !declaration) ?? definitions[0];
}

/** Returns whether a member of the owner may be where the other definition is. */
function mayHoldMember({path, language}: Known, member: Known): boolean {
  if (member.path === path) return true;
  const isNear = language !== 'go' || posix.dirname(member.path) === posix.dirname(path);
  return SPREAD.test(language) && member.language === language && isNear;
}

/** Returns whether a definition is visible in a file without an import. */
function isSeen(definition: Known, {path, language, facts}: IndexedEntry): boolean {
  const {top, exported, container, kind, space} = definition;
  if (!isSameFamily(definition.language, language)) return false;
  const own = facts!.space;
  switch (language) {
    case 'go':
      return top && posix.dirname(definition.path) === posix.dirname(path) && space === own;
    case 'java':
      return container.length === 0 && space === own;
    case 'csharp':
      return container.length === 0 && (own === space || own.startsWith(`${space}.`) || space === '');
    case 'php':
      return top && (space === own || space === '');
    case 'c':
    case 'cpp':
      return (top || CLASSES.test(kind)) && exported;
    case 'ruby':
      return CLASSES.test(kind) || kind === 'constant' || top;
    case 'rust':
      return kind === 'macro';
    default:
      return false;
  }
}

/** Returns whether other files import the definition by its bare name, although it is in a namespace. */
function isClassLike({container, kind, language}: Known): boolean {
  const isInFile = /^(?:java|csharp|php)$/.test(language) && container.length === 0;
  return CLASSES.test(kind) && (isInFile || language === 'cpp');
}

/** Returns whether files of the two languages can use each other's definitions. */
export function isSameFamily(a: Language, b: Language): boolean {
  const getFamily = (language: Language) =>
    language.replace(/^(?:typescript|tsx)$/, 'javascript').replace(/^c$/, 'cpp');
  return getFamily(a) === getFamily(b);
}
