/** Parses "rename A to B in FILE" and "replace A with B in src/", in several languages, with the place of the change. */
import {listWords} from '../../../core/util/text.ts';
import {findPaths, looksLikeFile, looksLikePath, type Masked, maskQuoted, toGlob} from '../../words.ts';

export interface RenameRequest extends RenameScope {
  readonly from: string;
  readonly to: string;
  /** The request says "rename" rather than "replace". */
  readonly rename: boolean;
  /** Replace whole words, unless no match is a whole word. */
  readonly words: boolean;
}

/** The request asks for a change but does not say exactly which. */
interface Unclear {
  readonly unclear: string;
}

type Parsed = RenameRequest | Unclear | undefined;

const RENAME = /^(?:refactor[:,]?\s+)?(?:(?:rename|renomme[rz]?|переименуй|переименовать)\s+|重命名\s*)/iu;
const REPLACE = /^(?:(?:replace|substitute|swap|remplace[rz]?|замени|заменить|(change|turn))\s+|替换\s*)/iu;
const DETERMINERS =
  /^(?:(?:all|every|each|the|any|(?:any )?(?:occurrences?|instances?|uses) of|references to|les?|la|toutes?|tous|все)\s+)+/iu;
const NOUN =
  /^(?:function|class|method|variable|var|constant|const|type|interface|struct|enum|trait|module|identifier|symbol|property|field|parameter|string|text|word|name|file|fonction|variable|функцию|класс|переменную|函数|变量|文件)\s+/iu;
const CHINESE =
  /^(?:(?:在|将)\s*(\S+?)\s*(?:中|里)[的,，]?\s*)?(?:把|将)\s*(.+?)\s*(?:(重命名|改名)|替换|换|改)(?:为|成)\s*([^\s，。,]+)(.*)$/u;
/**
 * Words like "to" need white space on both sides, because names may end with them (`Token`, `Canvas`). Signs do not.
 */
const RENAME_PARTS =
  /^(\S+?)(?:\s+(?:to|into|as|en|vers|в|на|->|→|=>|为|成)\s+|\s*(?:->|→|=>|为|成)\s*)([^\s，。]+)([\s\S]*)$/iu;
/** Words between the old text and the new one. The first of them that is found splits the request. */
const BETWEEN = [
  '\\s+with\\s+',
  '\\s+(?:by|par|на)\\s+',
  '\\s+for\\s+',
  '\\s+(?:to|into)\\s+',
  '\\s*(?:->|→|=>|为|成)\\s*',
];
const PLACE_WORD =
  /\s+(?=(?:in|inside|under|within|across|throughout|everywhere|globally|dans|partout|в|во|везде|在)\s)/giu;
const FILE_LIST = /^(?:your\s+|these\s+|the\s+)?files?(?:\s*\([^)\n]*\))?\s*:[ \t]*(.*(?:\n[ \t]*[-*•\d].*)*)/im;
/** Matches further lines that do not ask for another change. */
const ASIDE = /^(?:report|answer|when done)\b|\b(?:other|these|those|listed|named) files\b/i;
const MORE_WORK =
  /\b(?:and|then|but|also)\s+(?:also\s+|then\s+)?(?:rename|replace|run|add|remove|delete|update|create|fix|change|make|test|keep|leave)\b|\b(?:on|at) lines?\b|\blines? \d/i;
const DESCRIBED = /^(?:an?|the|some|something|its|their|proper|better|another|one)\s/i;
const LITERAL = /^(?:-?[\d.]+\w{0,2}|true|false|null|none|nil|undefined)$/i;

const QUOTES_HELP =
  'Put both texts in quotes and say where: replace "old text" with "new text" in FILE. One change at a time.';

/** Returns undefined when the text does not ask for a rename or replacement. */
export function parseRename(text: string): Parsed {
  const list = FILE_LIST.exec(text);
  const files = list ? findPaths(list[1]!.replace(/^[ \t]*[-*•][ \t]+/gm, ' ').replaceAll(',', ' ')) : [];
  const lines = (list ? text.replace(list[0], '') : text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  for (const line of lines) {
    const request = parseLine(line);
    if (request === undefined) continue;
    const others = lines.filter((one) => one !== line && !ASIDE.test(one));
    if (others.length > 0) return {unclear: `I make only one change at a time. I would not do this: "${others[0]}".`};
    return 'from' in request && files.length > 0 ? {...request, files, folders: [], globs: []} : request;
  }
  return undefined;
}

function parseLine(line: string): Parsed {
  const masked = maskQuoted(line);
  const chinese = CHINESE.exec(masked.text);
  if (chinese) {
    const [, before = '', from, rename, to, rest] = chinese;
    const place = parseScope(`${before} ${rest}`, masked);
    return place ? createRequest(from!, to!, rename !== undefined, place, masked) : createUnclear(rest!, masked);
  }
  const verb = RENAME.exec(masked.text)?.[0];
  if (verb !== undefined) return parseRenameParts(masked.text.slice(verb.length), masked);
  const match = REPLACE.exec(masked.text);
  return match ? parseReplaceParts(masked.text.slice(match[0].length), match[1] !== undefined, masked) : undefined;
}

/** Parses "rename A to B", where both are single words or quoted. */
function parseRenameParts(body: string, masked: Masked): Parsed {
  // In "rename type to kind", the word "type" is the name itself.
  const parts = RENAME_PARTS.exec(body.replace(DETERMINERS, '').replace(NOUN, '')) ?? RENAME_PARTS.exec(body);
  if (!parts) return {unclear: 'I rename only what is said as: rename OLD to NEW, with "in FILE" or "in FOLDER/".'};
  const place = parseScope(parts[3]!, masked);
  return place ? createRequest(parts[1]!, parts[2]!, true, place, masked) : createUnclear(parts[3]!, masked);
}

/**
 * Parses "replace A with B", where both may have several words.
 * @param loose the verb may ask for something else, as "change the timeout to 30" does
 */
function parseReplaceParts(whole: string, loose: boolean, masked: Masked): Parsed {
  const determiners = DETERMINERS.exec(whole)?.[0] ?? '';
  const named = whole.slice(determiners.length);
  const bare = named.replace(NOUN, '');
  const [from, rest] = splitHalves(bare, masked) ?? splitHalves(whole, masked) ?? [];
  const help = loose ? undefined : {unclear: `I replace only texts that are given word for word. ${QUOTES_HELP}`};
  if (from === undefined || rest === undefined) return help;
  const isExact = masked.quoted(from) !== undefined;
  // "replace the loop with a map" is a description; "replace the word loop with map" is not.
  if (!isExact && named === bare && /\b(?:the|la|le)\s/i.test(determiners)) return help;
  const {to, place} = splitScope(rest, masked);
  const isText = masked.quoted(to) !== undefined || !/\s/.test(to);
  // A text without quotes ends at the word that begins the place.
  const isLiteral = place !== undefined && !/^\0/.test(to) && !DESCRIBED.test(to) && !MORE_WORK.test(to);
  if (to === '' || !(isText || isLiteral)) return help;
  // "change timeout to 30" means a value, not the name.
  if (loose && !isExact && (/\s/.test(from + to) || LITERAL.test(to))) return help;
  return createRequest(from, to, false, place ?? {files: [], folders: [], globs: []}, masked);
}

/** Returns undefined when no word like "with" stands between the texts, or when the split is ambiguous. */
function splitHalves(body: string, masked: Masked): readonly string[] | undefined {
  for (const between of BETWEEN) {
    const [, from, rest] = new RegExp(`^(.+?)${between}(.+)$`, 'iu').exec(body) ?? [];
    if (from === undefined || rest === undefined) continue;
    const isAmbiguous = masked.quoted(from) === undefined && new RegExp(between, 'iu').test(rest);
    return isAmbiguous ? undefined : [from.trim(), rest.trim()];
  }
  return undefined;
}

/** Splits the new text from the scope at the first "in" or similar word that only a scope follows. */
function splitScope(rest: string, masked: Masked): {to: string; place: RenameScope | undefined} {
  for (const {index} of `${rest} `.matchAll(PLACE_WORD)) {
    const place = parseScope(rest.slice(index), masked);
    if (index > 0 && place) return {to: rest.slice(0, index).trim(), place};
  }
  return {to: rest.replace(/[.。]$/u, '').trim(), place: undefined};
}

function createRequest(from: string, to: string, rename: boolean, place: RenameScope, masked: Masked): Parsed {
  const quoted = masked.quoted(from.trim());
  // Names of methods in Ruby may end with ? or !.
  const trim = (part: string) => (rename && !/\w[?!]$/.test(from) ? trimName(part) : part.trim());
  const old = quoted ?? trim(masked.plain(from));
  const now = masked.quoted(to.trim()) ?? trim(masked.plain(to));
  if (old === '' || old.length > 500 || (rename && now === '')) return {unclear: QUOTES_HELP};
  const isName = /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(old);
  return {from: old, to: now, rename, words: isName && (rename || quoted === undefined), ...place};
}

function createUnclear(rest: string, masked: Masked): Unclear {
  return {unclear: `I do not understand "${masked.plain(rest).trim()}". ${QUOTES_HELP}`};
}

function trimName(text: string): string {
  return text
    .trim()
    .replace(/[,;.!?。，]+$/, '')
    .replace(/^(\w+)\(\)$/, '$1');
}

/** Where a change is made. Everywhere when all lists are empty. */
interface RenameScope {
  readonly files: readonly string[];
  readonly folders: readonly string[];
  readonly globs: readonly string[];
}

/** Words that may stand between paths and have no meaning of their own. */
const FILLER = new Set(
  listWords(`in inside under within across throughout of from the this that my our all every each any whole entire and please only
  file files folder folders directory directories dir project codebase code base repo repository workspace everywhere here
  globally source sources
  dans sous le la les l tous toutes partout fichier fichiers dossier projet et ce
  в во всех всём всем файлах файле файлы папке проекте проект коде везде по и этом`),
);
const CJK_FILLER = /在|所有|全部|文件夹|文件|目录|项目|代码|中|里|的/gu;
/** A word after one of these, or before "folder", is the name of a folder. */
const LEADS = /^(in|inside|under|within|across|throughout|the|folder|directory|dans|в)$/iu;

/** Returns undefined when the text has other words, which are not understood. */
function parseScope(text: string, masked: Masked): RenameScope | undefined {
  const tokens = text
    .split(/[\s,;，、]+/u)
    .map((token) => token.replace(/[.!?。:]+$/u, ''))
    .filter((token) => token !== '');
  const files: string[] = [];
  const folders: string[] = [];
  const globs: string[] = [];
  for (const [index, whole] of tokens.entries()) {
    const quoted = masked.quoted(whole);
    const token = quoted ?? (looksLikePath(whole) ? whole : whole.replace(CJK_FILLER, ''));
    const next = tokens[index + 1]?.toLowerCase() ?? '';
    const kinds = /^(files?|code|sources?|modules?|scripts?|fichiers|файлах|файлы)$/u.test(next)
      ? toGlob(token)
      : undefined;
    if (token === '') continue;
    if (kinds !== undefined) globs.push(kinds);
    else if (quoted === undefined && /[*?]/.test(token)) globs.push(token);
    else if (looksLikeFile(token.replaceAll(' ', '_'))) files.push(token);
    else if (quoted !== undefined || looksLikePath(token)) folders.push(token.replace(/(.)\/$/, '$1'));
    else if (FILLER.has(token.toLowerCase())) continue;
    else if (isFolderName(token, tokens[index - 1], next, folders.length > 0)) folders.push(token);
    else return undefined;
  }
  return {files, folders, globs};
}

function isFolderName(token: string, before: string | undefined, next: string, follows: boolean): boolean {
  // In "in y in a.py", the first "in" belongs to the text.
  if (!/^[\w@.-]+$/.test(token) || /^(in|inside|under|within|dans)$/.test(next)) return false;
  if (/^(folder|directory|dir)$/.test(next) || (follows && /^and$/i.test(before ?? ''))) return true;
  return before !== undefined && LEADS.test(before);
}
