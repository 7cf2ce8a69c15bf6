import {execFileSync} from 'node:child_process';
import {expect, it} from 'vitest';
import {confinedEnvironment} from '../../src/sandbox/environment.ts';

it('removes keys and variables that lead to other programs from the environment of confined commands', () => {
  const env = {PATH: '/bin', GH_TOKEN: 'x', HTTPS_PROXY: 'http://me:hunter22@proxy', SSH_AUTH_SOCK: '/x', LANG: 'C'};
  expect(confinedEnvironment(env)).toEqual({PATH: '/bin', LANG: 'C'});
});

it("passes all of git's settings or none, since git fails when one is missing", () => {
  const PATH = process.env.PATH ?? '';
  const plain = {PATH, GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'user.name', GIT_CONFIG_VALUE_0: 'Ada'};
  expect(confinedEnvironment(plain)).toEqual(plain);
  const withKey = {...plain, GIT_CONFIG_KEY_0: 'url.https://me:hunter22@host/.insteadOf'};
  const env = confinedEnvironment(withKey);
  expect(JSON.stringify(env)).not.toContain('hunter22');
  expect(execFileSync('git', ['--version'], {env, encoding: 'utf8'})).toContain('git version');
  expect(execFileSync('git', ['config', '--default', 'none', 'x.y'], {env, encoding: 'utf8'})).toBe('none\n');
});
