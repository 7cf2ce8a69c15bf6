/** Answers "where is X?", "who calls X?", "what imports F?" and "where is X tested?" from the `symbols` tool. */

import {getLanguage, isTest} from '../../../core/util/file-kinds.ts';
import {findSpeech, type Listed, phrase, phraseCount} from '../../language.ts';
import {getPathRank} from '../../places.ts';
import {bullets, cannot, citeHit, countListed, getProblem, getReason, notDone, paragraphs} from '../../report.ts';
import {type Hit, parseHits, parsePaths} from '../../results.ts';
import {ask, askOne, type Job, type Route, type Work} from '../../skill.ts';
import {
  type Found,
  type FoundDefinition,
  type FoundReference,
  parseDefinitions,
  parseImporters,
  parseReferences,
} from '../../symbols.ts';
import {escapeRegExp, looksLikeFile} from '../../words.ts';
import {
  citeDefinition,
  citePlace,
  explainSymbol,
  formatOpen,
  formatUsage,
  type Known,
  showCode,
} from './explain-symbol.ts';
import {parseQuestion, type Question, type Want} from './question.ts';

/** Number of places in one answer. */
const MAX_PLACES = 40;

export const symbolQuestion: Route = (job) => {
  const question = parseQuestion(job.text, job.earlier);
  if (!question) return undefined;
  const isFile = question.subjects.every(isFileName);
  // Another skill shows the content of a file.
  if (isFile && /^(?:what|how|code|text)$/.test(question.want)) return undefined;
  return answerEach(question, job);
};

const isFileName = (subject: string) =>
  looksLikeFile(subject) || (/^[\w@.-]+(?:\/[\w@.-]+)+$/.test(subject) && /\.\w{1,5}$/.test(subject));

function* answerEach(question: Question, job: Job): Work<string> {
  const answers: string[] = [];
  for (const subject of question.subjects) answers.push(yield* answerOne(subject, question, job));
  return paragraphs(...answers);
}

function answerOne(subject: string, {want, scope}: Question, job: Job): Work<string> {
  if (want === 'text') return findText(subject, scope, job);
  if (want === 'outline') return showOutline(subject, job);
  if (isFileName(subject)) return want === 'definition' ? findFile(subject, job) : findImporters(subject, job);
  if (/^[A-Z]{4,}$|^(?:Make|Docker|Gem|Rake|Proc|Just)file$/.test(subject) && want === 'definition')
    return findFile(subject, job);
  if (!job.toolbox.has('symbols')) return findByText(subject, want, job);
  return lookUp(subject, want, scope, job);
}

function* lookUp(name: string, want: Want, scope: string | undefined, job: Job): Work<string> {
  const results = yield* ask([
    job.toolbox.symbols('definitions', {name, path: scope}),
    job.toolbox.symbols('references', {name, path: scope}),
  ]);
  const failed = results.find((one) => one.outcome === 'failed' || one.outcome === 'missing');
  if (failed) return notDone(`the names were not looked up: ${getReason(failed)}.`);
  const known: Known = {
    name,
    definitions: sortDefinitions(parseDefinitions(results[0])),
    references: parseReferences(results[1]),
    language: findSpeech(job.text),
  };
  if (want === 'imports') return yield* listImports(known, job);
  if (known.definitions.found.length === 0 && !/^(?:calls|uses|tests)$/.test(want))
    return yield* formatUndefined(known, scope, job);
  if (want === 'code') return yield* showCode(known, job);
  if (want === 'what' || want === 'how') return yield* explainSymbol(known, want, job);
  return formatKnown(known, want);
}

/** Sorts source before tests and documents, and bodies before declarations. Otherwise the tool's order stays. */
function sortDefinitions(definitions: Found<FoundDefinition>): Found<FoundDefinition> {
  const rank = (one: FoundDefinition) => getPathRank(one.path) * 2 + Number(one.kind.endsWith('(declared)'));
  return {...definitions, found: definitions.found.toSorted((a, b) => rank(a) - rank(b))};
}

function formatKnown(known: Known, want: Want): string {
  const {references} = known;
  if (want === 'calls') {
    const isMethod = known.definitions.found.every((one) => /^(?:method|function|constructor)/.test(one.kind));
    // In Ruby the bare name of a method is a call.
    const isCall = ({kind, path}: FoundReference) =>
      kind === 'call' || (kind === 'read' && isMethod && getLanguage(path) === 'Ruby');
    const calls = references.found.filter(isCall);
    const others = references.found.filter((one) => !isCall(one) && one.kind !== 'import');
    return paragraphs(
      listPlaces(known, calls, 'calls'),
      others.length > 0 &&
        `${phrase('otherwise', known.language)}\n${bullets(
          others.map((one) => citePlace(one, known)),
          8,
        )}`,
    );
  }
  if (want === 'uses') return listPlaces(known, references.found, want);
  if (want === 'tests') {
    const inTests = references.found.filter((one) => isTest(one.path));
    return listPlaces(known, inTests, want);
  }
  if (want === 'subclasses') {
    const inheriting = references.found.filter((one) => one.kind === 'inherit');
    return listPlaces(known, inheriting, want);
  }
  return paragraphs(formatDefinitions(known), formatUsage(known));
}

function* formatUndefined(known: Known, scope: string | undefined, job: Job): Work<string> {
  const {name, definitions, references, language} = known;
  const {exact, similar} = references.found.length > 0 ? NOTHING_SIMILAR : yield* findSimilar(name, job);
  const place = scope === undefined ? '' : ` (${scope})`;
  const used = references.found;
  return paragraphs(
    used.length > 0
      ? `${phrase('mentioned', language, {name})}\n${bullets(
          used.map((one) => citePlace(one, {language})),
          8,
          references.more,
        )}`
      : exact.length > 0
        ? `${phrase('text', language, {name})}\n${bullets(exact.map(citeHit), 8)}`
        : phrase('absent', language, {name, files: definitions.files, place}),
    similar.length > 0 && phrase('similar', language, {list: similar.map((one) => `\`${one}\``).join(', ')}),
    formatOpen(definitions, language),
  );
}

/** Words before a name that is being defined, in most languages. */
const DEFINING = String.raw`\b(?:function|class|interface|type|enum|const|let|var|def|func|fn|struct|trait|module|namespace|macro|define|static|public|private|protected)\b`;

/** Answers without the `symbols` tool from lines of code that look right, and says that it is only a text search. */
function* findByText(name: string, want: Want, job: Job): Work<string> {
  const call = job.toolbox.search({pattern: escapeRegExp(name), limit: 60});
  if (!call) return cannot('I have no tool here that looks up names or searches in files.');
  const {exact} = yield* findSimilar(name, job);
  const word = escapeRegExp(name);
  const isDefinition = ({text}: Hit) => new RegExp(`${DEFINING}[^=(]*\\b${word}\\b`).test(text);
  const isCall = (hit: Hit) => new RegExp(`\\b${word}\\s*\\(`).test(hit.text) && !isDefinition(hit);
  const wanted =
    want === 'calls'
      ? exact.filter(isCall)
      : exact.toSorted((a, b) => Number(isDefinition(b)) - Number(isDefinition(a)));
  const note =
    'By a search of the text alone: this agent has no `symbols` tool, so a line may mean another thing of that name.';
  return paragraphs(
    wanted.length > 0
      ? bullets(wanted.map(citeHit), 12)
      : `No line of code with \`${name}\`${want === 'calls' ? ' that looks like a call' : ''} was found.`,
    note,
  );
}

interface Similar {
  /** Lines of code with exactly this name. */
  readonly exact: readonly Hit[];
  /** Names that differ only in case and underscores, or that contain the name. */
  readonly similar: readonly string[];
}

const NOTHING_SIMILAR: Similar = {exact: [], similar: []};

/** Searches the text for a name that the index does not know. */
function* findSimilar(name: string, job: Job): Work<Similar> {
  const loose = escapeRegExp(name)
    .replace(/[-_]+/g, '[-_]?')
    .replace(/([a-z])([A-Z])/g, '$1[-_]?$2');
  const result = yield* askOne(job.toolbox.search({pattern: loose, ignoreCase: true, limit: 60}));
  const form = new RegExp(`[\\w$]*${loose}[\\w$]*`, 'gi');
  const hits = parseHits(result).hits.filter((hit) => getPathRank(hit.path) < 2);
  const names = new Set(hits.flatMap((hit) => hit.text.match(form) ?? []));
  return {
    exact: hits.filter((hit) => hit.text.match(form)?.some((one) => one === name)),
    similar: [...names].filter((one) => one !== name).slice(0, 5),
  };
}

function listPlaces(known: Known, places: readonly FoundReference[], listed: Listed): string {
  const {name, references, language} = known;
  const files = new Set(places.map((one) => one.path)).size;
  const n = places.length > 0 && references.more > 0 ? `≥ ${places.length}` : places.length;
  const head = phraseCount(listed, language, {name, n, files: places.length === 0 ? references.files : files});
  const sorted = places.toSorted((a, b) => getPathRank(a.path) - getPathRank(b.path));
  const list = bullets(
    sorted.map((one) => citePlace(one, known)),
    MAX_PLACES,
  );
  const [first] = known.definitions.found;
  return paragraphs(
    places.length > 0 ? `${head}\n\n${list}` : head,
    (places.length === 0 || /skipped/.test(references.open)) && formatOpen(references, language),
    first && `${phrase('definedAt', language)} ${citeDefinition(first)}`,
  );
}

function formatDefinitions({definitions, language}: Known): string {
  const [first, ...others] = definitions.found;
  return paragraphs(
    citeDefinition(first!),
    others.length > 0 && `${phrase('also', language)}\n${bullets(others.map(citeDefinition), 12, definitions.more)}`,
  );
}

/** Lists the imports of a name. For a module that is not defined here, it lists the import statements that name it. */
function* listImports(known: Known, job: Job): Work<string> {
  const own = known.references.found.filter((one) => one.kind === 'import');
  if (known.definitions.found.length > 0) return listPlaces(known, own, 'imports');
  return yield* findModule(known.name, known, job);
}

function* findImporters(path: string, job: Job): Work<string> {
  const call = job.toolbox.symbols('importers', {path});
  if (!call) return cannot('I have no `symbols` tool here, so I cannot look up imports.');
  const result = yield* askOne(call);
  const language = findSpeech(job.text);
  const references = parseImporters(result);
  if (!references.known) return notDone(`${getProblem(result)}.`);
  const none: Found<FoundDefinition> = {...references, found: []};
  const known: Known = {name: path, definitions: none, references, language};
  if (references.found.length > 0) return listPlaces(known, references.found, 'imports');
  // An import that the index cannot resolve names the file without its folder or extension.
  const file = path.replace(/^.*\//, '');
  const stem = file.replace(/\.\w+$/, '').replace(/^(?:index|__init__|mod)$/, '') || path.split('/').at(-2)!;
  return yield* findModule(/\.h\w*$/.test(file) ? file : stem, known, job);
}

/** Matches a line of code that imports something. In Go's import lists a quoted path stands alone. */
const IMPORT =
  /^\s*(?:pub(?:\([^)]*\))?\s+)?(?:import|from|use|using|export|extern crate|include|include_once|require|require_once|require_relative|load)\b|^\s*#\s*(?:include|import)\b|\brequire\s*\(|\bimport\s*\(|^\s*(?:[\w.]+\s+)?"[\w./-]+"\s*$|^\s*\}\s*from\s/;

/** Lists the imports of a module of another project, whose name stands only in import statements. */
function* findModule(name: string, {name: asked, language, references}: Known, job: Job): Work<string> {
  const result = yield* askOne(job.toolbox.search({pattern: `(^|[^\\w])${escapeRegExp(name)}([^\\w-]|$)`, limit: 400}));
  const {hits, more, known} = parseHits(result);
  if (!known) return notDone(`the search failed: ${getReason(result)}.`);
  const found = hits
    .filter((hit) => getPathRank(hit.path) < 2 && IMPORT.test(hit.text))
    .map((hit): FoundReference => ({...hit, kind: 'import', inside: undefined, text: hit.text.trim()}));
  const all = {...references, found, more: more ?? 0};
  return listPlaces({name: asked, definitions: {...all, found: []}, references: all, language}, found, 'imports');
}

function* showOutline(path: string, job: Job): Work<string> {
  const call = job.toolbox.symbols('outline', {path});
  if (!call) return cannot('I have no `symbols` tool here, so I cannot list what a file defines.');
  const result = yield* askOne(call);
  const outline = parseDefinitions(result);
  if (!outline.known) return notDone(`${getProblem(result)}.`);
  const {more} = outline;
  const functions = new Set(
    outline.found.filter((one) => /^(?:function|method)/.test(one.kind)).map((one) => one.name),
  );
  // Names inside functions are left out, and so are fields when the outline is long.
  const found = outline.found.filter(
    (one) =>
      (one.kind.startsWith('method') || !functions.has(one.name.replace(/\.?[^.]*$/, ''))) &&
      !(outline.found.length > 60 && one.kind === 'field'),
  );
  const lines = found.map((one) => `${one.path}:${one.line} — ${one.kind} \`${one.name}\``);
  const language = findSpeech(job.text);
  return paragraphs(
    phrase('defines', language, {place: path, n: found.length + more}),
    bullets(lines, 120, more),
    found.length === 0 && formatOpen(outline, language),
  );
}

/** Answers "find X" with every line that contains it. */
function* findText(subject: string, scope: string | undefined, job: Job): Work<string> {
  const call = job.toolbox.search({pattern: escapeRegExp(subject), path: scope, limit: 60});
  if (!call) return notDone('I have no tool here that can search files.');
  const result = yield* askOne(call);
  const {hits, more, known} = parseHits(result);
  if (!known) return notDone(`the search failed: ${getReason(result)}.`);
  const place = scope === undefined ? '' : ` in ${scope}`;
  if (hits.length === 0) return `No line contains \`${subject}\`${place}.`;
  const sorted = hits.toSorted((a, b) => getPathRank(a.path) - getPathRank(b.path));
  return `${countListed(hits.length, more, 'line')} with \`${subject}\`${place}:\n${bullets(sorted.map(citeHit), 12, more)}`;
}

function* findFile(subject: string, job: Job): Work<string> {
  const name = subject.replace(/^\.?\//, '');
  // README may be README.md, but a name with an extension is complete.
  const isBare = !name.includes('.');
  const call = job.toolbox.files(isBare ? `**/${name}*` : `**/${name}`, {limit: 50});
  if (!call) return notDone(`I have no tool here that can look for files, so I cannot say where \`${subject}\` is.`);
  const result = yield* askOne(call);
  const {paths, more, known} = parsePaths(result);
  if (!known) return notDone(`I could not look for \`${subject}\`: ${getReason(result)}.`);
  const wanted = new RegExp(`(^|/)${escapeRegExp(name)}${isBare ? '(\\.\\w+)?' : ''}$`);
  const exact = paths.filter((path) => wanted.test(path)).toSorted((a, b) => a.length - b.length);
  if (exact.length === 0) return `No file \`${subject}\` is found here.`;
  return exact.length === 1 ? exact[0]! : `${countListed(exact.length, more, 'file')}:\n${bullets(exact, 30)}`;
}
