// npm run mutants: changes one place of the sources at a time, and checks whether the tests notice it. A mutant runs
// the test files that reach its place, nearest first. Surviving mutants run once against the end-to-end tests, in the
// built program.
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {parseArgs} from 'node:util';
import setUpFolders from '../tests/support/temporary-folders.ts';
import {Copies} from './mutants/copies.mjs';
import {judge} from './mutants/judge.mjs';
import {Results} from './mutants/results.mjs';
import {drawSample, readSources} from './mutants/sample.mjs';
import {TestFiles} from './mutants/test-files.mjs';
import {ensureBuilt, ensurePackages, orExit} from './setup.mjs';

const USAGE = `npm run mutants -- [options]

  --sample N      how many mutants (60), drawn evenly over the lines of code
  --seed N        which ones (20)
  --folder NAME   of src/, repeatable (core, models, storage, sandbox, tools, workers)
  --list          prints the mutants and runs nothing
  --only ID       runs this mutant, as --list names it; repeatable
  --seconds N     the test files that a mutant runs take at most so long together (30)
  --hang N        seconds that a test file may take beyond three times its usual time (15)
  --workers N     mutants at the same time, each in a copy of the checkout (2)
  --unit          without the end-to-end tests
  --again         forgets the results so far
  --root FOLDER   the project (this one)
  --cache FOLDER  what is known of tests and mutants (node_modules/.cache/mini-cc-mutants)

An interrupted run goes on where it was. Exit code 1: more survive than docs/contributing.md allows.`;
const FOLDERS = ['core', 'models', 'storage', 'sandbox', 'tools', 'workers'];

const {values: options} = parseArgs({
  options: {
    sample: {type: 'string', default: '60'},
    seed: {type: 'string', default: '20'},
    folder: {type: 'string', multiple: true, default: FOLDERS},
    list: {type: 'boolean', default: false},
    only: {type: 'string', multiple: true},
    seconds: {type: 'string', default: '30'},
    hang: {type: 'string', default: '15'},
    workers: {type: 'string', default: '2'},
    unit: {type: 'boolean', default: false},
    again: {type: 'boolean', default: false},
    root: {type: 'string'},
    cache: {type: 'string'},
    help: {type: 'boolean', default: false},
  },
});

const ownRoot = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const root = path.resolve(options.root ?? ownRoot);
const cache = path.resolve(options.cache ?? path.join(root, 'node_modules/.cache/mini-cc-mutants'));
const print = (/** @type {string} */ line) => process.stdout.write(`${line}\n`);

if (options.help) print(USAGE);
else process.exitCode = await main();

/** @returns {Promise<number>} the exit code */
async function main() {
  if (root === ownRoot) await orExit(() => ensurePackages(root, {withTools: true}));
  if (options.list) {
    for (const {id, original, mutated} of pickMutants(root).sample) print(`${id}  ${original} → ${mutated}`);
    return 0;
  }
  if (root === ownRoot) await orExit(() => ensureBuilt(root));
  const removeFolders = setUpFolders();
  const copies = new Copies(root, Number(options.workers));
  const close = () => {
    copies.close();
    removeFolders();
  };
  for (const [signal, code] of Object.entries({SIGINT: 130, SIGTERM: 143, SIGHUP: 129})) {
    process.once(signal, () => {
      close();
      process.exit(code);
    });
  }
  try {
    // Mutants come from a copy, which stays the same while the checkout is edited.
    const {sources, sample} = pickMutants(copies.roots[0]);
    const tests = new TestFiles(copies.roots[0]);
    const results = new Results(sample, {sources, tests, cache, options});
    const [seconds, hang] = [options.seconds, options.hang].map(Number);
    await judge(sample, {sources, tests, results, copies, cache, seconds, hang, unit: options.unit});
    return results.printTable();
  } finally {
    close();
  }
}

/** @param {string} checkout */
function pickMutants(checkout) {
  const sources = readSources(checkout, options.folder);
  const all = new Map(sources.flatMap(({mutants}) => mutants).map((mutant) => [mutant.id, mutant]));
  const drawn = () => drawSample(sources, {seed: Number(options.seed), size: Number(options.sample)});
  const sample = options.only?.map((id) => all.get(id) ?? failFor(id)) ?? drawn();
  print(`${sample.length} of ${all.size} mutants${options.only ? '' : `, seed ${options.seed}`}`);
  return {sources, sample};
}

/** @param {string} id @returns {never} */
function failFor(id) {
  throw new Error(`There is no mutant ${id}. --list names those of the sample.`);
}
