/** A home with projects and tools in it, and commands that run there confined and plainly. */
import {execFileSync, spawnSync} from 'node:child_process';
import {chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import type {Trusts} from '../../../src/core/contract/permission.ts';
import {createSandbox, type SandboxOptions, type SandboxProfile} from '../../../src/sandbox/index.ts';
import {PATIENCE_MS} from '../../support/wait.ts';

export interface ConfinedPlace {
  readonly root: string;
  readonly extraRoots?: readonly string[];
  readonly seen?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly profile?: SandboxProfile;
}

/** What a command printed on both streams, and how it ended. */
export interface Printed {
  readonly text: string;
  readonly exitCode: number | null;
}

export class ViewFixture {
  readonly base = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-view-')));
  readonly home = path.join(this.base, 'home');
  readonly env: Readonly<Record<string, string>> = {PATH: '/usr/bin:/bin', HOME: this.home, LANG: 'C'};

  constructor() {
    mkdirSync(this.home);
    this.put('home/.gitconfig', '[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n');
    this.put('home/private/key', 'CANARY');
    this.put('home/.vault-token', 'CANARY');
  }

  close(): void {
    rmSync(this.base, {recursive: true, force: true});
  }

  at(name: string): string {
    return path.join(this.base, name);
  }

  put(name: string, text: string, mode = 0o644): string {
    const file = this.at(name);
    mkdirSync(path.dirname(file), {recursive: true});
    writeFileSync(file, text);
    chmodSync(file, mode);
    return file;
  }

  /** Creates the link `name`, which leads to `target` as it is given. */
  link(name: string, target: string): void {
    mkdirSync(path.dirname(this.at(name)), {recursive: true});
    symlinkSync(target, this.at(name));
  }

  git(folder: string, ...args: string[]): string {
    const env = {...this.env, GIT_ALLOW_PROTOCOL: 'file', GIT_CONFIG_NOSYSTEM: '1'};
    return execFileSync('git', args, {cwd: this.at(folder), env, encoding: 'utf8'});
  }

  /** A repository with two commits and a change that is not committed. */
  makeRepository(name: string): string {
    this.put(`${name}/a.txt`, 'one\n');
    this.put(`${name}/packages/one/package.json`, '{"name": "one", "version": "1.0.0"}');
    this.git(name, 'init', '--quiet');
    this.commit(name, 'first');
    this.put(`${name}/a.txt`, 'one\ntwo\n');
    this.commit(name, 'second');
    this.put(`${name}/a.txt`, 'one\ntwo\nthree\n');
    return this.at(name);
  }

  commit(name: string, message: string): void {
    this.git(name, 'add', '--all');
    this.git(name, 'commit', '--quiet', '--message', message);
  }

  createSandbox(options: Partial<SandboxOptions> & {readonly trusts?: Trusts} = {}) {
    return createSandbox({home: this.home, miniCcHome: path.join(this.home, '.mini-cc'), ...options});
  }

  /** Runs the command confined, in a sandbox of its own unless one is given. */
  async run(command: string, place: ConfinedPlace, options: Partial<SandboxOptions> = {}): Promise<Printed> {
    const sandbox = this.createSandbox(options);
    await sandbox.status();
    const {root, extraRoots = [], seen = [], cwd = root, profile = 'read-only'} = place;
    const env = {...this.env, ...place.env};
    const confined = sandbox.confine(profile, ['bash', '-c', command], {root, extraRoots, seen, cwd, env});
    const {file, args, input} = confined;
    try {
      // The filter of system calls comes from a file here: it is the same for bwrap.
      const filter = this.put('filter', '');
      if (input) writeFileSync(filter, input);
      const shell = `exec ${[file, ...args].map(quote).join(' ')} 4<${quote(filter)} 2>&1`;
      return this.#start(shell, cwd, confined.env);
    } finally {
      confined.release();
      sandbox.folder.close();
    }
  }

  runPlainly(command: string, {root, cwd = root, env = {}}: ConfinedPlace): Printed {
    return this.#start(`exec 2>&1; ${command}`, cwd, {...this.env, ...env});
  }

  #start(shell: string, cwd: string, env: Readonly<Record<string, string>>): Printed {
    const {stdout, status} = spawnSync('bash', ['-c', shell], {cwd, env, encoding: 'utf8', timeout: PATIENCE_MS});
    return {text: stdout, exitCode: status};
  }
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
