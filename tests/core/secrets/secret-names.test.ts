import {expect, test} from 'vitest';
import {findPasswords, isSecretName, isSecretVariable} from '../../../src/core/secrets/known-secrets.ts';

test.each([
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
])('%s is the name of a key', (name) => {
  expect(isSecretName(name)).toBe(true);
});

test.each([
  ...['PATH', 'PWD', 'OLDPWD', 'HOME', 'SSH_AUTH_SOCK', 'TOKENIZERS_PARALLELISM', 'CLAUDE_CODE_MAX_OUTPUT_TOKENS'],
  ...['TOKEN_TTL', 'AWS_ACCESS_KEY_ID', 'PASSWORD_FILE', 'AUTH_URL', 'KEYBOARD', 'KEYTIMEOUT', 'MONKEY', 'GPG_KEY'],
  ...['COMPASS', 'PASSAGE', 'SECRETARY', 'AUTHOR', 'GIT_AUTHOR_NAME', 'XAUTHORITY', 'BYPASS_CACHE'],
  ...['GIT_CONFIG_KEY_0', 'GIT_CONFIG_VALUE_0', 'PUBLIC_KEY', 'SSH_PUBLIC_KEY', 'GIT_ASKPASS', 'SSH_KEY_PATH'],
])('%s is no name of a key', (name) => {
  expect(isSecretName(name)).toBe(false);
});

test('a variable holds a secret by its name, or for a password in an address', () => {
  expect(isSecretVariable('GH_TOKEN', 'x')).toBe(true);
  expect(isSecretVariable('HTTPS_PROXY', 'http://me:hunter22@proxy:3128')).toBe(true);
  expect(isSecretVariable('HTTPS_PROXY', 'http://proxy:3128')).toBe(false);
  expect(findPasswords('postgres://me:hunter22@db/x, https://ghp_0123456789abcdefghij@github.com/x')).toEqual([
    'hunter22',
    'ghp_0123456789abcdefghij',
  ]);
  expect(findPasswords('ssh://git@github.com/x?monkey')).toEqual([]);
  expect(findPasswords('https://host/x?api-version=1&api_key=k-123&sig=abc%2B&page=2#token=no')).toEqual([
    'k-123',
    'abc%2B',
  ]);
});
