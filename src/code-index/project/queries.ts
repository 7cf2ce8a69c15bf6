/** Answers questions about the indexed files. */
import {posix} from 'node:path';
import {isTestPath} from '../../core/util/file-kinds.ts';
import {
  type Answer,
  type Coverage,
  DEFINITION_KINDS,
  type Definition,
  type Import,
  type IndexedFile,
  type NameQuery,
  type Reference,
  type SyntaxFacts,
} from '../contract.ts';
import {type FileFacts, type Use, unpackUses} from '../syntax/file-facts.ts';
import {formatName, isKnown, type Known, type Meaning, Meanings} from './meanings.ts';
import type {ProjectFiles} from './project-files.ts';
import type {IndexedEntry} from './read-entry.ts';

export class Queries {
  readonly project: ProjectFiles;
  #meanings: Meanings | undefined;
  /** Numbers of files that import a file. */
  #importers: ReadonlyMap<string, number> | undefined;
  #madeFor = -1;

  constructor(project: ProjectFiles) {
    this.project = project;
  }

  get meanings(): Meanings {
    if (this.#madeFor !== this.project.changes || !this.#meanings) {
      this.#meanings = new Meanings(this.project);
      this.#importers = undefined;
      this.#madeFor = this.project.changes;
    }
    return this.#meanings;
  }

  coverage(path = ''): Coverage {
    const entries = this.entries(path).filter(({facts}) => facts);
    return {
      files: entries.length,
      skipped: this.project.skipped.filter((skipped) => isBelow(skipped.path, path)),
      unparsed: this.project.unparsed,
      withErrors: entries.filter(({facts}) => facts!.errors.length > 0).map((entry) => entry.path),
    };
  }

  /** Entries at or below a path, sorted by path. */
  entries(path = ''): readonly IndexedEntry[] {
    const wanted = normalize(path);
    return this.project.sorted.filter((entry) => isBelow(entry.path, wanted));
  }

  definitions({name, path}: NameQuery): Answer<Definition> {
    const importers = this.#countImporters();
    return {
      found: this.findDefinitions(name, path).sort(
        (a, b) =>
          DEFINITION_KINDS.indexOf(a.kind) - DEFINITION_KINDS.indexOf(b.kind) ||
          Number(a.declaration) - Number(b.declaration) ||
          (importers.get(b.path) ?? 0) - (importers.get(a.path) ?? 0) ||
          (a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line),
      ),
      coverage: this.coverage(path),
    };
  }

  /** @param name `Class.method` also gives the container. Absent: all names */
  findDefinitions(name?: string, path?: string): Known[] {
    const {meanings} = this;
    const around = name === undefined ? [] : splitName(name);
    const wanted = around.pop();
    const folder = normalize(path);
    return (wanted === undefined ? meanings.all : meanings.named(wanted)).filter(
      (each) =>
        isBelow(each.path, folder) && around.every((part, at) => each.container.at(at - around.length) === part),
    );
  }

  /** Finds the uses of a name, including the names of its definitions. */
  uses(name: string, path = ''): {readonly entry: IndexedEntry; readonly uses: readonly Use[]}[] {
    const token = `\n${name}\n`;
    return this.entries(path)
      .filter(({facts}) => facts?.names.includes(token))
      .map((entry) => ({entry, uses: unpackUses(entry.facts!, name)}));
  }

  references({name = '', path}: NameQuery): Answer<Reference> {
    const {meanings} = this;
    const last = splitName(name).at(-1)!;
    const wanted = last === name ? undefined : this.findDefinitions(name);
    const found: Reference[] = [];
    for (const {entry, uses} of this.uses(last, path)) {
      const lines = this.project.readText(entry.path).split('\n');
      for (const use of uses) {
        if (use.binding === 'name') continue;
        const meaning = meanings.meaningOf(use, entry);
        const isOther = typeof meaning === 'object' && isKnown(meaning) && wanted?.includes(meaning) === false;
        if (!wanted || meanings.mayMean(use, entry, wanted, splitName(name).at(-2)!))
          found.push(toReference(use, entry, isOther ? 'unknown' : meaning, lines));
      }
    }
    return {found, coverage: this.coverage(path)};
  }

  async outline({path}: NameQuery): Promise<Answer<Definition>> {
    const file = normalize(path);
    const entry = await this.project.update(file);
    const skipped = entry?.why === undefined ? [] : [{path: file, why: entry.why}];
    const withErrors = entry?.facts && entry.facts.errors.length > 0 ? [file] : [];
    const found = (entry?.facts?.definitions ?? []).map((each) => ({...each, path: file, language: entry!.language}));
    return {
      found: found.sort((a, b) => a.line - b.line || a.column - b.column),
      coverage: {files: entry?.facts ? 1 : 0, skipped, unparsed: {}, withErrors},
    };
  }

  importers({path}: NameQuery): Answer<Import> {
    const wanted = normalize(path);
    const {importedFiles} = this.meanings;
    const found = this.project.sorted.flatMap(({path: from, facts}) =>
      from !== wanted && isBelow(from, wanted)
        ? []
        : (facts?.imports ?? []).flatMap(({line, specifier, names}, at) => {
            const isMeant = importedFiles.get(from)?.[at]?.some((file) => isBelow(file, wanted));
            return isMeant ? [{path: from, line, specifier, names}] : [];
          }),
    );
    return {found, coverage: this.coverage()};
  }

  files({path = ''}: NameQuery): Answer<IndexedFile> {
    const importers = this.#countImporters();
    const found = this.entries(path).flatMap(({path: file, facts}): IndexedFile[] =>
      facts
        ? [
            {
              path: file,
              lines: facts.lines,
              importers: importers.get(file) ?? 0,
              definitions: facts.definitions.length,
              isTest: isTestPath(file),
            },
          ]
        : [],
    );
    return {
      found: found.sort((a, b) => b.importers - a.importers || (a.path < b.path ? -1 : 1)),
      coverage: this.coverage(path),
    };
  }

  #countImporters(): ReadonlyMap<string, number> {
    const {importedFiles} = this.meanings;
    if (this.#importers) return this.#importers;
    const importers = new Map<string, number>();
    for (const imports of importedFiles.values()) {
      for (const target of new Set(imports.flat())) importers.set(target, (importers.get(target) ?? 0) + 1);
    }
    this.#importers = importers;
    return importers;
  }

  syntax({path}: NameQuery): SyntaxFacts {
    const collect = <T>(get: (facts: FileFacts) => readonly T[]) =>
      this.entries(path).flatMap((entry) =>
        (entry.facts ? get(entry.facts) : []).map((each) => ({path: entry.path, ...each})),
      );
    return {
      functions: collect(({functions}) => functions),
      unusedExports: this.#findUnusedExports(path),
      emptyCatches: collect(({emptyCatches}) => emptyCatches),
      syntaxErrors: collect(({errors}) => errors),
      coverage: this.coverage(path),
    };
  }

  #findUnusedExports(path: string | undefined): Definition[] {
    const named = new Map<string, Set<string>>();
    for (const {path: file, facts} of this.project.sorted) {
      for (const name of facts?.names.split('\n') ?? []) {
        const list = named.get(name) ?? new Set();
        if (list.size < 2) named.set(name, list.add(file));
      }
    }
    return this.findDefinitions(undefined, path).filter(({name, path: file, exported, top}) => {
      const isCandidate = exported && top && !isTestPath(file) && !isEntry(file);
      return isCandidate && [...(named.get(name) ?? [])].every((each) => each === file);
    });
  }
}

/** Returns whether other programs start or import the file, so that its exports may be used elsewhere. */
function isEntry(file: string): boolean {
  return /(?:^|\/)(?:index|main|mod|lib|__init__|__main__|cli|app|server|setup|conftest|manage|.*\.config|.*\.d)\.\w+$/.test(
    file,
  );
}

function toReference(
  use: Use,
  entry: IndexedEntry,
  meaning: Meaning | 'local' | 'unknown',
  lines: readonly string[],
): Reference {
  const {kind, line, column} = use;
  const around = entry.facts!.definitions[use.inside];
  const target = typeof meaning === 'string' ? meaning : meaning.path === entry.path ? 'this file' : meaning.path;
  return {
    path: entry.path,
    line,
    column,
    kind,
    target,
    ...(around && {inside: formatName(around)}),
    text: (lines[line - 1] ?? '').trim().slice(0, 200).toWellFormed(),
  };
}

/** Splits `Class.method`, `Class::method` or `Class#method`. A private `#name` keeps its sign. */
export function splitName(name: string): string[] {
  return name.split(/\.|::|(?<=\w)#/);
}

export function normalize(path = ''): string {
  const plain = posix.normalize(path === '' ? '.' : path).replace(/\/$/, '');
  return plain === '.' ? '' : plain;
}

export function isBelow(file: string, folder: string): boolean {
  return folder === '' || file === folder || file.startsWith(`${folder}/`);
}
