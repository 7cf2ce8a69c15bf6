/**
 * Answers questions that no other skill understands: with a definition whose name consists of exactly the asked words,
 * and with lines of all files that contain the words. The answer says which of the two it is. Without either, the skill
 * refuses.
 */
import {findSpeech, phrase} from '../language.ts';
import {compareByLocation, getPathRank, searchText} from '../places.ts';
import {bullets, cannot, notDone, paragraphs} from '../report.ts';
import {type Hit, parseHits, parsePaths} from '../results.ts';
import {ask, askOne, inTurn, type Job, type Work} from '../skill.ts';
import {type FoundDefinition, parseDefinitions} from '../symbols.ts';
import {
  escapeRegExp,
  findIdentifiers,
  findKeywords,
  findPaths,
  findUnaccounted,
  getStem,
  isComment,
  looksLikeFile,
} from '../words.ts';
import {formatByText} from './symbols/explain-symbol.ts';
import {lookUp} from './symbols/symbol-question.ts';

/** Number of words of a question that are searched for. */
const MAX_WORDS = 4;
const MAX_SHOWN = 10;
/** A single word that occurs in more lines than this is too common to answer the question. */
const MAX_SINGLE = 40;
/** Words that form a question, and seldom occur near its answer. */
const ASKING =
  /\b(?:default|defaults|happens?|exactly|anywhere|currently|kinds?|kept|list|called|named|possible|available|built|shipped|does|still|yet|according|comments?|anything|values?|variants?|take|takes|return|returns|exists?|occurs?|supported|suggested|specific|put|end|ends|main|go|going|produced|raised|printed|thrown|defined|declared|implement\w*|mention\w*|besides|outside|there)\b/i;
const EXISTS =
  /^(?:is|are|does|do|did|has|have|can|could|will|any|gibt|hat|est-ce|y a-t-il|есть|поддерживает)(?![\p{L}])|有没有|是否|支持/iu;

/** Matches requests for work that needs a language model, and for talk. */
const WRITES =
  /^(?:implement|write|build|develop|code|fix|solve|debug|refactor|optimi[sz]e|add|make|create|change|update|improve|migrate|convert|remove|delete|generate|translate|design|set(?! ?up)|bump|increase|decrease|raise|lower|enable|disable|upgrade|move|extract|tell me a|implementiere|schreibe|behebe|baue|écris|implémente|corrige|ajoute|напиши|исправь|добавь|реализуй|сделай|实现|修复|编写|写|添加|优化)(?![\p{Script=Latin}\p{Script=Cyrillic}])/iu;

/** Matches questions about cycles. A text search would find lines that mention cycles, and not the cycles. */
const CYCLES = /\b(?:circular|cyclic) (?:import|depend|refer|includ)/i;

/** Verbs of work that search for nothing, whatever follows: "uninstall click", "delete all tests". */
const ACTS =
  'delete|remove|erase|wipe|purge|uninstall|install|undo|revert|kill|terminate|restart|discard|deploy|supprime[rz]?|efface[rz]?|désinstalle[rz]?|installe[rz]?|annule[rz]?|arrête[rz]?|lösche|entferne|installiere|stoppe|удали(?:ть)?|установи(?:ть)?|останови(?:ть)?|отмени(?:ть)?|очисти(?:ть)?|убери';
/** Verbs that are nouns and adjectives, too ("start script", "clear text"), so that they need an object with an article. */
const ACTS_ON =
  'stop|start|clear|drop|clean(?: ?up)?|empty|truncate|reset|restore|roll ?back|commit|push|pull|merge|rebase|stash|check ?out|publish|release|shut ?down|close|cancel|abort|launch|copy|download|upload|apply|format|sort|rewrite|reformat|split|inline|comment out|uncomment|turn o(?:n|ff)|switch o(?:n|ff)|rebuild|compile|send|write|implement|build|develop|fix|solve|debug|refactor|optimi[sz]e|add|make|create|change|update|improve|migrate|convert|generate|translate|bump|increase|decrease|raise|lower|enable|disable|upgrade|move|extract';
/** "Install script" is a thing. */
const THING =
  '(?:scripts?|process|handlers?|commands?|steps|instructions|guide|paths?|flags?|options?|logic|history|events?)';
const OBJECT =
  "(?:the|all|every|each|this|that|these|those|my|our|it|them|an?|any|both|everything|unused|last)(?![\\w'’-])";
const WORK = new RegExp(
  `^(?:(?:${ACTS})\\s+(?!(?:of|is|are|was|in|and|or)\\s|${THING}\\s*$)[^\\s?]|(?:${ACTS_ON})\\s+${OBJECT}|(?:删除|删掉|卸载|安装|停止|撤销|清空|移除)\\S)(?!.*[?？]\\s*$)`,
  'iu',
);

/** Matches questions for what lacks something. A text search would find lines with "not". */
const LACKING =
  /^(?:which|what|list|show|find|any|are there)\b.*\b(?:files?|folders?|functions?|methods?|class(?:es)?|modules?|exports?|types?)\b.*\b(?:not|no|never|without|lack(?:s|ing)?|aren't|isn't|don't|doesn't)(?!\w)/i;

/** Says whether the request orders work on files, programs or history, and asks for no information. */
export function asksForWork(text: string): boolean {
  return WORK.test(text);
}

export function asksToWrite(text: string): boolean {
  return WRITES.test(text) || asksForWork(text);
}

export function* answerByText(job: Job): Work<string> {
  const {text, toolbox} = job;
  if (asksToWrite(text))
    return cannot(
      'to write or change code or to do what is only described needs a language model. I do what is said word for word: "rename A to B", "replace "a" with "b" in FILE", "create FILE with "…"", "run `COMMAND`"; and I can say where it belongs: "plan X".',
    );
  if (CYCLES.test(text)) return cannot('I do not look for cycles.');
  if (LACKING.test(text))
    return cannot('I do not look for code that lacks something. I can say it of one name: "is NAME tested?".');
  if (!toolbox.has('grep')) return notDone('I have no tool here that can search files.');
  const language = findSpeech(text);
  const {names, code} = yield* showNames(job);
  const flags = findLiterals(text).filter((one) => one.startsWith('--'));
  const all = findKeywords(text).filter(
    (word) =>
      (names.length === 0 || !BEHAVIOUR.test(word)) &&
      (flags.length === 0 || !(flags.includes(`--${word}`) || /^(?:flag|option|argument|switch)s?$/i.test(word))),
  );
  const keywords = all.length + flags.length > 0 ? [...flags, ...all] : findLiterals(text);
  const file = findPaths(text).find(looksLikeFile) ?? /\breadme\b/i.exec(text)?.[0];
  const telling = keywords.filter((word) => !ASKING.test(word) && word !== file);
  const words = (telling.length > 0 ? telling : keywords).slice(0, MAX_WORDS);
  if (words.every((word) => names.includes(word)))
    return code === '' ? cannot(formatNearest([])) : paragraphs(phrase('byName', language), code);
  const isList = KINDS.test(text);
  const kinds = isList && telling.length === 1 ? yield* findKinds(telling[0]!, job) : '';
  if (kinds !== '') return kinds;
  // A definition with this name answers only a question without other words.
  const isWhole = findUnaccounted(text, [ASKING]).every((word) => telling.some((one) => one.toLowerCase() === word));
  const [named] =
    isWhole && names.length === 0 && !EXISTS.test(text) && (telling.length > 1 || !isList)
      ? yield* findNamed(telling, job)
      : [];
  const shownName = named ? yield* lookUp(named.name, 'what', undefined, job) : code;
  const about = shownName && paragraphs(phrase('byName', language), shownName);
  // When one word occurs in too many lines, the other words of the question narrow the search.
  const lines = yield* findLines(words, words, job, {file});
  const [only, another] = words;
  const isVague = lines.hits.length === 0;
  const wider =
    isVague && !file && another === undefined
      ? findUnaccounted(text, [new RegExp(escapeRegExp(only!))]).slice(0, MAX_WORDS - 1)
      : [];
  const {hits, found, absent} = isVague
    ? yield* findLines([...words, ...wider], words, job, {inSource: WHERE.test(text)})
    : lines;
  const list = (some: readonly string[]) => some.map((word) => `\`${word}\``).join(', ');
  const notInFile = file && lines.absent.length > 0 && `No line contains ${list(lines.absent)} in ${file}.`;
  const isInFile = file && !isVague;
  const missing = isInFile ? notInFile : absent.length > 0 && phrase('noText', language, {list: list(absent)});
  // An asked word occurs nowhere, so lines with the other words would answer another question.
  if (absent.length > 0 && EXISTS.test(text)) return paragraphs(missing, about);
  const files = isWhole && (isList || WHERE.test(text)) ? yield* findFiles(words, job) : '';
  const shown =
    hits.length > 0 && formatByText(`${list(found)}${isInFile ? ` (${file})` : ''}`, language, hits, MAX_SHOWN);
  if (!shown && !about && files === '') return cannot(formatNearest(telling), missing || '');
  const isFirst = named !== undefined || ASKS_CODE.test(text);
  return paragraphs(!isInFile && notInFile, isFirst && about, files, shown, !isFirst && about, missing);
}

/** Matches words about behaviour. The code of a function answers them, and seldom a line that names the function. */
const BEHAVIOUR =
  /^(?:throw|raise|panic|fail|error|return|need|require|take|accept|default|overrid|mutate|happen|differ|exist|doesn?|isn|bad\b|invalid|wrong|vars?\b|true\b|false\b|null\b|none\b)/i;
const ASKS_CODE = new RegExp(BEHAVIOUR.source.replace('^', '\\b'), 'i');
/** Finds the plain word that is the subject of such a verb, which makes it a name. */
const ASKS_OF = new RegExp(`\\b(?:does|is|can) (?:the )?(\\w{3,}[!?]?) ${BEHAVIOUR.source.slice(1)}`, 'i');

/** Shows the comment and the code of the names in the question, since its other words were not understood. */
function* showNames(job: Job): Work<{readonly names: readonly string[]; readonly code: string}> {
  const shaped = findIdentifiers(job.text);
  const plain = ASKS_OF.exec(job.text);
  const asked = shaped.length > 0 ? shaped.slice(0, 2) : plain ? [plain[1]!] : [];
  const known = yield* ask(asked.map((name) => job.toolbox.symbols('definitions', {name})));
  const found = asked.flatMap((name, index) => {
    const [first] = parseDefinitions(known[index]).found;
    return first && (shaped.length > 0 || CALLED.test(first.kind)) ? [{name, kind: first.kind}] : [];
  });
  const works = found.map(({name, kind}) =>
    lookUp(name, CALLED.test(kind) && found.length === 1 ? 'code' : 'what', undefined, job),
  );
  const shown = yield* inTurn(works);
  return {names: found.map((one) => one.name), code: paragraphs(...shown)};
}

const CALLED = /^(?:function|method)/;

/** Finds texts that are no words, for a question without keywords: `.env`, `405`, `-p`. */
function findLiterals(text: string): readonly string[] {
  return [...text.matchAll(/(?<=\s)(?:--?\w[\w-]*|\.\w+|\d{2,})(?=[\s?.!,]|$)/g)].map(([literal]) => literal);
}

/** Matches questions for files. */
const WHERE = /^(?:where|which file|what file|wo|welche datei|où|где)(?!\p{L})|哪里|哪个文件/iu;

/** Matches questions for all things of a kind. */
const KINDS = /^(?:which|how many|what(?! (?:is|are|does|do|should)\b)(?!')|list|are there)\b/i;

/** Lists the types that are named after a kind: `AsapScheduler` and `QueueScheduler` for "schedulers". */
function* findKinds(word: string, job: Job): Work<string> {
  const stem = escapeRegExp(word.replace(/s$/i, ''));
  const pattern = `\\b(class|struct|interface|trait|enum|object|module|type)\\s+\\w*${stem}s?\\b`;
  const {hits} = yield* searchText({pattern, ignoreCase: true, limit: 120}, job);
  const types = hits.filter((hit) => getPathRank(hit.path) === 0 && !isComment(hit.text)).toSorted(compareByLocation);
  if (types.length < 2) return '';
  return formatByText(`\`${word}\` in the name of a type`, findSpeech(job.text), types, 40);
}

function formatNearest(words: readonly string[]): string {
  const [word = 'parseConfig'] = words;
  return `I do not understand this question. The nearest that I can do: "find ${word}", "where is ${word} defined?", "give me an overview of this project".`;
}

/** Matches a word, its plural, and the forms of a verb. */
const toPattern = (word: string) =>
  /^\w/.test(word) ? escapeRegExp(getStem(word)) : `(^|[^\\w.-])${escapeRegExp(word)}([^\\w-]|$)`;

/** Finds definitions whose name is made of exactly these words, in either order: `CompressionType` for "compression types". */
export function* findNamed(words: readonly string[], job: Job): Work<readonly FoundDefinition[]> {
  const few = words.slice(0, 3);
  const orders = getOrders(few);
  const end = '(?:s|es|y|ies|e)?';
  const single = `${escapeRegExp(few[0]!.replace(/s$/i, ''))}s?`;
  const name =
    few.length === 1
      ? single
      : orders.map((order) => order.map((word) => `${toPattern(word)}${end}`).join('[_-]?')).join('|');
  // A single plain word counts only when it is the name of a type.
  const kinds = few.length === 1 ? /^(?:class|struct|enum|interface|trait|type|module)$/ : /./;
  const pattern = `(^|[^A-Za-z0-9_])(${name})([^A-Za-z0-9_]|$)`;
  const {hits} = yield* searchText({pattern, ignoreCase: true, limit: 200}, job);
  const form = new RegExp(`(?<![\\w$])(?:${name})(?![\\w$])`, 'gi');
  const names = new Set(
    hits
      .filter((hit) => getPathRank(hit.path) === 0)
      .flatMap((hit) => hit.text.match(form) ?? [])
      .filter((one) => few.length > 1 || /^[A-Z]/.test(one)),
  );
  const found = yield* ask([...names].slice(0, 6).map((one) => job.toolbox.symbols('definitions', {name: one})));
  return found
    .flatMap((one) => parseDefinitions(one).found)
    .filter((one) => getPathRank(one.path) === 0 && kinds.test(one.kind))
    .toSorted((a, b) => Number(b.endLine > b.line) - Number(a.endLine > a.line));
}

function getOrders<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length < 2) return [items];
  return items.flatMap((item, index) => getOrders(items.toSpliced(index, 1)).map((rest) => [item, ...rest]));
}

/** Lists the files whose path has the words. */
function* findFiles(words: readonly string[], job: Job): Work<string> {
  const stems = words.map((word) => getStem(word).toLowerCase());
  const either = stems.map((stem) => `*[${stem[0]}${stem[0]!.toUpperCase()}]${stem.slice(1)}*`).join();
  const {paths, more} = parsePaths(yield* askOne(job.toolbox.files(`**/{${either}}{,/**}`, {limit: 120})));
  // A stem begins a word of the path: `report.md` is not about ports.
  const parts = (path: string) => path.replace(/([a-z\d])(?=[A-Z])/g, '$1-').toLowerCase();
  const named = paths
    .filter((path) => stems.every((stem) => new RegExp(`(?<![a-z])${escapeRegExp(stem)}`).test(parts(path))))
    .toSorted((a, b) => getPathRank(a) - getPathRank(b) || a.length - b.length);
  return named.length > 0
    ? `${phrase('fileNames', findSpeech(job.text))}\n${more === 0 ? bullets(named, 8) : `${bullets(named.slice(0, 8))}\n- … and more`}`
    : '';
}

interface Lines {
  readonly hits: readonly Hit[];
  /** The words that occur in these lines. */
  readonly found: readonly string[];
  /** The words that occur in no file. */
  readonly absent: readonly string[];
}

/**
 * Finds the lines with the most of the words: with all, else with all but one, down to a single rare word.
 * @param telling the words that may be searched for alone
 * @param within `file`: only in the files of this name; `inSource`: the question is for a place in the source, so that
 * only lines there count as too many
 */
function* findLines(
  words: readonly string[],
  telling: readonly string[],
  job: Job,
  {file, inSource = false}: {readonly file?: string | undefined; readonly inSource?: boolean},
): Work<Lines> {
  const name = file
    ?.replace(/^.*\//, '')
    .replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
  const search = (some: readonly string[]) =>
    job.toolbox.search({
      pattern: getOrders(some.map(toPattern))
        .map((order) => order.join('.*'))
        .join('|'),
      ignoreCase: true,
      glob: name && `**/${name}*`,
      limit: 120,
    });
  const all = (yield* ask(words.map((word) => search([word])))).map(parseHits);
  // A word begins a word of the line, unless no line has it so: "port" is not about imports.
  const keepOwn = (hits: readonly Hit[], some: readonly string[]) =>
    hits.filter(({text}) => some.every((word) => beginsWord(text, word)));
  const own = all.map((single, index) => ({...single, hits: keepOwn(single.hits, [words[index]!])}));
  const hasOwn = own.some(({hits}) => hits.length > 0);
  const singles = hasOwn ? own : all;
  const absent = words.filter(
    (_, index) => all[index]!.known && all[index]!.hits.length === 0 && all[index]!.more === 0,
  );
  const present = words.filter((word) => !absent.includes(word));
  for (let size = present.length; size > 1; size--) {
    const sets = choose(present, size);
    const results = (yield* ask(sets.map(search))).map(parseHits);
    // The set of words with the fewest lines says most about the question.
    const best = sets
      .map((set, index) => ({set, hits: hasOwn ? keepOwn(results[index]!.hits, set) : results[index]!.hits}))
      .filter(({hits}) => hits.length > 0)
      .toSorted((a, b) => a.hits.length - b.hits.length)[0];
    if (best) return {hits: sortHits(best.hits, job.text), found: best.set, absent};
  }
  const names = findIdentifiers(job.text);
  const countAll = (hits: readonly Hit[]) =>
    inSource ? hits.filter((hit) => getPathRank(hit.path) === 0).length : hits.length;
  const rare = words
    .map((word, index) => ({word, hits: singles[index]!.hits}))
    .filter(
      ({word, hits}) =>
        telling.includes(word) &&
        hits.length > 0 &&
        (names.includes(word) || word.startsWith('--') || countAll(hits) <= MAX_SINGLE),
    )
    .toSorted((a, b) => a.hits.length - b.hits.length)[0];
  return {hits: rare ? sortHits(rare.hits, job.text) : [], found: rare ? [rare.word] : [], absent};
}

/** Returns whether a word of the text begins so, also one within a name: `listenPort` has "port". */
function beginsWord(text: string, word: string): boolean {
  const stem = getStem(word);
  const upper = `${stem.charAt(0).toUpperCase()}${stem.slice(1)}`;
  return (
    !/^\w/.test(word) ||
    new RegExp(`(?<![a-z])${escapeRegExp(stem)}`, 'i').test(text) ||
    new RegExp(`[a-z]${escapeRegExp(upper)}`).test(text)
  );
}

function choose<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  if (size === 0) return [[]];
  return items.flatMap((item, index) => choose(items.slice(index + 1), size - 1).map((rest) => [item, ...rest]));
}

/** Sorts the documents first, or the source where code is asked for. */
function sortHits(hits: readonly Hit[], text: string): readonly Hit[] {
  const isAboutCode =
    /^(?:where|which (?:file|class|function|method|module|code)|who|show|wo|où|где)(?![\p{L}])|哪里|哪个|\bcode\b/iu.test(
      text,
    );
  const rank = ({path}: Hit) =>
    /(^|\/)readme/i.test(path)
      ? 0
      : /\.(md|rst|txt)$/i.test(path) && !/change|news|history/i.test(path)
        ? 1
        : getPathRank(path) + 2;
  return isAboutCode
    ? hits.toSorted(compareByLocation)
    : hits.toSorted((a, b) => rank(a) - rank(b) || compareByLocation(a, b));
}
