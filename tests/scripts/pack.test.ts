/** The package as `npm pack` makes it, installed without network into an empty folder and used from there. */
import {execFile} from 'node:child_process';
import {cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {promisify} from 'node:util';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {distIsFresh} from '../../scripts/checkout.mjs';
import {createUserEnvironment} from '../support/environment.ts';
import {callTool, say, startMessagesServer} from '../support/messages-server.ts';
import {getToolResults} from '../support/request-facts.ts';
import {root} from '../support/run-cli.ts';
import {emptyFolder, type Workspace} from '../support/workspace.ts';

const MB = 1_000_000;

interface PackedFile {
  readonly path: string;
  readonly mode: number;
}

let folder: Workspace;
/** A copy of the checkout, so that no other test sees package.json while it is replaced. */
let checkout: string;
/** A program's folder with the installed package. */
let program: string;
/** What `npm run bundle` makes, unpacked. */
let unpacked: string;
let packed: {readonly filename: string; readonly size: number; readonly files: readonly PackedFile[]};

beforeAll(async () => {
  folder = await emptyFolder();
  checkout = path.join(folder.path, 'checkout');
  program = path.join(folder.path, 'program');
  mkdirSync(program);
  const left = new Set(['node_modules', 'dist', '.git', 'tests', 'bench'].map((name) => path.join(root, name)));
  cpSync(root, checkout, {recursive: true, preserveTimestamps: true, filter: (file) => !left.has(file)});
  symlinkSync(path.join(root, 'node_modules'), path.join(checkout, 'node_modules'));
  // It packs the package, which builds it, and adds ripgrep.
  await npm(checkout, 'run', 'bundle');
  const [archive] = readdirSync(checkout).filter((name) => name.endsWith('.tar.gz'));
  await run(folder.path, 'tar', 'xzf', path.join(checkout, archive!));
  unpacked = path.join(folder.path, archive!.replace('.tar.gz', ''));
  packed = JSON.parse(await npm(folder.path, 'pack', '--ignore-scripts', '--json', unpacked))[0];
  // npm takes ripgrep from packages that are made of what is installed here: it needs no network.
  const ripgrep = readdirSync(path.join(root, 'node_modules', '@vscode'))
    .filter((name) => name.startsWith('ripgrep'))
    .map((name) => path.join(root, 'node_modules', '@vscode', name));
  await npm(folder.path, 'pack', '--json', ...ripgrep);
  const packages = readdirSync(folder.path).filter((name) => name.endsWith('.tgz'));
  await npm(program, 'install', '--offline', ...packages.map((name) => path.join(folder.path, name)));
});

afterAll(() => folder.remove());

/** @returns standard output */
async function run(cwd: string, command: string, ...args: string[]): Promise<string> {
  const env = {
    ...createUserEnvironment(),
    MINI_CC_HOME: path.join(folder.path, 'home'),
    npm_config_cache: path.join(folder.path, 'npm-cache'),
    npm_config_audit: 'false',
    npm_config_fund: 'false',
  } as NodeJS.ProcessEnv;
  return (await promisify(execFile)(command, args, {cwd, env, timeout: 240_000})).stdout;
}

const npm = (cwd: string, ...args: string[]) => run(cwd, 'npm', ...args);
const node = (cwd: string, ...args: string[]) => run(cwd, process.execPath, ...args);

function writeProgram(name: string, text: string): string {
  writeFileSync(path.join(program, name), text);
  return name;
}

function getSize(place: string): number {
  return readdirSync(place, {withFileTypes: true, recursive: true})
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(path.join(entry.parentPath, entry.name)).size, 0);
}

describe('the packed file', () => {
  it('is below 4 MB and holds the program, the library with its types, the examples and the notices', () => {
    expect(packed.size).toBeLessThan(4 * MB);
    const files = packed.files.map((file) => file.path);
    expect(files.filter((file) => !/^(?:dist\/(?:chunks|grammars)|examples)\//.test(file)).sort()).toEqual([
      'LICENSE',
      'README.md',
      'dist/THIRD_PARTY_NOTICES.txt',
      'dist/cli.js',
      'dist/index.d.cts',
      'dist/index.d.ts',
      'dist/index.js',
      'package.json',
    ]);
    expect(files).toContain('examples/01-spawn.mjs');
    // Eleven grammars, and the library that reads them.
    expect(files.filter((file) => file.startsWith('dist/grammars/'))).toHaveLength(12);
    expect(packed.files.find((file) => file.path === 'dist/cli.js')?.mode).toBe(0o755);
  });

  it('names ripgrep as its only dependency', () => {
    const manifest = JSON.parse(readFileSync(path.join(program, 'node_modules/mini-cc/package.json'), 'utf8'));
    const source = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
    const {devDependencies: _, ...rest} = source;
    expect(manifest.dependencies).toEqual({'@vscode/ripgrep': source.dependencies['@vscode/ripgrep']});
    expect(manifest).toMatchObject({name: 'mini-cc', version: rest.version, bin: rest.bin, engines: rest.engines});
    expect(manifest.devDependencies).toBeUndefined();
  });

  it('installs as below 12 MB in three packages: itself, ripgrep, its binary', () => {
    const modules = path.join(program, 'node_modules');
    expect(readdirSync(modules).filter((name) => !name.startsWith('.'))).toEqual(['@vscode', 'mini-cc']);
    expect(readdirSync(path.join(modules, '@vscode'))).toHaveLength(2);
    expect(getSize(modules)).toBeLessThan(12_000_000);
  });
});

describe('the checkout', () => {
  it('has its own package.json again after npm run bundle, and dist/ needs no new build', () => {
    const [original, now] = [root, checkout].map((each) => readFileSync(path.join(each, 'package.json'), 'utf8'));
    expect(now).toBe(original);
    expect(existsSync(path.join(checkout, 'package.source.json'))).toBe(false);
    expect(distIsFresh(checkout)).toBe(true);
  });

  it.each([
    ['postpack', 'fails a pack during which another start put package.json back', 'pack again'],
    [
      'prepublishOnly',
      'refuses to publish the folder, whose package.json names all packages',
      'publish the packed file',
    ],
  ])('in %s %s', async (step, _, message) => {
    const failed = {code: 1, stderr: expect.stringMatching(new RegExp(`^mini-cc: .*${message}.*\n$`))};
    await expect(node(checkout, 'scripts/pack.mjs', step)).rejects.toMatchObject(failed);
  });
});

describe('the installed program', () => {
  it('runs', async () => {
    expect(await run(program, path.join(program, 'node_modules/.bin/mini-cc'), '--version')).toMatch(
      /^\d+\.\d+\.\d+\n$/,
    );
    expect(await node(path.join(program, 'node_modules/mini-cc'), 'examples/08-print-mode.mjs')).toContain(
      'src/greet.js:2',
    );
  });

  const OLD = "Object.defineProperty(process, 'versions', {value: {...process.versions, node: '20.20.2'}});";

  it('runs on a newer Node in PATH where the first one is too old', async () => {
    const old = writeProgram('old-node-in-path.cjs', OLD);
    expect(await node(program, '-r', `./${old}`, 'node_modules/mini-cc/dist/cli.js', '--version')).toMatch(/^\d+\.\d+/);
  });

  it('says in one line that Node is too old, and the command that mends it, where there is no newer one', async () => {
    const old = writeProgram(
      'old-node.cjs',
      `${OLD} process.env.PATH = process.env.HOME = process.env.NVM_DIR = '/nowhere';`,
    );
    await expect(node(program, '-r', `./${old}`, 'node_modules/mini-cc/dist/cli.js')).rejects.toMatchObject({
      code: 2,
      stderr:
        'mini-cc needs Node.js 22.12 or newer; this is 20.20.2, and no newer one was found. Run: npm install --global node@24\n',
      stdout: '',
    });
  });
});

it('answers questions about symbols with the grammars that it brings', async () => {
  const server = await startMessagesServer([callTool('symbols', {name: 'Parser'}), say('done')]);
  writeFileSync(path.join(program, 'parser.py'), 'class Parser:\n    pass\n');
  try {
    const ask = writeProgram(
      'ask.mjs',
      `import {SubagentManager} from 'mini-cc';
      const manager = new SubagentManager({apiKey: 'sk-test-0000', baseURL: '${server.url}'});
      console.log((await manager.spawn({agent_type: 'explore', prompt: 'x'})).success);
      await manager.close();`,
    );
    expect(await node(program, ask)).toBe('true\n');
    expect(getToolResults(server.requests[1]!.body)[0]?.text).toContain(
      'parser.py:1 class Parser (to 2): class Parser:',
    );
  } finally {
    await server.close();
  }
});

describe('the installed library', () => {
  const use = `
    const manager = new SubagentManager();
    manager.spawn({agent_type: 'explore', prompt: 'Where is main defined?'}).then(async ({success, summary}) => {
      console.log(typeof runAgent, success, summary.split(' ')[0]);
      await manager.close();
    });`;

  beforeAll(() => void writeProgram('main.js', 'function main() {}\n'));

  it.each([
    ['an ES module', 'use.mjs', "import {SubagentManager, runAgent} from 'mini-cc';"],
    ['CommonJS', 'use.cjs', "const {SubagentManager, runAgent} = require('mini-cc');"],
  ])('works from %s', async (_, name, load) => {
    expect(await node(program, writeProgram(name, load + use))).toBe('function true main.js:1\n');
  });

  const typed = `
    import {createAgentRun, runAgent, type RunEvent, SubagentManager, type SubtaskResult, UsageError} from 'mini-cc';

    export async function work(): Promise<string> {
      const manager = new SubagentManager({maxConcurrent: 2, permissionMode: 'acceptEdits'});
      const unsubscribe = manager.subscribe((event: RunEvent) => {
        if (event.type === 'tool_end' && event.isError) console.log(event.preview.trim());
      });
      const result: SubtaskResult = await manager.spawn({prompt: 'x', tools: ['grep']});
      unsubscribe();
      await manager.close();
      const weather = {
        name: 'weather',
        description: 'The weather in a city',
        inputSchema: {type: 'object'},
        run: ({city}: {city: string}) => city,
      };
      const run = await createAgentRun({
        prompt: 'x',
        tools: ['grep', weather],
        model: {name: 'mine', reply: ({messages}) => String(messages.length)},
        signal: AbortSignal.timeout(1),
      });
      const ended = await runAgent(run);
      if (ended.outcome === 'error') throw new UsageError(ended.error, {cause: ended.code});
      return ended.outcome === 'limit' ? ended.limit : result.summary;
    }
    // @ts-expect-error: not a number
    new SubagentManager({maxConcurrent: 'two'});
    // @ts-expect-error: a run comes from createAgentRun
    runAgent({prompt: 'x'});
  `;

  it.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('has types for strict TypeScript, as an ES module and as CommonJS: module %s, resolution %s', async (...kind) => {
    const files = ['typed.mts', 'typed.cts'].map((name) => writeProgram(name, typed));
    const [module, moduleResolution] = kind;
    const options = {strict: true, exactOptionalPropertyTypes: true, noEmit: true, target: 'es2023', types: ['node']};
    const typeRoots = [path.join(root, 'node_modules/@types')];
    const config = {compilerOptions: {...options, module, moduleResolution, typeRoots}, files};
    writeProgram('tsconfig.json', JSON.stringify(config));
    expect(await node(program, path.join(root, 'node_modules/typescript/bin/tsc'), '-p', '.')).toBe('');
  });

  it('has types that name no other package', () => {
    for (const name of ['index.d.ts', 'index.d.cts']) {
      const types = readFileSync(path.join(program, 'node_modules/mini-cc/dist', name), 'utf8');
      expect(types.replaceAll(/^ \*.*$/gm, '')).not.toMatch(/\bimport\b|\brequire\b|\bfrom '|<reference/);
    }
  });
});

it('npm run bundle makes an archive that runs without a registry', async () => {
  const elsewhere = path.join(folder.path, 'elsewhere');
  mkdirSync(elsewhere);
  writeFileSync(path.join(elsewhere, 'greet.ts'), 'export function greet() {}\n');
  const answer = await run(elsewhere, path.join(unpacked, 'mini-cc'), '-p', '--offline', 'where is greet defined?');
  expect(answer).toContain('greet.ts:1');
});
