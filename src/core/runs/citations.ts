/**
 * Finds the places in files that a text cites, such as `src/a.ts:3`, and checks whether they exist, for the receipt of
 * a run.
 */
import {readFileSync, statSync} from 'node:fs';
import path from 'node:path';
import {isInside} from '../util/paths.ts';

interface Citation {
  /** Citation as the text has it, without brackets and quotes around it. */
  readonly text: string;
  readonly file: string;
  /** The first line that is cited, and the last one of its range. */
  readonly from: number;
  readonly to: number;
  /** Whether the file exists and has the cited lines. */
  readonly exists: boolean;
}

/**
 * A line number after a path: `:3`, `:3-9`, `:3:5`, `:3,7`, `:L3`, `#L3-L9`, ` (line 3)`, `, lines 3-9`. Lengths are
 * limited so that the search takes time linear in the text.
 */
const LINES =
  /(?:[::](?=L?\d)|#(?=L\d)|,? {1,2}\(?lines? (?=\d))L?(\d{1,9})(?:[:.]\d{1,9}(?!\d))?(?:\s?[-–—]\s?L?(\d{1,9})(?::\d{1,9})?)?((?:,\s?\d{1,9}(?:[-–]\d{1,9})?){0,20})(?![\p{Script=Latin}\p{N}])/gu;

/** Number of characters before a line number in which a path is looked for. */
const MAX_PATH = 300;
/** Further citations of one text are not checked. */
const MAX_CITATIONS = 500;
/** Number of starts of a path in a word that are tried. */
const MAX_CANDIDATES = 12;
/** Bytes. For a larger file only its existence is checked. */
const MAX_CITED_BYTES = 5_000_000;

/**
 * With these endings, a name without a folder counts as a file even if it does not exist. Others could be a host:
 * `db.staging:80`.
 */
const FILE_ENDING =
  /\.(?:[cm]?[jt]sx?|json[c5l]?|md|mdx|rst|txt|ya?ml|toml|lock|ini|cfg|conf|xml|html?|s?css|less|svg|vue|svelte|py[iw]?|ipynb|go|mod|rs|java|kts?|scala|groovy|gradle|c|h|cc|cpp|cxx|hpp|hh|mm?|cs|fs|vb|swift|rb|erb|php|pl|pm|lua|r|jl|exs?|erl|hs|ml|clj|dart|sh|bash|zsh|fish|ps1|bat|sql|proto|graphql|tf|nix|csv|log|diff|patch|snap|env)$/i;
const FILE_NAME = /^(?:(?:Make|Docker|Gem|Rake|Proc|Jenkins|Vagrant|Brew)file|LICENSE|README|CHANGELOG)$/;

/** @param root folder to which the paths are relative. Paths that lead out of it are no citations */
export function findCitations(text: string, root: string): readonly Citation[] {
  const found = new Map<string, Citation>();
  for (const match of text.matchAll(LINES)) {
    if (found.size >= MAX_CITATIONS) break;
    const file = findFile(text.slice(Math.max(0, match.index - MAX_PATH), match.index), root);
    if (file === undefined) continue;
    const cited = `${file}${match[0]}`;
    const lines = [match[1], match[2], ...(match[3] ?? '').split(/[,\s–-]+/)].filter(Boolean).map(Number);
    const [from, to] = [Number(match[1]), Number(match[2] ?? match[1])];
    found.set(cited, {text: cited, file, from, to, exists: hasLines(path.resolve(root, file), lines)});
  }
  return [...found.values()];
}

/**
 * Returns the path at the end of the text: the longest one that exists, otherwise the longest that looks like a path.
 */
function findFile(before: string, root: string): string | undefined {
  const word = getLastWord(before);
  // The number belongs to a URL such as `https://host/a.ts:80`, or follows a host, as in `host:80:3`.
  if (/:\/\/|[::]$/.test(word)) return undefined;
  const candidates = [...listQuoted(before), ...listEndings(word)]
    .flatMap(withoutMention)
    .filter((one) => isInside(path.resolve(root, one), [root]));
  const existing = candidates.find((one) => isFile(path.resolve(root, one)));
  return existing ?? candidates.find((one) => looksLikeFile(one, root));
}

/** Adds the path after the `@` of a mention, which may also belong to the name: `@scope/a.ts`. */
const withoutMention = (name: string) => (name.startsWith('@') ? [name, name.slice(1)] : [name]);

function getLastWord(text: string): string {
  return /[^\s"'`“”‘’«»「」『』|]*$/u.exec(text)![0];
}

/** Returns the texts between a quote or bracket and the end, because names may contain spaces. */
function listQuoted(text: string): string[] {
  return Object.entries(CLOSING).flatMap(([mark, closing]) => {
    const at = text.lastIndexOf(mark);
    const quoted = text.slice(at + mark.length);
    // After a letter, the mark ends a quotation or is an apostrophe.
    if (at < 0 || (mark === closing && /[\p{L}\p{N}]$/u.test(text.slice(0, at)))) return [];
    return /^\S.* /.test(quoted) && !quoted.includes('\n') && !quoted.includes(closing) ? [quoted] : [];
  });
}

/** Closing marks by the mark that opens. */
const CLOSING = {'`': '`', '"': '"', "'": "'", '[': ']', '(': ')', '“': '”', '「': '」'};

/**
 * Returns the word and its ends after characters that may stand before a path: `(`, `**`, `在`. The longest comes first.
 */
function listEndings(word: string): string[] {
  const starts = [...word.matchAll(/(?<=^_*|[^\p{Script=Latin}\p{N}_./~@+-])(?=[^/]|\/)/gu)].map(({index}) => index);
  return starts
    .slice(-MAX_CANDIDATES)
    .map((at) => word.slice(at))
    .filter((one) => /[\p{L}_]/u.test(one));
}

/** Whether a path that does not exist was meant as a file of the project. */
function looksLikeFile(given: string, root: string): boolean {
  if (/^[^\p{L}\p{N}_./@+-]/u.test(given) && !isFolder(path.resolve(root, given.split('/')[0]!))) return false;
  const name = path.basename(given);
  if (FILE_ENDING.test(name) || FILE_NAME.test(name)) return true;
  const [first, ...rest] = given.replace(/^\.\//, '').split('/');
  return rest.length > 0 && isFolder(path.resolve(root, first!));
}

function isFile(file: string): boolean {
  return getStat(file)?.isFile() === true;
}

function isFolder(file: string): boolean {
  return getStat(file)?.isDirectory() === true;
}

function getStat(file: string) {
  try {
    return statSync(file, {throwIfNoEntry: false});
  } catch {
    // The name may be too long, the link may lead to itself, or the folder may not be readable.
    return undefined;
  }
}

function hasLines(file: string, lines: readonly number[]): boolean {
  const found = getStat(file);
  if (!found?.isFile()) return false;
  if (found.size > MAX_CITED_BYTES) return true;
  // The newline at the end of the file does not begin another line.
  const count = readFileSync(file, 'utf8').replace(/\n$/, '').split('\n').length;
  return lines.every((line) => line >= 1 && line <= count);
}
