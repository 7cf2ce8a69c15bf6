/** Parses "where is X defined?", "who calls X", "what is X", "find X", in several languages. */
import {findIdentifiers, findPaths, findQuoted, looksLikeFile, plainRequest, unquote} from '../words.ts';

/** `text`: every line that contains the subject. */
type Want = 'definition' | 'uses' | 'imports' | 'what' | 'text';

export interface FindRequest {
  readonly subjects: readonly string[];
  readonly want: Want;
  readonly scope: string | undefined;
}

/** The first form that matches decides. Its first group is the subject. */
const FORMS: readonly (readonly [RegExp, Want])[] = [
  [
    /^(?:find|show|list|search(?: for)?|grep(?: for)?|which|what)(?: me)?(?: all| the| every)*\s+(?:lines?|places|files|code)\s+(?:with|containing|(?:that |which )?(?:contains?|mentions?|says?)|mentioning)\s+(.+)/i,
    'text',
  ],
  [
    /^(?:where(?:'s| is| are| was| were)?\s+(.+?)\s+(?:being\s+)?imported\b|where do (?:we|you|they|i)\s+import\s+(.+)|(?:who|what|which (?:files?|modules?|tests?|places?))\s+imports?\s+(.+)|(?:find|show|list)(?: me)?(?: all| the| every)*\s+imports?\s+of\s+(.+))/i,
    'imports',
  ],
  [
    /^where(?:'s| is| are| was| were| do(?:es)? (?:we|i|you|it|they)?)?\s+(.+?)\s+(?:being\s+)?(?:used|called|referenced|imported|invoked|consumed)\b/i,
    'uses',
  ],
  [/^where do (?:we|you|they|i)\s+(?:use|call|import|reference|invoke)\s+(.+)/i, 'uses'],
  [
    /^(?:who|what|which (?:files?|functions?|classes|modules?|tests?|places?|code))\s+(?:calls?|uses?|imports?|references?|depends? on|invokes?)\s+(.+)/i,
    'uses',
  ],
  [
    /^(?:find|show|list|get|locate|search for)(?: me)?(?: all| the| every| any)*\s+(?:uses?|usages?|callers?|references?|calls?|call sites?|occurrences?)\s+(?:of|to|for)\s+(.+)/i,
    'uses',
  ],
  [
    /^(?:(?:find|show|go to|get|give|locate)(?: me)?\s+)?(?:the )?(?:definition|declaration|implementation|location)s?\s+of\s+(.+)/i,
    'definition',
  ],
  [
    /^(?:in |tell me (?:in )?)?(?:which|what) (?:file|module|place|line)s?\s+(?:is|are|defines?|declares?|contains?|has|holds?|implements?)\s+(.+?)(?:\s+(?:defined|declared|implemented|located|in))?[\s?.!]*$/i,
    'definition',
  ],
  [
    /^(?:tell me |show me |find (?:out )?)?where(?:'s| is| are| was| were| can i find| do i find| does| do| the)?\s+(.+?)(?:\s+(?:is|are|gets?|being))?(?:\s+(?:defined|declared|implemented|located|stored|written|live|lives|found|come from|comes from|happen|happens))?(?=\s+in\s|[\s?.!]*$)/i,
    'definition',
  ],
  [
    /^(?:show|give|print|view|open|see)(?: me)?\s+(?:the\s+)?(?:(?:function|class|method|struct|enum|trait|interface|type|constant|macro)\s+([\w$.:]+)|([\w$.:]+)\s+(?:function|class|method|struct|enum|trait|interface|type|constant|macro))[\s?.!]*$/i,
    'what',
  ],
  [
    /^is there (?:an?|any|the)?\s*(?:file\s+(?:called|named)?\s*)?([\w./-]+\.\w+|[A-Z][\w.-]*file|[A-Z]{4,})(?:\s+file)?[\s?.!]*$/,
    'definition',
  ],
  [
    /^(?:find|locate|look for|look up|search(?: for)?|grep(?: for)?)\s+(?:where\s+)?(.+?)(?:\s+(?:is|are)\s+(?:defined|declared|implemented|located))?[\s?.!]*$/i,
    'text',
  ],
  [
    /^(?:what(?:'s| is| are| does| do)|explain|describe|tell me about|define)\s+(.+?)(?:\s+(?:do|does|mean|for|about))?[\s?.!]*$/i,
    'what',
  ],
  [/^(.+?)\s*(?:是)?(?:在哪里|在哪儿|在哪)(?:定义|声明|实现)?[的?？。\s]*$/u, 'definition'],
  [/^(?:哪里|在哪里)(?:定义|声明|实现)了?\s*(.+?)[?？。\s]*$/u, 'definition'],
  [/^(?:谁|哪里|哪些文件)(?:调用|使用|用到)了?\s*(.+?)[?？。\s]*$/u, 'uses'],
  [/^(?:查找|寻找|搜索|找到|找)\s*(.+?)[?？。\s]*$/u, 'text'],
  [/^(?:什么是\s*(.+?)|解释\s*(.+?)|(.+?)是什么|(.+?)(?:做什么|干什么))[?？。\s]*$/u, 'what'],
  [/^(?:где|кто)\s+(?:используется|используются|вызывается|вызывает|использует|применяется)\s+(.+)/iu, 'uses'],
  [
    /^где\s+(?:определ[её]н[аоы]?|объявлен[аоы]?|находится|реализован[аоы]?|лежит|описан[аоы]?)?\s*(.+?)(?:\s+(?:определ[её]н[аоы]?|объявлен[аоы]?|находится|реализован[аоы]?))?[\s?.!]*$/iu,
    'definition',
  ],
  [/^(?:найди|найти|ищи)\s+(.+)/iu, 'text'],
  [/^(?:что такое|что делает|объясни|опиши)\s+(.+)/iu, 'what'],
  [/^où\s+(?:est|sont|se trouve)\s+(?:utilisée?s?|appelée?s?)\s+(.+)/iu, 'uses'],
  [/^(?:qui|quoi|qu'est-ce qui)\s+(?:appelle|utilise)\s+(.+)/iu, 'uses'],
  [
    /^où\s+(?:est|sont|se trouve(?:nt)?)\s+(?:défini(?:e|s|es)?|déclarée?s?)?\s*(.+?)(?:\s+(?:défini(?:e|s|es)?|déclarée?s?|implémentée?s?))?[\s?.!]*$/iu,
    'definition',
  ],
  [/^(?:trouve|trouver|cherche|chercher)\s+(.+)/iu, 'text'],
  [/^(?:qu'est-ce que(?: c'est que)?|que fait|c'est quoi|explique)\s+(.+)/iu, 'what'],
];

const ARTICLES =
  /^(?:the|a|an|all|every|any|our|my|le|la|les|l'|un|une|that|function|class|method|constant|const|variable|type|interface|struct|enum|symbol|component|hook|module|macro|trait|definition of|file|folder|fonction|classe|функция|функцию|функции|класс|класса|переменная|файл|函数|类|变量)\s+/iu;
const KINDS =
  /\s+(?:function|class|method|constant|variable|type|interface|struct|enum|symbol|component|hook|macro|trait|file|(?:is |are )?(?:defined|used))$|\s*(?:函数|类|变量|方法)$/iu;
const HERE =
  /\s+(?:(?:in|from|within|of|dans|в)\s+)?(?:this|the|our|my|ce|этом|это[тй])\s+(?:project|code ?base|repo(?:sitory)?|code|workspace|folder|projet|проекте|коде)$|\s+here$/iu;
const PRONOUNS = /^(?:it|that|this|they|them|those|它|он|она|это|ça)$/iu;

/** Undefined when the text asks for something else, or its subject is not a name. */
export function parseFind(text: string, earlier: readonly string[] = []): FindRequest | undefined {
  const line = text.trim();
  if (line.includes('\n') || line.length > 300) return undefined;
  for (const [form, want] of FORMS) {
    const subject = form
      .exec(line)
      ?.slice(1)
      .find((group) => group !== undefined);
    if (subject === undefined) continue;
    const scoped = /^(.*\S)\s+(?:in|under|inside|within|dans|в)\s+(\S+?)[\s?.!]*$/iu.exec(subject.replace(HERE, ''));
    const inPath = scoped && (findPaths(scoped[2]!).length > 0 || /^(src|lib|app|tests?|core)$/.test(scoped[2]!));
    const subjects = parseNames((inPath ? scoped[1]! : subject).replace(HERE, ''), earlier);
    if (subjects.length === 0) return undefined;
    const tail = /\sin\s+(\S+?)[\s?.!]*$/.exec(line)?.[1];
    const scope = inPath
      ? unquote(scoped[2]!)
      : tail !== undefined && findPaths(tail).length > 0 && !looksLikeFile(subjects[0]!)
        ? unquote(tail)
        : undefined;
    return {subjects: subjects.slice(0, 3), want, scope: scope?.replace(/\/$/, '')};
  }
  const [only] = /^[`"']?[\w$]+(?:\(\))?[`"']?[?\s]*$/.test(line) ? findIdentifiers(line) : [];
  return only === undefined ? undefined : {subjects: [only], want: 'what', scope: undefined};
}

function parseNames(phrase: string, earlier: readonly string[]): readonly string[] {
  const quoted = findQuoted(phrase).map(trimSubject).filter(isName);
  if (quoted.length > 0) return quoted;
  const names = phrase.split(/\s*,\s*|\s+(?:and|or|et|и)\s+|和/u).map(trimSubject);
  if (names.every((name) => PRONOUNS.test(name))) return resolvePronoun(earlier);
  if (names.every(isName)) return names;
  return findIdentifiers(phrase).slice(0, 3);
}

function trimSubject(phrase: string): string {
  let name = unquote(phrase);
  for (let last = ''; name !== last; ) {
    last = name;
    name = unquote(name.replace(ARTICLES, '').replace(KINDS, '')).replace(/\(.*\)$/, '');
  }
  return name;
}

function isName(name: string): boolean {
  return (
    /^[\p{L}_$#@][\p{L}\p{N}_$.:#/-]*$/u.test(name) &&
    !/^(this|that|it|here|there|going|wrong|up|everything|nothing|something)$/i.test(name)
  );
}

/** What "it" means: the subject of the request before. */
function resolvePronoun(earlier: readonly string[]): readonly string[] {
  const last = earlier.at(-1);
  return last === undefined ? [] : (parseFind(plainRequest(last))?.subjects ?? findIdentifiers(last).slice(0, 1));
}
