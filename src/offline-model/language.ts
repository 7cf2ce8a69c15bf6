/**
 * Detects the language of a request, and holds the sentences about symbols, so that the answer uses the language of the
 * question.
 */

export type Language = 'en' | 'fr' | 'de' | 'zh' | 'ru';

const FRENCH =
  /(?:^|\s)(?:où|qui|que|quoi|quels?|quelles?|comment|montre[rz]?|liste[rz]?|explique[rz]?|est-ce|est|sont|dans|les|une|renomme[rz]?|trouve[rz]?|cherche[rz]?|ce|cet|cette|c'est|qu'est-ce|aide-moi)(?=\s)|\sdu\s|\sl'/iu;
const GERMAN =
  /(?:^|\s)(?:wo|wer|wie|was|welche[rs]?|zeige?|liste|erkläre?|finde|suche|ist|sind|wird|werden|der|das|den|und|benenne|plane|mir|einen?|dieses)(?=\s)/iu;

export function findSpeech(text: string): Language {
  const prose = text.replace(/`[^`]*`|"[^"]*"/g, ' ');
  if (/\p{Script=Han}/u.test(prose)) return 'zh';
  if (/\p{Script=Cyrillic}/u.test(prose)) return 'ru';
  // Some German words, such as "was", are also English. A text that starts with an English question word counts as
  // German only when "ist" follows.
  if (GERMAN.test(prose) && !/^(?:when|where|what|who|which|how|was|show|find)\b(?!\s+ist\b)/i.test(prose)) return 'de';
  return FRENCH.test(prose) && !/^(?:where|what|who|which|how|show|find|list)\b/i.test(prose) ? 'fr' : 'en';
}

/** Sentences with placeholders for the findings: `{what}`, `{name}`, `{n}`, `{files}`, `{place}` and `{list}`. */
const SENTENCES = {
  byName: {
    en: 'By the words of the question alone, this is named so:',
    fr: 'D’après les seuls mots de la question, ceci porte ce nom (recherche de texte) :',
    de: 'Nur nach den Wörtern der Frage heißt dies so (Textsuche):',
    zh: '只按问题中的词（文本搜索），名称相近的是：',
    ru: 'Только по словам вопроса (поиск по тексту) так называется:',
  },
  byText: {
    en: 'By a text search of all files, for lines with {list}:',
    fr: 'Par recherche de texte dans tous les fichiers, lignes avec {list} :',
    de: 'Durch Textsuche in allen Dateien, Zeilen mit {list}:',
    zh: '对所有文件作文本搜索，含有 {list} 的行：',
    ru: 'Поиск по тексту всех файлов, строки с {list}:',
  },
  unparsed: {
    en: 'By text search, in files that no parser reads ({list}):',
    fr: 'Par recherche de texte, dans des fichiers sans analyseur ({list}) :',
    de: 'Durch Textsuche, in Dateien ohne Parser ({list}):',
    zh: '文本搜索，在没有解析器的文件中（{list}）：',
    ru: 'Поиск по тексту, в файлах без разборщика ({list}):',
  },
  fileNames: {
    en: 'Files that are named so:',
    fr: 'Fichiers qui portent ce nom :',
    de: 'Dateien mit diesem Namen:',
    zh: '如此命名的文件：',
    ru: 'Файлы с таким именем:',
  },
  noText: {
    en: 'No line of any file has {list} (text search).',
    fr: 'Aucune ligne d’aucun fichier ne contient {list} (recherche de texte).',
    de: 'Keine Zeile irgendeiner Datei enthält {list} (Textsuche).',
    zh: '没有任何文件的任何一行含有 {list}（文本搜索）。',
    ru: 'Ни в одном файле нет строки с {list} (поиск по тексту).',
  },
  read: {
    en: 'The files say:',
    fr: 'Les fichiers disent :',
    de: 'Die Dateien sagen:',
    zh: '文件中写道：',
    ru: 'В файлах сказано:',
  },
  similar: {
    en: 'Similar names: {list}.',
    fr: 'Noms semblables : {list}.',
    de: 'Ähnliche Namen: {list}.',
    zh: '相近的名称：{list}。',
    ru: 'Похожие имена: {list}.',
  },
  also: {en: 'Also:', fr: 'Aussi :', de: 'Auch:', zh: '另外：', ru: 'Также:'},
  used: {
    en: 'Used {n} times in {files} files, e.g. {place}.',
    fr: 'Utilisé {n} fois dans {files} fichiers, p. ex. {place}.',
    de: '{n}-mal verwendet, in {files} Dateien, z. B. {place}.',
    zh: '在 {files} 个文件中使用了 {n} 次，例如 {place}。',
    ru: 'Используется {n} раз, файлов: {files}, например {place}.',
  },
  otherwise: {
    en: 'Not called, but named:',
    fr: 'Nommé sans être appelé :',
    de: 'Nicht aufgerufen, aber genannt:',
    zh: '没有调用，但提到：',
    ru: 'Не вызывается, но упоминается:',
  },
  perhaps: {
    en: 'Perhaps ({n}), the type of the object being unknown:',
    fr: 'Peut-être ({n}), type inconnu :',
    de: 'Vielleicht ({n}), Typ unbekannt:',
    zh: '可能（{n}），类型未知：',
    ru: 'Возможно ({n}), тип неизвестен:',
  },
  some: {
    en: '{what} of `{name}`: {n}, in {files} files:',
    fr: '{what} de `{name}` : {n}, dans {files} fichiers :',
    de: '{what} von `{name}`: {n}, in {files} Dateien:',
    zh: '`{name}` 的{what}：{n} 处，在 {files} 个文件中：',
    ru: '{what} `{name}`: {n}, файлов: {files}:',
  },
  none: {
    en: 'No {what} of `{name}` in the {files} files that were searched{place}.',
    fr: 'Aucun résultat ({what}) pour `{name}` dans les {files} fichiers parcourus{place}.',
    de: 'Keine {what} von `{name}` in den {files} durchsuchten Dateien{place}.',
    zh: '在搜索过的 {files} 个文件{place}中没有 `{name}` 的{what}。',
    ru: 'В просмотренных файлах ({files}){place} нет: {what} `{name}`.',
  },
  definedAt: {en: 'Defined at', fr: 'Défini dans', de: 'Definiert in', zh: '定义于', ru: 'Определено в'},
  inside: {en: 'in', fr: 'dans', de: 'in', zh: '位于', ru: 'в'},
  comment: {
    en: 'Its comment says:',
    fr: 'Son commentaire dit :',
    de: 'Sein Kommentar sagt:',
    zh: '它的注释说：',
    ru: 'Комментарий к нему:',
  },
  calledBy: {en: 'Called by:', fr: 'Appelé par :', de: 'Aufgerufen von:', zh: '被调用：', ru: 'Вызывают:'},
  callsOn: {
    en: 'It calls, in this order:',
    fr: 'Il appelle, dans cet ordre :',
    de: 'Es ruft der Reihe nach auf:',
    zh: '它依次调用：',
    ru: 'Оно вызывает по порядку:',
  },
  defines: {
    en: 'Defined in {place}: {n}.',
    fr: 'Définis dans {place} : {n}.',
    de: 'In {place} definiert: {n}.',
    zh: '{place} 中的定义：{n}。',
    ru: 'Определено в {place}: {n}.',
  },
  open: {
    en: 'Not searched, so there may be more: {list}.',
    fr: 'Non parcourus, il peut donc y en avoir d’autres : {list}.',
    de: 'Nicht durchsucht, es kann also mehr geben: {list}.',
    zh: '以下没有搜索，所以可能还有：{list}。',
    ru: 'Не просмотрено, поэтому может быть больше: {list}.',
  },
  languages: {
    en: '**Languages**: {list} ({n} files in all)',
    fr: '**Langages** : {list} ({n} fichiers au total)',
    de: '**Sprachen**: {list} ({n} Dateien insgesamt)',
    zh: '**语言**：{list}（共 {n} 个文件）',
    ru: '**Языки**: {list} (всего файлов: {n})',
  },
  files: {en: '{n} files', fr: '{n}', de: '{n}', zh: '{n} 个文件', ru: '{n}'},
  entries: {en: 'Entry points', fr: 'Points d’entrée', de: 'Einstiegspunkte', zh: '入口', ru: 'Точки входа'},
  ranked: {
    en: 'Most depends on',
    fr: 'Le plus souvent importés',
    de: 'Am häufigsten importiert',
    zh: '被导入最多',
    ru: 'Чаще всего импортируют',
  },
  importers: {
    en: 'imported by {files} files, {n} definitions, {what} lines',
    fr: 'importé par : {files}, définitions : {n}, lignes : {what}',
    de: 'importiert von: {files}, Definitionen: {n}, Zeilen: {what}',
    zh: '{files} 个文件导入，{n} 个定义，{what} 行',
    ru: 'импортируют: {files}, определений: {n}, строк: {what}',
  },
  folders: {en: 'Folders', fr: 'Dossiers', de: 'Ordner', zh: '文件夹', ru: 'Папки'},
  ownFiles: {en: 'Files', fr: 'Fichiers', de: 'Dateien', zh: '文件', ru: 'Файлы'},
  documents: {en: 'Documents', fr: 'Documents', de: 'Dokumente', zh: '文档', ru: 'Документы'},
  scripts: {en: 'Scripts', fr: 'Scripts', de: 'Skripte', zh: '脚本', ru: 'Скрипты'},
  tests: {en: 'Tests', fr: 'Tests', de: 'Tests', zh: '测试', ru: 'Тесты'},
  testFiles: {
    en: '{n} test files',
    fr: 'fichiers : {n}',
    de: 'Dateien: {n}',
    zh: '{n} 个文件',
    ru: 'файлов: {n}',
  },
  runs: {
    en: 'Run with {list}.',
    fr: 'Commande : {list}.',
    de: 'Aufruf: {list}.',
    zh: '运行：{list}。',
    ru: 'Запуск: {list}.',
  },
  nothing: {en: 'none found', fr: 'aucun trouvé', de: 'nicht gefunden', zh: '没有找到', ru: 'не найдено'},
  says: {
    en: '{place} says: “{list}”',
    fr: '{place} dit : « {list} »',
    de: '{place} sagt: „{list}“',
    zh: '{place} 写道：“{list}”',
    ru: '{place}: «{list}»',
  },
  place: {en: 'In {place}:', fr: 'Dans {place} :', de: 'In {place}:', zh: '{place} 中：', ru: 'В {place}:'},
} as const satisfies Readonly<Record<string, Readonly<Record<Language, string>>>>;

/** What is listed about a name. */
const LISTED = {
  definitions: {en: 'Definition', fr: 'Définition', de: 'Definition', zh: '定义', ru: 'Определение'},
  calls: {en: 'Calls', fr: 'Appels', de: 'Aufrufe', zh: '调用', ru: 'Вызовы'},
  uses: {en: 'Uses', fr: 'Utilisations', de: 'Verwendungen', zh: '使用', ru: 'Использования'},
  imports: {en: 'Imports', fr: 'Imports', de: 'Importe', zh: '导入', ru: 'Импорты'},
  tests: {
    en: 'Uses in tests',
    fr: 'Utilisations dans les tests',
    de: 'Verwendungen in Tests',
    zh: '测试中的使用',
    ru: 'Использования в тестах',
  },
  subclasses: {
    en: 'Direct subtypes',
    fr: 'Héritiers directs',
    de: 'Direkte Untertypen',
    zh: '直接子类型',
    ru: 'Прямые наследники',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<Language, string>>>>;

export type Listed = keyof typeof LISTED;

/** Says how many places were found, or that there are none. */
export function phraseCount(
  listed: Listed,
  language: Language,
  values: {readonly name: string; readonly n: string | number; readonly files: number; readonly place?: string},
): string {
  const noun = LISTED[listed][language];
  if (values.n !== 0) return phrase('some', language, {...values, what: noun});
  return phrase('none', language, {...values, what: language === 'de' ? noun : noun.toLowerCase()});
}

export function phrase(
  sentence: keyof typeof SENTENCES,
  language: Language,
  values: Readonly<Partial<Record<'what' | 'name' | 'n' | 'files' | 'place' | 'list', string | number>>> = {},
): string {
  // When the number of files is unknown (0), the sentence leaves it out.
  const form =
    values.files === 0
      ? SENTENCES[sentence][language].replace(/\{files\} (?:个)?| \(\{files\}\)/, '')
      : SENTENCES[sentence][language];
  const text = form.replace(/\{(\w+)\}/g, (_, key: keyof typeof values) => formatValue(values[key]));
  return language === 'en'
    ? text
        .replace(/\b1 (time|(?:test )?file|place|definition|line)s\b/g, '1 $1')
        .replace('the 1 file that were', 'the 1 file that was')
    : text;
}

function formatValue(value: string | number | undefined): string {
  return typeof value === 'number' ? value.toLocaleString('en-US') : (value ?? '');
}
