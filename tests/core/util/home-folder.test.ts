import {userInfo} from 'node:os';
import path from 'node:path';
import {afterEach, expect, it, vi} from 'vitest';
import {getMiniCcHome, getUserHome} from '../../../src/core/util/home-folder.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

it.each([
  ['/home/a', '', '/home/a', '/home/a/.mini-cc'],
  ['', '', userInfo().homedir, path.join(userInfo().homedir, '.mini-cc')],
  ['a/home', '', path.resolve('a/home'), path.resolve('a/home/.mini-cc')],
  ['/home/a', 'b', '/home/a', path.resolve('b')],
  ['/home/a', '/b', '/home/a', '/b'],
])('HOME=%s and MINI_CC_HOME=%s name absolute folders', (home, own, user, miniCc) => {
  vi.stubEnv('HOME', home);
  vi.stubEnv('MINI_CC_HOME', own);
  expect([getUserHome(), getMiniCcHome()]).toEqual([user, miniCc]);
});
