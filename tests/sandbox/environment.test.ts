/** What of the environment reaches a confined command. */
import {expect, test} from 'vitest';
import {confinedEnvironment} from '../../src/sandbox/environment.ts';

const LISTED = {
  ...{PATH: '/bin', HOME: '/home/ada', LANG: 'C', LC_ALL: 'C', TERM: 'xterm', XDG_CONFIG_HOME: '/home/ada/.config'},
  ...{NODE_ENV: 'test', GOFLAGS: '-mod=mod', CARGO_HOME: '/c', VIRTUAL_ENV: '/v', npm_config_cache: '/n'},
};

test('passes variables whose names are on the list, and no others', () => {
  const others = {
    ...{
      KEY: 'abc',
      BEARER: 'abc',
      MY_JWT: 'eyJhbGciOi',
      CREDS: 'me:it',
      SESSION_COOKIE: 'a=b',
      SENTRY_DSN: 'https://k@s/1',
    },
    ...{DB_CONNECTION_STRING: 'Server=x', SLACK_WEBHOOK_URL: 'https://hooks.slack.com/x', SSH_AUTH_SOCK: '/run/agent'},
    ...{GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.fsmonitor', GIT_CONFIG_VALUE_0: 'x', LD_PRELOAD: '/x.so'},
    ...{NPM_CONFIG_CACHE_TOKEN: 'x', npm_config__authToken: 'x', 'BASH_FUNC_ls%%': '() { id; }', BASH_ENV: '/x'},
  };
  expect(confinedEnvironment({...LISTED, ...others})).toEqual(LISTED);
});

test('passes no listed variable whose value holds a key', () => {
  const env = {...LISTED, GOFLAGS: '-proxy=https://me:hunter22@proxy', XDG_SECRET_HOME: '/s'};
  const {GOFLAGS: _, ...rest} = LISTED;
  expect(confinedEnvironment(env)).toEqual({...rest, XDG_SECRET_HOME: '/s'});
});

test('passes what the user names beside the list', () => {
  expect(confinedEnvironment({MY_FLAG: '1', OTHER: '2'}, ['MY_FLAG'])).toEqual({MY_FLAG: '1'});
});
