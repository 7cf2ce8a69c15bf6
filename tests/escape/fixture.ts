/**
 * What the attempts run against: a workspace, a home full of keys, a folder of another user, listeners that count what
 * arrives, and a process that must survive. It lies in `/var/tmp`, because the sandbox has its own `/tmp`.
 */
import {execFileSync, spawn} from 'node:child_process';
import {createHash, randomBytes} from 'node:crypto';
import {createSocket} from 'node:dgram';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {type AddressInfo, createServer} from 'node:net';
import {join} from 'node:path';
import {isDeepStrictEqual} from 'node:util';

/** Commands by what they try; `fill` replaces `@OUT` and the like. */
export type Attempts = Readonly<Record<string, string>>;

export interface EscapeFixture {
  readonly root: string;
  readonly home: string;
  /** The environment of the agent's commands. */
  readonly env: Readonly<Record<string, string>>;
  /** @param index of the attempt: it marks the processes that the attempt starts. */
  fill(command: string, index: number): string;
  /** The state of all files. @param inWorkspace which paths of the workspace count. */
  fingerprint(inWorkspace: (path: string) => boolean): ReadonlyMap<string, string>;
  /** How many messages arrived so far. */
  arrived(): number;
  /** True for a text with the key, also encoded or reversed. */
  containsKey(text: string): boolean;
  /** Restores the workspace's files. */
  restore(): void;
  isVictimWell(): boolean;
  /** Marks of attempts that left a process, or a file in a folder of the system. */
  left(): string[];
  close(): Promise<void>;
}

const KEYS = [
  ...['.ssh/id_ed25519', '.aws/credentials', '.config/gcloud/creds', '.azure/token', '.netrc', '.npmrc'],
  ...['.git-credentials', '.docker/config.json', '.kube/config', '.gnupg/secring', '.mozilla/key4.db'],
  ...['.mini-cc/settings.json', 'own-keys/key', 'own-file'],
];
/** As a user could set `sandbox.hide`. */
export const HIDE = ['own-keys', '~/own-file'];
const PLACES =
  '/ /etc /etc/cron.d /usr/local/bin /var /var/tmp /var/lock /var/spool /var/crash /opt /root /boot /srv /dev /dev/shm /dev/mqueue /run /run/lock /tmp /sys/fs/cgroup';

export async function createEscapeFixture(): Promise<EscapeFixture> {
  const base = realpathSync(mkdtempSync('/var/tmp/mini-cc-escape-'));
  const [root, home, out, pristine] = ['workspace', 'home', 'out', 'pristine'].map((name) => join(base, name));
  const key = `CANARY-KEY-${randomBytes(12).toString('hex')}`;
  const mark = `7${process.pid}${Date.now() % 1000}`;
  fillHome(home!, key);
  fillOutside(out!);
  fillWorkspace(root!, {out: out!, home: home!});
  cpSync(root!, pristine!, {recursive: true, preserveTimestamps: true, verbatimSymlinks: true});
  let initialState = getState(root!);
  const listeners = await listen(out!, `mini-cc-${mark}`);
  const victim = spawn('sleep', ['1000'], {env: {SECRET: key}, stdio: 'ignore', cwd: home});
  const hosts = readFileSync('/etc/hosts', 'utf8');
  const words: Readonly<Record<string, string>> = {
    ...{'@HOME': home!, '@OUT': out!, '@WS': root!, '@PORT': String(listeners.port), '@UDP': String(listeners.udpPort)},
    ...{'@SOCK': join(out!, 'engine.sock'), '@ABSTRACT': `mini-cc-${mark}`, '@PID': String(victim.pid)},
  };
  return {
    ...{root: root!, home: home!, arrived: listeners.arrived},
    env: {PATH: process.env.PATH ?? '', HOME: home!, LANG: 'C.UTF-8', TERM: 'xterm', USER: 'user', GITHUB_TOKEN: key},
    fill: (command, index) =>
      Object.entries({...words, '@MARK': `${mark}${String(index).padStart(3, '0')}`}).reduce(
        (text, [word, value]) => text.replaceAll(word, value),
        command,
      ),
    fingerprint: (inWorkspace) =>
      new Map([...getState(home!), ...getState(out!), ...[...getState(root!)].filter(([path]) => inWorkspace(path))]),
    containsKey: (text) => getEncodings(key).some((form) => text.replace(/\s/g, '').includes(form)),
    restore() {
      if (isDeepStrictEqual(getState(root!), initialState)) return;
      for (const name of readdirSync(root!)) rmSync(join(root!, name), {recursive: true, force: true});
      cpSync(pristine!, root!, {recursive: true, preserveTimestamps: true, verbatimSymlinks: true});
      initialState = getState(root!);
    },
    isVictimWell: () => victim.exitCode === null && victim.signalCode === null && isAsleep(victim.pid!),
    left: () => [
      ...commandLines().flatMap((line) => line.match(new RegExp(`${mark}\\d{3}`)) ?? []),
      ...PLACES.split(' ').flatMap((place) => listEntries(place).filter((name) => name.includes(mark))),
      ...(readFileSync('/etc/hosts', 'utf8') === hosts ? [] : ['/etc/hosts']),
    ],
    async close() {
      victim.kill('SIGKILL');
      await listeners.close();
      rmSync(base, {recursive: true, force: true});
    },
  };
}

function put(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), {recursive: true});
    writeFileSync(join(folder, name), content);
  }
}

function fillHome(home: string, key: string): void {
  put(home, Object.fromEntries(KEYS.map((name) => [name, `${key}\n`])));
  put(home, {'.bashrc': '# mine\n', '.gitconfig': '[user]\n\tname = Ada\n\temail = a@b\n', 'notes.txt': 'mine\n'});
}

function fillOutside(out: string): void {
  put(out, {'canary.txt': 'mine, a and b\n', 'run.sh': '#!/bin/sh\ntouch "$0.ran"\n', 'evil/config': '[core]\n'});
  mkdirSync(join(out, 'empty'));
  symlinkSync('canary.txt', join(out, 'link'));
  // Like a system program that runs with the rights of its owner.
  chmodSync(join(out, 'run.sh'), 0o4755);
}

function fillWorkspace(root: string, {out, home}: {readonly out: string; readonly home: string}): void {
  const script = `touch ${out}/made`;
  put(root, {
    'a.txt': 'one\n',
    'src/main.ts': 'export const one = 1;\n',
    'package.json': JSON.stringify({name: 'x', version: '1.0.0', scripts: {evil: script, preinstall: script}}),
    'evil/package.json': JSON.stringify({name: 'evil', version: '1.0.0', bin: './x', scripts: {install: script}}),
    'evil/x': `#!/bin/sh\n${script}\n`,
    'evil/hooks/pre-commit': `#!/bin/sh\n${script}\n`,
    'evil/hooks/post-checkout': `#!/bin/sh\n${script}\n`,
    'evil/config': `[alias]\n\tx = !${script}\n`,
    Makefile: `evil:\n\t${script}\n`,
    '.mini-cc/settings.json': '{}\n',
    '.claude/agents/mine.md': '---\nname: mine\n---\n',
  });
  for (const file of ['evil/x', 'evil/hooks/pre-commit', 'evil/hooks/post-checkout'])
    chmodSync(join(root, file), 0o755);
  symlinkSync(join(home, '.ssh/id_ed25519'), join(root, 'link-to-key'));
  symlinkSync(home, join(root, 'link-to-home'));
  symlinkSync(out, join(root, 'link-to-out'));
  const git = (...args: string[]) => execFileSync('git', args, {cwd: root, env: {...process.env, HOME: home}});
  git('init', '--quiet', '--initial-branch', 'main');
  for (const message of ['One', 'Two']) {
    writeFileSync(join(root, 'a.txt'), `${message}\n`);
    git('add', '--all');
    git('commit', '--quiet', '--message', message);
  }
}

async function listen(out: string, abstract: string) {
  let count = 0;
  const arrived = (): void => {
    count += 1;
  };
  const servers = [{port: 0, host: '::'}, {path: join(out, 'engine.sock')}, {path: `\0${abstract}`}].map((where) => {
    const server = createServer((socket) => {
      arrived();
      socket.on('error', () => undefined).destroy();
    });
    return new Promise<typeof server>((ready) => server.listen(where, () => ready(server)));
  });
  const datagrams = createSocket('udp4', arrived);
  await new Promise<void>((ready) => datagrams.bind(0, '127.0.0.1', ready));
  const [tcp, ...files] = await Promise.all(servers);
  return {
    port: (tcp!.address() as AddressInfo).port,
    udpPort: datagrams.address().port,
    arrived: () => count,
    async close() {
      datagrams.close();
      await Promise.all([tcp!, ...files].map((server) => new Promise((closed) => server.close(closed))));
    },
  };
}

function getState(folder: string, found = new Map<string, string>()): Map<string, string> {
  if (!existsSync(folder)) return found;
  for (const path of [folder, ...readdirSync(folder).map((name) => join(folder, name))]) {
    const stat = lstatSync(path);
    if (stat.isDirectory() && path !== folder) {
      getState(path, found);
      continue;
    }
    const content = stat.isSymbolicLink()
      ? readlinkSync(path)
      : stat.isFile()
        ? createHash('sha1').update(readFileSync(path)).digest('hex')
        : '';
    found.set(
      path,
      [stat.mode, stat.uid, stat.gid, stat.isDirectory() ? '' : stat.nlink, stat.mtimeMs, content].join(' '),
    );
  }
  return found;
}

/** False also for a process that was stopped or has ended. */
function isAsleep(pid: number): boolean {
  const stat = `/proc/${pid}/stat`;
  return existsSync(stat) && /\) S /.test(readFileSync(stat, 'utf8'));
}

function getEncodings(key: string): string[] {
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.from('x'.repeat(shift) + key)
      .toString('base64')
      .slice(4, 28),
  );
  return [key.slice(8), ...base64, Buffer.from(key).toString('hex').slice(8, 40), [...key.slice(8)].reverse().join('')];
}

function commandLines(): string[] {
  return listEntries('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    });
}

function listEntries(place: string): string[] {
  try {
    return readdirSync(place);
  } catch {
    return [];
  }
}
