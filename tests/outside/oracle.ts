/**
 * What is in a project according to others than mini-cc: definitions by Universal Ctags, calls by TypeScript's parser and
 * Python's `ast`, in other languages by a scanner that leaves out comments and strings.
 */
import {readdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {execaSync} from 'execa';

/** One line of `ctags --output-format=json`. */
export interface Tag {
  readonly name: string;
  readonly path: string;
  readonly line: number;
  readonly end?: number;
  readonly kind: string;
  readonly scope?: string;
  readonly inherits?: string;
}

export interface Oracle {
  /** Files of the project's language, relative. */
  readonly files: readonly string[];
  readonly tags: readonly Tag[];
  text(file: string): string;
  /** `path:line` of each call of a function or method with this name. */
  calls(name: string): readonly string[];
  /** `path:line` of overloads and signatures, where the compiler knows them. */
  overloads(name: string): readonly string[];
  /** `path:line` of each occurrence in code. */
  occurrences(name: string): readonly string[];
  /** Whether the word stands anywhere, comments and strings included. */
  contains(word: string): boolean;
}

export type Parser = 'typescript' | 'python' | 'scanner';

export function createOracle(root: string, extensions: readonly string[], parser: Parser, tools: string): Oracle {
  const all = (readdirSync(root, {recursive: true, withFileTypes: true}) as import('node:fs').Dirent[])
    .filter((one) => one.isFile())
    .map((one) => path.relative(root, path.join(one.parentPath, one.name)))
    .filter((file) => !/(^|\/)(\.git|node_modules|dist)\//.test(file))
    .sort();
  const files = all.filter((file) => extensions.includes(path.extname(file).slice(1)));
  const text = (file: string) => readFileSync(path.join(root, file), 'latin1');
  const codes = new Map(files.map((file) => [file, stripText(text(file), path.extname(file).slice(1))]));
  const find = (pattern: RegExp): string[] =>
    [...codes].flatMap(([file, code]) =>
      code.split('\n').flatMap((line, index) => [...line.matchAll(pattern)].map(() => `${file}:${index + 1}`)),
    );
  const tags = readTags(root, files);
  const both = parser === 'scanner' ? undefined : parseCalls(root, files, parser, tools);
  const parsed = both?.calls;
  const definedAt = (name: string) =>
    new Set(tags.filter((tag) => tag.name === name).map((tag) => `${tag.path}:${tag.line}`));
  return {
    files,
    tags,
    text,
    calls: (name) => {
      if (parsed) return parsed.filter(([called]) => called === name).map(([, place]) => place);
      const own = definedAt(name);
      // Ruby calls without brackets; `:name` and `name:` are symbols.
      if (extensions.includes('rb'))
        return find(new RegExp(`(?<![\\w$:@])${name}(?![\\w?!]|:(?!:)|\\s*=[^=~])`, 'g')).filter(
          (place) => !own.has(place),
        );
      const form = new RegExp(`(?<![\\w$])${name}(?:::<[^>]*>)?\\s*\\(`, 'g');
      return find(form).filter((place) => !own.has(place));
    },
    overloads: (name) => (both?.declarations ?? []).filter(([one]) => one === name).map(([, place]) => place),
    occurrences: (name) =>
      find(
        new RegExp(
          `(?<![\\w$]${extensions.includes('rb') ? '|:' : ''})${name.replaceAll('$', '\\$')}(?![\\w$]${extensions.includes('rb') ? '|:(?!:)' : ''})`,
          'g',
        ),
      ),
    contains: (word) => all.some((file) => text(file).includes(word)),
  };
}

function readTags(root: string, files: readonly string[]): readonly Tag[] {
  const {stdout} = execaSync(
    'ctags',
    ['--output-format=json', '--fields=+neKSis', '--kinds-C=+p', '--kinds-C++=+p', '-o', '-', '-L', '-'],
    {cwd: root, input: files.join('\n'), maxBuffer: 1e9},
  );
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{"_type": "tag"'))
    .map((line) => JSON.parse(line) as Tag);
}

/** `[name, path:line]` of each call, and of each declared function. */
interface Parsed {
  readonly calls: [string, string][];
  readonly declarations: [string, string][];
}

function parseCalls(root: string, files: readonly string[], parser: Parser, tools: string): Parsed {
  if (parser === 'python') {
    const {stdout} = execaSync('python3', ['-c', PYTHON_CALLS], {cwd: root, input: files.join('\n'), maxBuffer: 1e9});
    return {calls: JSON.parse(stdout) as [string, string][], declarations: []};
  }
  const ts = createRequire(path.join(tools, 'index.js'))('typescript');
  const found: [string, string][] = [];
  const declarations: [string, string][] = [];
  for (const file of files) {
    const tree = ts.createSourceFile(file, readFileSync(path.join(root, file), 'utf8'), ts.ScriptTarget.Latest, true);
    // biome-ignore lint/suspicious/noExplicitAny: the compiler is installed by the test, without its types
    const visit = (node: any): void => {
      if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
        const callee = ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression;
        if (ts.isIdentifier(callee)) {
          const {line} = tree.getLineAndCharacterOfPosition(callee.getStart());
          found.push([callee.text, `${file}:${line + 1}`]);
        }
      }
      if ((ts.isFunctionLike(node) || ts.isPropertySignature(node)) && node.name && ts.isIdentifier(node.name)) {
        const {line} = tree.getLineAndCharacterOfPosition(node.name.getStart());
        declarations.push([node.name.text, `${file}:${line + 1}`]);
      }
      ts.forEachChild(node, visit);
    };
    visit(tree);
  }
  return {calls: found, declarations};
}

const PYTHON_CALLS = `
import ast, json, sys
found = []
for path in sys.stdin.read().split('\\n'):
    for node in ast.walk(ast.parse(open(path, 'rb').read())):
        if isinstance(node, ast.Call):
            name = getattr(node.func, 'attr', getattr(node.func, 'id', None))
            if name: found.append([name, '%s:%d' % (path, node.func.end_lineno)])
print(json.dumps(found))
`;

const HASH = new Set(['py', 'rb', 'php']);

/** The text with spaces for comments and strings; lines stay. Code in `#{…}` of Ruby stays too. */
export function stripText(text: string, extension: string): string {
  const forms = [
    /\/\*[\s\S]*?\*\//,
    /\/\/.*/,
    ...(HASH.has(extension) ? [/#(?!\{|\[).*/] : []),
    ...(extension === 'rb' ? [/^=begin[\s\S]*?^=end/] : []),
    ...(extension === 'py' ? [/"""[\s\S]*?"""/, /'''[\s\S]*?'''/] : []),
    ...(extension === 'rs' ? [/\bb?r#+"[\s\S]*?"#+/, /\bb?r"[^"]*"/, /'(?:\\.|[^\\'])'/] : []),
    ...(extension === 'go' ? [/`[^`]*`/] : []),
    ...(extension === 'cs' ? [/@"(?:""|[^"])*"/] : []),
    ...(extension === 'php' ? [/<<<'?(\w+)'?\n[\s\S]*?\n\s*\1\b/] : []),
    /"(?:\\[\s\S]|[^"\\])*"/,
    ...(extension === 'rs' ? [] : [/'(?:\\[\s\S]|[^'\\\n])*'/]),
  ].filter((form) => !(extension === 'rb' && (form.source.startsWith('\\/\\*') || form.source === '\\/\\/.*')));
  const flags = extension === 'rb' ? 'gm' : 'g';
  const any = new RegExp(forms.map((form) => `(?:${form.source})`).join('|'), flags);
  return text.replace(any, (whole) => {
    if (extension === 'rb' && whole.startsWith('"') && whole.includes('#{'))
      return whole.replace(/#\{[^}]*\}|[^\n]/g, (part) => (part.length > 1 ? part : ' '));
    return whole.replace(/[^\n]/g, ' ');
  });
}
