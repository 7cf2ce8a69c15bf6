import {describe, expect, it} from 'vitest';
import {
  findPasswords,
  getKnownSecrets,
  isSecretName,
  isSecretVariable,
  withoutModelKeys,
} from '../../../src/core/secrets/known-secrets.ts';
import {Redactor} from '../../../src/core/secrets/redaction.ts';

it.each([
  ...[
    'ANTHROPIC_API_KEY',
    'ANTHROPIC_AUTH_TOKEN',
    'GLM_API_KEY',
    'OPENAI_KEY',
    'GITHUB_TOKEN',
    'GH_TOKEN',
    'NPM_TOKEN',
  ],
  ...['AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'SECRET_KEY_BASE', 'CLIENT_SECRET', 'APP_SECRET_2', 'PGPASSWORD'],
  ...['DB_PASSWORD', 'MYSQL_PWD', 'SMTP_PASS', 'SSH_PASSPHRASE', 'GITLAB_PAT', 'my_api_key', 'SIGNING_PRIVATE_KEY'],
  ...['NODE_AUTH_TOKEN', 'npm_config__authToken', 'DOCKER_AUTH', 'APIKEY', 'TOKEN', 'SECRET', 'API_KEY_1'],
  ...['Authorization', 'Proxy-Authorization', 'x-api-key', 'PRIVATE-TOKEN'],
])('%s is the name of a key', (name) => {
  expect(isSecretName(name)).toBe(true);
});

it.each([
  ...['PATH', 'PWD', 'OLDPWD', 'HOME', 'SSH_AUTH_SOCK', 'TOKENIZERS_PARALLELISM', 'CLAUDE_CODE_MAX_OUTPUT_TOKENS'],
  ...['TOKEN_TTL', 'AWS_ACCESS_KEY_ID', 'PASSWORD_FILE', 'AUTH_URL', 'KEYBOARD', 'KEYTIMEOUT', 'MONKEY', 'GPG_KEY'],
  ...['COMPASS', 'PASSAGE', 'SECRETARY', 'AUTHOR', 'GIT_AUTHOR_NAME', 'XAUTHORITY', 'BYPASS_CACHE'],
  ...['GIT_CONFIG_KEY_0', 'GIT_CONFIG_VALUE_0', 'PUBLIC_KEY', 'SSH_PUBLIC_KEY', 'GIT_ASKPASS', 'SSH_KEY_PATH'],
])('%s is not the name of a key', (name) => {
  expect(isSecretName(name)).toBe(false);
});

it('a variable contains a secret by its name, or as a password in an address', () => {
  expect(isSecretVariable('GH_TOKEN', 'x')).toBe(true);
  expect(isSecretVariable('HTTPS_PROXY', 'http://me:hunter22@proxy:3128')).toBe(true);
  expect(isSecretVariable('HTTPS_PROXY', 'http://proxy:3128')).toBe(false);
  expect(findPasswords('postgres://me:hunter22@db/x, https://ghp_0123456789abcdefghij@github.com/x')).toEqual([
    'hunter22',
    'ghp_0123456789abcdefghij',
  ]);
  expect(findPasswords('ssh://git@github.com/x?monkey')).toEqual([]);
  expect(findPasswords('/search?api_key=k-123')).toEqual([]);
  expect(findPasswords('https://host/x?api-version=1&api_key=k-123&sig=abc%2B&page=2#token=no')).toEqual([
    'k-123',
    'abc%2B',
  ]);
});

const KEY = 'sk-ant-api03-Zm9v+bar/baz_0123456789';

describe('the known values', () => {
  const known = (env: Record<string, string>, named: string[] = [], shown: string[] = []) =>
    getKnownSecrets(env, named, shown).map(({name, value}) => `${name}=${value}`);

  it("are mini-cc's own keys, those that settings name, and variables that are named like keys", () => {
    const env = {ANTHROPIC_API_KEY: KEY, GLM: 'glm-key-1', FOO_API_KEY: 'foo-secret-1', EDITOR: 'vim-the-editor'};
    expect(known(env, ['GLM'])).toEqual([`ANTHROPIC_API_KEY=${KEY}`, 'GLM=glm-key-1', 'FOO_API_KEY=foo-secret-1']);
    expect(new Redactor(getKnownSecrets({A_TOKEN: KEY, ANTHROPIC_API_KEY: KEY})).text(KEY)).toBe(
      '[redacted: ANTHROPIC_API_KEY]',
    );
  });

  it('are not words, paths, addresses or placeholders', () => {
    const env = {
      ...{DB_PASSWORD: 'postgres', A_TOKEN: 'true', B_SECRET: '/usr/share/x', C_TOKEN: '~/token', D_TOKEN: 'short'},
      ...{ANTHROPIC_AUTH_TOKEN: 'lmstudio', E_API_KEY: 'https://host/path', F_TOKEN: './keys/a.pem'},
    };
    expect(known(env)).toEqual([]);
    expect(known({DB_PASSWORD: 'project1x'}, [], ['/home/me/project1x'])).toEqual([]);
  });

  it('are without the scheme of a header, and are no names of variables', () => {
    expect(known({Authorization: `Bearer ${KEY}`, 'x-api-key': 'x-key-0123'})).toEqual([
      `Authorization=${KEY}`,
      'x-api-key=x-key-0123',
    ]);
    expect(known({Authorization: 'Bearer $MY_TOKEN', A_TOKEN: '${OTHER_TOKEN}', B_TOKEN: '${OTHER_TOKEN:-}'})).toEqual(
      [],
    );
  });

  it('are without white space around them, also when they begin with a slash', () => {
    expect(known({A_TOKEN: `  ${KEY}\n`})).toEqual([`A_TOKEN=${KEY}`]);
    expect(known({B_SECRET: '/no-such-folder-9/x'})).toEqual(['B_SECRET=/no-such-folder-9/x']);
  });

  it('are the passwords in addresses, and each line of a key that has several', () => {
    const lines = [
      '-----BEGIN PRIVATE KEY-----',
      'MIIEvQIBADANBgkq',
      'w0BAQEFAASCBKcwggSjAgEA',
      'c2hvcnQgZW5kIG4',
      '-----END PRIVATE KEY-----',
    ];
    expect(known({HTTPS_PROXY: 'http://me:hunter22@proxy:1', APP_PRIVATE_KEY: lines.join('\r\n')})).toEqual([
      'HTTPS_PROXY=hunter22',
      `APP_PRIVATE_KEY=${lines[1]}`,
      `APP_PRIVATE_KEY=${lines[2]}`,
    ]);
  });

  it('are not in the environment of tools when they are keys of mini-cc, under any name', () => {
    const env = {
      ANTHROPIC_API_KEY: KEY,
      COPY: `Bearer ${KEY}`,
      GLM: 'glm-key-1',
      GH_TOKEN: 'ghp_0123456789',
      PATH: '/bin:/x',
    };
    const long = 'abcdefgh-1234567';
    expect(withoutModelKeys({ANTHROPIC_API_KEY: ` ${long}\n`, COPY: `Bearer ${long}`, OTHER: 'x'}, [])).toEqual({
      OTHER: 'x',
    });
    const word = {ANTHROPIC_API_KEY: 'anthropic', PATH: '/opt/anthropic/bin', SAME: 'anthropic'};
    expect(withoutModelKeys(word, [])).toEqual({PATH: '/opt/anthropic/bin'});
    expect(withoutModelKeys(env, ['GLM', 'PATH'])).toEqual({GH_TOKEN: 'ghp_0123456789', PATH: '/bin:/x'});
  });
});
