/** Folders for tests, in the temporary directory. The test removes them: `onTestFinished(workspace.remove)`. */
import {execFile} from 'node:child_process';
import {cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';

const execute = promisify(execFile);

export interface Workspace {
  readonly path: string;
  /** Writes a file and creates its folders. @returns its absolute path */
  write(file: string, text: string): Promise<string>;
  read(file: string): Promise<string>;
  /** Runs git in the folder. @returns its standard output */
  git(...args: readonly string[]): Promise<string>;
  readonly remove: () => Promise<void>;
}

export async function emptyFolder(): Promise<Workspace> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'mini-cc-work-')));
  return {
    path: folder,
    async write(file, text) {
      const target = path.join(folder, file);
      await mkdir(path.dirname(target), {recursive: true});
      await writeFile(target, text);
      return target;
    },
    read: (file) => readFile(path.join(folder, file), 'utf8'),
    git: async (...args) => (await execute('git', [...IDENTITY, ...args], {cwd: folder})).stdout,
    remove: () => rm(folder, {recursive: true, force: true, maxRetries: 3}),
  };
}

/** Settings that replace those of the user. */
const IDENTITY = [
  ['user.name', 'Ada'],
  ['user.email', 'ada@example.com'],
  ['commit.gpgsign', 'false'],
  ['init.defaultBranch', 'main'],
].flatMap(([key, value]) => ['-c', `${key}=${value}`]);

/** The files of `typescriptProject`. */
const PROJECT_FILES: Readonly<Record<string, string>> = {
  'package.json': `${JSON.stringify(
    {
      name: 'greeter',
      version: '1.2.0',
      type: 'module',
      main: 'src/main.ts',
      scripts: {start: 'node src/main.ts', test: 'node --test'},
    },
    null,
    2,
  )}\n`,
  'README.md': '# Greeter\n\nGreets people by their name, in several languages.\n',
  '.gitignore': 'node_modules/\ndist/\n',
  'src/main.ts':
    "import {greet} from './greet.ts';\n\nconst name = process.argv[2] ?? 'world';\nconsole.log(greet(name, 'en'));\n",
  'src/greet.ts':
    "import {wordFor} from './languages.ts';\n\n/** The greeting for a person. */\nexport function greet(name: string, language: string): string {\n  return [wordFor(language), name].join(', ');\n}\n",
  'src/languages.ts':
    "const WORDS: Record<string, string> = {en: 'Hello', fr: 'Bonjour', de: 'Hallo'};\n\nexport function wordFor(language: string): string {\n  // TODO: fall back to the closest language\n  return WORDS[language] ?? 'Hello';\n}\n",
  'tests/greet.test.ts':
    "import assert from 'node:assert';\nimport test from 'node:test';\nimport {greet} from '../src/greet.ts';\n\ntest('greets in French', () => {\n  assert.equal(greet('Ada', 'fr'), 'Bonjour, Ada');\n});\n",
};

let committed: Promise<Workspace> | undefined;

/** A small TypeScript project with one commit; `git: false` leaves git out. */
export async function typescriptProject({git = true}: {readonly git?: boolean} = {}): Promise<Workspace> {
  const workspace = await emptyFolder();
  if (!git) {
    for (const [file, text] of Object.entries(PROJECT_FILES)) await workspace.write(file, text);
    return workspace;
  }
  // Made once per process: a copy takes less than the starts of git.
  committed ??= typescriptProject({git: false}).then(async (made) => {
    await commitAll(made);
    return made;
  });
  await cp((await committed).path, workspace.path, {recursive: true, preserveTimestamps: true});
  // The index knows the files by inode and time of change.
  await workspace.git('update-index', '--refresh');
  return workspace;
}

/** A folder with this number of small source files, 100 per folder: `src/000/file-00000.ts`, each with one function. */
export async function manyFiles(count: number, {git = true}: {readonly git?: boolean} = {}): Promise<Workspace> {
  const workspace = await emptyFolder();
  for (let first = 0; first < count; first += 100) {
    const folder = path.join(workspace.path, 'src', String(first / 100).padStart(3, '0'));
    await mkdir(folder, {recursive: true});
    const numbers = Array.from({length: Math.min(100, count - first)}, (_, offset) => first + offset);
    await Promise.all(
      numbers.map((number) => {
        const text = `export function work${number}(): number {\n  return ${number};\n}\n`;
        return writeFile(path.join(folder, `file-${String(number).padStart(5, '0')}.ts`), text);
      }),
    );
  }
  if (git) await commitAll(workspace);
  return workspace;
}

async function commitAll(workspace: Workspace): Promise<void> {
  await workspace.git('init', '--quiet');
  await workspace.git('add', '--all');
  await workspace.git('commit', '--quiet', '--message', 'Start');
}
