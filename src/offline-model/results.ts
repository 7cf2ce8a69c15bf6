/** Parses the texts that tools return. Lines of another form are notes of the tool and are skipped. */
import type {Observation} from './skill.ts';

/** One line that a search found. */
export interface Hit {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface Hits {
  readonly hits: readonly Hit[];
  /** Number of results that are not listed. Undefined when the output was cut, so that the number is unknown. */
  readonly more: number | undefined;
  /** The search ran and did not fail. */
  readonly known: boolean;
}

export interface Paths extends Omit<Hits, 'hits'> {
  readonly paths: readonly string[];
}

export interface Line {
  readonly number: number;
  readonly text: string;
}

const MORE = /^[([](?!not all ).*?(\d[\d,]*)\+? (?:more|further|not shown)\b/;
const CUT = /characters? cut\b/;
const NOTHING = /^(no (matches|files)( found)?\.?|\(no output\))$/i;

export function parseHits(observation: Observation): Hits {
  const {lines, ...rest} = listed(observation);
  const hits = lines.flatMap((line) => {
    const match = /^(?:\.\/)?([^:\n]+):(\d+):(.*)$/.exec(line);
    return match ? [{path: match[1]!, line: Number(match[2]), text: match[3]!.replace(/\r$/, '')}] : [];
  });
  return {hits, ...rest};
}

export function parsePaths(observation: Observation): Paths {
  const {lines, ...rest} = listed(observation);
  const paths = lines
    .map((line) => line.trim().replace(/^\.\//, ''))
    .filter((line) => line !== '' && !/^[([<]/.test(line));
  return {paths: [...new Set(paths)], ...rest};
}

/** Parses the `path:count` lines of a counting search. */
export function parseCounts(observation: Observation): ReadonlyMap<string, number> {
  const counts = listed(observation).lines.flatMap((line) => {
    const match = /^(?:\.\/)?(.+?):\s*(\d+)$/.exec(line.trim());
    return match ? [[match[1]!, Number(match[2])] as const] : [];
  });
  return new Map(counts);
}

/** Parses the numbered lines of a file. Returns undefined when the file could not be read. */
export function parseLines(observation: Observation | undefined): readonly Line[] | undefined {
  if (observation?.outcome !== 'ok') return undefined;
  const lines = observation.text.split('\n').flatMap((line) => {
    const match = /^\s*(\d+)\t(.*)$/.exec(line);
    return match ? [{number: Number(match[1]), text: match[2]!.replace(/\r$/, '')}] : [];
  });
  const isEmpty = observation.text.trim() === '' || /\bempty\b/i.test(observation.text.slice(0, 200));
  return lines.length > 0 || isEmpty ? lines : undefined;
}

/** Returns whether the tool's notes say that the file has more lines. */
export function hasMoreLines(observation: Observation | undefined): boolean {
  if (observation === undefined) return false;
  const notes = observation.text.split('\n').filter((line) => !/^\s*\d+\t/.test(line));
  return notes.some((line) => CUT.test(line) || /\bmore\b|\boffset\b|\bof \d[\d,]* lines\b|truncated/i.test(line));
}

function listed(observation: Observation): Omit<Hits, 'hits'> & {readonly lines: readonly string[]} {
  if (observation.outcome !== 'ok') return {lines: [], more: undefined, known: false};
  const all = observation.text.split('\n').filter((line) => line.trim() !== '' && !NOTHING.test(line.trim()));
  const cut = all.findIndex((line) => CUT.test(line));
  // The lines before and after the cut may be incomplete.
  if (cut >= 0) all.splice(Math.max(0, cut - 1), 3);
  const note = all.findIndex((line) => MORE.test(line));
  const more = note >= 0 ? Number(MORE.exec(all[note]!)![1]!.replaceAll(',', '')) : 0;
  if (note >= 0) all.splice(note, 1);
  return {lines: all, more: cut >= 0 ? undefined : more, known: true};
}
