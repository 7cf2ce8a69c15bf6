/** Handles "list functions in src" and "which files define traits?": lists definitions of one kind with their lines. */
import {getLanguage} from '../../core/util/file-kinds.ts';
import {getPathRank} from '../places.ts';
import {bullets, cannot, count, getReason, notDone, paragraphs} from '../report.ts';
import {askOne, type Job, type Work} from '../skill.ts';
import {type FoundDefinition, parseDefinitions} from '../symbols.ts';

/** Kinds of the index, by the word in the request. */
const KINDS: Readonly<Record<string, RegExp>> = {
  function: /^(?:function|method|constructor)$/,
  method: /^(?:method|constructor)$/,
  class: /^class$/,
  interface: /^interface$/,
  type: /^(?:type|struct|enum|interface|class)$/,
  enum: /^enum$/,
  struct: /^struct$/,
  trait: /^trait$/,
  module: /^module$/,
  namespace: /^module$/,
  constant: /^constant$/,
  variable: /^variable$/,
  macro: /^macro$/,
};
const OTHER_WORDS: readonly (readonly [RegExp, string])[] = [
  [/функци|fonction|funktion|函数/iu, 'function'],
  [/класс|classe|klasse|类/iu, 'class'],
  [/метод|méthode|methode|方法/iu, 'method'],
];
export const DEFINITION_WORDS = new RegExp(
  `\\b(?:(?:${Object.keys(KINDS).join('|')}|export)(?:e?s)?|definitions|symbols)\\b|\\bexported\\b|функци\\p{L}*|класс\\p{L}*|метод\\p{L}*|fonctions?|méthodes?|funktion(?:en)?|klassen?|methoden?|函数|类|方法`,
  'giu',
);
const MAX_LISTED = 60;

export function* listDefinitions(scope: string | undefined, job: Job, text: string): Work<string> {
  const call = job.toolbox.symbols('definitions', {path: scope ?? '.'});
  if (!call) return cannot('I have no `symbols` tool here, so I cannot list definitions.');
  const result = yield* askOne(call);
  const wanted = parseWanted(text);
  const name = wanted ?? 'definition';
  const place = scope === undefined ? '' : ` in ${scope}`;
  if (result.outcome !== 'ok') return notDone(`the ${plural(name)}${place} were not listed: ${getReason(result)}.`);
  const {found, more, files, open} = parseDefinitions(result);
  const fitting = found
    .filter((one) => (wanted === undefined || KINDS[wanted]!.test(one.kind)) && hasModifiers(text, one))
    .toSorted((a, b) => getPathRank(a.path) - getPathRank(b.path));
  const least = more > 0 ? 'at least ' : '';
  if (fitting.length === 0)
    return more > 0
      ? notDone(
          `there is too much${place} to list: no ${name} is among the first ${found.length} definitions. Name a folder or file.`,
        )
      : `No ${plural(name)}${place}, in ${count(files, 'file')}.${open === '' ? '' : ` Not searched: ${open}.`}`;
  return paragraphs(
    `${least}${count(fitting.length, name, plural(name))}${place}:`,
    bullets(
      fitting.map((one) => `${one.path}:${one.line} — ${one.kind} \`${one.name}\``),
      MAX_LISTED,
    ),
    more > 0 && `The list was cut after ${found.length} definitions; name a folder or file for all of them.`,
  );
}

function parseWanted(text: string): string | undefined {
  const word = new RegExp(`\\b(${Object.keys(KINDS).join('|')})(?:e?s)?\\b`, 'i').exec(text)?.[1]?.toLowerCase();
  return word ?? OTHER_WORDS.find(([form]) => form.test(text))?.[1];
}

/**
 * Returns whether the definition is exported, public or async, when the request says so, by the rules of its language.
 */
function hasModifiers(text: string, {path, name, text: line}: FoundDefinition): boolean {
  if (/\basync\b/i.test(text) && !/\basync\b/.test(line)) return false;
  if (!/\b(?:export\w*|public)\b/i.test(text)) return true;
  const last = name.replace(/^.*\./, '');
  const language = getLanguage(path);
  if (language === 'Go') return /^\p{Lu}/u.test(last);
  if (language === 'Python') return !last.startsWith('_');
  return /^(?:export|pub|public)\b/.test(line);
}

function plural(name: string): string {
  return name.endsWith('s') ? `${name}es` : `${name}s`;
}
