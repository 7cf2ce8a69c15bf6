/**
 * Answers "show me its code", "what is X?" and "how does X work?" with the code of a symbol, its comment, its callers
 * and the functions that it calls.
 */

import {isTest} from '../../../core/util/file-kinds.ts';
import {type Language, type Listed, phrase, phraseCount} from '../../language.ts';
import {getPathRank} from '../../places.ts';
import {getDocComment} from '../../prose.ts';
import {bullets, citeHit, code, firstSentence, formatLines, paragraphs, quoteLines} from '../../report.ts';
import {type Hit, type Line, parseLines} from '../../results.ts';
import {ask, askOne, type Job, type Work} from '../../skill.ts';
import {type Found, type FoundDefinition, type FoundReference, parseDefinitions} from '../../symbols.ts';
import {isComment} from '../../words.ts';

/** Number of lines of code in one answer. */
const MAX_LINES = 120;
/** Number of lines above a definition that are searched for its comment. */
const COMMENT_LINES = 30;
/** Number of names in a body that are looked up. */
const MAX_CALLEES = 12;

/** Returns the definition that is probably meant: one with a body, outside of tests. */
function getMain({definitions}: Known): FoundDefinition {
  return definitions.found.find((one) => one.endLine > one.line && !isTest(one.path)) ?? definitions.found[0]!;
}

function formatOthers({definitions, language}: Known, main: FoundDefinition, limit = 5, more = 0): string {
  const others = definitions.found.filter((one) => one !== main);
  return others.length > 0 ? `${phrase('also', language)}\n${bullets(others.map(citeHit), limit, more)}` : '';
}

/**
 * @param depth `code`: all of it; `what`: a short answer; `how`: the way through the code, from the callers to the functions that it calls
 */
export function* explainSymbol(known: Known, depth: 'code' | 'what' | 'how', job: Job): Work<string> {
  const main = getMain(known);
  const from = Math.max(1, main.line - COMMENT_LINES);
  const lines = parseLines(yield* askOne(job.toolbox.read(main.path, from, main.endLine - from + 1))) ?? [];
  const doc = getDocComment(lines, main.line);
  const body = lines.filter((line) => line.number >= main.line && line.number <= main.endLine);
  const said = doc && `${phrase('comment', known.language)}\n${quoteLines(doc)}`;
  const also = formatOthers(known, main);
  if (depth !== 'how') {
    // The question asks for the members of the type.
    const isType = /^(?:enum|struct|interface|type|trait)$/.test(main.kind);
    return paragraphs(
      depth === 'code' ? `${main.path}:${main.line}–${main.endLine}, ${main.kind} \`${main.name}\`:` : citeHit(main),
      said,
      (depth === 'code' || body.length > 1) && formatBody(main, body, depth === 'code' ? MAX_LINES : isType ? 40 : 14),
      also,
      depth === 'what' && formatUsage(known),
    );
  }
  const callees = yield* findCallees(main, body, job);
  const callers = splitPlaces(known, known.references.found).sure.filter((one) => one.kind === 'call');
  return paragraphs(
    citeHit(main),
    said,
    callers.length > 0
      ? `${phrase('calledBy', known.language)}\n${bullets(
          callers.map((one) => citePlace(one, known)),
          6,
          known.references.more,
        )}`
      : formatUsage(known),
    callees.length > 0
      ? `${phrase('callsOn', known.language)}\n${callees.map((one, index) => `${index + 1}. ${one}`).join('\n')}`
      : body.length > 1 && formatBody(main, body, 25),
    also,
  );
}

function formatBody({path, line, endLine}: FoundDefinition, body: readonly Line[], limit: number): string {
  return paragraphs(
    body.length > 0 && formatLines(body.slice(0, limit), path),
    body.length > limit && `… ask for "lines ${line + limit}-${endLine} of ${path}".`,
  );
}

/** Matches a call, and the sign before it when the called name is a member. */
const CALL = /(\.|->|::)?(?<![\w$])([A-Za-z_$][\w$]*)\s*(?:<[\w\s,.]*>)?\(/g;

const CALLABLE = /^(?:function|method|constructor|class|struct|macro)$/;
const MEMBER = /^(?:function|method|constructor)$/;

/**
 * Finds the calls of the project's own code in a body, in order, each with its place and the first sentence of its
 * comment.
 */
function* findCallees(main: FoundDefinition, body: readonly Line[], job: Job): Work<readonly string[]> {
  const own = main.name.replace(/^.*\./, '');
  const calls = body
    .filter((line) => !isComment(line.text))
    .flatMap(({number, text}) =>
      [...text.matchAll(CALL)].map(([, member, name = '']) => {
        return {name, line: number, kinds: member === undefined ? CALLABLE : MEMBER};
      }),
    )
    .filter(({name}) => name !== own && name.length >= 3);
  const names = [...new Set(calls.map(({name}) => name))].slice(0, MAX_CALLEES);
  const results = yield* ask(names.map((name) => job.toolbox.symbols('definitions', {name})));
  const found = names.flatMap((name, index) => {
    const {kinds} = calls.find((one) => one.name === name)!;
    const all = parseDefinitions(results[index]).found.filter((one) => !isTest(one.path) && kinds.test(one.kind));
    const near = all.find((one) => one.path === main.path) ?? (all.length === 1 ? all[0] : undefined);
    // When other files have several definitions, syntax alone cannot say which one is meant. The line of a nested definition
    // looks like a call.
    const call = calls.find((one) => one.name === name && (near?.path !== main.path || one.line !== near.line));
    return near && call && near.line !== main.line ? [{call, near}] : [];
  });
  const heads = yield* ask(
    found.map(({near}) => job.toolbox.read(near.path, Math.max(1, near.line - 8), Math.min(near.line - 1, 8) + 2)),
  );
  return found.map(({call: {name, line}, near}, index) => {
    const doc = getDocComment(parseLines(heads[index]) ?? [], near.line);
    const about = doc ? ` — “${firstSentence(doc)}”` : '';
    return `${main.path}:${line} \`${name}\` → ${near.path}:${near.line} (${near.kind})${about}`;
  });
}

export interface Known {
  readonly name: string;
  readonly definitions: Found<FoundDefinition>;
  readonly references: Found<FoundReference>;
  readonly language: Language;
}

/** Lists lines that a text search found. @param list what was searched for */
export function formatByText(list: string, language: Language, hits: readonly Hit[], limit: number, more = 0): string {
  return `${phrase('byText', language, {list})}\n${bullets(hits.map(citeHit), limit, more)}`;
}

/** Says what was not searched, since otherwise "no other use" would be untrue. */
export function formatOpen({open}: Found<unknown>, language: Language): string {
  return open === '' ? '' : phrase('open', language, {list: open});
}

export function citePlace(
  {path, line, inside, text}: FoundReference,
  {language}: {readonly language: Language},
): string {
  const where = inside === undefined ? '' : ` ${phrase('inside', language)} \`${inside}\``;
  return `${path}:${line}${where} — ${code(text)}`;
}

export function formatUsage(known: Known): string {
  const {name, references, language} = known;
  const {sure, perhaps} = splitPlaces(known, references.found);
  const [first] = sure;
  if (!first)
    return paragraphs(
      perhaps.length === 0 && phraseCount('uses', language, {name, n: 0, files: references.files}),
      formatPerhaps(known, perhaps),
      formatOpen(references, language),
    );
  const files = new Set(sure.map((one) => one.path)).size;
  const place = `${first.path}:${first.line}${first.inside === undefined ? '' : ` (\`${first.inside}\`)`}`;
  const n = sure.length + references.more;
  return phrase('used', language, {n: perhaps.length > 0 ? `≥ ${n}` : n, files, place});
}

/** Separates uses of the last part of `Type.method` where syntax does not tell the type of the object. */
function splitPlaces({name, definitions}: Known, places: readonly FoundReference[]) {
  const isOwned = name.includes('.') && definitions.found.length > 0;
  const perhaps = places.filter((one) => isOwned && one.target === 'what is unknown');
  return {sure: places.filter((one) => !perhaps.includes(one)), perhaps};
}

/** Number of places in one answer. */
export const MAX_PLACES = 60;

function formatPlaces(known: Known, places: readonly FoundReference[], head: string): string {
  const sorted = places.toSorted((a, b) => getPathRank(a.path) - getPathRank(b.path));
  // When there are many places, each file gets one line, with the line numbers of its other places.
  const lines =
    sorted.length > MAX_PLACES
      ? [...Map.groupBy(sorted, (one) => one.path).values()].map(
          ([one, ...rest]) =>
            `${citePlace(one!, known)}${rest.length > 0 ? ` (+ ${rest.map(({line}) => line).join(', ')})` : ''}`,
        )
      : sorted.map((one) => citePlace(one, known));
  return lines.length > 0 ? `${head}\n${bullets(lines, MAX_PLACES * 3)}` : '';
}

const formatPerhaps = (known: Known, places: readonly FoundReference[]) =>
  formatPlaces(known, places, phrase('perhaps', known.language, {n: places.length}));

export function listPlaces(known: Known, places: readonly FoundReference[], listed: Listed): string {
  const {name, references, language} = known;
  const {sure, perhaps} = splitPlaces(known, places);
  const files = new Set(sure.map((one) => one.path)).size;
  const n = sure.length > 0 && references.more > 0 ? `≥ ${sure.length}` : sure.length;
  const head = phraseCount(listed, language, {name, n, files: files || references.files});
  const [first] = known.definitions.found;
  return paragraphs(
    formatPlaces(known, sure, `${head}\n`) || (perhaps.length === 0 && head),
    formatPerhaps(known, perhaps),
    (places.length === 0 || /skipped/.test(references.open)) && formatOpen(references, language),
    first && `${phrase('definedAt', language)} ${citeHit(first)}`,
  );
}

export function formatDefinitions(known: Known): string {
  const {found, more} = known.definitions;
  return paragraphs(citeHit(found[0]!), formatOthers(known, found[0]!, 12, more));
}
