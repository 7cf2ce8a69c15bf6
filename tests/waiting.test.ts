/** Tests wait for events and texts. For time they wait by `tests/support/wait.ts` alone, and say there why. */
import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {parseAst} from 'rolldown/parseAst';
import {expect, test} from 'vitest';

/** Files that have timers, and why. */
const ALLOWED: Readonly<Record<string, string>> = {
  'support/wait.ts': 'the helpers by which all others wait',
  'outside/workers/returned.test.ts': 'counts what is in the queue while a run is at work; waits for nothing by it',
};

interface Node {
  readonly type: string;
  readonly start: number;
  readonly [key: string]: unknown;
}

const TIMERS = new Set(['setTimeout', 'setInterval']);
const MODULES = /^(?:node:)?timers(?:\/promises)?$/;

/** The lines of the code that use a timer. Text is no code: a program that a test writes may have timers. */
function findTimers(code: string, file = 'a.ts'): number[] {
  if (!/setTimeout|setInterval|timers/.test(code)) return [];
  const lang = path.extname(file) === '.tsx' ? 'tsx' : 'ts';
  const found = new Set<number>();
  const visit = (node: Node, parent?: Node, key?: string): void => {
    if (isTimer(node, parent, key)) found.add(code.slice(0, node.start).split('\n').length);
    // What `import {setTimeout as sleep}` names counts once, where it is imported.
    if (node.type === 'ImportDeclaration') return;
    for (const [name, value] of Object.entries(node)) {
      for (const child of Array.isArray(value) ? value : [value]) {
        if (typeof child === 'object' && child !== null && 'type' in child) visit(child as Node, node, name);
      }
    }
  };
  visit(parseAst(code, {lang}) as unknown as Node);
  return [...found];
}

function isTimer(node: Node, parent?: Node, key?: string): boolean {
  if (node.type === 'ImportDeclaration' || node.type === 'ImportExpression') return importsTimer(node);
  if (node.type !== 'Identifier' || !TIMERS.has(String(node.name))) return false;
  // `socket.setTimeout(0)` and `{setTimeout: 1}` are others of that name.
  if (parent?.type === 'MemberExpression' && key === 'property' && !parent.computed) {
    return ['globalThis', 'global'].includes(String((parent.object as Node).name));
  }
  return !(parent?.type === 'Property' && key === 'key' && !parent.shorthand);
}

/** `setImmediate` waits for no time. */
function importsTimer({source, specifiers}: Node): boolean {
  if (!MODULES.test(String((source as {value?: unknown}).value))) return false;
  const names = (specifiers as {imported?: {name: string}}[] | undefined)?.map(({imported}) => imported?.name);
  return !names || names.some((name) => name !== 'setImmediate');
}

const findFiles = () =>
  readdirSync(import.meta.dirname, {recursive: true, encoding: 'utf8'})
    .filter((file) => /\.(?:ts|tsx|mjs|js)$/.test(file))
    .sort();

test('no test has a timer of its own: it waits by tests/support/wait.ts, which asks for the reason', () => {
  const found = findFiles().flatMap((file) => {
    const lines = findTimers(readFileSync(path.join(import.meta.dirname, file), 'utf8'), file);
    return lines.map((line) => ({file, line}));
  });
  expect(found.flatMap(({file, line}) => (file in ALLOWED ? [] : [`tests/${file}:${line}`]))).toEqual([]);
  // An allowance that nothing needs goes.
  expect(Object.keys(ALLOWED).filter((file) => !found.some((each) => each.file === file))).toEqual([]);
});

test.each([
  'setTimeout(end, 10);',
  'await new Promise((resolve) => setTimeout(resolve, 10));',
  'const timer = setInterval(look, 10);',
  'globalThis.setTimeout(end, 10);',
  'const wait = promisify(setTimeout);',
  'use({setTimeout});',
  "import {setTimeout as sleep} from 'node:timers/promises';",
  "import {setImmediate, scheduler} from 'timers/promises';",
  "import timers from 'node:timers';",
  "const {setTimeout: sleep} = await import('node:timers/promises');",
])('a timer is found in %s', (code) => {
  expect(findTimers(code)).toEqual([1]);
});

test.each([
  "await evaluate('setTimeout(end, 10)');",
  'const program = `setInterval(() => 0, 1000); ${text}`;',
  "vi.useFakeTimers({toFake: ['setTimeout', 'setInterval']});",
  "import {setImmediate} from 'node:timers/promises';",
  'socket.setTimeout(0);',
  'use({setTimeout: true});',
])('no timer is found in %s', (code) => {
  expect(findTimers(code)).toEqual([]);
});
