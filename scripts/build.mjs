// Builds dist/ by rolldown: ESM, split chunks, minified. What it bundles is noted in dist/THIRD_PARTY_NOTICES.txt.
import {rmSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {rolldown} from 'rolldown';
import {writeNotices} from './notices.mjs';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');

/** Ink loads its devtools only in development; the bundle must not reach for them. */
const withoutDevtools = {
  name: 'without-devtools',
  resolveId: (id) => (id === 'react-devtools-core' || id === 'ws' ? `\0${id}` : undefined),
  load: (id) => (id.startsWith('\0') ? 'export default {}' : undefined),
};

export async function build() {
  const bundle = await rolldown({
    cwd: root,
    input: {cli: 'src/cli.ts', index: 'src/index.ts'},
    platform: 'node',
    // ripgrep finds its binary beside its own package.
    external: ['@vscode/ripgrep'],
    moduleTypes: {'.md': 'text'},
    transform: {define: {'process.env.NODE_ENV': '"production"', 'process.env.DEV': '"false"'}},
    plugins: [withoutDevtools],
    logLevel: 'warn',
  });
  rmSync(path.join(root, 'dist'), {recursive: true, force: true});
  const {output} = await bundle.write({
    dir: path.join(root, 'dist'),
    format: 'esm',
    minify: true,
    chunkFileNames: 'chunks/[name]-[hash].js',
  });
  await bundle.close();
  writeNotices(root, output);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build();
