/** Handles "list …" and "how many …": lists files, folders, scripts, dependencies, tests, TODOs and definitions. */
import {
  getExtension,
  getExtensions,
  getLanguageByExtension,
  hasTests,
  isCode,
  TEST_FILES,
} from '../../core/util/file-kinds.ts';
import {findSpeech, phrase} from '../language.ts';
import {
  citeInlineTests,
  compareByLocation,
  getFolder,
  getPathRank,
  inlineTestSearch,
  inlineTests,
  searchText,
} from '../places.ts';
import {bullets, cannot, citeHit, count, countListed, getReason, notDone, paragraphs} from '../report.ts';
import {parseCounts, parseHits, parsePaths} from '../results.ts';
import {ask, askOne, type Job, type Route, say, type Work} from '../skill.ts';
import {type FoundDefinition, parseDefinitions} from '../symbols.ts';
import {findGlobs, findPaths, findUnaccounted, looksLikeFile, toGlob} from '../words.ts';
import {listFromManifests} from './project/list-manifests.ts';
import {isMarkedUnfinished} from './review.ts';
import {answerByText} from './search-text.ts';
import {parseQuestion} from './symbols/question.ts';
import {answerPath, outlineByText, showOutline} from './symbols/symbol-question.ts';

const VERBS =
  /^(?:(?:list|enumerate|ls|count|show(?: me)?|give me|print|find(?: me)?|get|are there|is there)\b(?:\s+(?:me|all|every|the|of|any|out)\b)*|how many|what|which|(?=(?:methods|functions|members|fields|constants) (?:of|in)\b)|welche[nrs]?|wie viele|combien de|quels?|quelles?|какие|сколько|有哪些|有多少|哪些|(?:liste[rz]?|zeige?|nenne)(?:\s+(?:tous|toutes|les|moi|mir|alle|die)\b)*|(?:выведи\s+)?(?:список|перечисли|покажи)(?:\s+(?:все|всех))?|(?:列出|显示)(?:所有|全部)?)\s*/iu;
const PURE_LIST = /^(?:list|enumerate|ls|count|how many|liste|список|перечисли|列出)/iu;

/** Matches "what is in src?". */
const CONTENTS =
  /^what(?:'s| is)\s+(?:in|inside|under)\s+(?:the\s+)?[`"']?[\w@./-]+[`"']?(?:\s+(?:folder|directory|dir))?[\s?.!]*$/i;

const DEFINED = 'function|method|class|interface|type|enum|struct|trait|module|namespace|constant|variable|macro';
/** The kinds of the index that a word means, for words that are no kind or mean several. */
const DEFINITION_KINDS: Readonly<Record<string, string>> = {
  function: 'function|method|constructor',
  method: 'method|constructor',
  type: 'type|struct|enum|interface|class',
  namespace: 'module',
};
/** Words that occur in the line of a definition. */
const MODIFIERS =
  /\b(?:async|static|virtual|abstract|final|protected|readonly|inline|const|unsafe|sealed|override|internal|partial)\b/gi;
const OTHER_WORDS: readonly (readonly [RegExp, string])[] = [
  [/функци|fonction|funktion|函数/iu, 'function'],
  [/структур|结构体/iu, 'struct'],
  [/интерфейс|接口/iu, 'interface'],
  [/перечислени|枚举/iu, 'enum'],
  [/констант|konstante|常量/iu, 'constant'],
  [/类型/u, 'type'],
  [/класс|classe|klasse|类/iu, 'class'],
  [/метод|méthode|methode|方法/iu, 'method'],
];
const DEFINITION_WORDS = new RegExp(
  `\\b(?:(?:${DEFINED}|export)(?:e?s|ed)?|definitions|symbols|members)\\b|(?:${OTHER_WORDS.map(([form]) => form.source).join('|')})\\p{L}*`,
  'giu',
);

type Kind = 'lines' | 'files' | 'folders' | 'scripts' | 'dependencies' | 'tests' | 'definitions';

const KINDS: readonly (readonly [RegExp, Kind])[] = [
  [/^(lines|loc|zeilen|lignes)\b(?!\s+(?:\d|with\b|containing|that\b|of code with))|строк|多少行/iu, 'lines'],
  [/\b((npm |package |build )?scripts?|commands)\b(?!.*\.(sh|py))|скрипт|脚本/iu, 'scripts'],
  [/\b(dev ?)?(dependenc(y|ies)|deps|packages|libraries)\b|зависимост|dépendances|依赖/iu, 'dependencies'],
  [/\b(unit )?(tests?|specs?)( files?)?\b(?!\/)|тест|测试/iu, 'tests'],
  [new RegExp(DEFINITION_WORDS.source, 'iu'), 'definitions'],
  [/\b(folders?|director(y|ies)|dirs?|dossiers?|ordner|verzeichnisse?)\b|папк|каталог|目录|文件夹/iu, 'folders'],
  [/\b(?:fi(?:le|chier)s?|datei(?:en)?)\b|файл|文件|\*|\.[a-z]{1,4}\b/iu, 'files'],
];

/** Matches a question for marks of unfinished work: "any FIXME left?", "todo", "list the TODOs in src". */
const TODO = /@?\b(?:todos?|fixmes?|hacks?|xxx)\b(?! list)/i;

/** Returns undefined when the request does not name one kind of thing that can be listed. */
export const list: Route = (job) => {
  const {text} = job;
  const mark = TODO.exec(text);
  if (mark && findUnaccounted(text.slice(0, mark.index), [/count|open|liste|zeige|alle|все|列出/]).length === 0)
    return listTodos(
      text,
      findPaths(text).find((one) => !/^\.\w+$/.test(one)),
      job,
    );
  // The words after "that" narrow the list.
  if (
    !VERBS.test(text) ||
    text.length > 200 ||
    /^(?:which|what) file (?:defin|declar|export|contain|has)/i.test(text) ||
    /\s(?:that|which|whose|without|called|named)\s/i.test(text)
  )
    return undefined;
  const rest = text.replace(VERBS, '');
  const scope = findScope(rest);
  if (scope !== undefined && !looksLikeFile(scope) && CONTENTS.test(text))
    return answerPath(scope, job, (path) =>
      looksLikeFile(path) ? showOutline(path, job) : listFiles('files', '', path, job),
    );
  const named = scope === undefined ? rest : rest.replace(scope, ' ');
  const kind = KINDS.find(([form]) => form.test(named))?.[1];
  // "show src/a.ts" reads a file.
  if (!PURE_LIST.test(text)) {
    if (kind === undefined) return undefined;
    if (kind === 'files' && findGlobs(text).length === 0 && !/\b(?:files|dateien)\b|файлы|文件/iu.test(named))
      return undefined;
  }
  const onlyPlace =
    kind === undefined && scope !== undefined && named.replace(/\b(in|of|what|is|contents?)\b|[\s?.,:]/gi, '') === '';
  if (kind === undefined && !onlyPlace && rest.trim() !== '') return undefined;
  const filter = kind === undefined ? [] : findUnknownWords(named, kind);
  const [word, another] = filter;
  if (word === undefined) return listKind(kind ?? 'files', rest, scope, job);
  // A list that ignores unknown words would show the wrong things.
  if (COMPARED.test(filter.join(' ')))
    return say(
      cannot(
        `I do not understand "${filter.join(' ')}" here. I can: "list functions in src", "list *.ts files", "what is the largest file?".`,
      ),
    );
  const isPath = (kind === 'files' || kind === 'tests') && parseQuestion(text, job.earlier) === undefined;
  if (isPath && another === undefined && /^\w+$/.test(word) && scope === undefined)
    return listFiles(kind as 'files' | 'tests', rest, undefined, job, word);
  return undefined;
};

/** Returns the words of the request that are not a kind, place, language or pattern. */
function findUnknownWords(text: string, kind: Kind): readonly string[] {
  const form = KINDS.find(([, one]) => one === kind)![0];
  const words = findUnaccounted(text, [...(kind === 'definitions' ? [DEFINITION_WORDS, MODIFIERS] : [form]), COMMON]);
  return words.filter(
    (word) =>
      findGlobs(word).length === 0 && getExtensions(word).length === 0 && getLanguageByExtension(word) === undefined,
  );
}

const COMPARED =
  /\b(?:bigger|larger|smaller|older|newer|longer|shorter|greater|biggest|largest|smallest|oldest|newest|longest|shortest|latest|more|most|less|least|fewer|changed|modified|recent\w*|than|over|above|below|empty|unused|outdated|vulnerable|without|by)\b/i;
/** Words of requests for lists that do not narrow the list. */
const COMMON =
  /\b(?:private|exist|found|total|number|defin|declar|contain|export|public|unit|test|npm|everything|names|only|left|marked|comment|todo|fixme|run|available|depend|development|dev|we|me|gib|vorhanden|auf\b|tou)/;

function* listKind(kind: Kind, text: string, asked: string | undefined, job: Job): Work<string> {
  // The name of a file stands for the only file that has it.
  const isBare = asked !== undefined && !asked.includes('/') && looksLikeFile(asked);
  const {paths} = isBare ? parsePaths(yield* askOne(job.toolbox.files(`**/${asked}`, {limit: 2}))) : {paths: []};
  const scope = paths.length === 1 ? paths[0] : asked;
  if (kind === 'scripts' || kind === 'dependencies') {
    const answer = yield* listFromManifests(kind, text, scope, job);
    return answer.startsWith('No ') && /\btests?\b/i.test(text)
      ? yield* listFiles('files', text, scope, job, 'test')
      : answer;
  }
  if (kind === 'definitions') return yield* listDefinitions(scope, job, text);
  if (kind === 'lines') return yield* countLines(text, scope, job);
  return yield* listFiles(kind, text, scope, job);
}

/** Finds the folder or file to list: `src` in "list files in src", or a path anywhere in the request. */
function findScope(text: string): string | undefined {
  const path = findPaths(text).find((one) => !/^\.\w+$/.test(one));
  if (path !== undefined) return path.replace(/(.)\/$/, '$1');
  const [, place] =
    /\b(?:in|under|inside|within|of|from|dans|sous)\s+(?:the\s+)?(?:(?:class|struct|interface|trait)\s+)?`?([\w@.-]+)`?(?:\s+(?:folder|directory|dir|class|struct|interface|trait))?[\s?.!]*$/i.exec(
      text,
    ) ??
    /\b(?:does|do|has|have|hat|a)\s+`?([A-Z_$][\w$]*)`?(?:\s+(?:have|define|declare|export|contain)s?)?[\s?.!]*$/.exec(
      text,
    ) ??
    /\s(?:в|у|класса|структуры|интерфейса)\s+([\w@./-]+)[\s?.!]*$/u.exec(text) ??
    [];
  const isWord = /^(this|here|project|repo|repository|it|all|code|codebase)$/i.test(place ?? '');
  return place && !isWord && getExtensions(place).length === 0 ? place : undefined;
}

function* listFiles(
  kind: 'files' | 'folders' | 'tests',
  text: string,
  scope: string | undefined,
  job: Job,
  word?: string,
): Work<string> {
  const stem = word && `*[${word[0]!.toLowerCase()}${word[0]!.toUpperCase()}]${word.slice(1).replace(/s$/, '')}*`;
  const pattern =
    kind === 'tests' ? TEST_FILES : kind !== 'files' ? '**/*' : stem ? `**/{${stem},${stem}/**}` : toFilePattern(text);
  const call = job.toolbox.files(pattern, {path: scope, limit: kind === 'tests' ? 2000 : 400});
  const inlineCall = kind === 'tests' && word === undefined ? job.toolbox.search(inlineTestSearch(scope)) : undefined;
  const [result, among] = yield* ask([call, inlineCall]);
  const {paths, more, known} = parsePaths(result!);
  if (!known) return notDone(`I could not list the files${scope ? ` of ${scope}` : ''}: ${getReason(result!)}.`);
  const place = scope === undefined ? '' : ` in ${scope}`;
  if (kind === 'folders') return formatFolders(paths, more, place);
  const isNamed = (path: string) => path.toLowerCase().includes((word ?? '').toLowerCase().replace(/s$/, ''));
  const wanted = kind === 'tests' ? paths.filter((path) => hasTests(path) && isNamed(path)) : paths;
  const what = kind === 'tests' ? 'test file' : 'file';
  const inline = inlineTests(parseHits(among!).hits).map(citeInlineTests);
  const inlineList = inline.length > 0 && `In code files, in ${count(inline.length, 'file')}:\n${bullets(inline, 30)}`;
  if (wanted.length === 0 && word !== undefined) return yield* answerByText(job);
  const which = word
    ? ` with \`${word}\` in the path`
    : kind !== 'files' || pattern === '**/*'
      ? ''
      : ` matching \`${pattern}\``;
  if (wanted.length === 0) {
    const among = more === 0 ? '' : ` among the ${paths.length} newest files`;
    return inlineList ? `Tests${place}: no test files${among}. ${inlineList}` : `No ${what}s${which}${place}${among}.`;
  }
  const beyond = kind === 'tests' && more !== 0 ? undefined : more;
  return paragraphs(
    `${countListed(wanted.length, beyond, what)}${which}${place}:`,
    bullets(wanted.toSorted(), 80, beyond ?? 0),
    inlineList,
  );
}

/** Returns the glob for the files: `*.ts` as written, or from "TypeScript files" and ".ts files", otherwise all files. */
function toFilePattern(text: string): string {
  const words = [/(?<!\S)\.\w{1,5}\b/.exec(text)?.[0] ?? '', ...(text.match(/[\w+#]+/g) ?? [])];
  const glob = findGlobs(text)[0] ?? words.map(toGlob).find((one) => one !== undefined) ?? '*';
  return glob.includes('/') ? glob : `**/${glob}`;
}

function formatFolders(paths: readonly string[], more: number | undefined, place: string): string {
  const folders = Map.groupBy(paths, getFolder);
  if (folders.size === 0) return `No folders with files${place}.`;
  const lines = [...folders]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([folder, files]) => `${folder} (${count(files.length, 'file')})`);
  const newest = more === 0 ? '' : `, of the ${paths.length} newest files`;
  return paragraphs(`${count(folders.size, 'folder')} with files${place}${newest}:`, bullets(lines, 60));
}

/** Counts the lines of each file. A program without an extension is known by the line that names its interpreter. */
export function* measureFiles(path: string | undefined, job: Job, glob?: string) {
  const search = (some: string | undefined) =>
    job.toolbox.search({pattern: '^', path, glob: some, mode: 'count', limit: 5000});
  const [result, scripts] = yield* ask([search(glob), job.toolbox.search({pattern: '^#!', path, limit: 400})]);
  // A result that would be too long is fetched in parts, by the first letter.
  const isLong = glob === undefined && result!.outcome === 'ok' && parseHits(result!).more !== 0;
  const letters = ['!A-Za-z', ...[...'abcdefghijklmnopqrstuvwxyz'].map((one) => one + one.toUpperCase())];
  const parts = isLong ? yield* ask(letters.map((some) => search(`**/[${some}]*`))) : [result!];
  const started = parseHits(scripts!).hits.filter((hit) => hit.line === 1 && getExtension(hit.path) === '');
  const sizes = parts.flatMap((part) =>
    [...parseCounts(part)].map(([file, lines]) => {
      return {file, lines, isCode: isCode(file) || started.some((hit) => hit.path === file)};
    }),
  );
  return {result: result!, sizes, isWhole: parts.every((part) => parseHits(part).more === 0)};
}

function* countLines(text: string, scope: string | undefined, job: Job): Work<string> {
  const pattern = toFilePattern(text).replace(/^\*\*\//, '');
  const glob = pattern === '*' ? undefined : pattern;
  const {result, sizes, isWhole} = yield* measureFiles(scope, job, glob);
  if (result.outcome !== 'ok') return notDone(`the lines were not counted: ${getReason(result)}.`);
  // A count of lines leaves out the files without any.
  const all =
    glob === undefined
      ? undefined
      : parsePaths(yield* askOne(job.toolbox.files(`**/${glob}`, {path: scope, limit: 5000})));
  const files = all?.more === 0 ? Math.max(all.paths.length, sizes.length) : sizes.length;
  const sum = (some: typeof sizes) => some.reduce((total, {lines}) => total + lines, 0);
  const inCode = sizes.filter((one) => one.isCode);
  const least = isWhole ? '' : 'At least ';
  const size = (some: typeof sizes, kind: string) => `${count(sum(some), 'line')} in ${count(some.length, kind)}`;
  const place = scope === undefined ? '' : ` in ${scope}`;
  return glob === undefined
    ? `${least}${size(sizes, 'text file')}${place}, of these ${size(inCode, 'code file')}.`
    : `${least}${count(sum(sizes), 'line')} in ${count(files, 'file')} matching \`${glob}\`${place}.`;
}

const MARKS = /\b(todo|fixme|xxx|hack)s?\b/gi;

/** Lists marks of unfinished work: all, or those of the kind, file and word that the request names. */
function* listTodos(text: string, scope: string | undefined, job: Job): Work<string> {
  const marks = [...text.matchAll(MARKS)].map((match) => match[1]!.toUpperCase());
  // "TODO" means marks of all kinds. Any other mark means only itself.
  const kinds = marks.length === 0 || marks.includes('TODO') ? 'TODO|FIXME|XXX|HACK' : marks.join('|');
  const name = /\b(?:in|of|from|by|for)\s+`?([A-Za-z_][\w.-]*)`?[\s?.!]*$/i.exec(text)?.[1];
  const word =
    scope === undefined &&
    name !== undefined &&
    findUnaccounted(name, [COMMON]).length > 0 &&
    getExtensions(name).length === 0
      ? name
      : '';
  const search = {pattern: `\\b(${kinds})\\b`, ignoreCase: true, path: scope, limit: 400};
  const {hits: all, more, problem} = yield* searchText(search, job);
  const upper = new RegExp(`\\b(?:${kinds})\\b`);
  const hits = all.filter(
    (hit) =>
      (isCode(hit.path) || !/\.(?:mdx?|rst|txt|ya?ml|json|html?)$|(?:^|\/)[A-Z]+$/.test(hit.path)
        ? isMarkedUnfinished(hit.text)
        : upper.test(hit.text)) &&
      (word === '' || `${hit.path} ${hit.text}`.toLowerCase().includes(word.toLowerCase())),
  );
  if (problem) return problem;
  const place = scope === undefined ? (word === '' ? 'here' : `for \`${word}\``) : `in ${scope}`;
  if (hits.length === 0) return `No ${kinds.replaceAll('|', ', ')} ${place}, by a text search of all files.`;
  return paragraphs(
    `${countListed(hits.length, more, 'TODO or similar mark', 'TODOs and similar marks')} ${place}:`,
    bullets(hits.toSorted(compareByLocation).map(citeHit), 60),
  );
}

const MAX_LISTED = 60;

function* listDefinitions(scope: string | undefined, job: Job, text: string): Work<string> {
  const word = parseWanted(text);
  const kind = word ?? 'definition';
  const isOwner = scope !== undefined && /^[\w$.]+$/.test(scope) && !looksLikeFile(scope);
  // The index knows which definitions other files see, and not which members a class hides.
  const exported = /\bexport|\bpublic (?!function|method)/i.test(text) ? 'exported ' : '';
  const words = `${exported}${(text.match(MODIFIERS) ?? []).map((one) => `${one} `).join('')}`;
  const name = `${words}${kind}`;
  const kinds = word === undefined ? '' : (DEFINITION_KINDS[word] ?? word);
  const [inPlace, inOwner] = yield* ask([
    job.toolbox.symbols('kinds', {path: scope ?? '.', name: `${words}${kinds}`}),
    isOwner
      ? job.toolbox.symbols('kinds', {path: '.', name: `${words}in ${scope.replace(/^.*\./, '')}: ${kinds}`})
      : undefined,
  ]);
  const result = isOwner && inPlace!.outcome !== 'ok' ? inOwner! : inPlace!;
  const place = scope === undefined ? '' : ` in ${scope}`;
  if (result.outcome !== 'ok') return notDone(`the ${plural(name)}${place} were not listed: ${getReason(result)}.`);
  const {found, more, files, open} = parseDefinitions(result);
  const bodies = new Set(found.flatMap((one) => (one.kind.endsWith(')') ? [] : [one.name])));
  const fitting = found
    .filter((one) => isVisible(text, one) && !(one.kind.endsWith(')') && bodies.has(one.name)))
    .toSorted((a, b) => getPathRank(a.path) - getPathRank(b.path));
  const none = `${plural(name)}${place}, in ${count(files, 'file')}`;
  if (found.length === 0 && words === '' && !isOwner)
    return yield* outlineByText(
      scope,
      job,
      word,
      `No ${plural(name)}${place}, neither by syntax nor by a text search.`,
    );
  if (fitting.length === 0) return notDone(`by syntax I know no ${none}, and a text search does not tell.`);
  const isWhole = more === 0 || fitting.length === found.length;
  const inherited = result === inOwner ? ', without those it inherits' : '';
  const seen = exported === '' && /\bp(?:ublic|rivate)\b/i.test(text) ? ', visible or not by the line of each' : '';
  return paragraphs(
    `${countListed(fitting.length, isWhole ? more : undefined, name, plural(name))}${place}${inherited}${seen}:`,
    bullets(
      fitting.map((one) => `${one.path}:${one.line} — ${one.kind} \`${one.name}\``),
      MAX_LISTED,
      more,
    ),
    // A list of one file says all that it has.
    open !== '' && !fitting.every(({path}) => path === scope) && phrase('open', findSpeech(job.text), {list: open}),
  );
}

function parseWanted(text: string): string | undefined {
  const word = new RegExp(`\\b(${DEFINED})(?:e?s)?\\b`, 'i').exec(text)?.[1]?.toLowerCase();
  return word ?? OTHER_WORDS.find(([form]) => form.test(text))?.[1];
}

/** Returns whether the definition is as public or private as the request says, by the line where it begins. */
function isVisible(text: string, {path, name, text: line}: FoundDefinition): boolean {
  const isHidden =
    /\b(?:private|protected)\b|^(?:static )?#/.test(line) || (/(?:^|\.)_[^.]*$/.test(name) && path.endsWith('.py'));
  return !(isHidden ? /\bpublic\b/i : /\bprivate\b/i).test(text);
}

function plural(name: string): string {
  return name.endsWith('s') ? `${name}es` : `${name}s`;
}
