/** Plans a rename: all occurrences that mean the same definition, or why they cannot be told. */
import type {Definition, RenameConcern, RenameEdit, RenamePlan, RenameRequest} from '../contract.ts';
import type {Use} from '../syntax/file-facts.ts';
import type {Meaning} from './meanings.ts';
import type {IndexedEntry} from './project-files.ts';
import {isBelow, normalize, type Queries} from './queries.ts';

const MAX_MENTIONS = 200;

export function planRename(request: RenameRequest, queries: Queries): RenamePlan {
  return new RenamePlanner(request, queries).plan();
}

class RenamePlanner {
  readonly #request: RenameRequest;
  readonly #queries: Queries;
  readonly #edits: RenameEdit[] = [];
  readonly #reasons: string[] = [];
  readonly #concerns: RenameConcern[] = [];
  readonly #lines = new Map<string, readonly string[]>();

  constructor(request: RenameRequest, queries: Queries) {
    this.#request = request;
    this.#queries = queries;
  }

  plan(): RenamePlan {
    const {from, to} = this.#request;
    const isName = /^[\p{L}_$][\p{L}\p{N}_$]*$/u;
    if (!isName.test(to)) return this.#refuse(`${JSON.stringify(to)} is no name.`);
    if (from === to) return this.#refuse(`${from} has this name already.`);
    const targets = this.#findTargets();
    if (typeof targets === 'string') return this.#refuse(targets);
    this.#collect(targets);
    this.#findConflicts(targets);
    this.#checkSkipped();
    return this.#finish(targets);
  }

  #findTargets(): Meaning[] | string {
    const {from, path, line} = this.#request;
    const {meanings} = this.#queries;
    const all = meanings.named(from.split('.').at(-1)!);
    const around = from.split('.').slice(0, -1).join('.');
    const fitting = all.filter((each) => {
      const definition = meanings.get(each)!;
      const isThere = path === undefined || isBelow(each.path, normalize(path));
      const isNamed = around === '' || definition.container.join('.') === around;
      return isThere && isNamed && (line === undefined || definition.line === line);
    });
    if (all.length === 0)
      return `No definition of ${from} was found in the ${this.#queries.coverage().files} files that are parsed.`;
    if (fitting.length === 0)
      return `${from} is not defined in ${path}; it is in ${list(all.map((each) => this.#describe(each)))}.`;
    const keys = new Set(fitting.map((each) => this.#groupOf(each)));
    if (keys.size > 1) {
      this.#addConcerns(fitting, 'another definition of this name');
      return `${from} has ${fitting.length} definitions: ${list(fitting.map((each) => this.#describe(each)))}. Say which file is meant.`;
    }
    const [key] = keys;
    return all.filter((each) => this.#groupOf(each) === key);
  }

  /** Overloads and declarations of the same name in the same place belong together. */
  #groupOf(meaning: Meaning): string {
    const {container, top} = this.#queries.meanings.get(meaning)!;
    return `${meaning.path}\n${container.join('.')}\n${top}`;
  }

  #describe(meaning: Meaning): string {
    const {path, line, kind, container} = this.#queries.meanings.toDefinition(meaning);
    return `${path}:${line} (${kind}${container.length > 0 ? ` of ${container.join('.')}` : ''})`;
  }

  #collect(targets: readonly Meaning[]): void {
    const {meanings} = this.#queries;
    const name = this.#oldName;
    const wanted = new Set(targets.map(({path, index}) => `${path}\n${index}`));
    const isMember = targets.some((each) => !meanings.get(each)!.top);
    for (const {entry, uses} of this.#queries.uses(name)) {
      for (const use of uses) {
        const meaning = meanings.meaningOf(use, entry);
        if (typeof meaning === 'object' && wanted.has(`${meaning.path}\n${meaning.index}`)) this.#edit(use, entry);
        else if (meaning === 'unknown') this.#judgeUnknown(use, entry, isMember, targets);
      }
    }
  }

  get #oldName(): string {
    return this.#request.from.split('.').at(-1)!;
  }

  /** A use whose meaning syntax cannot say: it may or may not mean what is renamed. */
  #judgeUnknown(use: Use, entry: IndexedEntry, isMember: boolean, targets: readonly Meaning[]): void {
    if (use.member !== isMember && use.binding !== 'import') return;
    if (!isSameFamily(entry.language, this.#queries.meanings.toDefinition(targets[0]!).language)) return;
    if (use.binding === 'import' || use.kind === 'import') {
      // A package from elsewhere, which the project does not define.
      return;
    }
    const others = this.#queries.meanings
      .named(this.#oldName)
      .filter((each) => this.#queries.meanings.get(each)!.top !== isMember);
    if (use.member && others.length === targets.length && /[a-z][A-Z]|._./.test(this.#oldName)) this.#edit(use, entry);
    else
      this.#concern(
        use,
        entry,
        use.member ? 'a member of something unknown' : 'a name that is not defined or imported here',
      );
  }

  #edit(use: Use, entry: IndexedEntry): void {
    const {to} = this.#request;
    const newText = use.shorthand && !use.member ? `${use.name}: ${to}` : to;
    this.#edits.push({path: entry.path, line: use.line, column: use.column, oldText: use.name, newText});
  }

  #concern(use: Pick<Use, 'line' | 'column'>, {path}: IndexedEntry, why: string): void {
    this.#concerns.push({path, line: use.line, column: use.column, why, text: this.#lineOf(path, use.line)});
  }

  #addConcerns(meanings: readonly Meaning[], why: string): void {
    for (const meaning of meanings) {
      const {path, line, column, text} = this.#queries.meanings.toDefinition(meaning);
      this.#concerns.push({path, line, column, why, text});
    }
  }

  /** The new name must not mean something else where it will stand. */
  #findConflicts(targets: readonly Meaning[]): void {
    const {to} = this.#request;
    const {meanings} = this.#queries;
    const isMember = targets.some((each) => !meanings.get(each)!.top);
    const touched = new Set(this.#edits.map(({path}) => path));
    let taken = 0;
    for (const {entry, uses} of this.#queries.uses(to)) {
      if (!touched.has(entry.path)) continue;
      for (const use of uses) {
        const definition = use.binding === 'name' ? entry.facts!.definitions[use.to] : undefined;
        const isOfMember = use.member || (definition !== undefined && !definition.top);
        if (isOfMember !== isMember) continue;
        taken += 1;
        if (taken <= 20) this.#concern(use, entry, `${to} is already taken here`);
      }
    }
    if (taken > 0)
      this.#reasons.push(`${to} is already used in files that would change: it would mean two things there.`);
  }

  #checkSkipped(): void {
    const pattern = wordPattern(this.#oldName);
    for (const {path, why} of this.#queries.files.skipped) {
      const line = this.#linesOf(path).findIndex((text) => pattern.test(text));
      if (line < 0) continue;
      this.#concerns.push({
        path,
        line: line + 1,
        column: 1,
        why: `a file that is not parsed: ${why}`,
        text: this.#lineOf(path, line + 1),
      });
    }
  }

  #finish(targets: readonly Meaning[]): RenamePlan {
    const {within} = this.#request;
    const unknown = this.#concerns.filter(({why}) => !why.includes('already taken'));
    if (unknown.length > 0) {
      const [first] = unknown;
      this.#reasons.push(
        `Syntax cannot tell what ${this.#oldName} means at ${unknown.length} ${unknown.length === 1 ? 'place' : 'places'}, first ${first!.path}:${first!.line} (${first!.why}).`,
      );
    }
    const outside = within
      ? this.#edits.filter(({path}) => !within.some((place) => isBelow(path, normalize(place))))
      : [];
    if (outside.length > 0) {
      this.#reasons.push(`${list([...new Set(outside.map(({path}) => path))])} would have to change, too.`);
    }
    if (this.#reasons.length > 0) return this.#refuse(this.#reasons[0]!, targets);
    return {
      verdict: 'safe',
      definitions: this.#definitionsOf(targets),
      edits: this.#edits.sort((a, b) =>
        a.path < b.path ? -1 : a.path > b.path ? 1 : a.line - b.line || a.column - b.column,
      ),
      reasons: [],
      concerns: [],
      mentions: this.#findMentions(),
      coverage: this.#queries.coverage(),
    };
  }

  #definitionsOf(targets: readonly Meaning[]): Definition[] {
    return targets.map((each) => this.#queries.meanings.toDefinition(each));
  }

  #refuse(reason: string, targets: readonly Meaning[] = []): RenamePlan {
    const reasons = this.#reasons.includes(reason) ? this.#reasons : [reason, ...this.#reasons];
    return {
      ...{verdict: 'refused', definitions: this.#definitionsOf(targets), edits: [], reasons, concerns: this.#concerns},
      ...{mentions: this.#findMentions(), coverage: this.#queries.coverage()},
    };
  }

  /** Where the old name stands in files that are listed, beside the places that are edited. */
  #findMentions(): RenameConcern[] {
    const pattern = wordPattern(this.#oldName);
    const edited = new Set(this.#edits.map(({path, line, column}) => `${path}:${line}:${column}`));
    const found: RenameConcern[] = [];
    for (const path of [...this.#queries.files.paths].sort()) {
      const facts = this.#queries.files.entries.get(path)?.facts;
      if (!facts && !/\.(?:md|mdx|txt|rst|json|ya?ml|toml|html?|vue|svelte|sh|xml|cfg|ini)$/i.test(path)) continue;
      const uses = facts
        ? new Set(
            this.#queries
              .uses(this.#oldName, path)
              .flatMap(({uses: all}) => all.map(({line, column}) => `${line}:${column}`)),
          )
        : new Set();
      for (const [at, text] of this.#linesOf(path).entries()) {
        for (const {index} of text.matchAll(pattern)) {
          const place = `${at + 1}:${index + 1}`;
          if (edited.has(`${path}:${place}`) || uses.has(place)) continue;
          found.push({
            path,
            line: at + 1,
            column: index + 1,
            why: facts ? 'in a string or comment' : 'in a file of another kind',
            text: this.#lineOf(path, at + 1),
          });
          if (found.length >= MAX_MENTIONS) return found;
        }
      }
    }
    return found;
  }

  #lineOf(path: string, line: number): string {
    return (this.#linesOf(path)[line - 1] ?? '').trim().slice(0, 200).toWellFormed();
  }

  #linesOf(path: string): readonly string[] {
    let lines = this.#lines.get(path);
    if (lines === undefined) {
      lines = readLines(path, this.#queries);
      this.#lines.set(path, lines);
    }
    return lines;
  }
}

function readLines(path: string, {files}: Queries): readonly string[] {
  try {
    return files.readText(path).split('\n');
  } catch {
    // It is gone, or is no file that may be read: nothing in it can be renamed.
    return [];
  }
}

function wordPattern(name: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}_$])${name.replace(/[$]/g, '\\$&')}(?![\\p{L}\\p{N}_$])`, 'gu');
}

function list(items: readonly string[]): string {
  const shown = items.slice(0, 5).join(', ');
  return items.length > 5 ? `${shown} and ${items.length - 5} more` : shown;
}

/** Languages whose files can name each other's definitions. */
function isSameFamily(a: string, b: string): boolean {
  const family = (language: string) => {
    if (/^(?:typescript|tsx|javascript)$/.test(language)) return 'script';
    return /^(?:c|cpp)$/.test(language) ? 'c' : language;
  };
  return family(a) === family(b);
}
