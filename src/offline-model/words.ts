/** Finds names, paths, quoted texts and keywords in a user's text. */
import {getExtensions, getLanguage, getLanguageByExtension} from '../core/util/file-kinds.ts';
import {listWords} from '../core/util/text.ts';

const QUOTED = /`([^`\n]+)`|"([^"\n]*)"|“([^”\n]*)”|«\s*([^»\n]*?)\s*»|「([^」\n]*)」|(?<![\w])'([^'\n]+)'(?!\w)/g;

const KNOWN_FILES =
  /^(README|LICENSE|CHANGELOG|CONTRIBUTING|COPYING|AUTHORS|NEWS|HISTORY|INSTALL|AGENTS|CLAUDE|Makefile|Dockerfile|Gemfile|Rakefile|Procfile|Justfile)(\.\w+)?$/;
const OTHER_EXTENSIONS =
  /\.(txt|lock|cfg|ini|env|xml|csv|tsv|log|conf|snap|proto|graphql|gradle|properties|editorconfig|gitignore|patch|diff|ipynb|rst|svg|png|jpg)$/i;

/** Words of questions in five languages that name nothing. */
const GRAMMAR = listWords(
  `a an the this that these those it its it's they them their there here is are was were be been being am do does did
  done has have had having i me my we us our you your who whom what what's which where where's when how how's and or of
  at by for with from to in on into about as any all every each some one ones please tell show give get find see look
  know want need needs like let can could will would may used use uses using currently exactly existing really also just
  now actually so then project repo repository codebase code file files many le la les l un une des du de d et est sont
  ce cet cette ces c'est dans pour avec sur que qui quoi quel quelle quels quelles comment où il elle y t est-ce
  qu'est-ce peut je moi mon notre projet dépôt montre donne trouve se fichiers der die das den dem ein eine einen wo wer
  wie welche welcher welches welchen ist sind wird werden hat haben gibt es ich man wir dieses diesem dieser diese
  projekt hier mir zeige bitte kann im von zu und mit für dateien и в на с по что как где это для из к от у же ли мне
  какие какая какой какую какое есть кто этот этого этом эта проект проекта проекте здесь покажи мы я его её можно файлы
  most y-a-t-il a-t-il quién quien dónde donde está viele welch doesn doesnt don dont isn isnt aren arent can't cant cannot won wont didn didnt`,
);

/** Words that never count as keywords. */
const STOP_WORDS = new Set([
  ...GRAMMAR,
  ...listWords(`doing he she whose why but if else against between through during before after above below up down out off over under
  again further once both few more other such no nor not only own same than too very should shall might must explain
  describe understand help make work works working function functions class classes method methods module modules line
  lines thing things way part parts something someone anything stuff logic implementation implemented handled handle happens
  happen defined happening new add adding implement create build write change update fix refactor improve plan design
  support feature option steps step review check report return pourquoi ou не за о`),
]);

const POLITE =
  /^\s*(task:\s+|(hi|hello|hey)[,!.]?\s+(?=\w+\s)|(ok|okay|now|so|and|then|well)[,:]?\s+|please[,:]?\s+|(can|could|would|will) you( please)?\s+|i('d| would) like (you )?to\s+|i (want|need) (you )?to\s+|let'?s\s+|(peux|pouvez|pourrais)[- ](tu|vous)\s+|s'il (te|vous) pla[iî]t[,:]?\s+|пожалуйста[,:]?\s+|请(你)?(帮我)?|帮我)/iu;

/** Returns the request without polite phrases at its start. */
export function plainRequest(text: string): string {
  let plain = text.trim();
  for (let rounds = 0; rounds < 4 && POLITE.test(plain); rounds++) plain = plain.replace(POLITE, '');
  return plain.trim().replace(/^(what|where|who|how)s\b/i, "$1's");
}

export function findQuoted(text: string): readonly string[] {
  return [...text.matchAll(QUOTED)].map((match) => match.slice(1).find((part) => part !== undefined) ?? '');
}

/** Removes quotes around the text, or else punctuation at its end. */
export function unquote(text: string): string {
  const trimmed = text.trim();
  const whole = [...trimmed.matchAll(QUOTED)][0];
  if (whole && whole[0].length === trimmed.length) return whole.slice(1).find((part) => part !== undefined) ?? '';
  return trimmed.replace(/[\s.,;:!?？。，]+$/, '');
}

/** A text whose quoted parts are replaced by placeholders without white space, so that patterns match only the rest. */
export interface Masked {
  readonly text: string;
  /** Returns the text within the quotes when the piece is exactly one quoted text. */
  quoted(piece: string): string | undefined;
  /** Replaces placeholders in the piece by the original texts. */
  plain(piece: string): string;
}

export function maskQuoted(text: string): Masked {
  const originals: {readonly whole: string; readonly inner: string}[] = [];
  const masked = text.replaceAll('\0', '').replace(QUOTED, (whole: string, ...groups: unknown[]) => {
    const inner = groups.slice(0, 6).find((part): part is string => typeof part === 'string') ?? '';
    return `\0${originals.push({whole, inner}) - 1}\0`;
  });
  return {
    text: masked,
    quoted: (piece) => originals[Number(/^\0(\d+)\0$/.exec(piece.trim())?.[1] ?? -1)]?.inner,
    plain: (piece) => piece.replace(/\0(\d+)\0/g, (_, index) => originals[Number(index)]!.whole),
  };
}

/** Finds paths of files or folders, in order, each once. */
export function findPaths(text: string): readonly string[] {
  return [...new Set(splitTokens(text).filter(looksLikePath))];
}

/** Finds globs such as `*.ts`. */
export function findGlobs(text: string): readonly string[] {
  return splitTokens(text).filter(
    (token) => /[*]/.test(token) && /^[\w@./*?{},-]+$/.test(token) && /[\w.]/.test(token),
  );
}

/** Returns the glob for the files of "Python", ".py" or "py". */
export function toGlob(word: string): string | undefined {
  const isExtension = /^\.\w+$/.test(word) || (/^[a-z]\w*$/.test(word) && getLanguageByExtension(word));
  const [first, ...others] = isExtension ? [word.replace('.', '').toLowerCase()] : getExtensions(word);
  return others.length > 0 ? `*.{${[first, ...others].join()}}` : first && `*.${first}`;
}

export function looksLikePath(token: string): boolean {
  if (/^\w+:\/\//.test(token) || /[*<>|"'`$(){}=\\]/.test(token) || !/[\p{L}\p{N}_]/u.test(token)) return false;
  if (KNOWN_FILES.test(token)) return true;
  if (looksLikeFile(token)) return true;
  if (/^(\.{0,2}\/|~\/)/.test(token)) return true;
  return /^[\w@.-]+(\/[\w@.+-]+)*\/[\w@.+-]*$/.test(token) && !/^(and\/or|he\/she|i\/o|n\/a|w\/o)$/i.test(token);
}

export function looksLikeFile(token: string): boolean {
  if (/\s/.test(token) || /^\.?\d+(\.\d+)+$/.test(token)) return false;
  const name = token.replace(/^.*\//, '');
  return (
    KNOWN_FILES.test(name) ||
    (/^[^.].*\.\w+$/.test(name) && getLanguage(name) !== undefined) ||
    OTHER_EXTENSIONS.test(name)
  );
}

/** Finds identifiers: camelCase, PascalCase, snake_case, `call()`, and single words in quotes or backticks. */
export function findIdentifiers(text: string): readonly string[] {
  const quoted = findQuoted(text.replace(/(\w)(?:::|->|#)(?=\w)/g, '$1.'))
    .map((one) => one.replace(/\(.*\)$/, ''))
    .filter((one) => /^[\w$.:#-]{2,60}$/.test(one) && !looksLikePath(one));
  const bare = splitTokens(text.replace(/(\w)(?:::|->|#)(?=\w)/g, '$1.')).flatMap((token) => {
    const name = token.replace(/\(.*$/, '');
    const shaped =
      /[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}|[A-Za-z0-9]_[A-Za-z0-9]|^[A-Za-z_]\w*\.[A-Za-z_]\w+$|^[A-Z]{2,}_|^\$\w/.test(
        name,
      ) || /^[\w$]+\(.*\)?$/.test(token);
    return shaped && /^[\w$.]{2,60}$/.test(name) && !looksLikePath(name) ? [name] : [];
  });
  return [...new Set([...quoted, ...bare])];
}

/** Finds up to eight words that the text is about, identifiers first. */
export function findKeywords(text: string): readonly string[] {
  const bare = text.replace(/```[\s\S]*?```/g, ' ');
  const paths = new Set(findPaths(bare));
  const words = splitTokens(bare)
    .filter((token) => !paths.has(token))
    .flatMap((token) => token.split(/[^\p{L}\p{N}_$-]+/u))
    .map((word) => word.replace(/^[-_]+|[-_]+$/g, ''))
    .filter((word) => word.length > 2 && !STOP_WORDS.has(word.toLowerCase()) && !/^\d+$/.test(word));
  const seen = new Set<string>();
  return [...findIdentifiers(bare), ...words]
    .filter((word) => !seen.has(word.toLowerCase()) && seen.add(word.toLowerCase()))
    .slice(0, 8);
}

/** Words of questions that name nothing themselves, and words for the project as a whole. */
const FRAME = new Set([
  ...GRAMMAR,
  ...listWords(`say says needed list ok okay project's projects workspace program software app application library package folder thing things stuff
  named called kind kinds sort`),
]);
const FRAME_HAN =
  /请|帮我|谁|这个|那个|项目|代码库|仓库|代码|工程|文件|什么|哪些|哪个|哪里|怎么|如何|怎样|一下|看看|多少|所有|全部|[是的了吗呢在被有用我你给它里中本]/gu;

/**
 * Returns the words of a question that the skill does not understand. If there are any, an answer would be to another
 * question.
 * @param accounted match the understood words of the question; an ending may follow
 * @param project its name, which may stand for "this project"
 */
export function findUnaccounted(text: string, accounted: readonly RegExp[], project = ''): readonly string[] {
  const rest = accounted.reduce(
    (left, {source}) => left.replace(new RegExp(`(?:${source})(?:(?!\\p{Script=Han})\\p{L})*`, 'giu'), ' '),
    text.replace(/[’']s\b/g, ''),
  );
  const own = project.toLowerCase();
  return splitTokens(rest.replace(FRAME_HAN, ' '))
    .flatMap((token) => token.toLowerCase().split(/[^\p{L}\p{N}_$+#.-]+/u))
    .map((word) => word.replace(/^[-.]+|[-.]+$/g, ''))
    .filter((word) => word !== '' && word !== own && !FRAME.has(word));
}

/** Removes the ending of an English word, so that `retries` finds `retry`. Identifiers stay unchanged. */
export function getStem(word: string): string {
  if (!/^[a-z-]+$/i.test(word) || /[a-z][A-Z](?!$)/.test(word) || word.length < 4) return word;
  if (word.length === 4) return word.replace(/(?<!s)s$/, '');
  return word
    .replace(/ies$/i, '')
    .replace(/(ations?|ing|ed|es|s|y|e)$/i, '')
    .replace(/-+$/, '');
}

function splitTokens(text: string): readonly string[] {
  return text
    .split(/[\s"'`“”«»「」，。：；？！、]+/u)
    .map((token) =>
      token.replace(/^[([<{,;:]+|[\])>},;:!?.]+$/g, (edge) =>
        edge.includes('(') || edge === '()' ? '' : edge === ')' ? ')' : '',
      ),
    )
    .map((token) => (token.includes('(') ? token : token.replace(/\)+$/, '')))
    .filter((token) => token !== '');
}

export function isComment(line: string): boolean {
  return /^\s*(\/\/|\/\*|\*(\s|\/|$)|["']{3}|--\s|<!--|;;|#(?!\s*(define|include|if|pragma|\[|!\[)|\w+\s*[(=;]))/.test(
    line,
  );
}

/** Returns whether the position in the line is inside a string, or in a comment at the end of the line. */
export function isQuoted(line: string, at: number): boolean {
  let quote = '';
  for (let index = 0; index < at; index++) {
    const char = line[index]!;
    if (char === '\\') index++;
    else if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === "'" || char === '"' || char === '`') quote = char;
    else if (char === '/' && line[index + 1] === '/' && line[index - 1] !== ':') return true;
  }
  return quote !== '' && line.indexOf(quote, at) >= 0;
}

export function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
