// Measures the size of sources without comments and layout.
import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {parseSync} from 'rolldown/utils';

/**
 * @param {string} name decides between TypeScript and TSX
 * @param {string} text
 * @returns {number} bytes of the source without comments and white space
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

/**
 * @param {string} folder
 * @returns {number} bytes of all its TypeScript files, without comments and white space
 */
export function countStrippedBytesIn(folder) {
  return readdirSync(folder, {recursive: true, withFileTypes: true})
    .filter(({name}) => /\.tsx?$/.test(name))
    .map(({name, parentPath}) => countStrippedBytes(name, readFileSync(path.join(parentPath, name), 'utf8')))
    .reduce((sum, bytes) => sum + bytes, 0);
}
