// Switches package.json between two forms. The source form names all packages, including those for development. The
// published form names only the packages that are installed beside mini-cc, since all others are in the bundle. `npm
// pack` reads package.json from disk, so the published form replaces it while npm packs, and the source form is saved
// as package.source.json.
import {existsSync, linkSync, readdirSync, readFileSync, renameSync} from 'node:fs';
import path from 'node:path';
import {readIfThere, replaceFile, SetupError} from './checkout.mjs';

/** Packages that are not bundled. ripgrep finds its binary beside its own package. */
export const EXTERNAL = ['@vscode/ripgrep'];

/**
 * Puts the published form in place. Needs a build, because chunks of earlier builds are excluded by name.
 * @param {string} root
 */
export function publishManifest(root) {
  restoreManifest(root);
  const {manifest, source} = getPaths(root);
  const published = formatPublished(readFileSync(manifest, 'utf8'), listOldChunks(root));
  // A hard link keeps the modification time of the source form, so that dist/ is still fresh after packing.
  linkSync(manifest, source);
  replaceFile(manifest, published);
}

/**
 * Puts the source form back, after packing or after an aborted pack.
 * @param {string} root
 * @returns {boolean} false when it was already in place
 * @throws {SetupError} when package.json was edited after an aborted pack, because only a person can merge the two
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
  const {devDependencies: _, optionalDependencies: __, ...manifest} = JSON.parse(original);
  const dependencies = Object.fromEntries(EXTERNAL.map((name) => [name, manifest.dependencies[name]]));
  const files = [...manifest.files, ...oldChunks.map((name) => `!dist/chunks/${name}`)];
  return `${JSON.stringify({...manifest, files, dependencies}, null, 2)}\n`;
}

/** Compares without the list of old chunks, which may differ between two builds. */
function isPublishedForm(text, original) {
  const withoutFiles = (json) => JSON.stringify({...JSON.parse(json), files: []});
  return withoutFiles(text) === withoutFiles(formatPublished(original, []));
}

function listOldChunks(root) {
  const current = new Set(readIfThere(path.join(root, 'dist', '.files'))?.split('\n'));
  return readdirSync(path.join(root, 'dist', 'chunks')).filter((name) => !current.has(`chunks/${name}`));
}
