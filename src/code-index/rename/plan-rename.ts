/**
 * Plans a rename: finds all uses that mean the same definition, or the reasons to refuse. Each file is parsed as it
 * would be written, and the plan is refused when a name would change its meaning.
 */
import {formatCount} from '../../core/util/text.ts';
import type {RenameConcern, RenameEdit, RenamePlan, RenameRequest} from '../contract.ts';
import {findFirst} from '../project/imports/resolver.ts';
import {formatName, groupOf, isSameFamily, type Known, type Meaning, type Meanings} from '../project/meanings.ts';
import {isBelow, normalize, type Queries, splitName} from '../project/queries.ts';
import type {IndexedEntry, Parse} from '../project/read-entry.ts';
import {type FileFacts, type Use, unpackUses} from '../syntax/file-facts.ts';
import {findMentions, SourceLines} from './source-lines.ts';

/** Maximum number of concerns in a plan. */
const MAX_CONCERNS = 100;
const EXPORTS: ReadonlySet<string> = new Set(['exports', 'module.exports']);

export async function planRename(request: RenameRequest, queries: Queries, parse: Parse): Promise<RenamePlan> {
  return new RenamePlanner(request, queries, parse).plan();
}

class RenamePlanner {
  readonly #request: RenameRequest;
  readonly #queries: Queries;
  readonly #meanings: Meanings;
  readonly #parse: Parse;
  /** Last part of the old name: `parse` for `Parser.parse`. */
  readonly #name: string;
  readonly #edits: RenameEdit[] = [];
  readonly #reasons: string[] = [];
  readonly #concerns: RenameConcern[] = [];
  readonly #lines: SourceLines;

  constructor(request: RenameRequest, queries: Queries, parse: Parse) {
    this.#request = request;
    this.#queries = queries;
    this.#meanings = queries.meanings;
    this.#parse = parse;
    this.#name = splitName(request.from).at(-1)!;
    this.#lines = new SourceLines(queries.project);
  }

  async plan(): Promise<RenamePlan> {
    const targets = this.#findTargets();
    if (targets.length > 0) {
      this.#collect(targets);
      this.#checkMembers(targets);
      this.#checkNewName(targets);
      this.#checkSkipped();
      this.#checkPlaces();
      this.#checkFileName(targets);
      if (this.#reasons.length === 0) await this.#checkWord(targets[0]!);
      if (this.#reasons.length === 0) await this.#checkMeanings();
    }
    const isSafe = this.#reasons.length === 0;
    return {
      verdict: isSafe ? 'safe' : 'refused',
      definitions: targets,
      edits: isSafe ? this.#edits.toSorted(comparePlaces) : [],
      reasons: this.#reasons,
      concerns: isSafe ? [] : this.#concerns.slice(0, MAX_CONCERNS),
      mentions: isSafe ? findMentions(this.#name, this.#edits, this.#queries, this.#lines) : [],
    };
  }

  /** @returns no definitions when there is a reason to refuse */
  #findTargets(): Known[] {
    const {from, to, path} = this.#request;
    const all = this.#meanings.named(this.#name);
    const fitting = this.#queries.findDefinitions(from, path);
    const refuse = (reason: string) => {
      this.#reasons.push(reason);
      return [];
    };
    const plain = /[?!]\n|\.rb$/.test(`${from}\n${path}`) ? to.replace(/[?!]$/, '') : to;
    if (!/^#?[\p{L}_$][\p{L}\p{N}_$]*$/u.test(plain)) return refuse(`${JSON.stringify(to)} is no name.`);
    if (this.#name === to) return refuse(`${from} has this name already.`);
    if (all.length === 0) {
      const {files} = this.#queries.coverage();
      return refuse(`No definition of ${from} was found in the ${files} files that are parsed.`);
    }
    const listPlaces = (list: readonly Known[]) => formatList(list.map(describe));
    if (fitting.length === 0) {
      return refuse(`${from} is not defined in ${path ?? 'that place'}, but in ${listPlaces(all)}.`);
    }
    // In some languages, such as Java, a constructor has the name of its class and is renamed with it.
    const others = fitting.filter((each) => !isConstructor(each));
    const named = others.length > 0 ? others : fitting;
    const [family = [], another] = this.#joinFamilies(named, all);
    if (another) {
      for (const each of named) this.#concern(each.path, each.line, 'another definition of this name');
      return refuse(`${from} has ${named.length} definitions: ${listPlaces(named)}. Say which one is meant.`);
    }
    const owned = new Set(family.map(formatName));
    const constructors = all.filter((each) => isConstructor(each) && owned.has(each.container.join('.')));
    return [...new Set([...family, ...constructors])];
  }

  /** In Java the file of a public class has its name, and a rename moves no file. */
  #checkFileName(targets: readonly Known[]): void {
    const own = targets.find(
      ({exported, container, path}) =>
        exported && container.length === 0 && path.split('/').at(-1) === `${this.#name}.java`,
    );
    if (!own) return;
    const {path, line} = own;
    const moved = path.replace(/\w+\.java$/, `${this.#request.to}.java`);
    this.#reasons.push(
      `In Java, a public class and its file have one name, and a rename moves no file. Run "git mv ${path} ${moved}" first, and rename then.`,
    );
    this.#concern(path, line, 'the public class of this file');
  }

  /** Groups definitions that must share one name: parts of one thing, and overrides in related classes. */
  #joinFamilies(fitting: readonly Known[], all: readonly Known[]): Known[][] {
    const families: Known[][] = [];
    for (const definition of fitting) {
      if (families.some((family) => family.includes(definition))) continue;
      const family = new Set([definition]);
      // The loop also goes over what it adds.
      for (const each of family) {
        const owners = this.#meanings.ownersOf(each);
        for (const other of all) {
          if (family.has(other)) continue;
          const isRelated = () => this.#meanings.ownersOf(other).some((owner) => this.#areRelated(owner, owners));
          if (groupOf(other) === groupOf(each) || (owners.length > 0 && isRelated())) family.add(other);
        }
      }
      families.push([...family]);
    }
    return families;
  }

  #areRelated(owner: Known, others: readonly Known[]): boolean {
    return others.some((other) => this.#meanings.inherits(owner, other) || this.#meanings.inherits(other, owner));
  }

  #collect(targets: readonly Known[]): void {
    for (const {entry, uses} of this.#queries.uses(this.#name)) {
      for (const use of uses) {
        const meaning = this.#meanings.meaningOf(use, entry);
        if (targets.some((each) => each === meaning)) this.#edit(use, entry);
        else this.#judgeOther(use, entry, meaning, targets);
      }
    }
    const [first] = this.#concerns;
    if (!first) return;
    const places = formatCount(this.#concerns.length, 'place');
    this.#reasons.push(
      `Syntax cannot tell what ${this.#name} means at ${places}, first ${first.path}:${first.line} (${first.why}).`,
    );
  }

  /** Judges a use that is not known to mean the target: it is edited, ignored, or a concern. */
  #judgeOther(use: Use, entry: IndexedEntry, meaning: Meaning | string, targets: readonly Known[]): void {
    const target = targets[0]!;
    if (!isSameFamily(entry.language, target.language)) return;
    if (target.top) {
      const isExport = EXPORTS.has(use.receiver) && entry.path === target.path && use.member;
      if (isExport) this.#edit(use, entry);
      // In these languages a bare name may come from a file that no import names.
      const isAmbient = /^(?:c|cpp|ruby|csharp|php|java)$/.test(entry.language);
      if (meaning === 'unknown' && use.binding === 'free' && use.kind !== 'import' && isAmbient) {
        this.#concern(entry.path, use.line, 'a name with more than one definition');
      }
      return;
    }
    // In C# a bare name may be a member of a class that a "global using static" of another file names.
    const isBare = use.binding === 'free' && /^(?:call|read|write)$/.test(use.kind);
    if (entry.language === 'csharp' && meaning === 'unknown' && isBare && !use.member) {
      this.#concern(entry.path, use.line, 'a bare name, which "using static" may bring from a class');
      return;
    }
    // `const {name} = x` reads the member `name`, even when the variable gets another name.
    const isTaken = use.shorthand && use.binding !== 'name' && use.binding !== 'import';
    if (!isTaken && (meaning !== 'unknown' || !use.member || use.binding === 'import')) return;
    const hasOther = this.#meanings
      .named(this.#name)
      .some((each) => !each.top && isSameFamily(each.language, entry.language) && !targets.includes(each));
    if (!hasOther && isDistinctive(this.#name)) this.#edit(use, entry, isTaken);
    else this.#concern(entry.path, use.line, 'a member of something whose type syntax does not say');
  }

  /** @param keepsLocal the local name stays: `{name}` becomes `{to: name}` */
  #edit(use: Use, {path}: IndexedEntry, keepsLocal = false): void {
    const {to} = this.#request;
    // `const {name} = require('x')` follows the export; `{name}` as a value keeps its key.
    const isPlain = !use.shorthand || use.kind === 'import' || use.member;
    const newText = keepsLocal ? `${to}: ${use.name}` : isPlain ? to : `${use.name}: ${to}`;
    this.#edits.push({path, line: use.line, column: use.column, oldText: use.name, newText});
  }

  #concern(path: string, line: number, why: string): void {
    this.#concerns.push({path, line, why});
  }

  /** Refuses when the language, or something outside the project, may require the name. */
  #checkMembers(targets: readonly Known[]): void {
    const isFromLanguage = /^__\w+__$/.test(this.#name) || targets.every(isConstructor) || targets.some(isStarter);
    for (const target of targets) {
      const {language, kind} = target;
      if (isFromLanguage) this.#reasons.push(`${describe(target)} has its name from the language.`);
      if (kind !== 'method') continue;
      const base = findFirst(this.#meanings.ownersOf(target), (owner) => this.#findForeignBase(owner));
      if (base !== undefined && !this.#name.startsWith('#')) {
        this.#reasons.push(`${describe(target)} may override a member of ${base}, which is not in this project.`);
      }
      if (language === 'go' && !isDistinctive(this.#name) && /^[A-Z]/.test(this.#name)) {
        this.#reasons.push(`${describe(target)} may be there for an interface of another module.`);
      }
    }
  }

  /** Returns the first base of a class when not all of its bases are in the project. */
  #findForeignBase(owner: Known): string | undefined {
    const {bases} = this.#queries.project.entries.get(owner.path)!.facts!;
    const own = bases.filter(
      ({name, base}) => name === owner.name && !/^(?:object|Object|ABC|Enum|I?Disposable)$/.test(base),
    );
    return own.length > this.#meanings.basesOf(owner).length ? own[0]?.base : undefined;
  }

  /** Refuses when the new name already exists where the old one is visible. */
  #checkNewName(targets: readonly Known[]): void {
    const {to} = this.#request;
    const first = findFirst(targets, (target) => {
      const taken = this.#meanings.named(to).find((each) => {
        const isHere = each.path === target.path || (target.top && shareNames(each, target));
        return isHere && each.container.join('.') === target.container.join('.');
      });
      return taken ?? findFirst(this.#meanings.ownersOf(target), (owner) => this.#meanings.member(owner, to));
    });
    if (!first) return;
    this.#concern(first.path, first.line, `${to} is already taken here`);
    this.#reasons.push(`${to} is already the name of ${describe(first)}.`);
  }

  #checkSkipped(): void {
    for (const {path, why} of this.#queries.project.skipped) {
      const [place] = this.#lines.find(path, this.#name);
      if (!place) continue;
      this.#concern(path, place.line, `a file that is not parsed: ${why}`);
      this.#reasons.push(`${path} contains ${this.#name} and is not parsed: ${why}.`);
    }
    // The parser may miss a name near a syntax error.
    for (const {entry, uses} of this.#queries.uses(this.#name)) {
      const isBroken = uses.some(({line}) => entry.facts!.errors.some((place) => place.line === line));
      if (isBroken) this.#reasons.push(`${entry.path} has a syntax error beside ${this.#name}.`);
    }
  }

  #checkPlaces(): void {
    const {within} = this.#request;
    if (!within) return;
    const outside = this.#edits.filter(({path}) => !within.some((place) => isBelow(path, normalize(place))));
    const files = [...new Set(outside.map(({path}) => path))];
    if (files.length > 0) this.#reasons.push(`${formatList(files)} would have to change, too.`);
  }

  /** Refuses a keyword as the new name. Some grammars accept a keyword as a name where it is declared. */
  async #checkWord({language}: Known): Promise<void> {
    const {to} = this.#request;
    const facts = await this.#parse(`${language === 'php' ? '<?php ' : ''}(${to});\n`, language);
    if (!facts || to.startsWith('#') || unpackUses(facts, to).length > 0) return;
    this.#reasons.push(`${to} is a word of the language.`);
  }

  /** Parses each file as it would be written, and refuses when its names would mean something else. */
  async #checkMeanings(): Promise<void> {
    const {to} = this.#request;
    for (const path of new Set(this.#edits.map((edit) => edit.path))) {
      const entry = this.#queries.project.entries.get(path)!;
      const edits = this.#edits.filter((edit) => edit.path === path);
      const text = this.#lines.apply(path, edits);
      const after = text === undefined ? undefined : await this.#parse(text, entry.language);
      if (!after) this.#reasons.push(`${path} changed meanwhile.`);
      else if (after.errors.length > entry.facts!.errors.length) this.#reasons.push(`${to} is no name in ${path}.`);
      else {
        // When `{name}` becomes `{to: name}`, the local name stays.
        const renamed = new Set(edits.filter(({newText}) => !newText.startsWith(`${to}: `)).map(formatPlace));
        const getNewName = (use: Use) => (renamed.has(formatPlace(use)) ? to : use.name);
        const before = this.#describeUses(entry.facts!, getNewName);
        const line = findDifference(
          before,
          this.#describeUses(after, ({name}) => name),
        );
        if (line === undefined) continue;
        this.#concern(path, line, `${to} means something else here`);
        this.#reasons.push(`${to} already means something else at ${path}:${line}.`);
      }
    }
  }

  /**
   * Describes the uses of both names in order. Unresolved members are left out, because `{name}` may add or remove a
   * key.
   */
  #describeUses(facts: FileFacts, getName: (use: Use) => string): DescribedUse[] {
    return unpackUses(facts)
      .filter(({name, binding}) => (name === this.#name || name === this.#request.to) && binding !== 'member')
      .map((use) => ({line: use.line, meaning: `${getName(use)} ${use.binding} ${use.to}`}));
  }
}

interface DescribedUse {
  readonly line: number;
  readonly meaning: string;
}

function findDifference(before: readonly DescribedUse[], after: readonly DescribedUse[]): number | undefined {
  const at = before.findIndex(({meaning}, index) => after[index]?.meaning !== meaning);
  if (at >= 0) return before[at]!.line;
  return after.length > before.length ? after[before.length]!.line : undefined;
}

function isConstructor({kind}: Known): boolean {
  return kind === 'constructor';
}

/** Returns whether a program starts with this function, or with this `init` of Go. The language finds both by their names. */
function isStarter({language, kind, name, container, space}: Known): boolean {
  if (kind === 'method') return `${language} ${name}` === 'java main' || `${language} ${name}` === 'csharp Main';
  if (kind !== 'function' || container.length > 0) return false;
  return language === 'go'
    ? name === 'init' || (name === 'main' && space === 'main')
    : name === 'main' && /^(?:rust|c|cpp)$/.test(language);
}

function describe({path, line, kind, container}: Known): string {
  return `${path}:${line} (${kind}${container.length > 0 ? ` of ${container.join('.')}` : ''})`;
}

/** Returns whether a name has several words. Libraries rarely have a member with such a name by accident. */
function isDistinctive(name: string): boolean {
  return /[a-z0-9][A-Z]|[A-Za-z]_[A-Za-z]/.test(name) || name.startsWith('#');
}

/** Returns whether two top-level names of different files are in one namespace: their keys differ only in the name. */
function shareNames(a: Known, b: Known): boolean {
  const [first, second] = [a, b].map((each) => groupOf(each).replace(/\n[^\n]*$/, ''));
  return /^(?:go|c|cpp|ruby|csharp)$/.test(b.language) && first === second;
}

function formatPlace({line, column}: Pick<RenameEdit, 'line' | 'column'>): string {
  return `${line}:${column}`;
}

function comparePlaces(a: RenameEdit, b: RenameEdit): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line || a.column - b.column;
}

function formatList(items: readonly string[]): string {
  const shown = items.slice(0, 5).join(', ');
  return items.length > 5 ? `${shown} and ${items.length - 5} more` : shown;
}
