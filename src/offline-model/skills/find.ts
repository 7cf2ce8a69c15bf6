/** Answers where a name is defined, what it is and where it is used, by searches. */
import {definitionPattern, escapeRegExp, findDefinition, isComment, isQuoted, wordPattern} from '../definitions.ts';
import {compareByLocation, getLanguage, getPathRank, isCode} from '../languages.ts';
import {getDocComment, getFileHeader} from '../prose.ts';
import {
  bullets,
  citeHit,
  count,
  countListed,
  fenced,
  getProblem,
  getReason,
  notDone,
  numbered,
  paragraphs,
  quoteLines,
} from '../report.ts';
import {type Hit, type Hits, parseHits, parseLines, parsePaths} from '../results.ts';
import {ask, askOne, type Job, type Observation, type Route, type Work} from '../skill.ts';
import {looksLikeFile} from '../words.ts';
import {answer} from './answer.ts';
import {type FindRequest, parseFind} from './find-request.ts';

interface FoundDefinition extends Hit {
  readonly kind: string;
}

interface Found {
  readonly definitions: readonly FoundDefinition[];
  readonly uses: readonly Hit[];
  readonly imports: readonly Hit[];
  readonly mentions: readonly Hit[];
  /** How many more lines there are than those listed; undefined: unknown. */
  readonly more: number | undefined;
  readonly known: boolean;
}

export const find: Route = (job) => {
  const request = parseFind(job.text, job.earlier);
  return request && findAll(request, job);
};

function* findAll(request: FindRequest, job: Job): Work<string> {
  const answers: string[] = [];
  for (const subject of request.subjects) answers.push(yield* findOne(subject, request, job));
  return paragraphs(...answers);
}

function* findOne(subject: string, request: FindRequest, job: Job): Work<string> {
  const asked = request.want === 'uses' || request.want === 'imports';
  if (looksLikeFile(subject) && !asked) return yield* findFile(subject, job);
  const name = subject.replace(/^.*(\.|::|#)(?=\w)/, '');
  const {toolbox} = job;
  const [defining, using] = yield* ask([
    toolbox.search({pattern: definitionPattern(name), path: request.scope, limit: 200}),
    toolbox.search({pattern: wordPattern(name), path: request.scope, limit: 200}),
  ]);
  const found = classifyHits(name, parseHits(defining!), parseHits(using!));
  if (!found.known) return formatSearchFailure(subject, [defining!, using!], job);
  const {definitions, mentions, uses, imports} = found;
  const total = definitions.length + uses.length + imports.length + mentions.length;
  if (total === 0) return yield* findLike(subject, job, request.scope);
  if (request.want === 'imports') return paragraphs(formatImports(subject, found), getSearchNote(using!));
  if (request.want === 'uses') return paragraphs(formatUses(subject, found), getSearchNote(using!));
  // A lower-case word without a definition is a topic, not a name.
  if (definitions.length === 0 && request.want !== 'text' && /^\p{Ll}{3,}$/u.test(subject)) return yield* answer(job);
  if (definitions.length === 0) return formatMentions(subject, found, request.want === 'text');
  if (request.want === 'what') return yield* explain(subject, found, job);
  return paragraphs(formatDefinitions(definitions), formatUsage(subject, found));
}

/** Why there was no search: there is no tool for it, no more calls were allowed, or the tool failed. */
function formatSearchFailure(subject: string, results: readonly Observation[], {toolbox}: Job): string {
  const failed = results.find((result) => result.outcome !== 'missing');
  if (failed) return notDone(`the search failed: ${getProblem(failed)}. So I cannot say where \`${subject}\` is.`);
  if (toolbox.search({pattern: subject}) !== undefined)
    return notDone(`I did not search for \`${subject}\`: no more calls were allowed.`);
  const tools = toolbox.names.join(', ') || 'no tools at all';
  return notDone(`I have no tool here that can search (${tools}), so I cannot say where \`${subject}\` is.`);
}

/** The tool's note when it could not search all files. */
function getSearchNote(result: Observation): string | undefined {
  const note = /^\((not all could be searched: .*)\)$/m.exec(result.text)?.[1];
  return note && `N${note.slice(1)}.`;
}

/** Classifies the hits of both searches by what each line does with the name. */
function classifyHits(name: string, defining: Hits, using: Hits): Found {
  const definitions = defining.hits.flatMap((hit) => {
    const definition = isCode(hit.path) ? findDefinition(name, hit.text) : undefined;
    const at = hit.text.indexOf(name);
    return definition && !isQuoted(hit.text, at) ? [{...hit, kind: definition.kind}] : [];
  });
  const real = definitions.filter((one) => one.kind !== 'member');
  const chosen = (real.some((one) => getPathRank(one.path) === 0) ? real : definitions).sort(compareDefinitions);
  const places = new Set(definitions.map((one) => `${one.path}:${one.line}`));
  const others = using.hits.filter((hit) => !places.has(`${hit.path}:${hit.line}`)).sort(compareByLocation);
  const inCode = others.filter(
    (hit) =>
      isCode(hit.path) &&
      !/^\s*package\s/.test(hit.text) &&
      // Imports quote the name of a module, and `#include` looks like a comment.
      (isImport(hit) || (!isComment(hit.text) && !isQuoted(hit.text, hit.text.search(new RegExp(wordPattern(name)))))),
  );
  return {
    definitions: chosen,
    uses: inCode.filter((hit) => !isImport(hit)),
    imports: inCode.filter(isImport),
    mentions: others.filter((hit) => !inCode.includes(hit)),
    more: using.more,
    known: defining.known || using.known,
  };
}

function isImport({path, text}: Hit): boolean {
  if (getLanguage(path) === 'Go' && /^\s*(?:[\w.]+\s+)?"[\w./-]+"\s*$/.test(text)) return true;
  return (
    /^\s*(?:pub\s+)?(?:import|from|use|using|require|require_once|include|export\s+(?:type\s+)?[{*].*\bfrom)\b/.test(
      text,
    ) || /^\s*#\s*include\b|^\s*(?:type\s+)?\w+(?:\s+as\s+\w+)?,\s*$|^\s*\}\s*from\s|\brequire\(/.test(text)
  );
}

/** Source before tests, exported before local, unindented before indented. */
function compareDefinitions(a: FoundDefinition, b: FoundDefinition): number {
  const worth = (one: FoundDefinition) =>
    (one.kind === 'member' ? 4 : 0) +
    (/^\s/.test(one.text) ? 2 : 0) +
    (/^\s*(export|pub|public)\b/.test(one.text) ? 0 : 1);
  return getPathRank(a.path) - getPathRank(b.path) || worth(a) - worth(b) || compareByLocation(a, b);
}

function formatDefinitions(definitions: readonly FoundDefinition[]): string {
  const [first, ...others] = definitions;
  return paragraphs(citeHit(first!), others.length > 0 && `Also:\n${bullets(others.map(citeHit), 6)}`);
}

function formatUsage(subject: string, {uses, imports, more}: Found): string {
  const inFiles = new Set([...uses, ...imports].map((hit) => hit.path));
  if (inFiles.size === 0) return `No other use of \`${subject}\` found.`;
  const example = uses[0] ?? imports[0]!;
  const atLeast = more === 0 ? '' : 'at least ';
  return `Used in ${atLeast}${count(inFiles.size, 'file')}, e.g. ${example.path}:${example.line}.`;
}

function formatUses(subject: string, found: Found): string {
  const {definitions, uses, imports, mentions, more} = found;
  const defined = definitions[0] && `Defined at ${citeHit(definitions[0])}`;
  if (uses.length === 0 && imports.length > 0)
    return paragraphs(formatImports(subject, found), `No other use of \`${subject}\` in code found.`);
  if (uses.length === 0) {
    const nearly = mentions[0] ? `; it is only mentioned, e.g. ${citeHit(mentions[0])}` : '';
    return paragraphs(`No use of \`${subject}\` in code found${nearly}.`, defined);
  }
  const files = new Set(uses.map((hit) => hit.path));
  const open = more === 0 ? '' : 'At least ';
  return paragraphs(
    `${open}${count(uses.length, 'use')} of \`${subject}\` in ${count(files.size, 'file')}:`,
    bullets(uses.map(citeHit), 20),
    imports.length > 0 &&
      `Imported in ${count(new Set(imports.map((hit) => hit.path)).size, 'file')}, e.g. ${imports[0]!.path}:${imports[0]!.line}.`,
    defined,
  );
}

function formatImports(subject: string, {definitions, uses, imports, more}: Found): string {
  const defined = definitions[0] && `Defined at ${citeHit(definitions[0])}`;
  if (imports.length === 0) {
    const used = uses[0] ? ` It is used, e.g. ${citeHit(uses[0])}` : '';
    return paragraphs(`No import of \`${subject}\` found.${used}`, defined);
  }
  const files = new Set(imports.map((hit) => hit.path));
  return paragraphs(
    `\`${subject}\` is imported in ${more === 0 ? '' : 'at least '}${count(files.size, 'file')}:`,
    bullets(imports.map(citeHit), 20),
    defined,
  );
}

function formatMentions(subject: string, {uses, imports, mentions, more}: Found, asText: boolean): string {
  const all = [...uses, ...imports, ...mentions];
  return paragraphs(
    `${asText ? '' : `I found no definition of \`${subject}\` here, but `}${countListed(all.length, more, 'line')} with ${asText ? `\`${subject}\`` : 'it'}:`,
    bullets(all.map(citeHit), 12),
  );
}

function* explain(subject: string, found: Found, job: Job): Work<string> {
  const best = found.definitions[0]!;
  const from = Math.max(1, best.line - 30);
  const lines = parseLines(yield* askOne(job.toolbox.read(best.path, from, 60)));
  const own = lines && getDocComment(lines, best.line);
  // Without a comment of its own, use the header of its file, if that was read.
  const header = own === undefined && from === 1 && lines ? getFileHeader(lines) : undefined;
  const doc = own ?? header;
  const body = lines?.filter((line) => line.number >= best.line).slice(0, 14) ?? [];
  const end = body.findIndex((line, index) => index > 0 && /^\S/.test(line.text) && !/^\s*[)\]>]/.test(line.text));
  const shown = end > 0 ? body.slice(0, /^[}\])]/.test(body[end]!.text) ? end + 1 : end) : body;
  return paragraphs(
    formatDefinitions([best]),
    doc && `${header === undefined ? 'Its comment says' : `The header of ${best.path} says`}:\n${quoteLines(doc)}`,
    shown.length > 1 && fenced(numbered(shown)),
    found.definitions.length > 1 && `Also defined:\n${bullets(found.definitions.slice(1).map(citeHit), 5)}`,
    formatUsage(subject, found),
  );
}

/** Nothing has exactly this name: looks for other cases, parts of names and file names. */
function* findLike(subject: string, job: Job, scope: string | undefined): Work<string> {
  const loose = escapeRegExp(subject).replace(/(\\?[-_.]|\s)+/g, '[-_. ]?');
  const [hits, names] = yield* ask([
    job.toolbox.search({pattern: loose, ignoreCase: true, path: scope, limit: 40}),
    job.toolbox.files(`**/*${subject.replace(/[^\w-]/g, '?')}*`, {path: scope, limit: 20}),
  ]);
  const like = parseHits(hits!).hits.toSorted(compareByLocation);
  const files = parsePaths(names!).paths;
  if (scope !== undefined && !parseHits(hits!).known)
    return notDone(`the search in ${scope} failed: ${getProblem(hits!)}.`);
  const place = scope === undefined ? 'in this project' : `in ${scope}`;
  return paragraphs(
    `\`${subject}\` is not found ${place}.`,
    like.length > 0 && `Similar:\n${bullets(like.map(citeHit), 8)}`,
    files.length > 0 && `Files with such a name:\n${bullets(files, 8)}`,
  );
}

function* findFile(subject: string, job: Job): Work<string> {
  const name = subject.replace(/^\.?\//, '');
  // README may be README.md. A name with an extension is complete.
  const isBare = !name.includes('.');
  const call = job.toolbox.files(isBare ? `**/${name}*` : `**/${name}`, {limit: 50});
  const result = yield* askOne(call);
  const {paths, more, known} = parsePaths(result);
  if (!call) return notDone(`I have no tool here that can look for files, so I cannot say where \`${subject}\` is.`);
  if (!known) return notDone(`I could not look for \`${subject}\`: ${getReason(result)}.`);
  const exact = paths
    .filter(
      (path) =>
        path === name ||
        path.endsWith(`/${name}`) ||
        (isBare && new RegExp(`(^|/)${escapeRegExp(name)}\\.\\w+$`).test(path)),
    )
    .toSorted((a, b) => a.length - b.length);
  if (exact.length === 0) return `No file \`${subject}\` is found here.`;
  return exact.length === 1 ? exact[0]! : `${countListed(exact.length, more, 'file')}:\n${bullets(exact, 30)}`;
}
