/** Answers "where is X?", "who calls X?", "what imports F?" and "where is X tested?" from the `symbols` tool. */

import {getLanguage, isCode, isGenerated, isTest} from '../../../core/util/file-kinds.ts';
import {findSpeech, phrase, phraseCount} from '../../language.ts';
import {compareByLocation, compareDepth, getPathRank, searchText} from '../../places.ts';
import {
  bullets,
  cannot,
  citeHit,
  countListed,
  formatLines,
  getReason,
  isCannot,
  notDone,
  paragraphs,
} from '../../report.ts';
import {type Hit, parseHits, parseLines, parsePaths} from '../../results.ts';
import {ask, askOne, inTurn, type Job, type Observation, type Route, type Work} from '../../skill.ts';
import {
  type Found,
  type FoundDefinition,
  type FoundReference,
  parseDefinitions,
  parseImporters,
  parseReferences,
} from '../../symbols.ts';
import {escapeRegExp, isComment, looksLikeFile} from '../../words.ts';
import {describeProject} from '../project/explore.ts';
import {findByName, findFile} from '../read.ts';
import {
  citePlace,
  explainSymbol,
  formatByText,
  formatDefinitions,
  formatOpen,
  formatUsage,
  type Known,
  listPlaces,
  MAX_PLACES,
} from './explain-symbol.ts';
import {parseQuestion, type Question, RELATED, type Want} from './question.ts';

export const symbolQuestion: Route = (job) => {
  const question = parseQuestion(job.text, job.earlier);
  if (!question) return undefined;
  const isFile = question.subjects.every(isFileName);
  // Another skill shows the content of a file.
  if (isFile && /^(?:what|how|code|text)$/.test(question.want)) return undefined;
  return answerAll(question, job);
};

const isFileName = (subject: string) =>
  looksLikeFile(subject) || (/^[\w@.-]+(?:\/[\w@.-]+)+$/.test(subject) && /\.\w{1,5}$/.test(subject));

function* answerAll(question: Question, job: Job): Work<string> {
  return paragraphs(...(yield* inTurn(question.subjects.map((subject) => answerOne(subject, question, job)))));
}

function answerOne(subject: string, {want, scope}: Question, job: Job): Work<string> {
  if (want === 'text') return findText(subject, scope, job);
  if (isFileName(subject) && want === 'definition') return findFile(subject, job);
  if (want === 'outline') return answerPath(subject, job, (path) => showOutline(path, job));
  if (want === 'includes') return answerPath(subject, job, (path) => showImports(path, job));
  if (isFileName(subject)) return answerPath(subject, job, (path) => findImporters(path, scope, job));
  return lookUp(subject, want, scope, job);
}

/**
 * Answers about the path, or else about the only path that ends with it. A name without a path may be a name in the
 * code.
 */
export function* answerPath(asked: string, job: Job, answer: (path: string) => Work<string>): Work<string> {
  const text = yield* answer(asked);
  if (!isCannot(text)) return text;
  const all = (yield* findByName(asked, job)) ?? [];
  const [found, another] = all;
  if (found === undefined) return isFileName(asked) ? text : yield* lookUp(asked, 'code', undefined, job);
  if (found === asked) return text;
  return another === undefined
    ? yield* answer(found)
    : notDone(`no path from here is ${asked}. With that name there are:`, bullets(all, 12));
}

export function* lookUp(asked: string, want: Want, scope: string | undefined, job: Job): Work<string> {
  // `reset!` is another method than `reset`, unless the mark ends the sentence.
  const [marked = asked] = new RegExp(`${escapeRegExp(asked)}[!?](?=\\s+\\w)`).exec(job.text) ?? [];
  const evidence = yield* findEvidence(marked.replace(/::|#|->/g, '.'), scope, job);
  if (typeof evidence === 'string') return evidence;
  const {known, hits} = evidence;
  const {definitions, references} = known;
  // A field may have the name of the module.
  if (want === 'imports' && (definitions.found.length === 0 || selectPlaces(known, want).length === 0))
    return yield* listModuleImports(known, scope, job);
  if (
    want === 'what' &&
    /^[\w.-]+$/.test(asked) &&
    definitions.found.every((one) => !/class|function|struct|module|type|interface/.test(one.kind))
  ) {
    const said = yield* describeProject(known.name, job);
    if (said !== '') return said;
  }
  if (
    definitions.found.length === 0 &&
    (references.found.length === 0 || hits.some((hit) => isDefining(hit, known.name)))
  )
    return yield* answerFromText(evidence, want, scope, job);
  // One of several definitions that are named by a plain word does not answer how a thing works.
  const sources = definitions.found.filter(({path}) => getPathRank(path) === 0);
  if (want === 'how' && sources.length > 1 && /^[a-z]+$/.test(asked)) return yield* listNamed(asked, sources, job);
  const beyond = /^(?:definition|code|what|how)$/.test(want) ? '' : formatUnparsed(evidence, want);
  const answer = paragraphs(
    want === 'uses' && sources.length === 0 && (yield* listPackageImports(known, scope, job)),
    yield* answerKnown(known, want, job),
  );
  const [first] = definitions.found;
  // Syntax alone cannot show that there is none.
  return beyond !== '' && selectPlaces(known, want).length === 0
    ? paragraphs(beyond, first && `${phrase('definedAt', known.language)} ${citeHit(first)}`)
    : paragraphs(answer, beyond);
}

/** Lists the files and definitions that are named by a word, files first. */
function* listNamed(word: string, definitions: readonly FoundDefinition[], job: Job): Work<string> {
  const files = parsePaths(yield* askOne(job.toolbox.files(`**/${word}*{,/*}`, {limit: 60}))).paths;
  const language = findSpeech(job.text);
  return paragraphs(
    files.length > 0 && `${phrase('fileNames', language)}\n${bullets(files.toSorted(compareDepth), 12)}`,
    `${phrase('byName', language)}\n${bullets(definitions.map(citeHit), 12)}`,
  );
}

/**
 * The findings about a name: by syntax, and by a text search of all files. Only the text search can show that a name is
 * absent.
 */
interface Evidence {
  readonly known: Known;
  /** Lines with the whole name, in source first. */
  readonly hits: readonly Hit[];
  readonly more: number | undefined;
}

/** @returns the reason as a text when nothing could be looked up */
function* findEvidence(asked: string, scope: string | undefined, job: Job): Work<Evidence | string> {
  const {toolbox} = job;
  const last = asked.split('.').at(-1)!;
  const search = toolbox.search({pattern: wholeName(last), path: scope, limit: 400});
  if (!search && !toolbox.has('symbols'))
    return cannot('I have no tool here that looks up names or searches in files.');
  const lookUpAll = (names: readonly string[]) =>
    names.flatMap((name) => [
      toolbox.symbols('definitions', {name, path: scope}),
      toolbox.symbols('references', {name, path: scope}),
    ]);
  const toKnown = (name: string, results: readonly Observation[]): Known => ({
    name,
    definitions: sortDefinitions(parseDefinitions(results[0])),
    references: parseReferences(results[1]),
    language: findSpeech(job.text),
  });
  const [definitions, references, text] = yield* ask([...lookUpAll([asked]), search]);
  const failed = [definitions!, references!].find((one) => one.outcome === 'failed');
  if (failed) return notDone(`the names were not looked up: ${getReason(failed)}.`);
  let known = toKnown(asked, [definitions!, references!]);
  if (known.definitions.found.length === 0 && toolbox.has('symbols')) {
    // Names of methods in Ruby may end with ? or !, which a sentence ends with, too.
    const names = [
      ...(last === asked ? [] : [last]),
      ...(/[?!]/.test(text?.text ?? '') ? [`${last}?`, `${last}!`] : []),
    ];
    const found = yield* ask(lookUpAll(names));
    // A method `Handler` is not `http.Handler`.
    const others = names.map((name, index) => {
      const other = toKnown(name, found.slice(index * 2));
      const contained = other.definitions.found.filter((one) => isInside(`${one.path}/${one.name}`, asked));
      return {...other, definitions: {...other.definitions, found: contained}};
    });
    known = others.find((one) => one.definitions.found.length > 0) ?? known;
  }
  const {hits, more} = parseHits(text!);
  const form = new RegExp(wholeName(known.name.split('.').at(-1)!));
  const named = hits.filter((hit) => form.test(hit.text)).toSorted(compareByLocation);
  if (last === asked || known.definitions.found.length > 0) return {known, hits: named, more};
  // Where no parser knows it, `Enum.map` is not every `map`.
  const whole = new RegExp(wholeName(asked).replaceAll('\\.', '(?:\\.|::?|->|#)'));
  const isWhole = (hit: Hit) => whole.test(hit.text) || (isDefining(hit, last) && isInside(hit.path, asked));
  const exact = named.filter(isWhole);
  if (exact.length > 0) return {known, hits: exact, more: 0};
  return {known: known.references.found.length > 0 ? known : {...known, name: last}, hits: named, more};
}

/** Says whether the text names the container in a dotted name: `Enum` in `Enum.map`. */
function isInside(text: string, asked: string): boolean {
  return text.toLowerCase().includes(asked.split('.').at(-2)?.toLowerCase() ?? '');
}

/** A pattern with the same meaning in ripgrep and JavaScript. */
function wholeName(name: string): string {
  return `(^|[^A-Za-z0-9_$])${escapeRegExp(name)}([^A-Za-z0-9_$]|$)`;
}

function selectPlaces({references}: Known, want: Want): readonly FoundReference[] {
  const kinds =
    want === 'imports' ? /^import$/ : want === 'subclasses' ? /^inherit$/ : want === 'calls' ? /^(?:call|read)$/ : /./;
  // In Rust a module of the file itself has its tests.
  const isTested = ({path, inside}: FoundReference) =>
    isTest(path) || /\.rs\n(?:.*\.)?tests?\./.test(`${path}\n${inside}`);
  return references.found.filter((one) => kinds.test(one.kind) && (want !== 'tests' || isTested(one)));
}

function* answerKnown(known: Known, want: Want, job: Job): Work<string> {
  if (known.definitions.found.length === 0 && !RELATED.test(want)) {
    const {name, references, language} = known;
    // Syntax does not take the key of an object for a definition, but it may be what is meant.
    const isKey = ({kind}: FoundReference) => kind === 'write';
    const found = references.found.toSorted((a, b) => Number(isKey(b)) - Number(isKey(a)));
    if (found.some(isKey)) return listPlaces(known, found, 'uses');
    const places = found.map((one) => citePlace(one, known));
    return `${phraseCount('definitions', language, {name, n: 0, files: known.definitions.files})}\n${bullets(places, 8, references.more)}`;
  }
  if (want === 'code' || want === 'what' || want === 'how') return yield* explainSymbol(known, want, job);
  const [first] = known.definitions.found;
  const isImplicit = want === 'subclasses' && first?.kind === 'interface' && getLanguage(first.path) === 'Go';
  return paragraphs(
    isImplicit && `Go types do not name what they implement, so there may be more than syntax knows:`,
    formatKnown(known, want),
  );
}

const PARSED = /^(?:TypeScript|JavaScript|Python|Go|Rust|Java|C|C\+\+|Ruby|PHP|C#)$/;
/** Documents and data mention many names that they do not use. */
const DOCUMENT = /\.(?:mdx?|markdown|rst|txt|adoc|json\w*|ya?ml|toml|lock|css|svg|xml|aml|po)$|(?:^|\/)[A-Z]+$/;
const isUnparsed = ({path}: Hit) => !PARSED.test(getLanguage(path) ?? '') && !DOCUMENT.test(path) && !isGenerated(path);

/** Lists what a text search finds in files without a grammar, which are known by their extensions. */
function formatUnparsed({known, hits}: Evidence, want: Want): string {
  const {name, language, definitions, references} = known;
  const told = new Set([...definitions.found, ...references.found].map(({path, line}) => `${path}:${line}`));
  const files = new Set(references.found.map(({path}) => path));
  const others = hits.filter(
    (hit) =>
      !told.has(`${hit.path}:${hit.line}`) &&
      // Titles of tests mention many names. A file with known uses needs no further lines.
      !(want === 'tests' && files.has(hit.path)) &&
      !DOCUMENT.test(hit.path) &&
      // When syntax knows the owner of a member, lines with another owner do not count.
      (want === 'uses' || (name.includes('.') && files.size > 0) ? isUnparsed(hit) : !isGenerated(hit.path)) &&
      fitsWant(hit, name, want),
  );
  const ends = [...new Set(others.filter(isUnparsed).map(({path}) => path.replace(/^.*[./]/, '.')))];
  if (others.length === 0) return '';
  const head =
    ends.length > 0
      ? phrase('unparsed', language, {list: ends.join(', ')})
      : phrase('byText', language, {list: `\`${name.replace(/^.*\./, '')}\``});
  return `${head}\n${bullets(others.map(citeHit), MAX_PLACES)}`;
}

/** Words before a name that is being defined, in most languages. */
const FUNCTIONS = 'function|fun|def|defp|sub|func|fn|proc|macro';
const DEFINERS = `${FUNCTIONS}|class|object|interface|enum|trait|struct|module|defmodule`;
const DEFINING = `\\b(?:${DEFINERS}|type|const|let|var|val|namespace|define|static|public|private|protected|local)\\b`;

function isDefining({text}: Hit, name: string): boolean {
  const word = escapeRegExp(name.split('.').at(-1)!);
  return (
    !isComment(text) &&
    new RegExp(
      `${DEFINING}(?:(?!: | < |\\b(?:extends|implements|with|for)\\b)[^=({])*(?<![\\w$])${word}(?![\\w$])|^\\s*(?:local )?${word}\\s*=\\s*(?:function|class)\\b|^(?:%\\w+ )?${word}\\s*:`,
    ).test(text)
  );
}

function fitsWant(hit: Hit, name: string, want: Want): boolean {
  const {path, text} = hit;
  const word = escapeRegExp(name.split('.').at(-1)!);
  if (want === 'tests') return isTest(path) || /(?:^|\/)tests?\//.test(path);
  if (want === 'imports') return IMPORT.test(text);
  if (want === 'subclasses')
    return (
      new RegExp(`\\b(?:class|object|interface|extends|struct)\\b.*[\\s:,(<]${word}(?![\\w$])`).test(text) &&
      !new RegExp(`\\b(?:class|object|interface|struct)\\s+${word}\\b`).test(text)
    );
  if (isDefining(hit, name) || isComment(text)) return false;
  // In templates and grammars a call has many forms.
  return want !== 'calls' || getLanguage(path) === undefined || new RegExp(`(?<![\\w$])${word}\\s*[({"'<]`).test(text);
}

/** Answers from the lines that contain the name, when no parser knows it. */
function* answerFromText({known, hits, more}: Evidence, want: Want, scope: string | undefined, job: Job): Work<string> {
  const {name, definitions, references, language} = known;
  const defining = hits.filter((hit) => isDefining(hit, name) && (getPathRank(hit.path) < 2 || isUnparsed(hit)));
  const isAbout = /^(?:definition|code|what|how|outline)$/.test(want);
  const fitting = isAbout ? defining : hits.filter((hit) => fitsWant(hit, name, want) && !DOCUMENT.test(hit.path));
  const bare = job.toolbox.has('symbols') ? '' : ' (This agent has no `symbols` tool.)';
  const head = `${phrase('byText', language, {list: `\`${name}\``})}${bare}`;
  const [first] = defining;
  if (fitting.length > 0) {
    const others = isAbout ? hits.filter((hit) => !defining.includes(hit)) : [];
    const code = /^(?:code|what|how)$/.test(want)
      ? parseLines(yield* askOne(job.toolbox.read(first!.path, Math.max(1, first!.line - 8), 40)))
      : undefined;
    return paragraphs(
      `${head}\n${bullets(fitting.map(citeHit), MAX_PLACES, more ?? 0)}`,
      code && formatLines(code, first!.path),
      others.length > 0 && `${phrase('also', language)}\n${bullets(others.map(citeHit), 8)}`,
      !isAbout && first && `${phrase('definedAt', language)} ${citeHit(first)}`,
    );
  }
  if (hits.length > 0) return paragraphs(head, bullets(hits.map(citeHit), 12, more ?? 0));
  const {lines, names} = yield* findSimilar(name, job);
  const place = scope === undefined ? '' : ` (${scope})`;
  return paragraphs(
    phraseCount('definitions', language, {name, n: 0, files: definitions.files || references.files, place}),
    lines.length > 0
      ? `${head}\n${bullets(lines.map(citeHit), 12)}`
      : phrase('noText', language, {list: `\`${name}\``}),
    names.length > 0 && phrase('similar', language, {list: names.map((one) => `\`${one}\``).join(', ')}),
  );
}

/** Finds names that differ in case and underscores only, or that contain the name; and the lines with the name in another case. */
function* findSimilar(name: string, job: Job) {
  const loose = escapeRegExp(name)
    .replace(/[-_]+/g, '[-_]?')
    .replace(/([a-z])([A-Z])/g, '$1[-_]?$2');
  const {hits} = yield* searchText({pattern: loose, ignoreCase: true, limit: 60}, job);
  const form = new RegExp(`[\\w$]*${loose}[\\w$]*`, 'gi');
  const whole = new RegExp(wholeName(name), 'i');
  return {
    lines: hits.filter((hit) => whole.test(hit.text)).toSorted(compareByLocation),
    names: [...new Set(hits.flatMap((hit) => hit.text.match(form) ?? []))].slice(0, 5),
  };
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
  if (want === 'uses' || want === 'imports' || want === 'tests' || want === 'subclasses')
    return listPlaces(known, selectPlaces(known, want), want);
  return paragraphs(formatDefinitions(known), formatUsage(known));
}

/** Lists the imports of a module: of the file that has its name, or the statements that name a module from elsewhere. */
function* listModuleImports(known: Known, scope: string | undefined, job: Job): Work<string> {
  const name = known.name.replace(/^(?:crate|self|super)\./, '');
  const path = name.replaceAll('.', '/');
  const call = job.toolbox.files(`**/{${path},${path}/{__init__,index,mod}}.*`, {limit: 9});
  const found = yield* askOne(path === known.name ? undefined : call);
  const [file, another] = parsePaths(found).paths.filter(isCode);
  return yield* file !== undefined && another === undefined
    ? findImporters(file, scope, job)
    : findModule(name, known, scope, job);
}

function* findImporters(path: string, scope: string | undefined, job: Job): Work<string> {
  const result = yield* askOne(job.toolbox.symbols('importers', {path}));
  const language = findSpeech(job.text);
  const all = parseImporters(result);
  const references = {...all, found: all.found.filter((one) => !scope || `${one.path}/`.startsWith(`${scope}/`))};
  if (!references.known) return notDone(`${getReason(result)}.`);
  const none: Found<FoundDefinition> = {...references, found: []};
  const known: Known = {name: path, definitions: none, references, language};
  if (references.found.length > 0) return listPlaces(known, references.found, 'imports');
  // An import that the index cannot resolve names the file without its folder or extension.
  const file = path.replace(/^.*\//, '');
  const stem = file.replace(/\.\w+$/, '').replace(/^(?:index|__init__|mod)$/, '') || path.split('/').at(-2)!;
  return yield* findModule(/\.h\w*$/.test(file) ? file : stem, known, scope, job);
}

/** Matches a line of code that imports something. In Go's import lists a quoted path stands alone. */
const IMPORT =
  /^\s*(?:pub(?:\([^)]*\))?\s+)?(?:import|from|use|using|export\b(?=.*\bfrom)|extern crate|include|include_once|require|require_once|require_relative|load)\b|^\s*#\s*(?:include|import)\b|\brequire\s*\(|\bimport\s*\(|^\s*(?:[\w.]+\s+)?"[\w./-]+"\s*$|^\s*\}\s*from\s/;

/** Lists the imports of a package that do not bind its name, as in `import {z} from 'zod'`: they use it, too. */
function* listPackageImports(known: Known, scope: string | undefined, job: Job): Work<string> {
  const {found, more, problem} = yield* findImports(known.name, scope, job);
  const told = new Set(known.references.found.map(({path, line}) => `${path}:${line}`));
  const others = found.filter(({path, line}) => !told.has(`${path}:${line}`));
  if (problem || others.length === 0) return '';
  return listImports(known, others, more);
}

/** Lists the imports of a module of another project, whose name stands only in import statements. */
function* findModule(name: string, known: Known, scope: string | undefined, job: Job): Work<string> {
  const {found, more, problem} = yield* findImports(name, scope, job);
  if (problem) return problem;
  const answer = listImports(known, found, more);
  // An import may have a form that is not known.
  return found.length > 0 ? answer : paragraphs(answer, yield* findText(name, scope, job));
}

function listImports(known: Known, found: readonly FoundReference[], more = 0): string {
  const references = {...known.references, found, more};
  return listPlaces({...known, definitions: {...references, found: []}, references}, found, 'imports');
}

/** Finds the import statements that name a module. */
function* findImports(name: string, scope: string | undefined, job: Job) {
  const form = escapeRegExp(name).replaceAll('\\.', '(?:\\.|::|/)');
  const pattern = `(^|[^\\w-])${form}([^\\w-]|$)`;
  const {hits, more, problem} = yield* searchText({pattern, path: scope, limit: 400}, job);
  const found = hits
    // In `../utils/throttle` the module is the last part.
    .filter((hit) => getPathRank(hit.path) < 2 && IMPORT.test(hit.text) && !hit.text.includes(`/${name}/`))
    .map((hit): FoundReference => ({...hit, kind: 'import', inside: undefined, text: hit.text.trim()}));
  return {found, more, problem};
}

/** Lists the imports that a file has. */
function* showImports(path: string, job: Job): Work<string> {
  // In Go a quoted path stands alone below `import (`.
  const pattern = '\\b(import|include\\w*|require\\w*|use|using|from)\\b|^\\s+([A-Za-z_.]+ )?"[A-Za-z0-9_./-]+"\\s*$';
  const {hits, problem} = yield* searchText({pattern, path, limit: 400}, job);
  if (problem) return problem;
  const found = hits
    .map((hit) => ({...hit, path: hit.path.startsWith(`${path}/`) ? hit.path : path}))
    .filter(({path: file, text}) => IMPORT.test(text) && !/^\s*import \($/.test(text) && getPathRank(file) < 2)
    .filter(({path: file, text}) => !/^\s+(?:\S+ )?"/.test(text) || file.endsWith('.go'));
  return formatByText(`imports in ${path}`, findSpeech(job.text), found, 60);
}

export function* showOutline(path: string, job: Job): Work<string> {
  const result = yield* askOne(job.toolbox.symbols('outline', {path}));
  const outline = parseDefinitions(result);
  if (!outline.known) return notDone(`${getReason(result)}.`);
  if (outline.found.length === 0) return yield* outlineByText(path, job);
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

/**
 * Lists the lines that look like definitions, when syntax finds none.
 * @param word the kind of definition, as the code names it
 * @param none the sentence that syntax found none
 */
export function* outlineByText(path: string | undefined, job: Job, word?: string, none?: string): Work<string> {
  const kinds =
    word === undefined ? `${DEFINERS}|local \\w+ = class` : /^(?:function|method)$/.test(word) ? FUNCTIONS : word;
  const pattern = `^\\s*((export|public|private|internal|protected|open|abstract|override|inline|static|local|async|data|sealed) )*(${kinds})\\s+[A-Za-z_@]|^[A-Za-z_]\\w*\\s*=\\s*(${kinds})`;
  const {hits: all, more, problem} = yield* searchText({pattern, path, limit: 300}, job);
  const hits = all.filter((hit) => !DOCUMENT.test(hit.path));
  if (problem) return problem;
  if (hits.length === 0)
    return none ?? notDone(`${path} has no line that looks like a definition, and no parser reads it.`);
  return formatByText(`definitions${path ? ` in ${path}` : ''}`, findSpeech(job.text), hits, 120, more);
}

/** Answers "find X" with every line that contains it. */
function* findText(subject: string, scope: string | undefined, job: Job): Work<string> {
  const {hits, more, problem} = yield* searchText({pattern: escapeRegExp(subject), path: scope, limit: 60}, job);
  if (problem) return problem;
  const place = scope === undefined ? '' : ` in ${scope}`;
  if (hits.length === 0) return `No line contains \`${subject}\`${place}.`;
  const sorted = hits.toSorted((a, b) => getPathRank(a.path) - getPathRank(b.path));
  return `${countListed(hits.length, more, 'line')} with \`${subject}\`${place}:\n${bullets(sorted.map(citeHit), 12, more)}`;
}
