// Is dist/ built from the sources as they are now? Asked at every start, so it only looks at times and sizes.
import {existsSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {readIfThere} from './packages.mjs';

/** What the bundle is made of, beside src/. */
const INPUTS = ['package.json', 'package-lock.json', 'tsconfig.json', 'scripts/bundle.mjs', 'scripts/notices.mjs'];

/**
 * One line for each input: path, time of change, size. The whole list is the stamp, so that files which were added,
 * deleted or put back to an older state count as changes too.
 * @param {string} root
 * @returns {string}
 */
export function listInputs(root) {
  const lines = INPUTS.map((file) => describe(root, file));
  // The agents that ship are bundled as templates.
  const folders = ['src', '.mini-cc/agents'].filter((folder) => existsSync(path.join(root, folder)));
  while (folders.length > 0) {
    const folder = folders.pop();
    for (const entry of readdirSync(path.join(root, folder), {withFileTypes: true})) {
      const file = `${folder}/${entry.name}`;
      if (entry.isDirectory()) folders.push(file);
      else lines.push(describe(root, file));
    }
  }
  return `${lines.sort().join('\n')}\n`;
}

function describe(root, file) {
  const stats = statSync(path.join(root, file), {throwIfNoEntry: false});
  return stats === undefined ? `${file} missing` : `${file} ${stats.mtimeMs} ${stats.size}`;
}

/** @param {string} root */
export function distIsFresh(root) {
  const stamp = readIfThere(stampFile(root));
  return stamp !== undefined && existsSync(path.join(root, 'dist', 'cli.js')) && stamp === listInputs(root);
}

/**
 * Notes what dist/ was built from. The last step of a build.
 * @param {string} root
 * @param {string} inputs the list as it was before the build began: what changed meanwhile makes the next start build again
 */
export function stampDist(root, inputs) {
  writeWhole(stampFile(root), inputs);
}

function stampFile(root) {
  return path.join(root, 'dist', '.inputs');
}

/** Writes a file so that nobody ever sees half of it. */
export function writeWhole(file, content, mode = 0o644) {
  mkdirSync(path.dirname(file), {recursive: true});
  const half = `${file}.${process.pid}.half`;
  writeFileSync(half, content, {mode});
  renameSync(half, file);
}
