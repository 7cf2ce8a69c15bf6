// Bundles src/ into dist/ by rolldown: ESM, split chunks, minified. Needs the packages; scripts/build.mjs sees to that.
// A program that is running loads chunks late, and a build may be interrupted: so new chunks are put beside the old ones,
// the entries are moved over the old ones last, and chunks that nothing uses are removed a day later.
import {readdirSync, rmSync, statSync, utimesSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {rolldown} from 'rolldown';
import {listInputs, stampDist, writeWhole} from './freshness.mjs';
import {writeNotices} from './notices.mjs';
import {readIfThere} from './packages.mjs';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Ink loads its devtools only in development; the bundle must not reach for them. The filters spare a call from the
 * bundler into JavaScript for every other module: half of the time of a build.
 */
const withoutDevtools = {
  name: 'without-devtools',
  resolveId: {filter: {id: /^(?:react-devtools-core|ws)$/}, handler: (id) => `\0${id}`},
  load: {filter: {id: /^\0(?:react-devtools-core|ws)$/}, handler: () => 'export default {}'},
};

/** @param {string} root */
export async function bundle(root) {
  const inputs = listInputs(root);
  const dist = path.join(root, 'dist');
  const bundling = await rolldown({
    cwd: root,
    input: {cli: 'src/cli/index.ts', index: 'src/library/index.ts'},
    platform: 'node',
    // jsonc-parser's main file loads its parts by names that a bundler can't follow; its module file does not.
    resolve: {alias: {'jsonc-parser': 'jsonc-parser/lib/esm/main.js'}},
    // ripgrep finds its binary beside its own package.
    external: ['@vscode/ripgrep'],
    moduleTypes: {'.md': 'text'},
    // Some packages are CommonJS and ask for their own file's name.
    transform: {
      define: {
        'process.env.NODE_ENV': '"production"',
        'process.env.DEV': '"false"',
        __filename: 'import.meta.filename',
        __dirname: 'import.meta.dirname',
      },
    },
    plugins: [withoutDevtools],
    logLevel: 'warn',
  });
  const {output} = await bundling.generate({
    dir: dist,
    format: 'esm',
    minify: true,
    chunkFileNames: 'chunks/[name]-[hash].js',
  });
  await bundling.close();
  writeOutput(dist, output);
  writeNotices(root, output);
  stampDist(root, inputs);
}

function writeOutput(dist, output) {
  const entriesLast = [...output].sort((a, b) => Number(a.isEntry ?? false) - Number(b.isEntry ?? false));
  for (const {fileName, code, source} of entriesLast) {
    writeWhole(path.join(dist, fileName), code ?? source, fileName === 'cli.js' ? 0o755 : 0o644);
  }
  const names = output.map(({fileName}) => fileName);
  const list = path.join(dist, '.files');
  retire(dist, new Set(names), new Set(readIfThere(list)?.split('\n')));
  writeWhole(list, names.join('\n'));
}

/** Chunks of the former build are marked as out of use from now; those that have been for a day are removed. */
function retire(dist, current, former) {
  const chunks = path.join(dist, 'chunks');
  if (statSync(chunks, {throwIfNoEntry: false}) === undefined) return;
  for (const name of readdirSync(chunks)) {
    const fileName = `chunks/${name}`;
    const file = path.join(chunks, name);
    const now = new Date();
    if (current.has(fileName)) continue;
    if (former.has(fileName)) utimesSync(file, now, now);
    else if (now.getTime() - statSync(file).mtimeMs > DAY_MS) rmSync(file);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await bundle(path.dirname(path.dirname(process.argv[1])));
  } catch (error) {
    // The bundler's message shows the place; where in the bundler it was thrown helps nobody.
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
