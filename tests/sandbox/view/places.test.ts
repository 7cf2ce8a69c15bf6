/** What the sandbox shows of the system, of the user's settings of git, and of the session's temporary files. */
import {execFileSync} from 'node:child_process';
import {existsSync, readdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {afterAll, describe, expect, onTestFinished, test} from 'vitest';
import {hasSandbox} from '../../support/sandbox.ts';
import {ViewFixture} from './fixture.ts';

const usable = await hasSandbox();
const f = new ViewFixture();
afterAll(() => f.close());
const root = f.makeRepository('home/work/repo');
const isRoot = process.getuid?.() === 0;

describe.runIf(usable)('of the system a command sees', () => {
  test('the folders of programs, settings and package lists, and nothing else at the top', async () => {
    const {text} = await f.run('ls /; ls /sys /run /var /var/lib', {root: '/usr/share'});
    const [top = '', below = ''] = text.split(/\n(?=ls: |\/run:)/s);
    const names = top.split('\n');
    expect(names).toEqual(expect.arrayContaining(['bin', 'etc', 'lib', 'proc', 'dev', 'tmp', 'usr']));
    const allowed = /^(?:bin|sbin|lib\w*|etc|opt|nix|usr|proc|dev|tmp|run|var)$/;
    expect(names.filter((name) => !allowed.test(name) && !isInTestPlace(name))).toEqual([]);
    expect(below).not.toMatch(/^(?:kernel|systemd|log|cache|postgresql)$/m);
  });

  test('its packages', async () => {
    if (!existsSync('/var/lib/dpkg')) return;
    expect(await f.run('dpkg -S /bin/bash /usr/bin/env', {root})).toEqual(
      f.runPlainly('dpkg -S /bin/bash /usr/bin/env', {root}),
    );
  });

  // As a plain user the kernel refuses both, without the sandbox.
  test.runIf(isRoot)('no settings of the kernel that it could write, and no keys of the system, as root', async () => {
    const writes =
      'for f in kernel/core_pattern vm/drop_caches net/ipv4/ip_forward; do echo 1 > /proc/sys/$f; done; echo h > /proc/sysrq-trigger';
    const before = readFileSync('/proc/sys/kernel/core_pattern', 'utf8');
    onTestFinished(() => {
      // Only where the test failed: it is a setting of the whole machine.
      if (readFileSync('/proc/sys/kernel/core_pattern', 'utf8') !== before)
        writeFileSync('/proc/sys/kernel/core_pattern', before);
    });
    const {text} = await f.run(writes, {root});
    expect(text.match(/Read-only file system|No such file|Permission denied/g)).toHaveLength(4);
    expect(readFileSync('/proc/sys/kernel/core_pattern', 'utf8')).toBe(before);
    const inner = `unshare -Urm sh -c 'mount -o remount,rw /proc; echo x > /proc/sys/kernel/core_pattern'; mount -t proc p /tmp`;
    await f.run(inner, {root});
    expect(readFileSync('/proc/sys/kernel/core_pattern', 'utf8')).toBe(before);
    const keys = 'wc -c /etc/shadow /etc/gshadow /etc/shadow-; ls -A /etc/ssl/private';
    expect((await f.run(keys, {root})).text).not.toMatch(/^\s*[1-9]\d* \/etc/m);
    expect(f.runPlainly(keys, {root}).text).toMatch(/^\s*[1-9]\d* \/etc\/shadow/m);
  });
});

/** The folder of temporary files may lie anywhere. */
function isInTestPlace(name: string): boolean {
  return f.base.split('/')[1] === name;
}

describe.runIf(usable)('visibleIn', () => {
  test('says of each place what a command finds there', async () => {
    const sandbox = f.createSandbox({show: ['shown'], hide: ['shown/hidden', 'work/repo/hidden.txt']});
    onTestFinished(() => sandbox.folder.close());
    await sandbox.status();
    f.put('home/shown/a', '1');
    f.put('home/shown/hidden/a', '1');
    f.put('home/work/repo/hidden.txt', '1');
    f.put('home/work/repo/.ssh/id', '1');
    f.put('home/work/other/a', '1');
    f.put('home/.cargo/registry/a', '1');
    f.put('home/.cargo/credentials', '1');
    f.put('home/go/pkg/mod/a', '1');
    writeFileSync(path.join(sandbox.folder.temporary, 'kept'), '1');
    const places = [
      ...[
        '/usr/bin/env',
        '/etc/passwd',
        '/etc/hostname',
        '/proc/cpuinfo',
        '/dev/null',
        `${root}/a.txt`,
        `${f.home}/shown/a`,
      ],
      ...[
        `${f.home}/.cargo/registry/a`,
        `${f.home}/go/pkg/mod/a`,
        `${sandbox.folder.temporary}/kept`,
        `${root}/.git/HEAD`,
      ],
      ...[
        `${f.home}/private/key`,
        `${f.home}/shown/hidden/a`,
        `${root}/hidden.txt`,
        `${f.home}/work/other/a`,
        '/tmp',
        '/run',
      ],
      ...[
        `${f.home}/.cargo/credentials`,
        f.home,
        '/',
        '/sys/kernel',
        '/var/log',
        `${f.home}/.gitconfig`,
        '/home',
        '/root',
      ],
    ].filter((place) => existsSync(place));
    const env = f.env;
    const visible = places.filter(sandbox.visibleIn({root, extraRoots: [], env}));
    // A file with the same content, or a folder with the same names.
    const same = (place: string) => (statSync(place).isDirectory() ? `ls -A ${place} | md5sum` : `md5sum < ${place}`);
    const script = places.map((place) => `echo "${place} $(${same(place)} 2>&1)"`).join('; ');
    writeFileSync(f.at('home/work/script'), script);
    const {
      file,
      args,
      input,
      env: given,
    } = sandbox.confine('read-only', ['bash', '-c', script], {root, cwd: root, extraRoots: [], env});
    writeFileSync(f.at('filter'), input ?? '');
    const shell = `exec "$0" "$@" 4<${f.at('filter')}`;
    const inside = execFileSync('bash', ['-c', `exec 2>&1; ${shell}`, file, ...args], {
      env: given,
      encoding: 'utf8',
    }).split('\n');
    const outside = execFileSync('bash', ['-c', script], {env, encoding: 'utf8'}).split('\n');
    expect(places.filter((_place, index) => inside[index] === outside[index])).toEqual(visible);
    expect(visible).toHaveLength(places.indexOf(`${root}/.git/HEAD`) + 1);
  });
});

describe.runIf(usable)("the user's settings of git", () => {
  test('count in the sandbox as a flat copy, with the files that they name', async () => {
    f.put(
      'home/.gitconfig',
      `[include]\n\tpath = ~/more.inc\n[includeIf "gitdir:~/work/"]\n\tpath = work.inc\n[includeIf "gitdir:~/play/"]\n\tpath = play.inc\n[core]\n\texcludesFile = ~/ignored\n[alias]\n\tlast = log -1 --format=%s\n`,
    );
    f.put('home/more.inc', '[user]\n\tname = Ada\n\temail = ada@example.com\n[log]\n\tdate = iso\n');
    f.put('home/work.inc', '[user]\n\temail = "ada@work; here"\n');
    f.put('home/play.inc', '[user]\n\temail = ada@play\n');
    f.put('home/ignored', 'junk\n');
    f.put('home/.config/git/attributes', '*.x binary\n');
    f.put('home/work/repo/junk', 'x');
    for (const command of [
      'git config user.email',
      'git last',
      'git status --short',
      'git log -1',
      'git check-attr binary a.x',
    ]) {
      const confined = await f.run(command, {root});
      expect({command, ...confined}).toEqual({command, ...f.runPlainly(command, {root})});
    }
  });

  test('come without keys and without programs that work for the user', async () => {
    f.put(
      'home/.gitconfig',
      [
        ...[
          '[user]',
          'name = Ada',
          '[credential]',
          'helper = store',
          '[core]',
          'fsmonitor = /x',
          'sshCommand = ssh -i CANARY',
        ],
        ...[
          '[http]',
          'extraHeader = "Authorization: CANARY"',
          '[url "https://me:CANARY1@host/"]',
          'insteadOf = https://host/',
        ],
        ...[
          '[remote "o"]',
          'url = https://u:CANARY2@host/r',
          '[github]',
          'token = CANARY',
          '[sendemail]',
          'smtpPass = CANARY',
        ],
        ...['[alias]', 'x = !touch made', '[diff]', 'external = touch made', '[diff "y"]', 'textconv = touch made'],
        ...[
          '[gpg]',
          'program = touch',
          '[http "https://h/"]',
          'cookieFile = ~/CANARY',
          '[bitbucket "h"]',
          'password = CANARY',
        ],
      ].join('\n'),
    );
    const {text} = await f.run('git config --global --list; cat $GIT_CONFIG_GLOBAL', {root});
    expect(text).toContain('user.name=Ada');
    expect(text).not.toMatch(/CANARY|helper|fsmonitor|touch|github/i);
    // The control: git outside has them.
    expect(f.runPlainly('git config --global --list', {root}).text.match(/CANARY/g)).toHaveLength(8);
    // A change counts for the next command, without a new session.
    const sandbox = f.createSandbox();
    onTestFinished(() => sandbox.folder.close());
    await sandbox.status();
    const read = () =>
      readFileSync(
        sandbox.confine('read-only', ['true'], {root, cwd: root, extraRoots: [], env: f.env}).env.GIT_CONFIG_GLOBAL!,
        'utf8',
      );
    expect(read()).toContain('Ada');
    f.put('home/.gitconfig', '[user]\n\tname = Grace Hopper\n');
    expect(read()).toContain('Grace Hopper');
  });
});

describe.runIf(usable)('the folder for temporary files', () => {
  test('is one for all commands: a read-only one reads it and leaves nothing in it', async () => {
    const sandbox = f.createSandbox();
    await sandbox.status();
    const {temporary} = sandbox.folder;
    expect(statSync(temporary).mode & 0o777).toBe(0o700);
    expect(statSync(path.dirname(temporary)).mode & 0o777).toBe(0o700);
    writeFileSync(path.join(temporary, 'kept'), 'kept\n');
    const run = (profile: 'read-only' | 'workspace-write', command: string) => {
      const {file, args, env, input} = sandbox.confine(profile, ['bash', '-c', command], {
        root,
        cwd: root,
        extraRoots: [],
        env: f.env,
      });
      writeFileSync(f.at('filter'), input ?? '');
      return execFileSync('bash', ['-c', `exec "$0" "$@" 4<${f.at('filter')} 2>&1`, file, ...args], {
        env,
        encoding: 'utf8',
      });
    };
    expect(
      run('read-only', 'cat $TMPDIR/kept; mktemp >/dev/null && echo made; echo x >> $TMPDIR/kept || true'),
    ).toMatch(/^kept\nmade\n.*Read-only file system/);
    expect(readdirSync(temporary)).toEqual(['kept']);
    expect(run('workspace-write', 'cat $TMPDIR/kept; echo more > $TMPDIR/more')).toBe('kept\n');
    expect(run('read-only', 'cat $TMPDIR/more; sort -T $TMPDIR a.txt | head -1')).toBe('more\none\n');
    for (let index = 0; index < 60; index += 1) writeFileSync(path.join(temporary, `n${index}`), '');
    expect(run('read-only', 'ls $TMPDIR | wc -l').trim()).toBe('62');
    sandbox.folder.close();
    expect(existsSync(path.dirname(temporary))).toBe(false);
  });
});
