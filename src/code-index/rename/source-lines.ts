/** Where a name stands outside of code: strings, comments, files of other kinds. */
import type {RenameConcern, RenameEdit} from '../contract.ts';
import type {ProjectFiles} from '../project/project-files.ts';
import type {Queries} from '../project/queries.ts';
import {applyEdits} from './apply-edits.ts';

const MAX_MENTIONS = 200;
/** Larger files of other kinds are not looked into. Characters. */
const MAX_CHARS = 1024 * 1024;
/** Files of other kinds that name code. */
const OTHERS =
  /(?:\.(?:md|mdx|txt|rst|json|jsonc|ya?ml|toml|html?|vue|svelte|sh|xml|cfg|ini|erb|haml|jinja2?|j2|twig|gradle|proto|sql|graphql|css|scss|svg)|(?:^|\/)(?:Makefile|Dockerfile|CMakeLists\.txt|Rakefile|Gemfile))$/i;

/** The text of files, each read once. */
export class SourceLines {
  readonly #files: ProjectFiles;
  readonly #texts = new Map<string, string>();

  constructor(files: ProjectFiles) {
    this.#files = files;
  }

  /** Without the white space around it, at most 200 characters. */
  text(path: string, line: number): string {
    return (this.#read(path).split('\n')[line - 1] ?? '').trim().slice(0, 200).toWellFormed();
  }

  /** Every place of a whole word. */
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

  /** The text with these edits; undefined where it is not what it was. */
  apply(path: string, edits: readonly RenameEdit[]): string | undefined {
    return applyEdits(this.#read(path).split('\n'), edits)?.join('\n');
  }

  #read(path: string): string {
    let text = this.#texts.get(path);
    if (text === undefined) {
      try {
        text = this.#files.readText(path);
      } catch {
        // It was deleted, or may not be read: it holds no place of the name.
        text = '';
      }
      this.#texts.set(path, text);
    }
    return text;
  }
}

/** The places of a name that are neither edited nor a use of something else. */
export function findMentions(
  name: string,
  edits: readonly RenameEdit[],
  queries: Queries,
  lines: SourceLines,
): RenameConcern[] {
  const known = new Set(edits.map(({path, line, column}) => `${path}:${line}:${column}`));
  for (const {entry, uses} of queries.uses(name)) {
    for (const {line, column} of uses) known.add(`${entry.path}:${line}:${column}`);
  }
  const found: RenameConcern[] = [];
  for (const path of [...queries.project.paths].sort()) {
    const isParsed = queries.project.entries.get(path)?.facts !== undefined;
    if (!isParsed && !OTHERS.test(path)) continue;
    for (const {line, column} of lines.find(path, name)) {
      if (known.has(`${path}:${line}:${column}`)) continue;
      const why = isParsed ? 'in a string or comment' : 'in a file that is not parsed';
      found.push({path, line, column, why, text: lines.text(path, line)});
      if (found.length >= MAX_MENTIONS) return found;
    }
  }
  return found;
}
