/**
 * The layers of the program, its sizes, and the packages that each folder knows: all read from the sources themselves.
 * `docs/architecture.md` shows the same picture in words.
 */
import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {parseAst} from 'rolldown/parseAst';
import {expect, test} from 'vitest';

const root = path.resolve(import.meta.dirname, '..');

/** From the bottom up. A folder may import from the layers below its own, and nothing else. */
const LAYERS = [
  ['core'],
  ['sandbox', 'storage', 'config', 'code-index'],
  ['models', 'agents', 'telemetry'],
  ['offline-model', 'review'],
  ['tools', 'commands', 'extensions', 'workers', 'evals'],
  ['ui', 'drivers'],
  ['compose'],
  ['cli', 'library'],
];

/** The same inside src/core. Files and folders of one line belong together: they may import each other. */
const CORE_LAYERS = [
  ['contract'],
  ['util'],
  ['agent-types.ts', 'prompts'],
  ['secrets'],
  ['permissions'],
  ['turn'],
  ['agent-loop.ts', 'prompt-calls.ts', 'tool-calls.ts'],
  ['runs', 'verification', 'subagent.ts', 'subagent-manager.ts'],
  ['fan-out'],
  ['session', 'session.ts'],
];

/** npm packages that a folder imports at run time. Node's own modules, and types of any package, are free. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  // p-queue is the pool; jsonc-parser and leven say where a file is wrong and what was meant; unbash reads commands
  // for permissions; execa starts programs; zod checks the input of tools; image-size
  // measures images, which servers refuse beyond a size; ajv checks answers by a JSON Schema, and is loaded only for that.
  core: ['zod', 'ajv', 'p-queue', 'jsonc-parser', 'leven', 'unbash', 'execa', 'image-size', '@vscode/ripgrep'],
  // openai, and the SDK's packages for the clouds, are loaded where the settings name such a provider.
  models: ['@anthropic-ai/sdk', '@anthropic-ai/bedrock-sdk', '@anthropic-ai/vertex-sdk', 'openai'],
  storage: ['zod'],
  agents: ['zod', 'jsonc-parser', 'yaml'],
  // marked reads the answers of an exported page.
  commands: ['marked'],
  // It reads unified diffs.
  review: ['diff'],
  config: ['zod'],
  // It shows what a trial changed.
  evals: ['zod', 'jsonc-parser', 'diff'],
  tools: ['zod', 'diff', 'leven', 'fuzzysort', 'node-html-markdown', 'node-html-parser'],
  ui: ['ink', 'react', 'chalk', 'marked', 'highlight.js', 'diff', 'fuzzysort', 'string-width'],
  // The MCP client is in a chunk of its own, loaded when a server is needed first.
  extensions: ['zod', '@modelcontextprotocol/client'],
  // The protocol of editors, loaded by `mini-cc acp` alone.
  drivers: ['zod', 'string-width', '@agentclientprotocol/sdk'],
  compose: ['@vscode/ripgrep'],
  'code-index': ['web-tree-sitter'],
  cli: ['meow'],
  // The API, the SDK and the encoding of OpenTelemetry, loaded where a collector is named.
  telemetry: [
    '@opentelemetry/api',
    '@opentelemetry/sdk-trace',
    '@opentelemetry/resources',
    '@opentelemetry/otlp-transformer',
  ],
  library: ['zod'],
  // The queue and its connection, loaded where a queue is set or a worker is started; p-queue bounds the jobs of a session.
  workers: ['bullmq', 'ioredis', 'zod'],
};

const MAX_FUNCTION_LINES = 60;
const MAX_FILE_LINES = 500;
/** A file under this many lines is small; at most a quarter of the files may be. */
const SMALL_FILE_LINES = 25;

/** What is larger than these limits, and why it is one concept all the same. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'src/offline-model/skills/project/project-view.ts viewProject':
    'three rounds of tool calls, each from the answers before',
};

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

interface Import {
  readonly file: string;
  readonly target: string;
  readonly typeOnly: boolean;
}

const sources = filesIn('src').filter((file) => /(?<!\.d)\.tsx?$/.test(file));
const programs = new Map(sources.map((file) => [file, parse(file)]));
const imports = sources.flatMap(getImports);
const relative = imports
  .filter(({target}) => target.startsWith('.'))
  .map((each) => ({...each, to: path.relative(root, path.resolve(root, path.dirname(each.file), each.target))}))
  // package.json says the version, and the agents that ship stand outside of src.
  .filter(({to}) => to !== 'package.json' && !to.startsWith('.mini-cc/agents/'));

test('every source lies in a folder of a layer', () => {
  const unknown = sources.filter((file) => findLayer(file, LAYERS, 1) < 0 || (isCore(file) && findCoreLayer(file) < 0));
  expect(unknown).toEqual([]);
});

test('a folder imports only from the layers below it', () => {
  const wrong = relative.filter(({file, to}) => {
    const [from, target] = [file.split('/')[1], to.split('/')[1]];
    return !to.startsWith('src/') || (from !== target && findLayer(file, LAYERS, 1) <= findLayer(to, LAYERS, 1));
  });
  expect(wrong.map(describeImport)).toEqual([]);
});

test('inside core, a folder imports only from the layers below it, types counted', () => {
  const wrong = relative.filter(({file, to}) => isCore(file) && isCore(to) && findCoreLayer(file) < findCoreLayer(to));
  expect(wrong.map(describeImport)).toEqual([]);
});

test('no files import each other in a cycle, types counted', () => {
  expect(findCycles()).toEqual([]);
});

test('each folder knows just the packages that it is allowed', () => {
  const found: Record<string, Set<string>> = {};
  for (const {file, target, typeOnly} of imports) {
    if (typeOnly || target.startsWith('.') || target.startsWith('node:')) continue;
    const folder = file.split('/')[1]!;
    found[folder] ??= new Set();
    found[folder].add(
      target
        .split('/')
        .slice(0, target.startsWith('@') ? 2 : 1)
        .join('/'),
    );
  }
  const sorted = (packages: Iterable<string>) => [...packages].sort();
  expect(Object.fromEntries(Object.entries(found).map(([folder, packages]) => [folder, sorted(packages)]))).toEqual(
    Object.fromEntries(Object.entries(PACKAGES).map(([folder, packages]) => [folder, sorted(packages)])),
  );
});

/** The newer Node is started where the old one could not load what starts the others. */
test('one module starts programs', () => {
  const starting = imports.filter(
    ({target, typeOnly}) => !typeOnly && /^(?:execa|(?:node:)?child_process)$/.test(target),
  );
  expect([...new Set(starting.map(({file}) => file))]).toEqual(['src/cli/newer-node.ts', 'src/core/util/processes.ts']);
});

test('core loads neither the SDK nor a screen', () => {
  const wrong = imports.filter(({file, target}) => isCore(file) && /^(?:ink|react|@anthropic-ai)/.test(target));
  expect(wrong.filter(({typeOnly}) => !typeOnly).map(describeImport)).toEqual([]);
});

test(`functions have at most ${MAX_FUNCTION_LINES} lines`, () => {
  const long = sources.flatMap((file) => getFunctions(file).filter(({lines}) => lines > MAX_FUNCTION_LINES));
  expect(withoutExceptions(long.map(({name, lines}) => ({name, size: `${lines} lines`})))).toEqual([]);
});

test(`files have at most ${MAX_FILE_LINES} lines`, () => {
  const long = ['src', 'tests', 'bench', 'scripts', 'examples']
    .flatMap(filesIn)
    .filter((file) => /\.(?:tsx?|mjs|mts)$/.test(file))
    .map((file) => ({name: file, lines: countLines(file)}))
    .filter(({lines}) => lines > MAX_FILE_LINES);
  expect(withoutExceptions(long.map(({name, lines}) => ({name, size: `${lines} lines`})))).toEqual([]);
});

test(`at most a quarter of the files has under ${SMALL_FILE_LINES} lines`, () => {
  const small = sources.filter((file) => countLines(file) < SMALL_FILE_LINES);
  expect(small.length).toBeLessThanOrEqual(sources.length / 4);
});

test('no literal is spread into a literal, which would hide unknown properties from the compiler', () => {
  const wrong = sources.filter((file) =>
    [...walkNodes(programs.get(file)!)].some(
      (node) => spreadsLiteral(node, 'ObjectExpression') || spreadsLiteral(node, 'ArrayExpression'),
    ),
  );
  expect(wrong).toEqual([]);
});

test('a name is exported only where another file uses it', () => {
  const texts = ['src', 'tests', 'bench', 'scripts', 'examples']
    .flatMap(filesIn)
    .map((file) => ({file, text: read(file)}));
  const words = new Map<string, Set<string>>();
  for (const {file, text} of texts) {
    for (const [word] of text.matchAll(/[\w$]+/g)) words.set(word, (words.get(word) ?? new Set()).add(file));
  }
  const unused = sources.flatMap((file) =>
    getExportedNames(file)
      .filter((name) => (words.get(name)?.size ?? 0) < 2)
      .map((name) => `${file} ${name}`),
  );
  expect(unused).toEqual([]);
});

test('the exceptions are about what is there and too large', () => {
  const names = new Set([
    ...sources,
    ...sources.map(path.dirname),
    ...sources.flatMap(getFunctions).map(({name}) => name),
  ]);
  expect(Object.keys(EXCEPTIONS).filter((name) => !names.has(name))).toEqual([]);
});

test('no test is left out or runs alone', () => {
  const marked = filesIn('tests')
    .filter((file) => /\.test\.tsx?$/.test(file) && file !== 'tests/layers.test.ts')
    .filter((file) => /\b(?:test|it|describe|suite)(?:\.\w+)*\.(?:only|skip|todo)\b/.test(read(file)));
  expect(marked).toEqual([]);
});

function filesIn(folder: string): string[] {
  return readdirSync(path.join(root, folder), {withFileTypes: true, recursive: true})
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .filter((file) => !file.includes('fixtures/'))
    .sort();
}

function read(file: string): string {
  return readFileSync(path.join(root, file), 'utf8');
}

function countLines(file: string): number {
  return read(file).trimEnd().split('\n').length;
}

function parse(file: string): Node {
  return parseAst(read(file), {lang: file.endsWith('x') ? 'tsx' : 'ts'}) as unknown as Node;
}

/** The node and all below it. */
function* walkNodes(node: Node): Generator<Node> {
  yield node;
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child === 'object' && child !== null && typeof child.type === 'string') yield* walkNodes(child);
    }
  }
}

/** Whether this is `{...{…}}`, `[...[…]]` or `call(...[…])`. */
function spreadsLiteral(node: Node, literal: 'ObjectExpression' | 'ArrayExpression'): boolean {
  const parts = literal === 'ObjectExpression' ? node.properties : (node.elements ?? node.arguments);
  return (Array.isArray(parts) ? (parts as (Node | null)[]) : []).some(
    (part) => part?.type === 'SpreadElement' && (part.argument as Node).type === literal,
  );
}

/** Static and dynamic imports and re-exports. */
function getImports(file: string): Import[] {
  const found: Import[] = [];
  const add = (source: unknown, typeOnly: boolean) => {
    const target = (source as {value?: unknown} | null)?.value;
    if (typeof target === 'string') found.push({file, target, typeOnly});
  };
  for (const node of walkNodes(programs.get(file)!)) {
    const {type, source, specifiers = []} = node as Node & {specifiers?: {importKind?: string; exportKind?: string}[]};
    const kinds = specifiers.map(({importKind, exportKind}) => importKind ?? exportKind);
    const isType = node.importKind === 'type' || node.exportKind === 'type';
    const areTypes = kinds.length > 0 && kinds.every((kind) => kind === 'type');
    if (/^(?:ImportDeclaration|ExportNamedDeclaration|ExportAllDeclaration)$/.test(type))
      add(source, isType || areTypes);
    if (type === 'ImportExpression') add(source, false);
    if (type === 'TSImportType') add(source ?? (node.argument as {literal?: unknown})?.literal, true);
  }
  return found;
}

function getExportedNames(file: string): string[] {
  return (programs.get(file)!.body as Node[]).flatMap((node) => {
    const declaration = node.type === 'ExportNamedDeclaration' ? (node.declaration as Node | null) : undefined;
    const parts = (declaration?.declarations as Node[] | undefined) ?? (declaration ? [declaration] : []);
    return parts.flatMap(({id}) => (id as {name?: string} | undefined)?.name ?? []);
  });
}

function getFunctions(file: string): {name: string; lines: number}[] {
  const text = read(file);
  const found: {name: string; lines: number}[] = [];
  const visit = (node: Node, name: string): void => {
    const own = ((node.id ?? node.key) as {name?: string} | undefined)?.name ?? name;
    if (/^(?:Function(?:Declaration|Expression)|ArrowFunctionExpression)$/.test(node.type)) {
      found.push({name: `${file} ${own}`, lines: text.slice(node.start, node.end).split('\n').length});
    }
    for (const value of Object.values(node)) {
      for (const child of Array.isArray(value) ? value : [value]) {
        if (typeof child === 'object' && child !== null && typeof child.type === 'string') visit(child, own);
      }
    }
  };
  visit(programs.get(file)!, 'module');
  return found;
}

function findLayer(file: string, layers: readonly (readonly string[])[], depth: number): number {
  return layers.findIndex((names) => names.includes(file.split('/')[depth]!));
}

function isCore(file: string): boolean {
  return file.startsWith('src/core/');
}

function findCoreLayer(file: string): number {
  return findLayer(file, CORE_LAYERS, 2);
}

function describeImport({file, target}: Import): string {
  return `${file} imports ${target}`;
}

function withoutExceptions(found: readonly {name: string; size: string}[]): string[] {
  return found.filter(({name}) => EXCEPTIONS[name] === undefined).map(({name, size}) => `${name}: ${size}`);
}

/** Each file that is part of a cycle, by the way round: `a → b → a`. */
function findCycles(): string[] {
  const graph = new Map(sources.map((file) => [file, new Set<string>()]));
  for (const {file, to} of relative) if (graph.has(to)) graph.get(file)!.add(to);
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, way: readonly string[]): void => {
    const at = way.indexOf(file);
    if (at >= 0) cycles.push([...way.slice(at), file].join(' → '));
    if (at >= 0 || done.has(file)) return;
    for (const next of graph.get(file)!) visit(next, [...way, file]);
    done.add(file);
  };
  for (const file of sources) visit(file, []);
  return cycles;
}
