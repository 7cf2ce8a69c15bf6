// How much source there is, however it is commented and laid out.
import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {parseSync} from 'rolldown/utils';

/**
 * @param {string} name decides between TypeScript and TSX
 * @param {string} text
 * @returns {number} the bytes of a source without comments and white space
 */
export function countStrippedBytes(name, text) {
  const {comments, errors} = parseSync(name, text);
  if (errors.length > 0) throw new Error(`${name}: ${errors[0].message}`);
  let [code, at] = ['', 0];
  for (const {start, end} of comments) {
    code += text.slice(at, start);
    at = end;
  }
  return Buffer.byteLength((code + text.slice(at)).replaceAll(/\s+/g, ''));
}

/** @param {string} folder @returns {number} of all files of TypeScript in it */
export function countStrippedBytesIn(folder) {
  return readdirSync(folder, {recursive: true, withFileTypes: true})
    .filter(({name}) => /\.tsx?$/.test(name))
    .map(({name, parentPath}) => countStrippedBytes(name, readFileSync(path.join(parentPath, name), 'utf8')))
    .reduce((sum, bytes) => sum + bytes, 0);
}
