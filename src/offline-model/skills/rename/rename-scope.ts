/** Parses where a change is made: "in a.py and src/", "in all TypeScript files", "everywhere". */
import {getExtensions, getLanguageByExtension} from '../../../core/util/file-kinds.ts';
import {looksLikeFile, looksLikePath, type Masked} from '../../words.ts';

/** Where a change is made. Everywhere when all lists are empty. */
export interface RenameScope {
  readonly files: readonly string[];
  readonly folders: readonly string[];
  readonly globs: readonly string[];
}

/** Words that may stand between paths and have no meaning of their own. */
const FILLER = new Set(
  `in inside under within across throughout of from the this that my our all every each any whole entire and please only
  file files folder folders directory directories dir project codebase code base repo repository workspace everywhere here
  globally source sources
  dans sous le la les l tous toutes partout fichier fichiers dossier projet et ce
  в во всех всём всем файлах файле файлы папке проекте проект коде везде по и этом`
    .split(/\s+/)
    .filter((word) => word !== ''),
);
const CJK_FILLER = /在|所有|全部|文件夹|文件|目录|项目|代码|中|里|的/gu;
/** A word after one of these, or before "folder", is the name of a folder. */
const LEADS = /^(in|inside|under|within|across|throughout|the|folder|directory|dans|в)$/iu;

/** Returns undefined when the text has other words, which are not understood. */
export function parseScope(text: string, masked: Masked): RenameScope | undefined {
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

/** Returns the glob for "Python", ".py" or "py" before "files". */
function toGlob(token: string): string | undefined {
  const extension = token.replace(/^\./, '');
  if (token.startsWith('.') || getLanguageByExtension(extension) !== undefined)
    return /^\w+$/.test(extension) ? `*.${extension.toLowerCase()}` : undefined;
  const extensions = getExtensions(token);
  if (extensions.length === 0) return undefined;
  return extensions.length === 1 ? `*.${extensions[0]}` : `*.{${extensions.join(',')}}`;
}
