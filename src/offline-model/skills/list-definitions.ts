/** "list functions in src", "which files define traits?": lists definitions of one kind with their lines. */
import {isComment, parseDefinition} from '../definitions.ts';
import {compareByLocation, getLanguage, isCode} from '../languages.ts';
import {bullets, count, getReason, notDone, paragraphs} from '../report.ts';
import {parseHits, parseLines} from '../results.ts';
import {askOne, type Job, type Work} from '../skill.ts';
import {looksLikeFile} from '../words.ts';

interface Wanted {
  /** The kind in the singular. */
  readonly name: string;
  /** The kinds that `parseDefinition` gives it. */
  readonly kinds: RegExp;
  /** What its line begins with, after modifiers. A part of a regular expression. */
  readonly keyword: string;
}

const KINDS: Readonly<Record<string, Omit<Wanted, 'name'>>> = {
  function: {kinds: /^(function|method)$/, keyword: 'function|const|let|var|def|fn|func|fun|sub'},
  method: {kinds: /^(function|method)$/, keyword: 'def|fn|func|fun|[A-Za-z_$#][A-Za-z0-9_$]*\\s*\\('},
  class: {kinds: /^class$/, keyword: 'class|case\\s+class|data\\s+class'},
  interface: {kinds: /^interface$/, keyword: 'interface|type'},
  type: {kinds: /^type$/, keyword: 'type'},
  enum: {kinds: /^enum$/, keyword: 'enum'},
  struct: {kinds: /^struct$/, keyword: 'struct|type'},
  trait: {kinds: /^trait$/, keyword: 'trait'},
  module: {kinds: /^(mod|module|namespace)$/, keyword: 'mod|module|namespace|defmodule'},
  namespace: {kinds: /^(namespace|module)$/, keyword: 'namespace|module'},
  constant: {kinds: /^(constant|const|static)$/, keyword: 'const|static|final'},
  macro: {kinds: /^macro$/, keyword: 'macro_rules!|#\\s*define'},
  protocol: {kinds: /^protocol$/, keyword: 'protocol'},
  record: {kinds: /^record$/, keyword: 'record'},
  union: {kinds: /^union$/, keyword: 'union'},
};
export const DEFINITION_WORDS = new RegExp(
  `\\b(?:(?:${Object.keys(KINDS).join('|')}|variable|export)(?:e?s)?|definitions|symbols)\\b|\\bexported\\b|функци\\w*|класс\\w*|fonctions|函数|类`,
  'giu',
);
const ANY: Wanted = {
  name: 'definition',
  kinds: /./,
  keyword: 'function|class|interface|type|enum|const|def|fn|func|fun|struct|trait|record|module|mod|sub|macro_rules!',
};
const MODIFIERS =
  '((export|default|declare|pub(\\([a-z]+\\))?|public|private|protected|internal|static|async|abstract|final|unsafe|override|sealed|open|readonly|const)\\s+)*';

export function* listDefinitions(scope: string | undefined, job: Job, text: string): Work<string> {
  const wanted = parseWanted(text);
  const fits = (kind: string, name: string, path: string, line: string) =>
    wanted.kinds.test(kind) && hasModifiers(text, name, path, line);
  const place = scope === undefined ? '' : ` in ${scope}`;
  if (scope !== undefined && looksLikeFile(scope)) {
    const result = yield* askOne(job.toolbox.read(scope));
    const lines = parseLines(result);
    if (!lines) return notDone(`I could not read ${scope}: ${getReason(result)}.`);
    const found = lines.flatMap((line) => {
      const definition = parseDefinition(line.text);
      return definition && fits(definition.kind, definition.name, scope, line.text) && isVisible(wanted, line.text)
        ? [`${scope}:${line.number} — ${definition.kind} \`${definition.name}\``]
        : [];
    });
    return found.length === 0
      ? `No ${plural(wanted)} in ${scope}.`
      : paragraphs(`${formatCount(found.length, wanted)}${place}:`, bullets(found, 60));
  }
  const pattern = `^\\s*${MODIFIERS}(${wanted.keyword})`;
  const call = job.toolbox.search({pattern, path: scope, limit: 300});
  const result = yield* askOne(call);
  const {hits, more, known} = parseHits(result);
  if (!call) return notDone('I have no tool here that can search for definitions.');
  if (!known) return notDone(`the search for ${plural(wanted)} failed: ${getReason(result)}.`);
  const found = hits.flatMap((hit) => {
    const definition = isCode(hit.path) && !isComment(hit.text) ? parseDefinition(hit.text) : undefined;
    return definition && isVisible(wanted, hit.text) && fits(definition.kind, definition.name, hit.path, hit.text)
      ? [{...hit, definition}]
      : [];
  });
  const sorted = found.toSorted(compareByLocation);
  if (sorted.length === 0)
    return more === 0 ? `No ${plural(wanted)} found${place}.` : `No ${plural(wanted)} among the first results${place}.`;
  return paragraphs(
    `${more === 0 ? '' : 'At least '}${formatCount(sorted.length, wanted)} in ${count(new Set(sorted.map((one) => one.path)).size, 'file')}${place}:`,
    bullets(
      sorted.map((one) => `${one.path}:${one.line} — ${one.definition.kind} \`${one.definition.name}\``),
      60,
    ),
  );
}

function parseWanted(text: string): Wanted {
  const word = new RegExp(`\\b(${Object.keys(KINDS).join('|')})(?:e?s)?\\b`, 'i').exec(text)?.[1]?.toLowerCase();
  const name =
    word ?? (/функци|fonction|函数/iu.test(text) ? 'function' : /класс|类/iu.test(text) ? 'class' : undefined);
  return name === undefined ? ANY : {name, ...KINDS[name]!};
}

/** Whether the definition is not local: local functions are left out, those of classes and `impl` blocks are not. */
function isVisible(wanted: Wanted, line: string): boolean {
  if (wanted.name === 'method') return /^\s/.test(line) || /^func\s*\(/.test(line);
  return (
    !/^\s{3,}|^\t/.test(line) || /^\s*(?:(?:pub(?:\([a-z]+\))?|async|unsafe|const)\s+)*(?:fn|def|class)\s/.test(line)
  );
}

/** Whether the definition is exported, public or async, when the request says so, by the rules of its language. */
function hasModifiers(text: string, name: string, path: string, line: string): boolean {
  if (/\basync\b/i.test(text) && !/\basync\b/.test(line)) return false;
  if (!/\b(?:export\w*|public)\b/i.test(text)) return true;
  const language = getLanguage(path);
  if (language === 'Go') return /^\p{Lu}/u.test(name);
  if (language === 'Python') return !name.startsWith('_');
  return /^\s*(export|pub|public)\b/.test(line);
}

function formatCount(number: number, {name}: Wanted): string {
  return count(number, name, name.endsWith('s') ? `${name}es` : `${name}s`);
}

function plural(wanted: Wanted): string {
  return formatCount(2, wanted).replace(/^2 /, '');
}
