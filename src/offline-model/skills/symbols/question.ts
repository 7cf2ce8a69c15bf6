/**
 * Parses questions about symbols and files, in five languages: "where is X?", "who calls X?", "wie funktioniert X?".
 */
import {isCode} from '../../../core/util/file-kinds.ts';
import {
  escapeRegExp,
  findIdentifiers,
  findPaths,
  findQuoted,
  findUnaccounted,
  looksLikeFile,
  plainRequest,
  unquote,
} from '../../words.ts';

export type Want =
  | 'definition'
  | 'calls'
  | 'uses'
  | 'imports'
  | 'tests'
  | 'subclasses'
  | 'code'
  | 'what'
  | 'how'
  | 'outline'
  /** The imports of the file itself. */
  | 'includes'
  /** Every line that contains the subject. */
  | 'text';

export interface Question {
  readonly subjects: readonly string[];
  readonly want: Want;
  /** File or folder to search. */
  readonly scope: string | undefined;
}

const THINGS =
  '(?:files?|modules?|functions?|methods?|class(?:es)?|structs?|exceptions?|headers?|places?|code|types?|everything)';

/** Words for what code does with a thing, and for where it stores the thing. */
const HANDLED =
  'done|handled|computed|made|built|created|parsed|loaded|resolved|chosen|decided|processed|rendered|managed|cached';
const PLACED = 'stored|written|lives?|found|comes? from|set|made|created';

/** Words that ask for a use of a name: an English verb, passive and noun, and words of other languages. */
const RELATIONS: readonly (readonly [Want, string, string, string, string])[] = [
  [
    'tests',
    'covers?|tests?|exercises?',
    'tested|covered|testing',
    'tests?|specs?',
    '测试|тест|проверя|\\bgetestet|prüf|\\btestée?|\\bcouvr',
  ],
  [
    'subclasses',
    'extends?|inherits?(?: from)?|implements?|subclass(?:es)?|derives?(?: from)?',
    'sub[- ]?classed|extended|inherited|inheriting|derived',
    'sub[- ]?class(?:es)?|subtypes|children|implementors?|implementations|derived classes|kinds?|types? of',
    '继承|实现了|扩展|наслед|расширя|реализу|erben|erweitern|hérit|étend',
  ],
  [
    'imports',
    'imports?|importing|includes?|requires?|depends? on',
    'imported|included|required',
    'imports?|importers|depends?',
    '导入|импорт|\\bimport(?:e|ent|iert|ieren)(?!\\p{L})',
  ],
  [
    'calls',
    'calls?|calling|invokes?',
    'called|invoked|instantiated',
    'callers?|calls?|call sites?',
    '调用|вызыва|aufgerufen|\\bruf(?:t|en)\\b|appel|\\bllama',
  ],
  [
    'uses',
    'uses?|using|references?|mentions?|needs?|throws?|raises?|touch\\w*',
    'used|referenced|consumed|thrown|raised|still',
    'uses?|usages?|references?|occurrences?|breaks?|affected|unused',
    '用|применя|использу|\\bverwende|benutz|genutzt|nutz(?:t|en)|\\butilis',
  ],
];

const RELATION_FORMS = RELATIONS.map(([want, verb, passive]): readonly [Want, readonly string[]] => [
  want,
  [
    `(?:who|what|(?:what|which) ${THINGS}|(?:find|list|show)(?: me)?(?: all| the)* ${THINGS} (?:that|which)?) ?(?:${verb}) X`,
    `(?:where|how)(?: is| are|'s|’s) X (?:being )?(?:${passive})(?: from)?`,
    `(?:is|are) X (?:ever |still )?(?:${passive}) (?:anywhere|at all)`,
    // The path of a package: "is golang.org/x/sync used?"
    `(?:is|are) (?=\\S*[/-])X (?:ever |still )?(?:${passive})`,
  ],
]);

/** Forms of questions. Each form matches a whole request; `X` stands for the subject. The first match decides. */
const FORMS: readonly (readonly [Want, readonly string[]])[] = [
  [
    'subclasses',
    [
      '(?:(?:list|show|find|give|what are|which are)(?: me)?)?(?: all| the| direct)* ?(?:sub-?classes|subtypes|implementors|implementations|derived classes) of X',
    ],
  ],
  [
    'text',
    [
      '(?:find|show|list|search(?: for)?|grep(?: for)?|which|what)(?: me)?(?: all| the| every)* (?:lines?|places|files|code) (?:with|containing|mentioning|(?:that |which )?(?:contains?|mentions?|says?)) X',
    ],
  ],
  ...RELATION_FORMS,
  [
    'includes',
    [
      'what(?: (?:packages|modules|files|libraries))? (?:does|do) (?=\\S*/)X (?:imports?|includes?|requires?|depends? on)',
    ],
  ],
  [
    'outline',
    [
      "what(?: is|’s|'s| are) (?:defined|declared|exported)(?: in| by) X",
      'what does X (?:define|declare|contain|export)',
      '(?:show|list|give)?(?: me)?(?: the| all| an)* ?(?:outline|symbols|definitions|exports) (?:of|in) X',
      'outline X',
    ],
  ],
  [
    'code',
    [
      '(?:show|give|print|view|see|display)(?: me)?(?: the)? (?:code|body|source(?: code)?|implementation|text) (?:of|for) X',
      "(?:show|give|print|view|see|display)(?: me)?(?: the)? X(?:'s|’s)? (?:code|body|source(?: code)?|implementation|function|class|method|type)",
    ],
  ],
  [
    'how',
    [
      'how (?:does|do) X (?:work|function|operate)(?: here| in this project)?',
      `how(?: is| are) X (?:implemented|${HANDLED}|stored)`,
      '(?:explain|describe|show me)(?: to me)? how X (?:works?|functions?|is (?:implemented|done|handled))',
      '(?:walk me through|trace|follow|what happens (?:when|if|in|during)) X',
    ],
  ],
  [
    'definition',
    [
      '(?:find|show|give|get|locate|list)(?: me)?(?: all| the)* definitions? (?:of|for) X',
      '(?:in |tell me (?:in )?)?(?:which|what) (?:file|module|place|line|folder)s? (?:is|are|defines?|declares?|contains?|has|holds?|implements?) X(?: (?:defined|declared|implemented|located|in))?',
      `(?:tell me |show me |find (?:out )?)?where(?:'s|’s| is| are| was| were| can i find| do i find| does| do| the) X(?: (?:is|are|gets?|being))?(?: (?:defined|declared|implemented|located|${PLACED}))?`,
      'is there (?:an?|any|the)? ?(?:file (?:called|named)? ?)?([\\w./-]+\\.\\w+|[A-Z][\\w.-]*file|[A-Z]{4,})(?: file)?',
    ],
  ],
  [
    'text',
    [
      '(?:find|locate|look for|look up|search(?: for)?|grep(?: for)?|trouver?|chercher?|finde|suche(?: nach)?) (?:where )?X(?: (?:is|are) (?:defined|declared|implemented|located))?',
    ],
  ],
  [
    'what',
    [
      "(?:what(?:'s|’s| is| are| does| do)|explain|describe|tell me about|define) X(?: (?:do|does|mean|about|(?:used )?for))?",
      "(?:qu'est-ce que(?: c'est que)?|que fait|c'est quoi|explique(?:-moi)?|was (?:ist|macht|tut)|erkläre?(?: mir)?) X",
    ],
  ],
];

const COMPILED = FORMS.flatMap(([want, forms]) =>
  forms.map((form) => {
    const source = form.replaceAll(' ', '\\s+').replaceAll('\\s+?', '\\s*').replace(/X/, '(.+?)');
    return [new RegExp(`^(?:${source})[\\s?.!？。！]*$`, 'iu'), want] as const;
  }),
);

/** Matches the start of a further question about the same thing. */
const LINK = /^(?:(?:and|so|then|but|ok(?:ay)?|et|alors|und|dann|а|и|ну)[,\s]+|(?:那么?|还有|然后)[，,\s]*)/iu;
/** Words for the kind of thing that a name stands for. */
const KIND =
  '(?:function|class|method|constant|const|variable|type|interface|struct|enum|symbol|component|hook|module|macro|trait|file|folder|package|field|error|exception|fonction|classe|méthode|funktion|klasse|methode|datei|(?:функци|класс|метод|переменн|константн?|интерфейс|структур|файл)\\p{L}*|кода?|函数|类型?|结构体|接口|常量|变量|方法)';
const ARTICLES = new RegExp(
  `^(?:the|a|an|all|every|any|our|my|le|la|les|l'|un|une|der|die|das|den|eine?|that|definition of|${KIND})\\s+`,
  'iu',
);
const KINDS = new RegExp(
  `\\s+(?:${KIND}|library|logic|(?:is |are )?(?:defined|used))$|\\s*(?:函数|类型?|结构体|接口|常量|变量|方法)$`,
  'iu',
);
const HERE =
  /\s+(?:(?:in|from|within|of|dans|в)\s+)?(?:this|the|our|my|ce|diesem|этом|это[тй])\s+(?:project|code ?base|repo(?:sitory)?|code|workspace|folder|projet|projekt|проекте|коде)$|\s+(?:here|ici|hier|здесь)$/iu;
const PRONOUNS =
  /^(?:it|its|that|this|they|them|their|those|il|elle|le|la|son|sa|ça|es|er|sie|ihn|ihm|dies|das|seinen|ihren|dessen|它|他|她|её|ее|его|он|она|оно|это|них?|ним)$/iu;

/** "A function called parse" names it, and asks for no calls. */
const CALLED = new RegExp(`\\b(${KIND}s?) (?:called|named) (?=\\S)`, 'iu');
const IS_THERE = new RegExp(`^(?:is|are) there (?:an?|any) ${KIND}s? (?:called|named) `, 'iu');

/** Returns undefined when the text asks for something else, or when its subject is not a name. */
export function parseQuestion(text: string, earlier: readonly string[]): Question | undefined {
  const line = text.trim().replace(LINK, '').replace(IS_THERE, 'where is ').replace(CALLED, '$1 ');
  if (line.includes('\n') || line.length > 300) return undefined;
  for (const [form, want] of COMPILED) {
    const subject = form
      .exec(line)
      ?.slice(1)
      .find((group) => group !== undefined);
    if (subject === undefined) continue;
    const {phrase, scope} = splitScope(subject.replace(HERE, ''));
    const subjects = parseNames(phrase, earlier);
    if (subjects.length === 0) return parseLoosely(line, want, earlier);
    // A thing that is stored or handled is seldom a name in the code.
    if (subjects.every((one) => isThing(one, want, line))) return undefined;
    // A module is used by what imports it.
    const isModule = want === 'uses' && /\b(?:module|package|library)[\s?.!]*$/i.test(line);
    return {subjects: subjects.slice(0, 3), want: isModule ? 'imports' : want, scope};
  }
  return parseLoosely(line, 'what', earlier);
}

/** Parses a question that fits no form, by its single words. @param otherwise the wish when no word names one */
function parseLoosely(line: string, otherwise: Want, earlier: readonly string[]): Question | undefined {
  const {phrase, scope} = splitScope(line);
  const text = findQuoted(line).find((one) => /\S\s+\S/.test(one) && !looksLikeFile(one.replaceAll(' ', '_')));
  if (text !== undefined) return {subjects: [text], want: 'text', scope};
  const file = findPaths(line).find(looksLikeFile);
  // In Russian and Chinese, words of Latin letters are names.
  const latin = /[\p{Script=Han}\p{Script=Cyrillic}]/u.test(phrase)
    ? phrase.replace(file ?? '', ' ').match(/[A-Za-z_$][\w$.]{2,}/g)
    : null;
  const shaped = findIdentifiers(phrase);
  const pointed = PRONOUN.test(phrase) ? findSubject(earlier) : [];
  const named = shaped.length > 0 ? shaped.slice(0, 3) : (latin ?? pointed).slice(0, 1);
  const rest = named.reduce((left, name) => left.replace(name, ' '), phrase.replace(/(\w)(?:::|->|#)(?=\w)/g, '$1.'));
  const [form, want] = WORDS.find(([form]) => form.test(rest)) ?? [/(?!)/, otherwise];
  if (named.length === 0 && file !== undefined) return parseFileQuestion(line, file);
  // When other words are left, the question is not understood, and an answer about the name would be wrong.
  const others = findUnaccounted(rest, [
    // "Which tests use X?"
    ...(want === 'tests' ? WORDS.slice(0, 5).map(([one]) => one) : [form]),
    new RegExp(`\\b${THINGS}\\b`),
    KIND_WORDS,
    PRONOUN,
    ...(file === undefined ? [] : [new RegExp(escapeRegExp(file))]),
  ]);
  // A single word that is left is the name.
  const [lower, another] = others;
  const word = lower && new RegExp(escapeRegExp(lower), 'i').exec(phrase)?.[0];
  const isWord =
    named.length === 0 &&
    another === undefined &&
    form.source !== '(?!)' &&
    !/^(?:how|show|print|display)\b/i.test(line);
  const subjects =
    isWord && word && isName(word) && !isThing(word, want, line) ? [word] : others.length > 0 ? [] : named;
  // "What does X call?" asks for the calls in X, and not for the calls of X.
  const isActive = /\b(?:does|do)\b(?! (?:we|you|they|i)\b)/i.test(rest) && RELATED.test(want);
  const meant = !isActive ? want : want === 'calls' ? 'how' : want === 'subclasses' ? 'definition' : undefined;
  return subjects.length === 0 || meant === undefined ? undefined : {subjects, want: meant, scope: scope ?? file};
}

/** Matches the wishes for uses of a name. */
export const RELATED = /^(?:calls|uses|imports|tests|subclasses)$/;
/** Words beside a name that do not change the question. */
const KIND_WORDS = new RegExp(
  `(?<!\\p{L})(?:${KIND}|text|defined|code|just|auf|chang(?:e|ing)|remov(?:e|ing)|if)s?(?![\\p{L}\\d_])|函数|类型?|结构体|接口|常量|变量|方法`,
  'u',
);
const PRONOUN =
  /它|他|(?<!\p{L})(?:its?|ça|elle|son|sa|es|seine?n?|ihn|ihren?|dessen|его|её|ее|он|она|оно|это|их)(?!\p{L})/iu;

/** For questions that fit no form: patterns of words, and the wish that each expresses. */
const WORDS: readonly (readonly [RegExp, Want])[] = [
  ...RELATIONS.map(([want, verb, passive, noun, others]): readonly [RegExp, Want] => [
    new RegExp(`\\b(?:${verb}|${passive}|${noun})\\b|${others}`, 'iu'),
    want,
  ]),
  [/^(?:show|print|display|zeige?|montre|affiche)\b|\bshow it\b|покажи|^(?:显示|查看|看看|给我看)|代码|源码/iu, 'code'],
  [/^(?:how|wie|comment)\b|怎么|如何|怎样|как (?:работа|устро)|\b(?:funktioniert|fonctionne|marche)\b/iu, 'how'],
  [
    /\bwhere\b|\bwhich file\b|哪|где|(?<!\p{L})(?:wo|où)(?!\p{L})|定义|определ[её]н|d[eé]fini|declaration|location/iu,
    'definition',
  ],
];

const FILE_WORDS: readonly (readonly [RegExp, Want])[] = [
  [/\bdoes\b.*\b(?:imports?|includes?|requires?|depends? on|use)\b/i, 'includes'],
  [/\b(?:imports?|requires?|depends? on|uses?|using)\b|导入|импорт|\bimport(?:iert|ieren|e|ent)\b/i, 'imports'],
  [
    /\b(?:functions?|class(?:es)?|methods?|modules?|structs?|types?|defin\w+|export\w*|contain\w*|everything|symbols?|in)\b|定义|определ[её]н|défin|definiert/i,
    'outline',
  ],
];

function parseFileQuestion(line: string, file: string): Question | undefined {
  const rest = line.replace(file, ' ');
  const [form, want] = FILE_WORDS.find(([form]) => form.test(rest)) ?? [];
  // A question for only some parts of a file is another question.
  return form === undefined ||
    findUnaccounted(rest, [form, new RegExp(`\\b${THINGS}\\b`), /\bheader/]).length > 0 ||
    (want === 'outline' &&
      ((/^what(?:'s| is) in\b/i.test(line) && !isCode(file)) ||
        /^(?:read|show|open|cat|print|run|review|plan|how|summari)| (?:that|whose|without) /i.test(line)))
    ? undefined
    : {subjects: [file], want: want!, scope: undefined};
}

/** Splits "parse in src/": the part after "in" is a place when it looks like a path. */
function splitScope(subject: string): {phrase: string; scope: string | undefined} {
  const match = /^(.*\S)\s+(?:in|under|inside|within|dans|sous|unter|в)\s+(\S+?)[\s?.!]*$/iu.exec(subject);
  const place = match && unquote(match[2]!);
  const isPlace = place && (findPaths(place).length > 0 || /^(?:src|lib|app|tests?|core)$/.test(place));
  return isPlace ? {phrase: match[1]!, scope: place.replace(/(.)\/$/, '$1')} : {phrase: subject, scope: undefined};
}

function parseNames(phrase: string, earlier: readonly string[]): readonly string[] {
  const quoted = findQuoted(phrase).map(trimSubject).filter(isName);
  if (quoted.length > 0) return quoted;
  const names = phrase.split(/\s*,\s*|\s+(?:and|or|et|ou|und|oder|и)\s+|和|、/u).map(trimSubject);
  if (names.every((name) => PRONOUNS.test(name))) return findSubject(earlier);
  return names.every(isName) ? names : [];
}

/** Says whether a plain word means a thing in the world that the code handles, and not a name in the code. */
function isThing(word: string, want: Want, line: string): boolean {
  if (!/^[a-z]+$/.test(word) || findQuoted(line).length > 0) return false;
  if (/\bfile implements\b/i.test(line)) return true;
  // "What is autoloaded in a.rb?"
  if (want === 'what' && /ed$/.test(word)) return new RegExp(`\\b${word} in `).test(line);
  if (want === 'tests') return new RegExp(`\\b(?:the|our) ${word}\\b`).test(line);
  return /^(?:definition|how)$/.test(want) && (DONE.test(line) || (/\bare\b/.test(line) && word.endsWith('s')));
}

const DONE = new RegExp(`\\b(?:${HANDLED}|${PLACED})\\b`);

function trimSubject(phrase: string): string {
  let name = unquote(phrase);
  for (let last = ''; name !== last; ) {
    last = name;
    name = unquote(name.replace(ARTICLES, '').replace(KINDS, ''))
      .replace(/\(.*\)$/, '')
      .replace(/(\w)(?:'s|’s)$/, '$1');
  }
  return name;
}

function isName(name: string): boolean {
  return (
    /^[\p{L}_$#@][\p{L}\p{N}_$.:#/\\-]*$/u.test(name) &&
    !PRONOUNS.test(name) &&
    !/^(?:not?|nor|never|without|here|there|going|wrong|unused|dead|circular|cyclic|up|everything|nothing|something|biggest|largest|longest|smallest|shortest|oldest|newest)$/i.test(
      name,
    )
  );
}

/** Resolves "it" to the subject of the last request that named one. */
function findSubject(earlier: readonly string[]): readonly string[] {
  for (const [index, text] of [...earlier.entries()].toReversed()) {
    const request = plainRequest(text);
    const found = parseQuestion(request, earlier.slice(0, index))?.subjects ?? findIdentifiers(request).slice(0, 1);
    if (found.length > 0) return found;
    const [file] = findPaths(request).filter(looksLikeFile);
    if (file !== undefined) return [file];
  }
  return [];
}
