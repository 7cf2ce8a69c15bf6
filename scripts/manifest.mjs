// package.json has two forms. The source's names all packages, with those for development. The published one names only
// the packages that are installed beside mini-cc, since all others are in the bundle. `npm pack` reads package.json from
// the disk, so the published form takes its place while npm packs; the source's form waits in package.source.json.
import {existsSync, linkSync, readdirSync, readFileSync, renameSync} from 'node:fs';
import path from 'node:path';
import {readIfThere, replaceFile, SetupError} from './checkout.mjs';

/** Packages that are not bundled: ripgrep finds its binary beside its own package. */
export const EXTERNAL = ['@vscode/ripgrep'];

/**
 * Puts the published form in place. Needs a build: chunks of earlier builds are left out of the package.
 * @param {string} root
 */
export function publishManifest(root) {
  restoreManifest(root);
  const {manifest, source} = getPaths(root);
  const published = formatPublished(readFileSync(manifest, 'utf8'), listOldChunks(root));
  // A link, so that the source's form keeps its time of change: after packing, dist/ is still fresh.
  linkSync(manifest, source);
  replaceFile(manifest, published);
}

/**
 * Puts the source's form back, after packing or after a pack that was aborted.
 * @param {string} root
 * @returns {boolean} false when it was in place already
 * @throws {SetupError} when package.json was edited after an aborted pack: then only a person can merge the two
 */
export function restoreManifest(root) {
  const {manifest, source} = getPaths(root);
  if (!existsSync(source)) return false;
  const [current, original] = [readIfThere(manifest), readFileSync(source, 'utf8')];
  if (current !== undefined && current !== original && !isPublishedForm(current, original)) {
    throw new SetupError(
      'package.json was changed after an aborted npm pack. package.source.json is the version from before: ' +
        'move your change there, then run: mv package.source.json package.json',
    );
  }
  renameSync(source, manifest);
  return true;
}

function getPaths(root) {
  return {manifest: path.join(root, 'package.json'), source: path.join(root, 'package.source.json')};
}

function formatPublished(original, oldChunks) {
  const {devDependencies: _, allowScripts: __, ...manifest} = JSON.parse(original);
  const dependencies = Object.fromEntries(EXTERNAL.map((name) => [name, manifest.dependencies[name]]));
  const files = [...manifest.files, ...oldChunks.map((name) => `!dist/chunks/${name}`)];
  return `${JSON.stringify({...manifest, files, dependencies}, null, 2)}\n`;
}

/** The list of old chunks may differ between two builds. */
function isPublishedForm(text, original) {
  const withoutFiles = (json) => JSON.stringify({...JSON.parse(json), files: []});
  return withoutFiles(text) === withoutFiles(formatPublished(original, []));
}

function listOldChunks(root) {
  const current = new Set(readIfThere(path.join(root, 'dist', '.files'))?.split('\n'));
  return readdirSync(path.join(root, 'dist', 'chunks')).filter((name) => !current.has(`chunks/${name}`));
}
