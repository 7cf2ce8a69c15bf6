/**
 * Carries out a part of a fan-out: one mechanical change in each of its files. The places of a rename come with the
 * request; a replacement or a header is made in each file by itself. Files without anything to change stay as they are.
 */
import {isCannot} from '../report.ts';
import type {Job, Route, Work} from '../skill.ts';
import {plainRequest} from '../words.ts';
import {applyChanges, type FileChange, type FileText, readFiles} from './rename/change-files.ts';
import {rename} from './rename/rename.ts';
import {parseRename} from './rename/rename-request.ts';
import {asksToWrite} from './search-text.ts';

interface PlannedPlace {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly newText: string;
}

const NOTHING = 'There is nothing to change in these files.';

export const part: Route = (job) => {
  if (!job.isPart) return undefined;
  const {files, places} = parsePart(job.text);
  if (places) return replacePlaces(files, places, job);
  const header = parseHeader(job.text);
  if (header !== undefined) return addHeader(header, files, job);
  const work = rename(job);
  return work && allowNothing(work);
};

function parsePart(text: string): {
  readonly files: readonly string[];
  readonly places: readonly PlannedPlace[] | undefined;
} {
  const list = (name: string) => {
    const [, body] = new RegExp(`\\n\\n${name}:\\n([\\s\\S]*?)(?:\\n\\n|$)`).exec(text) ?? [];
    return body?.split('\n').flatMap((line) => (line.startsWith('- ') ? [line.slice(2)] : []));
  };
  const places = list('Places')?.flatMap((line): PlannedPlace[] => {
    const [, path = '', row, column, newText = ''] = /^(.+):(\d+):(\d+) (.*)$/.exec(line) ?? [];
    return path === '' ? [] : [{path, line: Number(row), column: Number(column), newText}];
  });
  return {files: list('Files') ?? [], places};
}

const NAME = /[\p{L}\p{N}_$]+/uy;

/** Replaces the name at each place. A place that already has the new name was changed by an interrupted part. */
function* replacePlaces(files: readonly string[], places: readonly PlannedPlace[], job: Job): Work<string> {
  const touched = files.filter((file) => places.some(({path}) => path === file));
  const texts = yield* readFiles(touched, job);
  const changes = texts.map((text) =>
    changeAt(
      text,
      places.filter(({path}) => path === text.path),
    ),
  );
  if (changes.every(({places: changed, problem}) => changed === 0 && problem === '')) return NOTHING;
  return yield* applyChanges('Renamed', changes, job);
}

function changeAt({path, lines, problem}: FileText, places: readonly PlannedPlace[]): FileChange {
  const before = lines ?? [];
  const after = [...before];
  let changed = 0;
  for (const {line, column, newText} of places.toSorted((a, b) => b.line - a.line || b.column - a.column)) {
    const old = after[line - 1];
    NAME.lastIndex = column - 1;
    const [name] = (old !== undefined && NAME.exec(old)) || [''];
    if (old === undefined || name === '')
      return {path, before, after: before, places: 0, problem: problem || 'it is not as the index saw it'};
    if (old.startsWith(newText, column - 1)) continue;
    after[line - 1] = old.slice(0, column - 1) + newText + old.slice(column - 1 + name.length);
    changed += 1;
  }
  return {path, before, after, places: changed, problem};
}

const HEADER =
  /^(?:add|put|insert|prepend|ajoute[rz]?|добавь(?:те)?|添加)\s+(?:the\s+|this\s+|a\s+)?(?:[\p{L}-]+\s+){0,3}(?:header|comment|line|banner|notice|en-tête|заголовок)?\s*:?\s*(?:`([^`]+)`|"([^"]+)"|“([^”]+)”)\s+(?:to|at|on|before|above|in|à|dans|в|到)\s/iu;

/** Says whether parts can carry out the instruction: it reads only, or says word for word what to change. */
export function isWordForWord(instruction: string): boolean {
  const plain = plainRequest(instruction);
  const request = parseRename(plain);
  return !asksToWrite(plain) || (request !== undefined && !('unclear' in request)) || parseHeader(plain) !== undefined;
}

/** Parses `add the header "// Copyright" to all files`. */
function parseHeader(text: string): string | undefined {
  return HEADER.exec(text)
    ?.slice(1)
    .find((each) => each !== undefined);
}

/** Puts the header at the top of each file that does not have it, below a line that names the interpreter. */
function* addHeader(header: string, files: readonly string[], job: Job): Work<string> {
  const own = header.split('\\n');
  const texts = yield* readFiles(files, job);
  const changes = texts.map(({path, lines = [], problem}): FileChange => {
    const at = lines[0]?.startsWith('#!') ? 1 : 0;
    const has = own.every((line, index) => lines[at + index] === line);
    const isEmpty = lines.length === 0 && problem === '';
    const after = has || problem !== '' ? lines : [...lines.slice(0, at), ...own, ...lines.slice(at)];
    return {path, before: lines, after, places: has ? 0 : 1, problem: isEmpty ? 'it is empty' : problem};
  });
  if (changes.every(({places, problem}) => places === 0 && problem === '')) return NOTHING;
  return yield* applyChanges(`Added \`${header}\``, changes, job);
}

/** Counts as a success when the files do not contain the text, because files of other parts may contain it. */
function* allowNothing(work: Work<string>): Work<string> {
  const text = yield* work;
  return isCannot(text) && / Nothing was changed: `.*` is not in /.test(text) ? NOTHING : text;
}
