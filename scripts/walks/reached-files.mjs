// Runs the command line from the sources, and finds the files of src/ in which a function ran.
import {execFileSync, spawn} from 'node:child_process';
import {mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';

/** A walk usually takes a second or two. */
const MAX_WALK_MS = 120_000;

/**
 * @typedef {object} Run
 * @property {string} root folder of the checkout
 * @property {readonly string[]} args arguments of mini-cc
 * @property {string} url URL of the model server
 * @property {object} [settings] settings of the user
 * @property {Readonly<Record<string, string>>} files files of the project
 *
 * @param {Run} run
 * @returns {Promise<string[]>} paths from the root, sorted
 * @throws {Error} when mini-cc fails
 */
export async function findReachedFiles({root, args, url, settings = {}, files}) {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-walk-')));
  const [home, project, coverage] = ['home', 'project', 'coverage'].map((name) => path.join(folder, name));
  try {
    for (const place of [path.join(home, '.mini-cc'), project]) mkdirSync(place, {recursive: true});
    writeFileSync(path.join(home, '.mini-cc', 'settings.json'), JSON.stringify(settings));
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(project, name), text);
    makeRepository(project);
    const env = {
      ...{PATH: process.env.PATH, HOME: home, TMPDIR: folder, LANG: 'C.UTF-8', NODE_DISABLE_COMPILE_CACHE: '1'},
      ...{ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'test-key', NODE_V8_COVERAGE: coverage},
    };
    await run(root, args, {cwd: project, env});
    return readCoverage(coverage, path.join(root, 'src'));
  } finally {
    rmSync(folder, {recursive: true, force: true, maxRetries: 3});
  }
}

function makeRepository(folder) {
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'commit.gpgsign=false'];
  for (const args of [
    ['init', '--quiet'],
    ['add', '--all'],
    [...author, 'commit', '--quiet', '--message', 'Start'],
  ]) {
    execFileSync('git', args, {cwd: folder, stdio: 'ignore'});
  }
}

async function run(root, args, options) {
  const loader = path.join(root, 'scripts', 'walks', 'source-loader.mjs');
  const entry = path.join(root, 'src', 'cli', 'index.ts');
  const child = spawn(process.execPath, ['--import', loader, entry, ...args], {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: MAX_WALK_MS,
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (code !== 0) throw new Error(`mini-cc ${args.join(' ')} ended with ${code}:\n${said}`);
}

/** Reads the coverage of all processes and threads of the run. */
function readCoverage(folder, sources) {
  const reached = new Set();
  for (const name of readdirSync(folder)) {
    const {result} = JSON.parse(readFileSync(path.join(folder, name), 'utf8'));
    for (const {url, functions} of result) {
      if (!url.startsWith('file:')) continue;
      const file = fileURLToPath(url);
      if (file.startsWith(`${sources}${path.sep}`) && hasRun(functions)) reached.add(file);
    }
  }
  return [...reached].map((file) => path.relative(path.dirname(sources), file)).sort();
}

/**
 * Returns whether a function ran. The first entry is the module's top level, which runs when the file is loaded, like
 * the initializers of a class.
 */
function hasRun([, ...functions]) {
  return functions.some(
    ({functionName, ranges}) =>
      ranges[0].count > 0 && !/^<(?:static|instance_members)_initializer>$/.test(functionName),
  );
}
