/** Handles "read FILE", "show lines 10-20 of FILE", "summarise FILE" and "what does FILE do". */
import {isCode} from '../../core/util/file-kinds.ts';
import {findSpeech} from '../language.ts';
import {compareByLocation, compareDepth, getPathRank, searchText} from '../places.ts';
import {getFileHeader} from '../prose.ts';
import {bullets, clip, count, formatLines, getReason, notDone, paragraphs, quoteLines} from '../report.ts';
import {hasMoreLines, type Line, parseLines, parsePaths} from '../results.ts';
import {askOne, inTurn, type Job, type Route, type Work} from '../skill.ts';
import {parseDefinitions} from '../symbols.ts';
import {escapeRegExp, findPaths, findQuoted, looksLikeFile} from '../words.ts';
import {formatByText} from './symbols/explain-symbol.ts';

const SHOW =
  /^(?:read|show|open|cat|print|display|view|head|type out|dump|lis|lire|montre[rz]?|affiche[rz]?|прочитай|прочти|покажи|открой|读取|读一下|查看|显示|打开)(?=[\s`"']|\P{ASCII})/iu;
const SUMMARY =
  /^(?:summari[sz]e|outline|explain|describe|what(?:'s| is| does| do| are)|tell me (?:about|what)|give (?:me )?(?:a|an) (?:summary|outline|overview)|how does|résume[rz]?|que (?:fait|contient)|explique|объясни|опиши|что (?:делает|в|находится)|перескажи|总结|解释|说明)(?=[\s`"']|\P{ASCII})/iu;
/** Number of lines of one file in an answer. */
const MAX_LINES = 60;

/** Number of files in one answer. */
const MAX_FILES = 4;
/** Number of lines shown before and after the line in FILE:LINE. */
const CONTEXT_LINES = 8;

interface ReadRequest {
  readonly path: string;
  readonly summary: boolean;
  readonly from: number | undefined;
  readonly to: number | undefined;
}

export const read: Route = (job) => {
  const {text} = job;
  const summary = SUMMARY.test(text);
  if ((!summary && !SHOW.test(text)) || text.includes('\n')) return undefined;
  const bare = text.replace(PLACE_IN_FILE, '$1');
  const quoted = findQuoted(bare).filter((one) => looksLikeFile(one.replaceAll(' ', '_')));
  const named = findPaths(bare).filter(looksLikeFile);
  const paths = quoted.length > 0 ? quoted : named.length > 0 ? named : findKnownFile(bare);
  if (paths.length === 0) return undefined;
  // "explain how the cache in src/a.ts is filled" asks for more than the file.
  if (summary && /\b(how|why|when|whether)\b/i.test(text.slice(8)) && text.split(/\s+/).length > 7) return undefined;
  if (/^what(?:'s| is| are) \w+ed in\b/i.test(text)) return undefined;
  const {from, to} = parseLineRange(text);
  const requests = paths.map((path) => ({path, summary: summary && from === undefined, from, to}));
  return readAll(requests, job);
};

/** Matches `src/a.ts:12`, also with a column or a last line. */
const PLACE_IN_FILE = /([\w)\]]\.\w+[`"']?):\d+(?:[-:]\d+)?\b/g;

function parseLineRange(text: string): {from: number | undefined; to: number | undefined} {
  const lines = /\blines?\s+(\d+)(?:\s*(?:-|–|to|until|through|and)\s*(\d+))?/i.exec(text) ?? /:(\d+)-(\d+)/.exec(text);
  if (lines) {
    const ends = [Number(lines[1]), Number(lines[2] ?? lines[1])].map((line) => Math.max(1, line));
    return {from: Math.min(...ends), to: Math.max(...ends)};
  }
  const place = /\.\w+[`"']?:(\d+)/.exec(text)?.[1];
  if (place !== undefined) return {from: Math.max(1, Number(place) - CONTEXT_LINES), to: Number(place) + CONTEXT_LINES};
  const first = /\b(?:first|head|top)\s+(\d+)/i.exec(text)?.[1];
  return first === undefined ? {from: undefined, to: undefined} : {from: 1, to: Number(first)};
}

/** Finds the file in "the readme" or "le fichier Makefile". */
function findKnownFile(text: string): readonly string[] {
  const name = /\b(readme|changelog|license|makefile|dockerfile)\b/i.exec(text)?.[1]?.toLowerCase();
  if (name === undefined) return [];
  return [/file$/.test(name) ? `${name[0]!.toUpperCase()}${name.slice(1)}` : `${name.toUpperCase()}.md`];
}

function* readAll(requests: readonly ReadRequest[], job: Job): Work<string> {
  const answers = yield* inTurn(requests.slice(0, MAX_FILES).map((request) => readOne(request, job)));
  const left = requests.slice(MAX_FILES).map((request) => request.path);
  return paragraphs(
    ...answers,
    left.length > 0 && notDone(`I show at most ${MAX_FILES} files at a time. Not shown: ${left.join(', ')}.`),
  );
}

function* readOne(request: ReadRequest, job: Job): Work<string> {
  const opened = yield* openFile(request, job);
  if (typeof opened === 'string') return opened;
  const {path, lines} = opened;
  if (lines.length === 0)
    return (request.from ?? 1) > 1 ? notDone(`${path} has no line ${request.from}.`) : `${path} is empty.`;
  const isLong = lines.length > MAX_LINES && request.from === undefined;
  const outline = isCode(path) && (request.summary || isLong) ? yield* readOutline(path, job) : '';
  return request.summary ? formatSummary(opened, outline) : formatFile(request, opened, outline);
}

/** An opened file. `more` says that it has more lines. */
type Opened = {readonly path: string; readonly lines: readonly Line[]; readonly more: boolean};

/** Reads the file, or the only file whose path ends with that name. @returns the reason as a text when it cannot */
function* openFile({path, from, to, summary}: ReadRequest, job: Job): Work<Opened | string> {
  const limit = from !== undefined && to !== undefined ? Math.max(1, to - from + 1) : undefined;
  const first = yield* askOne(job.toolbox.read(path, from, limit));
  const lines = parseLines(first);
  if (lines) return {path, lines, more: hasMoreLines(first)};
  if (first.outcome === 'missing') return notDone(`I did not read ${path}: ${first.text}.`);
  // The file exists but has fewer lines.
  if (/\bpast its end\b/.test(first.text)) return notDone(`${getReason(first)}.`);
  const name = path.replace(/^.*\//, '').replace(/^(README|CHANGELOG|LICENSE)\.md$/, '$1');
  const near = ((yield* findByName(name, job)) ?? []).filter((one) => one !== path);
  const [best] = near;
  if (best === undefined) {
    // A question what a file is may be answered by the lines that name it.
    const {hits} = summary ? yield* searchText({pattern: escapeRegExp(name), limit: 60}, job) : {hits: []};
    return hits.length > 0
      ? paragraphs(
          `No file ${path} is here.`,
          formatByText(`\`${name}\``, findSpeech(job.text), hits.toSorted(compareByLocation), 20),
        )
      : notDone(`I could not read ${path}: ${getReason(first)}.`);
  }
  if (near.length > 1 && name.includes('.'))
    return notDone(`${path} cannot be read. Files with that name:`, bullets(near, 20));
  const second = yield* askOne(job.toolbox.read(best, from, limit));
  const other = parseLines(second);
  return other
    ? {path: best, lines: other, more: hasMoreLines(second)}
    : notDone(`I could not read ${best}: ${getReason(second)}.`);
}

function formatFile(request: ReadRequest, {path, lines, more}: Opened, outline: string): string {
  const wanted =
    request.from === undefined
      ? lines
      : lines.filter((line) => line.number >= request.from! && line.number <= request.to!);
  if (wanted.length === 0)
    return notDone(`${path} has no line ${request.from}; it ends at line ${lines.at(-1)!.number}.`);
  const part = wanted.slice(0, request.from === undefined ? MAX_LINES : 400);
  const rest = wanted.length - part.length;
  const last = lines.at(-1)!.number;
  const total = more ? `more than ${count(last, 'line')}` : count(last, 'line');
  const title = request.from === undefined ? `${path} (${total})` : `${path}:${part[0]!.number}–${part.at(-1)!.number}`;
  return paragraphs(
    `${title}:`,
    formatLines(part, path),
    rest > 0 &&
      `… ${count(rest, 'more line')}; ask for "lines ${part.at(-1)!.number + 1}-${Math.min(last, part.at(-1)!.number + 100)} of ${path}".`,
    rest > 0 && outline,
  );
}

function formatSummary({path, lines, more}: Opened, outline: string): string {
  const length = `${more ? 'more than ' : ''}${count(lines.at(-1)!.number, 'line')}`;
  const header = isCode(path) ? getFileHeader(lines) : undefined;
  const headings = lines.filter((line) => /^#{1,3}\s/.test(line.text));
  const prose = lines.find((line) => /^\p{L}/u.test(line.text) && line.text.length > 20);
  const contents = isCode(path)
    ? outline
    : headings.length > 0 &&
      `Headings:\n${bullets(
        headings.map((line) => `${path}:${line.number} — ${line.text.replace(/^#+\s*/, '')}`),
        25,
      )}`;
  return paragraphs(
    `${path}, ${length}.`,
    header && `Its header says:\n${quoteLines(header)}`,
    !header && !isCode(path) && prose && `> ${clip(prose.text, 300)}`,
    contents || formatLines(lines.slice(0, 25), path),
  );
}

/** Lists what the file defines, with lines. Empty without the `symbols` tool, or for a file that it does not parse. */
function* readOutline(path: string, job: Job): Work<string> {
  const {found, more} = parseDefinitions(yield* askOne(job.toolbox.symbols('outline', {path})));
  const lines = found.map((one) => `${one.path}:${one.line} — ${one.kind} \`${one.name}\``);
  return lines.length > 0 ? `Defines:\n${bullets(lines, 40, more)}` : '';
}

/** Says where the file with this name is. */
export function* findFile(name: string, job: Job): Work<string> {
  const found = yield* findByName(name, job);
  if (!found) return notDone(`the files were not listed, so I cannot say where \`${name}\` is.`);
  if (found.length === 0) return `No file \`${name}\` is found here.`;
  return found.length === 1 ? found[0]! : `${count(found.length, 'file')}:\n${bullets(found, 30)}`;
}

/** Finds the files and folders with this name, which may lack its extension, from the root downwards. */
export function* findByName(asked: string, job: Job): Work<readonly string[] | undefined> {
  const name = asked.replace(/^\.?\//, '');
  const {paths, known} = parsePaths(
    yield* askOne(job.toolbox.files(`**/${name}${name.includes('.') ? '' : '{,.*,/**}'}`, {limit: 300})),
  );
  const form = new RegExp(`^(?:.*?/)?${escapeRegExp(name)}${name.includes('.') ? '' : '(?:\\.\\w+)?'}(?=/|$)`);
  const found = new Set(paths.flatMap((path) => form.exec(path)?.[0] ?? []));
  if (!known) return undefined;
  return [...found].toSorted((a, b) => getPathRank(a) - getPathRank(b) || compareDepth(a, b));
}
