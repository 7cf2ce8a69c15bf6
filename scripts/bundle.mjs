// Bundles src/ into dist/ with rolldown: ESM, split into chunks, minified, with the library's types and the notices of
// the bundled packages. The packages must be installed; scripts/build.mjs does that. A running program loads chunks
// late, and a build may be interrupted. So new chunks are written beside the old ones, the entries are replaced last,
// and unused chunks are removed a day later.
import {existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {brotliCompressSync, constants} from 'node:zlib';
import {rolldown} from 'rolldown';
import {importGlobPlugin} from 'rolldown/experimental';
import {describeInput, readIfThere, replaceFile, stampDist} from './checkout.mjs';
import {LEFT_OUT, withoutUnused} from './left-out.mjs';
import {EXTERNAL} from './manifest.mjs';

const DAY_MS = 24 * 60 * 60 * 1000;
const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/** The module that the command-line entry loads. It has its own chunk. */
const MAIN = 'src/cli/main.ts';

/**
 * Modules that different kinds of starts load. Modules that are needed by the same entries of this table share a chunk.
 * Without it, the bundler makes 70 small chunks for one prompt, and each costs a start half a millisecond.
 */
const STARTS = {
  base: [MAIN],
  arguments: ['src/cli/arguments.ts'],
  screen: ['src/cli/repl.ts'],
  session: ['src/compose/session.ts', 'src/drivers/print.ts'],
  model: ['src/models/anthropic/protocol.ts'],
};

/** @returns a plugin, and the groups of chunks, which are complete once the modules are read */
function groupByStarts(root) {
  const names = new Map();
  const plugin = {
    name: 'group-by-starts',
    buildEnd() {
      for (const [name, files] of Object.entries(STARTS)) {
        const reached = new Set(files.map((file) => path.join(root, file)));
        // The loop also visits items that are added to the set meanwhile.
        for (const id of reached)
          for (const imported of this.getModuleInfo(id)?.importedIds ?? []) reached.add(imported);
        for (const id of reached) names.set(id, [...(names.get(id) ?? []), name]);
      }
    },
  };
  const name = (id) => {
    const [first, ...others] = names.get(id) ?? [];
    // Few and small modules are shared between argument parsing and others, so they need no chunk for each combination.
    if (first === 'arguments' && others.length > 0) return 'base';
    if (first === undefined || first === 'base') return first;
    // The model's client loads after the session, so modules that both need stay in the session's chunk.
    return [first, ...others.filter((each) => each !== 'model')].join('-');
  };
  return {plugin, groups: [{debugName: 'starts', name, test: (id) => names.has(id) && !id.endsWith(MAIN)}]};
}

/** Files that decide which packages are installed and how the bundler reads TypeScript. */
const SETTINGS = ['package-lock.json', 'tsconfig.json'];
const TYPES = 'src/library/public.d.ts';
/** Types that are written once, for the code and for programs. */
const RESULT_TYPES = 'src/evals/result-types.ts';

/**
 * @param {string} root
 * @param {readonly import('rolldown').Plugin[]} plugins additional plugins of the caller
 */
export async function bundle(root, ...plugins) {
  const inputs = new Set([...SETTINGS, TYPES, RESULT_TYPES].map((file) => describeInput(root, file)));
  const dist = path.join(root, 'dist');
  await recordScripts(root, inputs);
  const record = recordInputs(root, inputs);
  const input = {main: MAIN, index: 'src/library/index.ts'};
  const program = await generate(root, input, withoutUnused(LEFT_OUT), record, ...plugins);
  const main = program.find(({facadeModuleId}) => facadeModuleId === path.join(root, MAIN)).fileName;
  // The entry is one file, because each further file costs a start half a millisecond.
  const entry = await generate(root, {cli: 'src/cli/index.ts'}, withVersionCheck(), goesOnWith(`./${main}`), record);
  const output = [...program, ...entry];
  writeOutput(dist, output);
  writeTypes(root, dist);
  writeGrammars(root, dist);
  replaceFile(path.join(dist, 'THIRD_PARTY_NOTICES.txt'), formatNotices(root, output));
  stampDist(root, [...inputs]);
}

/** Adds each file outside of packages to `inputs` before it is read. */
const recordInputs = (root, inputs) => ({
  name: 'record-inputs',
  load: {
    filter: {id: {exclude: [/[/\\]node_modules[/\\]/, /^\0/]}},
    handler(id) {
      if (path.isAbsolute(id)) inputs.add(describeInput(root, path.relative(root, id)));
      return null;
    },
  },
});

/** Adds this script and its imports, because they also decide the content of the bundle. */
async function recordScripts(root, inputs) {
  const external = (id) => !id.startsWith('.') && !path.isAbsolute(id);
  const input = path.join(root, 'scripts', 'bundle.mjs');
  const scripts = await rolldown({
    input,
    platform: 'node',
    external,
    plugins: [recordInputs(root, inputs)],
    logLevel: 'silent',
  });
  await scripts.generate();
  await scripts.close();
}

/** Makes the entry print an error on a Node.js that is too old to have `process.getBuiltinModule`. */
const withVersionCheck = () => ({
  name: 'with-version-check',
  renderChunk(code) {
    const [{start}] = this.parse(code).body;
    const line =
      '`mini-cc needs Node.js 22.12 or newer; this is ${process.versions.node}. Run: npm install --global node@24\\n`';
    const check = `if (!process.getBuiltinModule) {process.stderr.write(${line}); process.exit(2);}\n`;
    return {code: `${code.slice(0, start)}${check}${code.slice(start)}`, map: null};
  },
});

/**
 * Makes the entry load the main chunk.
 * @param {string} file path of the chunk
 */
function goesOnWith(file) {
  return {
    name: 'goes-on-with',
    resolveId: {filter: {id: /\/main\.ts$/}, handler: () => ({id: file, external: true})},
  };
}

/** @returns the files of the program whose entry is `input` */
async function generate(root, input, ...plugins) {
  const {plugin, groups} = groupByStarts(root);
  const bundling = await rolldown({
    cwd: root,
    input,
    platform: 'node',
    // Without this, a chunk group would also contain modules of another group.
    preserveEntrySignatures: 'allow-extension',
    // ES modules come first, because a bundler cannot tell which parts of a CommonJS file are used. The CommonJS file
    // of jsonc-parser even loads its parts by computed names.
    resolve: {mainFields: ['module', 'main']},
    external: EXTERNAL,
    moduleTypes: {'.md': 'text'},
    // Some packages are CommonJS and use the name of their own file.
    transform: {
      define: {
        'process.env.NODE_ENV': '"production"',
        'process.env.DEV': '"false"',
        __filename: 'import.meta.filename',
        __dirname: 'import.meta.dirname',
      },
    },
    plugins: [importGlobPlugin(), plugin, ...plugins],
    logLevel: 'warn',
    // web-tree-sitter has an eval for a kind of module that no grammar uses. Starts load the session and print mode
    // late, but the library imports them directly.
    checks: {eval: false, ineffectiveDynamicImport: false},
  });
  const {output} = await bundling.generate({
    dir: path.join(root, 'dist'),
    format: 'esm',
    minify: true,
    entryFileNames: ({name}) => (name === 'main' ? 'chunks/main-[hash].js' : '[name].js'),
    chunkFileNames: 'chunks/[name]-[hash].js',
    codeSplitting: {includeDependenciesRecursively: false, groups},
  });
  await bundling.close();
  return output;
}

function writeOutput(dist, output) {
  const entriesLast = [...output].sort((a, b) => Number(a.isEntry ?? false) - Number(b.isEntry ?? false));
  for (const {fileName, code, source} of entriesLast) {
    replaceFile(path.join(dist, fileName), code ?? source, fileName === 'cli.js' ? 0o755 : 0o644);
  }
  const names = output.map(({fileName}) => fileName);
  const list = path.join(dist, '.files');
  retireChunks(dist, new Set(names), new Set(readIfThere(list)?.split('\n')));
  replaceFile(list, names.join('\n'));
}

/** Gives chunks of the previous build the current time, and removes chunks that were retired more than a day ago. */
function retireChunks(dist, current, previous) {
  const chunks = path.join(dist, 'chunks');
  if (statSync(chunks, {throwIfNoEntry: false}) === undefined) return;
  for (const name of readdirSync(chunks)) {
    const fileName = `chunks/${name}`;
    const file = path.join(chunks, name);
    const now = new Date();
    if (current.has(fileName)) continue;
    if (previous.has(fileName)) utimesSync(file, now, now);
    else if (now.getTime() - statSync(file).mtimeMs > DAY_MS) rmSync(file);
  }
}

/** Writes the same types twice: TypeScript reads a `.d.cts` file when a CommonJS program requires the package. */
function writeTypes(root, dist) {
  const read = (file) => readFileSync(path.join(root, file), 'utf8');
  const [, results] = read(RESULT_TYPES).split(/^import .*\n+/m);
  const whole = read(TYPES)
    .replace(/^import .*\n/m, '')
    .replace(/^export type \* from .*\n/m, () => results);
  for (const name of ['index.d.ts', 'index.d.cts']) replaceFile(path.join(dist, name), whole);
}

/** Grammars of the code index, loaded late. Compressed, they take 1.2 MB of 20 MB. */
const GRAMMARS = ['typescript', 'tsx', 'javascript', 'python', 'go', 'rust', 'java', 'cpp', 'ruby', 'php', 'c-sharp'];
const GRAMMAR_PACKAGE = 'node_modules/@vscode/tree-sitter-wasm';

/** Compresses the grammars. Files that are newer than their source are kept. */
function writeGrammars(root, dist) {
  const sources = [
    'node_modules/web-tree-sitter/web-tree-sitter.wasm',
    ...GRAMMARS.map((name) => `${GRAMMAR_PACKAGE}/wasm/tree-sitter-${name}.wasm`),
  ].map((file) => path.join(root, file));
  for (const source of sources) {
    const packed = path.join(dist, 'grammars', `${path.basename(source)}.br`);
    if (existsSync(packed) && statSync(packed).mtimeMs > statSync(source).ctimeMs) continue;
    const bytes = readFileSync(source);
    // Quality 11 takes 40 times as long and saves only a tenth.
    const params = {[constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_LGWIN]: 24};
    replaceFile(packed, brotliCompressSync(bytes, {params}));
  }
}

/**
 * Formats name, version, licence and licence text of each bundled package, because most licences require their text.
 * @param {string} root
 * @param {readonly {moduleIds?: readonly string[]}[]} output output of rolldown
 */
function formatNotices(root, output) {
  const folders = new Set(output.flatMap(({moduleIds = []}) => moduleIds.map(getPackageFolder)));
  folders.delete(undefined);
  folders.add(path.join(root, GRAMMAR_PACKAGE));
  const notices = new Map([...folders].map((folder) => formatNotice(folder)));
  const sorted = [...notices].sort(([a], [b]) => a.localeCompare(b, 'en'));
  // Many packages of one maker share a text, so it is printed once, below all their names.
  const named = new Map();
  for (const [, {title, body}] of sorted) named.set(body, [...(named.get(body) ?? []), title]);
  const texts = [...named].map(([body, titles]) => `${titles.join('\n')}\n\n${body}\n`);
  const head = 'mini-cc contains the following packages.\n';
  return [head, ...shortenTerms(texts)].join(`\n${'-'.repeat(80)}\n\n`);
}

/** Matches the terms of the two most common licences, without the copyright line. */
const TERMS =
  /^[ \t]*(?:TERMS AND CONDITIONS FOR USE[\s\S]*?accepting any such warranty or additional liability\.|Permission is hereby granted, free[\s\S]*?DEALINGS IN THE\s+SOFTWARE\.)/gim;

/**
 * Prints equal terms only once, ignoring white space and quotes. Later packages refer to the first one with these
 * terms.
 */
function shortenTerms(texts) {
  const first = new Map();
  return texts.map((text) => {
    const title = text.split('\n')[0];
    return text.replaceAll(TERMS, (terms) => {
      const key = terms
        .replaceAll(/[\s"'“”‘’]+/g, ' ')
        .trim()
        .toLowerCase();
      const known = first.get(key);
      first.set(key, known ?? title);
      return known ? `(The terms are the same as those of ${known} above.)` : terms;
    });
  });
}

/** Returns the folder of the package that a module belongs to, or undefined for the project's own modules. */
function getPackageFolder(moduleId) {
  return /^\0?(.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+)[/\\]/.exec(moduleId)?.[1];
}

/** @returns {[string, {title: string, body: string}]} a key that two copies of one version share, and the notice */
function formatNotice(folder) {
  const {name, version, license, licenses, author, homepage} = JSON.parse(
    readFileSync(path.join(folder, 'package.json'), 'utf8'),
  );
  const key = `${name} ${version}`;
  const kind = license?.type ?? license ?? licenses?.map(({type}) => type).join(' or ') ?? 'licence not stated';
  const texts = readdirSync(folder)
    .filter((file) => LICENCE_FILE.test(file) && statSync(path.join(folder, file)).isFile())
    .map((file) => readFileSync(path.join(folder, file), 'utf8').trim());
  const by = author?.name ?? author ?? homepage ?? 'its contributors';
  const body = texts.length > 0 ? texts.join('\n\n') : `(the package contains no licence text; by ${by})`;
  return [key, {title: `${key} (${kind})`, body}];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await bundle(path.dirname(path.dirname(process.argv[1])));
  } catch (error) {
    // The bundler's message shows the place in the sources; a stack trace of the bundler would not help.
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
