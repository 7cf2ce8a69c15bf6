/**
 * Detects the language of a request, and holds the sentences about symbols, so that the answer uses the language of the
 * question.
 */

const LANGUAGES = ['en', 'fr', 'de', 'zh', 'ru'] as const;
export type Language = (typeof LANGUAGES)[number];
/** A text in each of the languages, in their order. */
type Texts = readonly [string, string, string, string, string];

const FRENCH =
  /(?:^|\s)(?:où|qui|que|quoi|quels?|quelles?|comment|(?:montre|liste|explique)[rz]?(?:-moi)?|est-ce|est|sont|dans|les|une|renomme[rz]?|trouve[rz]?|cherche[rz]?|ce|cet|cette|c'est|qu'est-ce|aide-moi)(?=\s)|\sdu\s|\sl'/iu;
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
  byName: [
    'By the words of the question alone, this is named so:',
    'D’après les seuls mots de la question, ceci porte ce nom (recherche de texte) :',
    'Nur nach den Wörtern der Frage heißt dies so (Textsuche):',
    '只按问题中的词（文本搜索），名称相近的是：',
    'Только по словам вопроса (поиск по тексту) так называется:',
  ],
  byText: [
    'By a text search of all files, for lines with {list}:',
    'Par recherche de texte dans tous les fichiers, lignes avec {list} :',
    'Durch Textsuche in allen Dateien, Zeilen mit {list}:',
    '对所有文件作文本搜索，含有 {list} 的行：',
    'Поиск по тексту всех файлов, строки с {list}:',
  ],
  unparsed: [
    'By text search, in files that no parser reads ({list}):',
    'Par recherche de texte, dans des fichiers sans analyseur ({list}) :',
    'Durch Textsuche, in Dateien ohne Parser ({list}):',
    '文本搜索，在没有解析器的文件中（{list}）：',
    'Поиск по тексту, в файлах без разборщика ({list}):',
  ],
  fileNames: [
    'Files that are named so:',
    'Fichiers qui portent ce nom :',
    'Dateien mit diesem Namen:',
    '如此命名的文件：',
    'Файлы с таким именем:',
  ],
  noText: [
    'No line of any file has {list} (text search).',
    'Aucune ligne d’aucun fichier ne contient {list} (recherche de texte).',
    'Keine Zeile irgendeiner Datei enthält {list} (Textsuche).',
    '没有任何文件的任何一行含有 {list}（文本搜索）。',
    'Ни в одном файле нет строки с {list} (поиск по тексту).',
  ],
  read: [
    'The files say (text search):',
    'Les fichiers disent (recherche de texte) :',
    'Die Dateien sagen (Textsuche):',
    '文件中写道（文本搜索）：',
    'В файлах сказано (поиск по тексту):',
  ],
  similar: [
    'Similar names: {list}.',
    'Noms semblables : {list}.',
    'Ähnliche Namen: {list}.',
    '相近的名称：{list}。',
    'Похожие имена: {list}.',
  ],
  also: ['Also:', 'Aussi :', 'Auch:', '另外：', 'Также:'],
  used: [
    'Used {n} times in {files} files, e.g. {place}.',
    'Utilisé {n} fois dans {files} fichiers, p. ex. {place}.',
    '{n}-mal verwendet, in {files} Dateien, z. B. {place}.',
    '在 {files} 个文件中使用了 {n} 次，例如 {place}。',
    'Используется {n} раз, файлов: {files}, например {place}.',
  ],
  otherwise: [
    'Not called, but named:',
    'Nommé sans être appelé :',
    'Nicht aufgerufen, aber genannt:',
    '没有调用，但提到：',
    'Не вызывается, но упоминается:',
  ],
  perhaps: [
    'Perhaps ({n}), the type of the object being unknown:',
    'Peut-être ({n}), type inconnu :',
    'Vielleicht ({n}), Typ unbekannt:',
    '可能（{n}），类型未知：',
    'Возможно ({n}), тип неизвестен:',
  ],
  some: [
    '{what} of `{name}`: {n}, in {files} files:',
    '{what} de `{name}` : {n}, dans {files} fichiers :',
    '{what} von `{name}`: {n}, in {files} Dateien:',
    '`{name}` 的{what}：{n} 处，在 {files} 个文件中：',
    '{what} `{name}`: {n}, файлов: {files}:',
  ],
  none: [
    'No {what} of `{name}` in the {files} files that were searched{place}.',
    'Aucun résultat ({what}) pour `{name}` dans les {files} fichiers parcourus{place}.',
    'Keine {what} von `{name}` in den {files} durchsuchten Dateien{place}.',
    '在搜索过的 {files} 个文件{place}中没有 `{name}` 的{what}。',
    'В просмотренных файлах ({files}){place} нет: {what} `{name}`.',
  ],
  definedAt: ['Defined at', 'Défini dans', 'Definiert in', '定义于', 'Определено в'],
  inside: ['in', 'dans', 'in', '位于', 'в'],
  comment: [
    'Its comment says:',
    'Son commentaire dit :',
    'Sein Kommentar sagt:',
    '它的注释说：',
    'Комментарий к нему:',
  ],
  calledBy: ['Called by:', 'Appelé par :', 'Aufgerufen von:', '被调用：', 'Вызывают:'],
  callsOn: [
    'It calls, in this order:',
    'Il appelle, dans cet ordre :',
    'Es ruft der Reihe nach auf:',
    '它依次调用：',
    'Оно вызывает по порядку:',
  ],
  defines: [
    'Defined in {place}: {n}.',
    'Définis dans {place} : {n}.',
    'In {place} definiert: {n}.',
    '{place} 中的定义：{n}。',
    'Определено в {place}: {n}.',
  ],
  open: [
    'Not searched, so there may be more: {list}.',
    'Non parcourus, il peut donc y en avoir d’autres : {list}.',
    'Nicht durchsucht, es kann also mehr geben: {list}.',
    '以下没有搜索，所以可能还有：{list}。',
    'Не просмотрено, поэтому может быть больше: {list}.',
  ],
  languages: [
    '**Languages**: {list} ({n} files in all)',
    '**Langages** : {list} ({n} fichiers au total)',
    '**Sprachen**: {list} ({n} Dateien insgesamt)',
    '**语言**：{list}（共 {n} 个文件）',
    '**Языки**: {list} (всего файлов: {n})',
  ],
  files: ['{n} files', '{n}', '{n}', '{n} 个文件', '{n}'],
  entries: ['Entry points', 'Points d’entrée', 'Einstiegspunkte', '入口', 'Точки входа'],
  ranked: [
    'Most depends on',
    'Le plus souvent importés',
    'Am häufigsten importiert',
    '被导入最多',
    'Чаще всего импортируют',
  ],
  importers: [
    'imported by {files} files, {n} definitions, {what} lines',
    'importé par : {files}, définitions : {n}, lignes : {what}',
    'importiert von: {files}, Definitionen: {n}, Zeilen: {what}',
    '{files} 个文件导入，{n} 个定义，{what} 行',
    'импортируют: {files}, определений: {n}, строк: {what}',
  ],
  folders: ['Folders', 'Dossiers', 'Ordner', '文件夹', 'Папки'],
  ownFiles: ['Files', 'Fichiers', 'Dateien', '文件', 'Файлы'],
  documents: ['Documents', 'Documents', 'Dokumente', '文档', 'Документы'],
  scripts: ['Scripts', 'Scripts', 'Skripte', '脚本', 'Скрипты'],
  tests: ['Tests', 'Tests', 'Tests', '测试', 'Тесты'],
  testFiles: ['{n} test files', 'fichiers : {n}', 'Dateien: {n}', '{n} 个文件', 'файлов: {n}'],
  runs: ['Run with {list}.', 'Commande : {list}.', 'Aufruf: {list}.', '运行：{list}。', 'Запуск: {list}.'],
  nothing: ['none found', 'aucun trouvé', 'nicht gefunden', '没有找到', 'не найдено'],
  says: [
    '{place} says: “{list}”',
    '{place} dit : « {list} »',
    '{place} sagt: „{list}“',
    '{place} 写道：“{list}”',
    '{place}: «{list}»',
  ],
  place: ['In {place}:', 'Dans {place} :', 'In {place}:', '{place} 中：', 'В {place}:'],
} satisfies Readonly<Record<string, Texts>>;

/** The kinds of lists about a name. */
const LISTED = {
  definitions: ['Definition', 'Définition', 'Definition', '定义', 'Определение'],
  calls: ['Calls', 'Appels', 'Aufrufe', '调用', 'Вызовы'],
  uses: ['Uses', 'Utilisations', 'Verwendungen', '使用', 'Использования'],
  imports: ['Imports', 'Imports', 'Importe', '导入', 'Импорты'],
  tests: [
    'Uses in tests',
    'Utilisations dans les tests',
    'Verwendungen in Tests',
    '测试中的使用',
    'Использования в тестах',
  ],
  subclasses: ['Direct subtypes', 'Héritiers directs', 'Direkte Untertypen', '直接子类型', 'Прямые наследники'],
} satisfies Readonly<Record<string, Texts>>;

export type Listed = keyof typeof LISTED;

function pick(texts: Texts, language: Language): string {
  return texts[LANGUAGES.indexOf(language)]!;
}

/** Says how many places were found, or that there are none. */
export function phraseCount(
  listed: Listed,
  language: Language,
  values: {readonly name: string; readonly n: string | number; readonly files: number; readonly place?: string},
): string {
  const noun = pick(LISTED[listed], language);
  if (values.n !== 0) return phrase('some', language, {...values, what: noun});
  return phrase('none', language, {...values, what: language === 'de' ? noun : noun.toLowerCase()});
}

export function phrase(
  sentence: keyof typeof SENTENCES,
  language: Language,
  values: Readonly<Partial<Record<'what' | 'name' | 'n' | 'files' | 'place' | 'list', string | number>>> = {},
): string {
  // When the number of files is unknown (0), the sentence leaves it out.
  const whole = pick(SENTENCES[sentence], language);
  const form = values.files === 0 ? whole.replace(/\{files\} (?:个)?| \(\{files\}\)/, '') : whole;
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
