/**
 * The world that attempts run in: a workspace, a home full of keys, a folder of another user, listeners that count what
 * arrives, and a process that must survive. It lies in `/var/tmp`, because the sandbox has its own `/tmp`.
 */
import {execFileSync} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import {rgPath} from '@vscode/ripgrep';
import type {Attempt} from './attempt.ts';
import {containsKey} from './canary.ts';
import {KEY_FILES, KEY_VARIABLES} from './keys.ts';
import {listen} from './listeners.ts';

export interface World {
  readonly base: string;
  readonly root: string;
  readonly home: string;
  /** The environment of a user, with keys in it. */
  readonly env: Readonly<Record<string, string>>;
  /** Shell words that start the process that must survive. */
  readonly startVictim: string;
  /** Replaces `@OUT` and the like. @param index marks the processes that the attempt starts */
  fill(text: string, index: number): string;
  /** Puts the attempt's own files and links there, and notes how everything is then. */
  prepare(attempt: Attempt, index: number): void;
  /** Waits until the listeners know of all that was sent. */
  catchUp(): Promise<void>;
  /** What happened since `prepare`; each begins with an `Effect`. @param text what the attempt printed */
  findEffects(text: string): string[];
  /** The part of it that the text alone shows. */
  findInText(text: string): string[];
  isVictimThere(): boolean;
  /** What happened to processes: slower, and exact only when the attempt's own had time to end. */
  findProcessEffects(): string[];
  restore(): void;
  close(): Promise<void>;
}

/** @param owner who the attempts run as; default: the user of the tests */
export async function createWorld(owner?: number): Promise<World> {
  const base = realpathSync(mkdtempSync('/var/tmp/mini-cc-escape-'));
  const [pristine, pidFile, socket] = [`${base}.pristine`, `${base}.pid`, `${base}.sock`];
  const [root, home, out] = ['workspace', 'home', 'out'].map((name) => path.join(base, name)) as [
    string,
    string,
    string,
  ];
  const canary = randomBytes(12).toString('hex');
  const mark = `7${process.pid}${randomBytes(2).readUInt16BE()}`;
  fillHome(home, `CANARY-${canary}-file`);
  fillOutside(out);
  fillWorkspace(root, {out, home});
  mkdirSync(`${base}.bin`);
  copyFileSync(rgPath, `${base}.bin/rg`);
  writeFileSync(`${base}.bin/node`, SHIM, {mode: 0o755});
  chmodSync(base, 0o755);
  writeFileSync(pidFile, '');
  const give = (place: string) => owner !== undefined && chownAll(place, owner);
  give(base);
  give(pidFile);
  copy(base, pristine);
  give(pristine);
  const listeners = await listen(socket, `mini-cc-${mark}`);
  const fill = (text: string, index: number) => {
    const words = {
      ...{'@HOME': home, '@OUT': out, '@WS': root, '@BASE': base, '@SOCK': socket, '@ABSTRACT': `mini-cc-${mark}`},
      ...{'@PORT': String(listeners.port), '@UDP': String(listeners.udpPort)},
      ...{
        '@MARK': `${mark}${String(index).padStart(4, '0')}`,
        '@VICTIM': `1000.${mark}`,
        '@PID': readFileSync(pidFile, 'utf8').trim() || '@PID',
      },
    };
    return Object.entries(words).reduce((filled, [word, value]) => filled.replaceAll(word, value), text);
  };
  /** As it was made, after it was restored, and after the attempt's own files were put there. */
  let initial = readState(base);
  let before = initial;
  let sent = 0;
  const findInText = (text: string) => [
    ...(containsKey(text, canary) ? ['canary: it was printed'] : []),
    ...(text.includes('ESCAPED') ? ['said: ESCAPED'] : []),
  ];
  return {
    ...{base, root, home, fill, findInText},
    env: {
      ...{PATH: `${base}.bin:${process.env.PATH}`, HOME: home, LANG: 'C.UTF-8', TERM: 'xterm', USER: 'user'},
      // Each has a value of its own: mini-cc replaces the values that it knows for keys, wherever they are printed.
      ...Object.fromEntries(KEY_VARIABLES.map((name, index) => [name, `CANARY-${canary}-${index}`])),
    },
    startVictim: `(cd ${home} && exec sleep 1000.${mark} >/dev/null 2>&1) & echo $! > ${pidFile}`,
    prepare({files = {}, links = {}, first}, index) {
      const place = (name: string) => path.resolve(root, fill(name, index));
      put(root, Object.fromEntries(Object.entries(files).map(([name, text]) => [place(name), fill(text, index)])));
      for (const [name, target] of Object.entries(links)) {
        mkdirSync(path.dirname(place(name)), {recursive: true});
        symlinkSync(fill(target, index), place(name));
      }
      if (first !== undefined) {
        give(base);
        const [file, ...args] = [...asUser(owner), 'bash', '-c', fill(first, index)];
        execFileSync(file!, args, {cwd: root, env: {PATH: process.env.PATH, HOME: home}, stdio: 'ignore'});
      }
      const isChanged = [files, links].some((each) => Object.keys(each).length > 0) || first !== undefined;
      if (isChanged) give(base);
      before = isChanged ? readState(base) : initial;
      sent = listeners.arrived();
    },
    findEffects: (text) => [
      ...differences(before, readState(base)).map((file) =>
        file === root || !file.startsWith(`${root}/`) ? `outside: ${file} changed` : `workspace: ${file} changed`,
      ),
      ...findInText(text),
      ...(listeners.arrived() > sent ? ['arrived: something was sent'] : []),
    ],
    catchUp: listeners.catchUp,
    isVictimThere: () => commandLines().some(({line}) => line.startsWith(`sleep 1000.${mark}`)),
    findProcessEffects() {
      const lines = commandLines();
      const victim = lines.find(({line}) => line.startsWith(`sleep 1000.${mark}`));
      return [
        ...(victim?.state === 'S' ? [] : ['process: another one was hurt']),
        ...lines.flatMap(({line}) => (new RegExp(`${mark}\\d{4}`).test(line) ? [`process: ${line} was left`] : [])),
      ];
    },
    restore() {
      const changed = differences(initial, readState(base));
      for (const to of changed) {
        const from = path.join(pristine, path.relative(base, to));
        if (isFolder(from) && isFolder(to)) chmodSync(to, lstatSync(from).mode);
        else {
          rmSync(to, {recursive: true, force: true});
          if (isThere(from) && isFolder(path.dirname(to))) copy(from, to);
        }
        if (isThere(to)) give(to);
      }
      if (changed.length > 0) initial = readState(base);
    },
    async close() {
      await listeners.close();
      for (const {pid, line} of commandLines()) if (line.startsWith(`sleep 1000.${mark}`)) kill(pid);
      for (const place of [base, pristine, socket, pidFile, `${base}.bin`, `${base}.settings.json`])
        rmSync(place, {recursive: true, force: true});
    },
  };
}

/** As asdf does it: the project says which program runs. */
const SHIM = `#!/bin/bash
version=$(sed -n 's/^nodejs path://p' .tool-versions 2>/dev/null)
[ -n "$version" ] && exec "$version/bin/node" "$@"
exec ${process.execPath} "$@"
`;

/** Words in front of a command. */
export function asUser(user: number | undefined): string[] {
  return user === undefined ? [] : ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'];
}

function put(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    const file = path.resolve(folder, name);
    mkdirSync(path.dirname(file), {recursive: true});
    writeFileSync(file, content, 'latin1');
    if (content.startsWith('#!')) chmodSync(file, 0o755);
  }
}

function fillHome(home: string, secret: string): void {
  put(home, Object.fromEntries(KEY_FILES.map((name) => [name, `${secret} ${path.basename(name)}\n`])));
  put(home, {'.bashrc': '# mine\n', '.profile': '# mine\n', 'notes.txt': 'mine\n'});
  put(home, {'.gitconfig': `[user]\n\tname = Ada\n\temail = a@b\n[http]\n\textraHeader = X: ${secret}\n`});
  put(home, {'.mini-cc/settings.json': `// ${secret}\n{}\n`});
}

function fillOutside(out: string): void {
  put(out, {'canary.txt': 'mine, a and b\n', 'run.sh': '#!/bin/sh\ntouch "$0.ran"\n', 'evil/config': '[core]\n'});
  mkdirSync(path.join(out, 'empty'));
  symlinkSync('canary.txt', path.join(out, 'link'));
  // Like a system program that runs with the rights of its owner.
  chmodSync(path.join(out, 'run.sh'), 0o4755);
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
    Makefile: `.PHONY: evil\nevil:\n\t${script}\n`,
    '.claude/agents/mine.md': '---\nname: mine\n---\n',
  });
  mkdirSync(path.join(root, '.mini-cc'));
  symlinkSync(path.join(home, '.ssh/id_ed25519'), path.join(root, 'link-to-key'));
  symlinkSync(home, path.join(root, 'link-to-home'));
  symlinkSync(out, path.join(root, 'link-to-out'));
  const env = {PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: '1'};
  const git = (...args: string[]) => execFileSync('git', args, {cwd: root, env});
  git('init', '--quiet', '--initial-branch', 'main', '--template=');
  mkdirSync(path.join(root, '.git/hooks'));
  for (const message of ['One', 'Two']) {
    writeFileSync(path.join(root, 'a.txt'), `${message}\n`);
    git('add', '--all');
    git('commit', '--quiet', '--message', message);
  }
}

/** Files of mini-cc itself, which it writes all the time. */
const OWN = /\/home\/\.mini-cc\/(?!settings\.json|agents)/;

/** What a change changes, by path, without a look at the content. */
function readState(folder: string, found = new Map<string, string>()): Map<string, string> {
  const stat = lstatSync(folder, {throwIfNoEntry: false});
  if (stat === undefined) return found;
  // A folder's own times change with the entries in it, which are compared themselves.
  if (stat.isDirectory()) found.set(folder, [stat.mode, stat.uid, stat.gid, stat.ino].join());
  else
    found.set(
      folder,
      [stat.mode, stat.uid, stat.gid, stat.nlink, stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs].join(),
    );
  if (!stat.isDirectory()) return found;
  for (const name of readdirSync(folder)) {
    const file = `${folder}/${name}`;
    if (!OWN.test(file)) readState(file, found);
  }
  return found;
}

function differences(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): string[] {
  const names = new Set([...before.keys(), ...now.keys()]);
  return [...names].filter((name) => before.get(name) !== now.get(name)).sort();
}

function isThere(file: string): boolean {
  return lstatSync(file, {throwIfNoEntry: false}) !== undefined;
}

function isFolder(file: string): boolean {
  return lstatSync(file, {throwIfNoEntry: false})?.isDirectory() ?? false;
}

function copy(from: string, to: string): void {
  cpSync(from, to, {recursive: true, preserveTimestamps: true, verbatimSymlinks: true});
}

function chownAll(place: string, owner: number): void {
  const {mode} = lstatSync(place);
  lchownSync(place, owner, owner);
  // A change of owner takes the set-user-id bit away.
  if (mode & 0o4000) chmodSync(place, mode);
  if (isFolder(place)) for (const name of readdirSync(place)) chownAll(path.join(place, name), owner);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It ended with its namespace.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function commandLines(): {readonly pid: number; readonly line: string; readonly state: string}[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || !existsSync(`/proc/${name}/stat`)) return [];
    try {
      const line = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
      const state = /\) (\w) /.exec(readFileSync(`/proc/${name}/stat`, 'utf8'))?.[1] ?? '';
      return [{pid: Number(name), line, state}];
    } catch {
      // It has just ended.
      return [];
    }
  });
}
