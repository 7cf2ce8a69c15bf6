/** Which files a few words are about: by their contents and by their names. */
import {definitionIn, escapeRegExp, isComment} from './definitions.ts';
import {isLumber, rankOf} from './languages.ts';
import {type Hit, readHits, readPaths} from './results.ts';
import {ask, type Work} from './skill.ts';
import type {Toolbox} from './toolbox.ts';
import {keywordsIn, pathsIn, stemOf} from './words.ts';

export interface ConcernedFile {
  readonly path: string;
  readonly score: number;
  readonly hits: readonly Hit[];
  /** Lines that define something named by one of the words. */
  readonly definitions: readonly Hit[];
  readonly words: readonly string[];
  /** The line that says the most; undefined when only the name fits. */
  readonly best: Hit | undefined;
}

export interface Concerned {
  readonly words: readonly string[];
  /** Best first. */
  readonly files: readonly ConcernedFile[];
  readonly searched: boolean;
}

const MOST_WORDS = 5;

/** Searches for the words of the text, one search a word, and ranks the files that hold them. */
export function* concernedFiles(toolbox: Toolbox, text: string): Work<Concerned> {
  const words = keywordsIn(text).slice(0, MOST_WORDS);
  const scope = pathsIn(text)[0]?.replace(/\/$/, '');
  if (words.length === 0) return {words, files: [], searched: true};
  const stems = words.map(stemOf);
  const searches = stems.map((stem) =>
    toolbox.search({pattern: escapeRegExp(stem), ignoreCase: true, path: scope, limit: 150}),
  );
  const names = stems.map((stem) => toolbox.files(`**/*${globWord(stem)}*`, {path: scope, limit: 40}));
  const results = yield* ask([...searches, ...names]);
  const found = results.slice(0, stems.length).map(readHits);
  const named = results.slice(stems.length).map(readPaths);
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
): readonly ConcernedFile[] {
  const paths = new Set([...found.flat().map((hit) => hit.path), ...named.flat()]);
  const files = [...paths]
    .filter((path) => !isLumber(path) && !/\.(snap|svg|lock)$/.test(path))
    .map((path) => {
      const own = found.map((hits) => hits.filter((hit) => hit.path === path));
      const definitions = own.flatMap((hits, index) => hits.filter((hit) => defines(hit, stems[index]!)));
      const inName = stems.map((stem) => path.replace(/^.*\//, '').toLowerCase().includes(stem.toLowerCase()));
      const scores = own.map((hits, index) => {
        if (hits.length === 0 && !inName[index]) return 0;
        // A word that is everywhere says little about where.
        const rarity = 3 / Math.log2(2 + totals[index]!);
        return (3 + 2 * Math.min(hits.length, 6) + (inName[index] ? 8 : 0)) * rarity;
      });
      const place = [1, 0.6, 0.5, 0.1][rankOf(path)]!;
      const score = (scores.reduce((sum, one) => sum + one, 0) + Math.min(definitions.length, 4) * 2) * place;
      const matched = words.filter((_, index) => scores[index]! > 0);
      const hits = unique(own.flat());
      return {path, score, hits, definitions: unique(definitions), words: matched, best: bestOf(hits, stems)};
    });
  return files.sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
}

function defines(hit: Hit, stem: string): boolean {
  return definitionIn(hit.text)?.name.toLowerCase().includes(stem.toLowerCase()) ?? false;
}

function unique(hits: readonly Hit[]): readonly Hit[] {
  const byLine = new Map(hits.map((hit) => [hit.line, hit]));
  return [...byLine.values()].sort((a, b) => a.line - b.line);
}

/** Letters of any case, since file names of two styles are the same word. */
function globWord(word: string): string {
  const safe = word.replace(/[^\p{L}\p{N}_-]/gu, '?');
  return [...safe]
    .map((char, at) => (at === 0 && /[a-z]/i.test(char) ? `[${char.toLowerCase()}${char.toUpperCase()}]` : char))
    .join('');
}

function bestOf(hits: readonly Hit[], stems: readonly string[]): Hit | undefined {
  const worth = ({text}: Hit): number => {
    const held = stems.filter((stem) => text.toLowerCase().includes(stem.toLowerCase())).length;
    const passive = isComment(text) || /^\s*import\b/.test(text) ? -6 : 0;
    return held * 3 + (definitionIn(text) ? 2 : 0) + (/^\S/.test(text) ? 1 : 0) + passive;
  };
  return hits.toSorted((a, b) => worth(b) - worth(a) || a.line - b.line)[0];
}
