/** Finds the files that some words are about, by the files' contents and names. */
import {escapeRegExp, isComment, parseDefinition} from './definitions.ts';
import {getPathRank, isGenerated} from './languages.ts';
import {type Hit, parseHits, parsePaths} from './results.ts';
import {ask, type Work} from './skill.ts';
import type {Toolbox} from './toolbox.ts';
import {findKeywords, findPaths, getStem} from './words.ts';

export interface RelevantFile {
  readonly path: string;
  readonly score: number;
  /** Hits that define something whose name contains one of the words. */
  readonly definitions: readonly Hit[];
  readonly words: readonly string[];
  /** The most informative hit; undefined when only the name of the file matches. */
  readonly best: Hit | undefined;
}

export interface RelevantFiles {
  readonly words: readonly string[];
  /** Best first. */
  readonly files: readonly RelevantFile[];
  readonly searched: boolean;
}

const MAX_WORDS = 5;

/** Searches for each keyword of the text and ranks the files that contain them. */
export function* findRelevantFiles(toolbox: Toolbox, text: string): Work<RelevantFiles> {
  const words = findKeywords(text).slice(0, MAX_WORDS);
  const scope = findPaths(text)[0]?.replace(/\/$/, '');
  if (words.length === 0) return {words, files: [], searched: true};
  const stems = words.map(getStem);
  const searches = stems.map((stem) =>
    toolbox.search({pattern: escapeRegExp(stem), ignoreCase: true, path: scope, limit: 150}),
  );
  const names = stems.map((stem) => toolbox.files(`**/*${globWord(stem)}*`, {path: scope, limit: 40}));
  const results = yield* ask([...searches, ...names]);
  const found = results.slice(0, stems.length).map(parseHits);
  const named = results.slice(stems.length).map(parsePaths);
  return {
    words,
    files: rank(
      words,
      stems,
      found.map((one) => one.hits),
      found.map((one) => one.hits.length + (one.more ?? 1000)),
      named.map((one) => one.paths),
    ),
    searched: found.some((one) => one.known),
  };
}

function rank(
  words: readonly string[],
  stems: readonly string[],
  found: readonly (readonly Hit[])[],
  totals: readonly number[],
  named: readonly (readonly string[])[],
): readonly RelevantFile[] {
  const paths = new Set([...found.flat().map((hit) => hit.path), ...named.flat()]);
  const files = [...paths]
    .filter((path) => !isGenerated(path) && !/\.(snap|svg|lock)$/.test(path))
    .map((path) => {
      const own = found.map((hits) => hits.filter((hit) => hit.path === path));
      const definitions = own.flatMap((hits, index) => hits.filter((hit) => defines(hit, stems[index]!)));
      const inName = stems.map((stem) => path.replace(/^.*\//, '').toLowerCase().includes(stem.toLowerCase()));
      const scores = own.map((hits, index) => {
        if (hits.length === 0 && !inName[index]) return 0;
        // A word that is found everywhere says little.
        const rarity = 3 / Math.log2(2 + totals[index]!);
        return (3 + 2 * Math.min(hits.length, 6) + (inName[index] ? 8 : 0)) * rarity;
      });
      const weight = [1, 0.6, 0.5, 0.1][getPathRank(path)]!;
      const score = (scores.reduce((sum, one) => sum + one, 0) + Math.min(definitions.length, 4) * 2) * weight;
      const matched = words.filter((_, index) => scores[index]! > 0);
      const hits = unique(own.flat());
      return {path, score, definitions: unique(definitions), words: matched, best: findBestHit(hits, stems)};
    });
  return files.sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
}

function defines(hit: Hit, stem: string): boolean {
  return parseDefinition(hit.text)?.name.toLowerCase().includes(stem.toLowerCase()) ?? false;
}

function unique(hits: readonly Hit[]): readonly Hit[] {
  const byLine = new Map(hits.map((hit) => [hit.line, hit]));
  return [...byLine.values()].sort((a, b) => a.line - b.line);
}

/** A glob for the word whose first letter may have either case. */
function globWord(word: string): string {
  const safe = word.replace(/[^\p{L}\p{N}_-]/gu, '?');
  return [...safe]
    .map((char, at) => (at === 0 && /[a-z]/i.test(char) ? `[${char.toLowerCase()}${char.toUpperCase()}]` : char))
    .join('');
}

function findBestHit(hits: readonly Hit[], stems: readonly string[]): Hit | undefined {
  const worth = ({text}: Hit): number => {
    const found = stems.filter((stem) => text.toLowerCase().includes(stem.toLowerCase())).length;
    const passive = isComment(text) || /^\s*import\b/.test(text) ? -6 : 0;
    return found * 3 + (parseDefinition(text) ? 2 : 0) + (/^\S/.test(text) ? 1 : 0) + passive;
  };
  return hits.toSorted((a, b) => worth(b) - worth(a) || a.line - b.line)[0];
}
