/** Finds a name outside of code: in strings, comments and files of other kinds. */
import type {RenameEdit, RenamePlan} from '../contract.ts';
import type {ProjectFiles} from '../project/project-files.ts';
import type {Queries} from '../project/queries.ts';

const MAX_MENTIONS = 200;
/** Larger files are not searched. Characters. */
const MAX_CHARS = 1024 * 1024;
/** Kinds of files without a grammar that may mention code. */
const OTHERS =
  /(?:\.(?:md|mdx|txt|rst|json|jsonc|ya?ml|toml|html?|vue|svelte|sh|xml|cfg|ini|erb|haml|jinja2?|j2|twig|gradle|proto|sql|graphql|css|scss|svg)|(?:^|\/)(?:Makefile|Dockerfile|CMakeLists\.txt|Rakefile|Gemfile))$/i;

/** Reads the texts of files, each once. */
export class SourceLines {
  readonly #files: ProjectFiles;
  readonly #texts = new Map<string, string>();

  constructor(files: ProjectFiles) {
    this.#files = files;
  }

  /** Finds every place where the name is a whole word. */
  find(path: string, name: string): {readonly line: number; readonly column: number}[] {
    const text = this.#read(path);
    if (text.length > MAX_CHARS || !text.includes(name)) return [];
    const places: {line: number; column: number}[] = [];
    const pattern = new RegExp(`(?<![\\p{L}\\p{N}_$#])${name.replaceAll('$', '\\$')}(?![\\p{L}\\p{N}_$])`, 'gu');
    for (const [at, each] of text.split('\n').entries()) {
      for (const {index} of each.matchAll(pattern)) places.push({line: at + 1, column: index + 1});
    }
    return places;
  }

  /** Applies edits to the text of a file. Returns undefined when the text at a place has changed. */
  apply(path: string, edits: readonly RenameEdit[]): string | undefined {
    return applyEdits(this.#read(path).split('\n'), edits)?.join('\n');
  }

  #read(path: string): string {
    const text = this.#texts.get(path) ?? this.#files.readText(path);
    this.#texts.set(path, text);
    return text;
  }
}

/** Finds the places of a name that are neither edited nor a use of something else. */
export function findMentions(
  name: string,
  edits: readonly RenameEdit[],
  queries: Queries,
  lines: SourceLines,
): RenamePlan['mentions'] {
  const known = new Set(edits.map(({path, line, column}) => `${path}:${line}:${column}`));
  for (const {entry, uses} of queries.uses(name)) {
    for (const {line, column} of uses) known.add(`${entry.path}:${line}:${column}`);
  }
  const found: RenamePlan['mentions'][number][] = [];
  for (const path of [...queries.project.paths].sort()) {
    const isParsed = queries.project.entries.get(path)?.facts !== undefined;
    if (!isParsed && !OTHERS.test(path)) continue;
    for (const {line, column} of lines.find(path, name)) {
      if (known.has(`${path}:${line}:${column}`)) continue;
      found.push({path, line});
      if (found.length >= MAX_MENTIONS) return found;
    }
  }
  return found;
}

/** @returns undefined when a place has another text, because the file changed since the plan was made */
export function applyEdits(
  lines: readonly string[],
  edits: readonly Omit<RenameEdit, 'path'>[],
): readonly string[] | undefined {
  const after = [...lines];
  // Edits are applied from the end, so that earlier places stay valid.
  for (const {line, column, oldText, newText} of edits.toSorted((a, b) => b.line - a.line || b.column - a.column)) {
    const old = after[line - 1] ?? '';
    if (!old.startsWith(oldText, column - 1)) return undefined;
    after[line - 1] = old.slice(0, column - 1) + newText + old.slice(column - 1 + oldText.length);
  }
  return after;
}
