/** Understands "rename A to B in FILE" and "replace A with B in src/", in a few languages. */
import {globsIn, looksLikeFile, looksLikePath, pathsIn, unquote} from '../words.ts';

export interface RenameRequest {
  readonly from: string;
  readonly to: string;
  /** Said as "rename": whole words only. */
  readonly rename: boolean;
  /** Whole words, unless none of the matches is one. */
  readonly words: boolean;
  /** The files that were named; empty: to be searched. */
  readonly files: readonly string[];
  readonly scope: string | undefined;
  readonly glob: string | undefined;
}

const TERM = '(`[^`]+`|"[^"]*"|“[^”]*”|«[^»]*»|「[^」]*」|\'[^\'\\n]*\'|\\S+?)';
const KIND =
  '(?:(?:all|every|each|the|any|any occurrences? of|occurrences? of|uses of|references to|la|le|les|toutes?|tous|все)\\s+)*(?:(?:function|class|method|variable|constant|const|type|interface|identifier|symbol|property|field|parameter|string|text|word|name|file|fonction|variable|функцию|класс|переменную|函数|变量|文件)\\s+)?';
const END = '(?=$|[\\s,;.!?。，])';

const RENAME = [
  new RegExp(
    `^(?:refactor[:,]?\\s+)?(?:rename|renomme[rz]?|переименуй|переименовать|重命名)\\s+${KIND}${TERM}\\s*(?:to|into|as|en|vers|в|на|->|→|=>|为|成)\\s+${TERM}${END}`,
    'iu',
  ),
  /^(?:(?:在|将)\s*(?:\S+?)\s*(?:中|里)[的,，]?\s*)?(?:把|将)?\s*(.+?)\s*(?:重命名|改名)(?:为|成)\s*([^\s，。,]+)/u,
];
const REPLACE = [
  new RegExp(
    `^(?:replace|substitute|swap|remplace[rz]?|замени|заменить|替换)\\s+${KIND}${TERM}\\s*(?:with|by|for|to|par|на|为|成|->|→|=>)\\s+${TERM}${END}`,
    'iu',
  ),
  new RegExp(`^change\\s+${KIND}${TERM}\\s*(?:to|into|->|→|=>)\\s+${TERM}${END}`, 'iu'),
  /^(?:在\s*(?:\S+?)\s*(?:中|里)[,，]?\s*)?(?:把|将)\s*(.+?)\s*(?:替换|换|改)(?:为|成)\s*([^\s，。,]+)/u,
];
const FILE_LIST = /^(?:your\s+|these\s+|the\s+)?files?(?:\s*\([^)\n]*\))?\s*:[ \t]*(.*(?:\n[ \t]*[-*•\d].*)*)/im;

export function parseRename(text: string): RenameRequest | undefined {
  const list = FILE_LIST.exec(text);
  const files = list ? pathsIn(list[1]!.replace(/^[ \t]*[-*•][ \t]+/gm, ' ').replaceAll(',', ' ')) : [];
  const words = (list ? text.replace(list[0], '') : text)
    .trim()
    .split('\n')
    .map((line) => line.trim());
  for (const line of words) {
    const request = parseLine(line);
    if (request) return files.length > 0 ? {...request, files, scope: undefined, glob: undefined} : request;
  }
  return undefined;
}

function parseLine(line: string): RenameRequest | undefined {
  for (const [forms, rename] of [
    [RENAME, true],
    [REPLACE, false],
  ] as const) {
    for (const form of forms) {
      const match = form.exec(line);
      if (!match) continue;
      const from = term(match[1]!);
      const to = term(match[2]!);
      if (from === '' || from.length > 500) return undefined;
      const rest =
        line.slice(match[0].length) +
        (/^(?:在|将)/u.test(line) ? ` ${/^(?:在|将)\s*(\S+?)\s*(?:中|里)/u.exec(line)?.[1] ?? ''}` : '');
      const isName = /^[\p{L}_$][\p{L}\p{N}_$]*$/u;
      return {from, to, rename, words: isName.test(from) && (rename || !isQuotedTerm(match[1]!)), ...placeIn(rest)};
    }
  }
  return undefined;
}

function isQuotedTerm(text: string): boolean {
  return /^[`"“«「']/.test(text.trim());
}

function term(text: string): string {
  return isQuotedTerm(text)
    ? unquote(text)
    : text
        .trim()
        .replace(/[,;.!?。，]+$/, '')
        .replace(/^(\w+)\(\)$/, '$1');
}

/** What follows the names: files, a folder, a pattern, or nothing, which means everywhere. */
function placeIn(rest: string): Pick<RenameRequest, 'files' | 'scope' | 'glob'> {
  const paths = pathsIn(rest);
  const files = paths.filter((path) => looksLikeFile(path) && !path.endsWith('/'));
  const folder = paths.find((path) => !files.includes(path));
  const named =
    /\b(?:in|inside|under|within|across|throughout|dans)\s+(?:the\s+)?`?([\w@.-]+)`?(?:\s+(?:folder|directory|dir))?[\s.!?]*$/i.exec(
      rest,
    )?.[1];
  const bare =
    named !== undefined && !/^(files?|project|code|codebase|repo|repository|everywhere|it|here|all)$/i.test(named)
      ? named
      : undefined;
  if (files.length > 0) return {files, scope: undefined, glob: undefined};
  if (bare !== undefined && folder === undefined && /^[A-Z]\w+$/.test(bare) && looksLikePath(bare))
    return {files: [bare], scope: undefined, glob: undefined};
  return {files: [], scope: (folder ?? bare)?.replace(/(.)\/$/, '$1'), glob: globsIn(rest)[0]};
}
