/** Recognises definitions in single lines of code, by patterns for the languages of `languages.ts`. This is not a parser. */

export interface Definition {
  /** Function, class, constant, … */
  readonly kind: string;
  readonly name: string;
}

const FORMS: readonly (readonly [RegExp, string?])[] = [
  [
    /^\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?<kind>function|class|interface|enum|namespace)\b\s*\*?\s*(?<name>[\w$]+)/,
  ],
  [/^\s*(?:export\s+)?(?:declare\s+)?(?<kind>type)\s+(?<name>[\w$]+)\s*(?:<.*>)?\s*(?:=|$)/],
  [
    /^\s*(?:export\s+)?(?:declare\s+)?(?:const|let|var)\s+(?<name>[\w$]+)\s*(?::.*)?=\s*(?:async\s*)?(?:\(.*=>|function\b|[\w$]+\s*=>)/,
    'function',
  ],
  [/^\s*(?:export\s+)?(?:declare\s+)?(?:const|final)\s+(?<name>[\w$]+)\s*(?:[:=]|$)/, 'constant'],
  [/^\s*(?:export\s+)?(?:declare\s+)?(?:let|var)\s+(?<name>[\w$]+)\s*(?:[:=;]|$)/, 'variable'],
  [/^\s*(?:async\s+)?def\s+(?:self\.)?(?<name>[\w?!]+)/, 'function'],
  [/^\s*(?:pub(?:\([^)]*\))?\s+)?(?:(?:async|unsafe|const|extern(?:\s+"C")?)\s+)*fn\s+(?<name>\w+)/, 'function'],
  [
    /^\s*(?:pub(?:\([^)]*\))?\s+)?(?<kind>struct|enum|trait|union|mod|static|const|type)\s+(?:mut\s+)?(?<name>\w+)\s*(?:[<:{;(=]|where\b|$)/,
  ],
  [/^\s*macro_rules!\s+(?<name>\w+)/, 'macro'],
  [/^func\s+(?:\([^)]*\)\s*)?(?<name>\w+)\s*[([]/, 'function'],
  [/^\s*type\s+(?<name>\w+)(?:\[.*\])?\s+(?<kind>struct|interface|func)\b/],
  [/^type\s+(?<name>\w+)\s+[\w*[\]]/, 'type'],
  [
    /^\s*(?:@\w+\s+)*(?:(?:public|private|protected|internal|static|final|abstract|sealed|open|data|override|partial|fileprivate|inline|suspend|case)\s+)*(?<kind>class|interface|enum|record|struct|object|protocol|extension|actor|module|trait|namespace)\s+(?:class\s+)?(?<name>[A-Za-z_]\w*)/,
  ],
  [
    /^\s*(?:(?:public|private|protected|internal|static|open|override|inline|suspend|mutating|fileprivate)\s+)*(?:fun|func)\s+(?:<[^>]*>\s*)?(?:\w+\.)?(?<name>\w+)\s*[(<]/,
    'function',
  ],
  [/^\s*#\s*define\s+(?<name>\w+)/, 'macro'],
  [/^\s*(?:local\s+)?function\s+(?:[\w.]+[.:])?(?<name>\w+)/, 'function'],
  [/^\s*(?:sub|defp?|defmodule)\s+(?<name>[\w.?!]+)/, 'function'],
  [/^(?<name>[\w-]+)\s*\(\)\s*\{/, 'function'],
  [
    /^\s+(?:(?:public|private|protected|static|async|override|readonly|get|set|final|abstract|synchronized|virtual)\s+)*(?:[\w<>[\],.?]+\s+)?\*?#?(?<name>[\w$]+)\s*(?:<[^>()]*>)?\([^;]*\)\s*(?:(?::|->)[^;=]*|throws\s[\w, .]+|const\s*|noexcept\s*|override\s*)?\{\s*\}?\s*$/,
    'method',
  ],
  [/^(?:[A-Za-z_][\w:<>,]*[\s*&]+)+(?:\w+::)?(?<name>~?\w+)\s*\([^;]*\)?[^;]*$/, 'function'],
  [/^(?<name>[A-Za-z_]\w*)\s*(?::\s*[\w.[\], |"']+)?=(?!=)/, 'variable'],
];

const NO_NAME = new Set(
  'if for while switch catch return else new await throw case typeof do with function constructor super sizeof elif except match loop unless until yield not and or in is assert print from import'.split(
    ' ',
  ),
);

/** The definition in the line. Undefined for comments and prose. */
export function parseDefinition(line: string): Definition | undefined {
  if (isComment(line) || line.length > 500) return undefined;
  for (const [form, kind] of FORMS) {
    const groups = form.exec(line)?.groups;
    const name = groups?.name;
    // After these keywords, a reserved word is a name too: `fn new`.
    if (name === undefined || (NO_NAME.has(name) && !/\b(?:fn|func|fun|def)\s+(?:self\.)?\w+[\s(<]/.test(line)))
      continue;
    if (/^\s*(return|else|new|await|throw|case|yield|delete|import|from|using|package)\b/.test(line)) return undefined;
    return {kind: kind ?? groups?.kind ?? 'definition', name};
  }
  return undefined;
}

/** Like `parseDefinition`, for one name. Also finds members and keys (`name: …`). */
export function findDefinition(name: string, line: string): Definition | undefined {
  const definition = parseDefinition(line);
  if (definition?.name === name) return definition;
  if (isComment(line)) return undefined;
  const escaped = escapeRegExp(name);
  const member = new RegExp(
    `^\\s+(?:(?:readonly|private|protected|public|static|declare|pub|#)\\s*)*${escaped}[?!]?\\s*(?:\\(.*\\)\\s*:|:)`,
  );
  return member.test(line) ? {kind: 'member', name} : undefined;
}

/** A regular expression for grep. It finds every line that may define the name, and some others. */
export function definitionPattern(name: string): string {
  const word = `${escapeRegExp(name)}${/\w$/.test(name) ? '\\b' : ''}`;
  const keywords =
    'function\\*?|class|interface|type|enum|namespace|const|let|var|def|defp|defmodule|fn|func|fun|struct|union|trait|mod|module|object|record|protocol|extension|actor|macro_rules!|val|static|sub|define|final|mut|self\\.';
  return [
    `(^|[^A-Za-z0-9_$.])(${keywords})(\\s+\\([^)]*\\))?\\s*(\\w+\\.)?${word}`,
    `^\\s*(\\S+\\s+)*[*#&~]?(\\w+::)?${word}\\s*(<[^>]*>)?\\([^;]*$`,
    `^\\s*(\\w+\\s+)*${word}[?!]?\\s*[:=]`,
  ].join('|');
}

export function isComment(line: string): boolean {
  return /^\s*(\/\/|\/\*|\*(\s|\/|$)|--\s|<!--|;;|#(?!\s*(define|include|if|pragma|\[|!\[)|\w+\s*[(=;]))/.test(line);
}

/** Whether the position in the line is in a string, or in a comment at the end. */
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

/** A pattern that matches the name as a whole word. */
export function wordPattern(name: string): string {
  return `${/^\w/.test(name) ? '\\b' : ''}${escapeRegExp(name)}${/\w$/.test(name) ? '\\b' : ''}`;
}
