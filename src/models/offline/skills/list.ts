/** "list …", "how many …": files, folders, scripts, dependencies, tests, TODOs, definitions. */
import {definitionIn, isComment} from '../definitions.ts';
import type {Job, Route} from '../job.ts';
import {extensionsOf, isCode, isTest, rankOf} from '../languages.ts';
import {MANIFESTS, manifestFacts} from '../manifests.ts';
import {bullets, citeHit, code, count, countOf, paragraphs} from '../report.ts';
import {readCounts, readHits, readLines, readPaths} from '../results.ts';
import {globsIn, looksLikeFile, pathsIn} from '../words.ts';
import type {Work} from '../work.ts';
import {ask, askOne} from '../work.ts';
import {isMarkedUnfinished} from './review-checks.ts';

const VERBS =
  /^(?:(?:list|enumerate|ls|count|show(?: me)?|give me|print|find(?: me)?|what are|which are|get)\b(?:\s+(?:me|all|every|the|of|any|out))*|how many|what|which|liste[rz]?(?:\s+(?:tous|toutes|les|moi))*|(?:выведи\s+)?(?:список|перечисли|покажи)(?:\s+(?:все|всех))?|(?:列出|显示)(?:所有|全部)?)\s*/iu;
const PURE_LIST = /^(?:list|enumerate|ls|count|how many|liste|список|перечисли|列出)/iu;
const TODO = '\\b(TODO|FIXME|XXX|HACK)\\b';
const MODIFIERS =
  '(export\\s+|default\\s+|declare\\s+|pub\\s+|public\\s+|private\\s+|static\\s+|async\\s+|abstract\\s+|final\\s+)*';
const KEYWORDS: Readonly<Record<string, string>> = {
  function: 'function|const|def|fn|func|fun|sub',
  class: 'class',
  interface: 'interface',
  type: 'type',
  enum: 'enum',
  struct: 'struct|type',
  constant: 'const|static',
  method: 'def|fn|func|fun|\\w+\\(',
};
const ANY_KEYWORD = 'function|class|interface|type|enum|const|def|fn|func|fun|struct|trait|record|module|sub';

type Kind = 'lines' | 'files' | 'folders' | 'scripts' | 'dependencies' | 'tests' | 'todos' | 'definitions';

const KINDS: readonly (readonly [RegExp, Kind])[] = [
  [/^(lines|loc)\b(?!\s+(?:\d|with\b|containing|that\b|of code with))|строк|多少行/iu, 'lines'],
  [/\b(todos?|fixmes?|hacks?)\b(?! list)/i, 'todos'],
  [/\b((npm |package |build )?scripts?|commands)\b(?!.*\.(sh|py))|скрипт|脚本/iu, 'scripts'],
  [/\b(dev ?)?(dependenc(y|ies)|deps|packages|libraries)\b|зависимост|dépendances|依赖/iu, 'dependencies'],
  [/\b(unit )?(tests?|specs?)( files?)?\b(?!\/)|тест|测试/iu, 'tests'],
  [
    /\b(functions?|classes|class|interfaces?|types|methods|exports?|exported|definitions|symbols|constants|enums?|structs?)\b|функци|класс|fonctions|函数|类/iu,
    'definitions',
  ],
  [/\b(folders?|director(y|ies)|dirs?|dossiers?)\b|папк|каталог|目录|文件夹/iu, 'folders'],
  [/\bfi(le|chier)s?\b|файл|文件|\*|\.[a-z]{1,4}\b/iu, 'files'],
];

/** Undefined unless the words name one kind of thing that can be listed. */
export const list: Route = (job) => {
  const {text} = job;
  if (!VERBS.test(text) || text.length > 200) return undefined;
  const rest = text.replace(VERBS, '');
  const scope = scopeOf(rest);
  const named = scope === undefined ? rest : rest.replace(scope, ' ');
  const kind = KINDS.find(([form]) => form.test(named))?.[1];
  if (!PURE_LIST.test(text)) {
    // "show src/a.ts" reads a file, "what tests cover X" asks more than a list.
    if (
      kind === undefined ||
      !/^\S*\s*\S*\s*\S*\s*(in|of|under|are|is|do|does|there|$|\?)/i.test(rest.replace(/\b(all|the)\s/gi, ''))
    )
      return undefined;
    if (kind === 'files' && globsIn(text).length === 0 && !/\b(files|файлы)\b|文件/iu.test(named)) return undefined;
  }
  const onlyPlace =
    kind === undefined && scope !== undefined && named.replace(/\b(in|of|what|is|contents?)\b|[\s?.,:]/gi, '') === '';
  if (kind === undefined && !onlyPlace && rest.trim() !== '') return undefined;
  return listed(kind ?? 'files', rest, scope, job);
};

function* listed(kind: Kind, text: string, scope: string | undefined, job: Job): Work<string> {
  if (kind === 'todos') return yield* todos(scope, job);
  if (kind === 'scripts' || kind === 'dependencies') return yield* fromManifests(kind, scope, job);
  if (kind === 'definitions') return yield* definitions(scope, job, text);
  if (kind === 'lines') return yield* lineCount(scope, job);
  return yield* files(kind, text, scope, job);
}

/** `src` in "list files in src"; a path anywhere. */
function scopeOf(text: string): string | undefined {
  const path = pathsIn(text).find((one) => !/^\.\w+$/.test(one));
  if (path !== undefined) return path.replace(/(.)\/$/, '$1');
  const named =
    /\b(?:in|under|inside|within|of|from|dans|sous)\s+(?:the\s+)?`?([\w@.-]+)`?(?:\s+(?:folder|directory|dir))?[\s?.!]*$/i.exec(
      text,
    )?.[1];
  const russian = /\sв\s+([\w@./-]+)[\s?.!]*$/u.exec(text)?.[1];
  const place = named ?? russian;
  return place &&
    !/^(this|here|project|repo|repository|it|all|code|codebase)$/i.test(place) &&
    !extensionsOf(place).length
    ? place
    : undefined;
}

function* files(kind: 'files' | 'folders' | 'tests', text: string, scope: string | undefined, job: Job): Work<string> {
  const pattern = kind === 'files' ? patternOf(text) : '**/*';
  const call = job.toolbox.files(pattern, {path: scope, limit: 400});
  const {paths, more, known} = readPaths(yield* askOne(call));
  if (!known)
    return call
      ? `I could not list the files${scope ? ` of ${scope}` : ''}: the tool failed.`
      : 'I have no tool here that lists files.';
  const place = scope === undefined ? '' : ` in ${scope}`;
  if (kind === 'folders') return folders(paths, more, place);
  const wanted = kind === 'tests' ? paths.filter(isTest) : paths;
  const what = kind === 'tests' ? 'test file' : pattern === '**/*' ? 'file' : `file`;
  const which = pattern === '**/*' ? '' : ` matching \`${pattern}\``;
  if (wanted.length === 0) {
    return more === 0
      ? `No ${what}s${which}${place}.`
      : `No ${what}s${which}${place} among the ${paths.length} newest files.`;
  }
  const beyond = kind === 'tests' && more !== 0 ? undefined : more;
  return paragraphs(
    `${countOf(wanted.length, beyond, what)}${which}${place}:`,
    bullets(wanted.toSorted(), 80, beyond ?? 0),
  );
}

/** `*.ts` as written; "TypeScript files" and ".ts files" as patterns; else everything. */
function patternOf(text: string): string {
  const glob = globsIn(text)[0];
  if (glob !== undefined) return glob.includes('/') ? glob : `**/${glob}`;
  const extension = /(?:^|\s)\.([a-z0-9]{1,5})\b/i.exec(text)?.[1];
  if (extension !== undefined) return `**/*.${extension}`;
  const words = text.match(/[\w+#]+/g) ?? [];
  const extensions =
    words.map((word) => (/^(go|c|r)$/.test(word) ? [word] : extensionsOf(word))).find((found) => found.length > 0) ??
    [];
  const short = words.find((word) => /^(ts|tsx|js|jsx|py|rs|rb|md|json|yaml|yml|css|html|sh)$/i.test(word));
  if (short !== undefined) return `**/*.${short.toLowerCase()}`;
  if (extensions.length === 0) return '**/*';
  return extensions.length === 1 ? `**/*.${extensions[0]}` : `**/*.{${extensions.join(',')}}`;
}

function folders(paths: readonly string[], more: number | undefined, place: string): string {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folder = path.includes('/') ? path.replace(/\/[^/]*$/, '/') : './';
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  if (counts.size === 0) return `No folders with files${place}.`;
  const lines = [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([folder, files]) => `${folder} (${count(files, 'file')})`);
  const newest = more === 0 ? '' : `, of the ${paths.length} newest files`;
  return paragraphs(`${count(counts.size, 'folder')} with files${place}${newest}:`, bullets(lines, 60));
}

function* lineCount(scope: string | undefined, job: Job): Work<string> {
  const result = yield* askOne(job.toolbox.search({pattern: '^', path: scope, mode: 'count', limit: 800}));
  const {more, known} = readHits(result);
  if (!known) return 'I have no tool here that counts lines.';
  const counts = [...readCounts(result)];
  const sum = (some: typeof counts) => some.reduce((total, [, lines]) => total + lines, 0);
  const inCode = counts.filter(([path]) => isCode(path));
  const least = more === 0 ? '' : 'At least ';
  return `${least}${count(sum(counts), 'line')} in ${count(counts.length, 'text file')}${scope ? ` in ${scope}` : ''}, of these ${count(sum(inCode), 'line')} in ${count(inCode.length, 'code file')}.`;
}

function* todos(scope: string | undefined, job: Job): Work<string> {
  const call = job.toolbox.search({pattern: TODO, path: scope, limit: 100});
  const {hits: all, more, known} = readHits(yield* askOne(call));
  const hits = all.filter((hit) => !isCode(hit.path) || isMarkedUnfinished(hit.text));
  if (!known) return 'I have no tool here that can search for TODOs.';
  const place = scope === undefined ? 'here' : `in ${scope}`;
  if (hits.length === 0) return `No TODO, FIXME, XXX or HACK ${place}.`;
  const sorted = hits.toSorted(
    (a, b) => rankOf(a.path) - rankOf(b.path) || (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1),
  );
  return paragraphs(
    `${countOf(hits.length, more, 'TODO or the like', 'TODOs and the like')} ${place}:`,
    bullets(
      sorted.map((hit) => citeHit(hit)),
      40,
    ),
  );
}

function* fromManifests(kind: 'scripts' | 'dependencies', scope: string | undefined, job: Job): Work<string> {
  const found = readPaths(yield* askOne(job.toolbox.files(`**/{${MANIFESTS.join(',')}}`, {path: scope, limit: 60})));
  const near = found.paths
    .toSorted((a, b) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1))
    .slice(0, 3);
  const texts = yield* ask(near.map((path) => job.toolbox.read(path, undefined, 600)));
  const facts = near.flatMap((path, index) => {
    const lines = readLines(texts[index]);
    return lines ? [manifestFacts(path, lines)] : [];
  });
  const items = facts.flatMap((fact) =>
    fact[kind].map((one) => `${fact.path}:${one.line} — \`${one.name}\`${one.value ? `: ${code(one.value)}` : ''}`),
  );
  if (items.length > 0)
    return paragraphs(
      `${count(items.length, kind === 'scripts' ? 'script' : 'dependency', kind)}:`,
      bullets(items, 60),
    );
  if (!found.known) return 'I have no tool here that can look for manifests.';
  const looked = near.length > 0 ? `in ${near.join(', ')}` : 'no package.json, Makefile or other manifest is here';
  return near.length > 0 ? `No ${kind} ${looked}.` : `No ${kind}: ${looked}.`;
}

function* definitions(scope: string | undefined, job: Job, text: string): Work<string> {
  const exported = /\bexport/i.test(text);
  const wanted = /\b(function|class|interface|type|method|constant|enum|struct)(?:e?s)?\b/i
    .exec(text)?.[1]
    ?.toLowerCase();
  const fits = (kind: string, line: string) =>
    (wanted === undefined || kind === wanted) && (!exported || /^\s*(export|pub|public)\b/.test(line));
  if (scope !== undefined && looksLikeFile(scope)) {
    const lines = readLines(yield* askOne(job.toolbox.read(scope)));
    if (!lines) return `I could not read ${scope}.`;
    const found = lines.flatMap((line) => {
      const definition = definitionIn(line.text);
      return definition && fits(definition.kind, line.text)
        ? [`${scope}:${line.number} — ${definition.kind} \`${definition.name}\``]
        : [];
    });
    return found.length === 0
      ? `No such definitions in ${scope}.`
      : paragraphs(`${count(found.length, 'definition')} in ${scope}:`, bullets(found, 60));
  }
  const keyword = (wanted && KEYWORDS[wanted]) ?? ANY_KEYWORD;
  const pattern = `^\\s*${MODIFIERS}(${keyword})${wanted === 'method' ? '' : '\\b'}`;
  const {hits, more, known} = readHits(yield* askOne(job.toolbox.search({pattern, path: scope, limit: 300})));
  if (!known) return 'I have no tool here that can search for definitions.';
  const found = hits.flatMap((hit) => {
    const definition = isCode(hit.path) && !isComment(hit.text) ? definitionIn(hit.text) : undefined;
    return definition && !/^\s{3,}/.test(hit.text) && fits(definition.kind, hit.text) ? [{...hit, definition}] : [];
  });
  const sorted = found.toSorted(
    (a, b) => rankOf(a.path) - rankOf(b.path) || (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1),
  );
  if (sorted.length === 0) return `No such definitions found${scope ? ` in ${scope}` : ''}.`;
  return paragraphs(
    `${more === 0 ? '' : 'At least '}${count(sorted.length, 'definition')}${scope ? ` in ${scope}` : ''}:`,
    bullets(
      sorted.map((one) => `${one.path}:${one.line} — ${one.definition.kind} \`${one.definition.name}\``),
      60,
    ),
  );
}
