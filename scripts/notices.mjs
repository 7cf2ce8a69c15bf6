// The licences of what the bundle holds: most of them ask that their text goes along.
import {readdirSync, readFileSync, statSync} from 'node:fs';
import path from 'node:path';
import {writeWhole} from './freshness.mjs';

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/**
 * Writes dist/THIRD_PARTY_NOTICES.txt: name, version, licence and licence text of each npm package in the bundle.
 * @param {string} root
 * @param {readonly {moduleIds?: readonly string[]}[]} output what rolldown returned
 */
export function writeNotices(root, output) {
  const folders = new Set(output.flatMap(({moduleIds = []}) => moduleIds.map(packageFolder)));
  folders.delete(undefined);
  const notices = new Map([...folders].map((folder) => notice(folder)));
  const sorted = [...notices].sort(([a], [b]) => a.localeCompare(b, 'en')).map(([, text]) => text);
  const head = 'mini-cc contains the following packages.\n';
  writeWhole(path.join(root, 'dist', 'THIRD_PARTY_NOTICES.txt'), [head, ...sorted].join(`\n${'-'.repeat(80)}\n\n`));
}

/** The folder of the package that a module belongs to; undefined for modules of our own. */
function packageFolder(moduleId) {
  return /^\0?(.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+)[/\\]/.exec(moduleId)?.[1];
}

/** @returns {[string, string]} a key that is the same for two copies of one version, and the text */
function notice(folder) {
  const {name, version, license, licenses, author, homepage} = JSON.parse(
    readFileSync(path.join(folder, 'package.json'), 'utf8'),
  );
  const key = `${name} ${version}`;
  const kind = license?.type ?? license ?? licenses?.map(({type}) => type).join(' or ') ?? 'licence not stated';
  const texts = readdirSync(folder)
    .filter((file) => LICENCE_FILE.test(file) && statSync(path.join(folder, file)).isFile())
    .map((file) => readFileSync(path.join(folder, file), 'utf8').trim());
  const by = author?.name ?? author ?? homepage ?? 'its contributors';
  const body = texts.length > 0 ? texts.join('\n\n') : `(the package brings no licence text; by ${by})`;
  return [key, `${key} (${kind})\n\n${body}\n`];
}
