/** The floors of the house: which room may import which, read from the imports themselves. */
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';

const root = path.resolve(import.meta.dirname, '..');

type Room = keyof typeof FLOORS;

interface Floor {
  readonly rooms: readonly string[];
  /** npm packages at run time. Node's own modules and types of any package are free. */
  readonly packages: readonly string[];
}

/** A room may always import from itself. */
const FLOORS = {
  // p-queue is the pool; jsonc-parser and leven tell where a file is wrong and what was meant; unbash reads commands
  // and ignore the patterns of rules, for permissions; execa starts programs.
  core: {rooms: [], packages: ['zod', 'p-queue', 'jsonc-parser', 'leven', 'unbash', 'ignore', 'execa']},
  models: {rooms: ['core'], packages: ['@anthropic-ai/sdk']},
  /** A `fetch` for the SDK: compose gives it to models. */
  'offline-model': {rooms: ['core'], packages: []},
  sandbox: {rooms: ['core'], packages: ['execa']},
  storage: {rooms: ['core'], packages: ['zod', 'write-file-atomic']},
  agents: {rooms: ['core'], packages: ['zod', 'leven', 'jsonc-parser', 'yaml', 'write-file-atomic']},
  config: {rooms: ['core'], packages: ['zod', 'leven', 'jsonc-parser', 'write-file-atomic']},
  tools: {
    rooms: ['core', 'sandbox'],
    packages: [
      'zod',
      'execa',
      'diff',
      'leven',
      '@vscode/ripgrep',
      'write-file-atomic',
      'node-html-markdown',
      'node-html-parser',
    ],
  },
  commands: {rooms: ['core', 'agents', 'storage', 'config'], packages: ['leven', 'fuzzysort']},
  ui: {
    rooms: ['core', 'commands'],
    packages: ['ink', 'react', 'marked', 'highlight.js', 'diff', 'fuzzysort', 'string-width', 'cli-truncate'],
  },
  print: {rooms: ['core', 'commands'], packages: ['string-width']},
  compose: {
    rooms: ['core', 'models', 'offline-model', 'sandbox', 'storage', 'agents', 'config', 'tools', 'commands'],
    packages: ['leven', '@vscode/ripgrep', 'write-file-atomic'],
  },
  cli: {rooms: ['core', 'compose', 'config', 'ui', 'print'], packages: ['meow', 'leven']},
  /** What other programs import. */
  library: {rooms: ['core', 'compose'], packages: ['zod']},
} satisfies Record<string, Floor>;

/** Files past 400 lines, and why they are one concept. */
const LONG_FILES: Readonly<Record<string, string>> = {};

interface Import {
  readonly file: string;
  readonly target: string;
  readonly typeOnly: boolean;
}

const sources = filesIn('src').filter((file) => /\.tsx?$/.test(file));
/** Without what lies outside of all rooms: package.json, which says the version, and the agents that ship. */
const imports = sources.flatMap(importsOf).filter(({file, target}) => {
  const isTemplate = file === 'src/agents/templates.ts' && target.startsWith('../../.mini-cc/agents/');
  return !/^(?:\.\.\/)+package\.json$/.test(target) && !isTemplate;
});

test('every source lies in a room', () => {
  const homeless = sources.filter((file) => !file.endsWith('.d.ts') && !(roomOf(file) in FLOORS));
  expect(homeless).toEqual([]);
});

test('rooms import only from the floors below them', () => {
  const wrong = imports
    .filter(({target}) => target.startsWith('.'))
    .map((each) => ({...each, from: roomOf(each.file), to: roomOf(resolveImport(each))}))
    .filter(({from, to}) => from !== to && !floorOf(from).rooms.includes(to))
    .map(({file, to, target}) => `${file} imports ${to} (${target})`);
  expect(wrong).toEqual([]);
});

test('each room knows only its own npm packages at run time', () => {
  const wrong = imports
    .filter(({target, typeOnly}) => !typeOnly && isPackage(target))
    .filter(({file, target}) => !floorOf(roomOf(file)).packages.includes(packageName(target)))
    .map(({file, target}) => `${file} imports ${target}`);
  expect(wrong).toEqual([]);
});

test('there is no cycle between rooms', () => {
  const graph = new Map<string, Set<string>>();
  for (const each of imports.filter(({target}) => target.startsWith('.'))) {
    const [from, to] = [roomOf(each.file), roomOf(resolveImport(each))];
    if (from !== to) graph.set(from, (graph.get(from) ?? new Set()).add(to));
  }
  expect(findCycle(graph)).toBeUndefined();
});

test('nothing outside src is imported from src', () => {
  const outside = imports
    .filter((each) => each.target.startsWith('.') && resolveImport(each).startsWith('..'))
    .map(({file, target}) => `${file} imports ${target}`);
  expect(outside).toEqual([]);
});

test('files past 400 lines have a reason', () => {
  const long = ['src', 'tests', 'bench', 'scripts']
    .flatMap(filesIn)
    .filter((file) => /\.(?:tsx?|mjs|mts)$/.test(file))
    .map((file) => ({file, lines: read(file).trimEnd().split('\n').length}))
    .filter(({file, lines}) => lines > 400 && LONG_FILES[file] === undefined)
    .map(({file, lines}) => `${file}: ${lines} lines`);
  expect(long).toEqual([]);
});

test('the reasons for long files are about files that are there', () => {
  expect(Object.keys(LONG_FILES).filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
});

test('no test is left out or runs alone', () => {
  const marked = filesIn('tests')
    .filter((file) => /\.test\.tsx?$/.test(file) && file !== 'tests/house.test.ts')
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

/** Static and dynamic imports and re-exports. Comments that quote code are taken out first. */
function importsOf(file: string): Import[] {
  const code = read(file)
    .replace(/^\s*\/\*[\s\S]*?\*\//gm, '')
    .replace(/^\s*\/\/.*$/gm, '');
  const found: Import[] = [];
  for (const [, words = '', target = ''] of code.matchAll(
    /^\s*(?:import|export)\b([^'";]*?)\bfrom\s*['"]([^'"]+)['"]/gm,
  )) {
    found.push({file, target, typeOnly: isTypeOnly(words)});
  }
  for (const [, target = ''] of code.matchAll(/^\s*import\s*['"]([^'"]+)['"]/gm)) {
    found.push({file, target, typeOnly: false});
  }
  // `typeof import('…')` is a type.
  for (const [, kind, target = ''] of code.matchAll(/(typeof\s+)?\bimport\(\s*['"]([^'"]+)['"]/g)) {
    found.push({file, target, typeOnly: kind !== undefined});
  }
  return found;
}

/** `import type …`, or braces in which every name is marked as a type. */
function isTypeOnly(words: string): boolean {
  if (/^\s*type\b/.test(words)) return true;
  const names = /^\s*\{([^}]*)\}\s*$/
    .exec(words)?.[1]
    ?.split(',')
    .filter((name) => name.trim() !== '');
  return names?.every((name) => /^\s*type\s/.test(name)) ?? false;
}

/** The file that a relative import names, from the project's folder. */
function resolveImport({file, target}: Import): string {
  return path
    .relative(path.join(root, 'src'), path.resolve(root, path.dirname(file), target))
    .replace(/^(?!\.\.)/, 'src/');
}

/** The first folder below src; of a file directly in src, its name. */
function roomOf(file: string): string {
  return file.split('/')[1]?.replace(/\.\w+$/, '') ?? '';
}

function floorOf(room: string): Floor {
  return room in FLOORS ? FLOORS[room as Room] : {rooms: [], packages: []};
}

function isPackage(target: string): boolean {
  return !target.startsWith('.') && !target.startsWith('node:');
}

function packageName(target: string): string {
  return target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');
}

function findCycle(graph: ReadonlyMap<string, ReadonlySet<string>>): string | undefined {
  const done = new Set<string>();
  const visit = (room: string, way: readonly string[]): string | undefined => {
    if (way.includes(room)) return [...way.slice(way.indexOf(room)), room].join(' → ');
    if (done.has(room)) return undefined;
    for (const next of graph.get(room) ?? []) {
      const cycle = visit(next, [...way, room]);
      if (cycle !== undefined) return cycle;
    }
    done.add(room);
    return undefined;
  };
  for (const room of graph.keys()) {
    const cycle = visit(room, []);
    if (cycle !== undefined) return cycle;
  }
  return undefined;
}
