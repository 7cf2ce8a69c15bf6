import {mkdtempSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, it} from 'vitest';
import {describeDiskFault} from '../../../../src/core/util/files/disk-fault.ts';

const fault = (code: string) =>
  Object.assign(new Error(`${code}: told by the system, write`), {code, syscall: 'write'});
const folder = path.join(mkdtempSync(path.join(tmpdir(), 'mini-cc-fault-')), 'not', 'there');

it.each([
  ['ENOSPC', true, 'The disk is full: nothing can be written to '],
  ['EDQUOT', true, 'Your disk quota is used up: nothing can be written to '],
  [
    'EMFILE',
    true,
    'mini-cc has no file descriptors left (start it with a higher limit: ulimit -n 1024): nothing can be written to ',
  ],
  ['EROFS', false, 'The file system is read-only: nothing can be written to '],
  ['EIO', false, 'The disk has an error (EIO): nothing can be written to '],
  ['EACCES', false, 'Permission denied: nothing can be written to '],
  ['ENAMETOOLONG', false, 'Nothing can be written to '],
])('%s: it may pass: %s; folder, file system and remedy are named', (code, mayPass, start) => {
  const found = describeDiskFault(fault(code), folder)!;
  expect(found.mayPass).toBe(mayPass);
  expect(found.text.startsWith(`${start}${folder}`)).toBe(true);
  if (['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'].includes(code)) {
    expect(found.text).toMatch(/ \(file system mounted at \/\S*, \d+ [KMGT]?B free\)\. /);
  }
  if (code !== 'EMFILE')
    expect(found.text).toMatch(mayPass ? /Free space there$/ : /MINI_CC_HOME to a folder that can be written$/);
});

it('an error that is not of the file system is none', () => {
  expect(describeDiskFault(new Error('x'), folder)).toBeUndefined();
});
