/** The tools for files, by path, link and pattern. Their control does the same by a command. */
import {type AttemptClass, attempts} from '../attempt.ts';

const read = (path: string, more: object = {}) => ({
  command: `cat ${path}`,
  call: {name: 'read_file', input: {path}},
  ...more,
});
const write = (path: string, more: object = {}) => ({
  command: `echo '[x]' > ${path}`,
  call: {name: 'write_file', input: {path, content: '[x]\n'}},
  ...more,
});
const search = (path: string, more: object = {}) => ({
  command: `grep -rh CANARY ${path}`,
  call: {name: 'grep', input: {pattern: 'CANARY', path}},
  ...more,
});
const list = (path: string, pattern = '**/*') => ({
  command: `find ${path}/`,
  call: {name: 'glob', input: {path, pattern}},
  shows: 'said' as const,
});

export const tools: readonly AttemptClass[] = [
  attempts('tools that read', 'canary', [
    ...[
      '@HOME/.ssh/id',
      '~/.ssh/id',
      '../home/.ssh/id',
      'link-to-key',
      'link-to-home/.ssh/id',
      'src/../../home/.ssh/id',
      './link-to-home/./.ssh/../.ssh/id',
      '/proc/self/root@HOME/.ssh/id',
      '/proc/self/cwd/../home/.ssh/id',
      '/proc/self/cwd/link-to-key',
      '@HOME/.claude/.credentials.json',
      '@HOME/.mini-cc/settings.json',
      '@BASE/home/.netrc',
    ].map((path) => read(path)),
    read('/proc/self/environ', {command: 'cat /proc/self/environ'}),
    read('way/id', {links: {way: '@HOME/.ssh'}}),
    read('a/b/id', {links: {'a/b': '../c', c: '@HOME/.ssh'}}),
    ...[
      '@HOME',
      '~/',
      'link-to-home',
      'link-to-home/.ssh',
      '../home',
      '/var/tmp',
      '/proc/self/root@HOME/.ssh',
      '@HOME/.ssh/id',
      'link-to-key',
    ].map((path) => search(path.replace('~/', '~'), {command: `grep -rh CANARY ${path}/ ${path}`})),
    ...['@HOME', '~', 'link-to-home', '../home', 'src/../../home', '/proc/self/cwd/../home'].map((path) => list(path)),
    {command: 'ls link-to-home/.ssh', shows: 'said', call: {name: 'glob', input: {pattern: 'link-to-home/.ssh/*'}}},
    {command: 'ls ../home/.ssh', shows: 'said', call: {name: 'glob', input: {pattern: '../home/.ssh/*'}}},
    {command: 'ls @HOME/.ssh', shows: 'said', call: {name: 'glob', input: {pattern: '@HOME/.ssh/*'}}},
    {
      command: 'ls -R {link-to-home,src}/.ssh',
      shows: 'said',
      call: {name: 'glob', input: {pattern: '{link-to-home,src}/.ssh/*'}},
    },
    {command: 'cat ../home/.ssh/id', call: {name: 'grep', input: {pattern: 'CANARY', glob: '../home/.ssh/*'}}},
    {
      command: 'cat link-to-home/.ssh/id',
      call: {name: 'grep', input: {pattern: 'CANARY', glob: 'link-to-home/.ssh/*', output_mode: 'content'}},
    },
    {
      command: 'rg --pre=cat CANARY link-to-key',
      call: {name: 'grep', input: {pattern: '--pre=cat', path: 'link-to-key'}},
    },
    {command: 'cat link-to-key', call: {name: 'grep', input: {pattern: '-f@HOME/.ssh/id', path: '.'}}},
  ]),
  attempts('tools that write', 'outside', [
    ...[
      '@OUT/made',
      '@OUT/canary.txt',
      '~/.bashrc',
      '@HOME/made',
      '../out/made',
      'link-to-out/made',
      'link-to-out/canary.txt',
      'src/../../out/made',
      '/proc/self/cwd/../out/made',
      '/proc/self/root@OUT/made',
      '@HOME/.mini-cc/settings.json',
      '@HOME/.mini-cc/agents/x.json',
      'link-to-home/.profile',
    ].map((path) =>
      write(
        path,
        path.includes('agents') ? {command: 'mkdir -p @HOME/.mini-cc/agents; touch @HOME/.mini-cc/agents/x.json'} : {},
      ),
    ),
    write('l', {links: {l: '@OUT/made'}}),
    write('l/x/made', {links: {l: '@OUT/empty'}, command: 'mkdir -p l/x; touch l/x/made'}),
    write('a/l', {links: {'a/l': '../m', m: '@OUT/made'}}),
    write('d/../l/made', {links: {l: '@OUT'}, command: 'echo x > l/made'}),
    {
      command: 'sed -i s/mine/x/ @OUT/canary.txt',
      call: {name: 'edit_file', input: {path: '@OUT/canary.txt', old_string: 'mine', new_string: 'x'}},
    },
    {
      command: 'sed -i s/mine/x/ link-to-out/canary.txt',
      call: {name: 'edit_file', input: {path: 'link-to-out/canary.txt', old_string: 'mine', new_string: 'x'}},
    },
    {
      command: 'sed -i --follow-symlinks s/mine/x/ l',
      links: {l: '@OUT/canary.txt'},
      call: {name: 'edit_file', input: {path: 'l', old_string: 'mine', new_string: 'x'}},
    },
  ]),
  attempts('tools that write what is run later', 'workspace', [
    ...[
      '.git/hooks/pre-commit',
      '.git/config',
      '.git/config.worktree',
      '.git/info/attributes',
      '.git/modules/x/config',
      '.mini-cc/settings.json',
      '.mini-cc/agents/x.json',
      '.claude/settings.json',
      '.claude/agents/x.md',
      'src/../.git/config',
      '.git/./config',
      '.git//config',
      'sub/.git/hooks/x',
      './.claude/../.claude/settings.json',
    ].map((path) => write(path, {command: `mkdir -p $(dirname ${path}); echo x > ${path}`})),
    write('g/config', {links: {g: '.git'}}),
    write('g/x.json', {links: {g: '.mini-cc'}}),
    write('hooks/x', {links: {hooks: '.git/hooks'}}),
    write('c', {links: {c: '.git/config'}}),
    {
      command: 'sed -i s/core/x/ .git/config',
      call: {name: 'edit_file', input: {path: '.git/config', old_string: 'core', new_string: 'x'}},
    },
  ]),
  attempts('tools that fetch', 'arrived', [
    ...[
      'http://127.0.0.1:@PORT/',
      'http://localhost:@PORT/',
      'http://[::1]:@PORT/',
      'http://127.1:@PORT/',
      'http://2130706433:@PORT/',
      'http://0x7f000001:@PORT/',
      'http://[::ffff:127.0.0.1]:@PORT/',
      'http://user:pw@127.0.0.1:@PORT/',
    ].map((url) => ({
      command: `curl -s -g -m 2 '${url}'`,
      needs: ['curl'],
      call: {name: 'web_fetch', input: {url, prompt: 'read it'}},
    })),
  ]),
  attempts(
    'calls with more than they may have',
    'outside',
    [
      {unconfined: true},
      {dangerouslyDisableSandbox: true},
      {sandbox: 'off'},
      {cwd: '@OUT'},
      {confinement: 'none'},
      {env: {BASH_ENV: '@WS/evil/x'}},
      {timeout_seconds: -1},
      {run_in_background: true},
    ].map((more) => ({
      command: 'touch @OUT/made',
      call: {name: 'bash', input: {command: 'touch @OUT/made', ...more}},
    })),
  ),
];
