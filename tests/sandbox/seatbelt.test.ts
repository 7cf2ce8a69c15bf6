/** The profile for macOS, as text: only macOS can tell whether its kernel accepts it. */
import {chmodSync, existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {createSeatbeltProfile, Seatbelt, type SeatbeltPlaces} from '../../src/sandbox/seatbelt.ts';

const PLACES: SeatbeltPlaces = {
  roots: ['/Users/ada/code'],
  shown: [],
  hidden: [{path: '/Users/ada/.ssh', isDirectory: true}],
  temporary: '/private/var/folders/x/mini-cc-1',
  writable: undefined,
};
const WRITABLE = {
  readOnly: ['/Users/ada/code/.git/hooks', '/Users/ada/code/.git/config'],
  pinned: ['/Users/ada/code/.git'],
  missing: [{path: '/Users/ada/code/.mini-cc'}],
};
const lines = (change: Partial<SeatbeltPlaces> = {}) => createSeatbeltProfile({...PLACES, ...change}).split('\n');
const allowed = (what: string, all: readonly string[]) => all.filter((line) => line.startsWith(`(allow ${what}`));

describe('the profile for macOS', () => {
  test('denies by default, and allows no network', () => {
    expect(lines().slice(0, 2)).toEqual(['(version 1)', '(deny default)']);
    expect(lines().join('\n')).not.toMatch(/network|default\).*allow default/);
  });

  test('allows a read-only command to write only its temporary folder and /dev/null', () => {
    const writes = lines().filter((line) => line.startsWith('(allow') && line.includes('file-write'));
    expect(writes).toEqual([
      '(allow file-write* file-ioctl (literal "/dev/null") (literal "/dev/zero") (literal "/dev/dtracehelper"))',
      '(allow file-read* file-write* (subpath "/private/var/folders/x/mini-cc-1"))',
    ]);
  });

  test('allows reading the system, the workspace and what is shown, and nothing else', () => {
    const reads = allowed('file-read* (subpath', lines({shown: ['/Users/ada/.nvm']}));
    expect(reads).toContain('(allow file-read* (subpath "/usr"))');
    expect(reads.filter((line) => /Users|private\/var\/folders/.test(line))).toEqual([
      '(allow file-read* (subpath "/Users/ada/code"))',
      '(allow file-read* (subpath "/Users/ada/.nvm"))',
    ]);
    expect(lines()).not.toContain('(allow file-read* file-test-existence)');
    expect(lines()).toContain('(deny file-read* file-write* (subpath "/Library/Keychains"))');
  });

  test('denies reading keys and signals to other processes', () => {
    expect(lines()).toContain('(deny file-read* file-write* (subpath "/Users/ada/.ssh"))');
    expect(lines()).toContain('(allow process-info* signal (target same-sandbox))');
  });

  test('allows a workspace-write command to write the roots, but not to write or move protected places', () => {
    const all = lines({writable: WRITABLE});
    expect(allowed('file-write* (subpath', all)).toEqual(['(allow file-write* (subpath "/Users/ada/code"))']);
    for (const name of ['.git/hooks', '.git/config', '.mini-cc']) {
      const rule = `(deny file-write* (subpath "/Users/ada/code/${name}"))`;
      expect(all.indexOf(rule)).toBeGreaterThan(all.indexOf('(allow file-write* (subpath "/Users/ada/code"))'));
    }
    expect(all).toContain('(deny file-write-unlink (literal "/Users/ada/code/.git"))');
    expect(all).toContain('(deny file-write-unlink (literal "/Users/ada/code"))');
  });

  test('puts inner paths later: keys in a workspace are hidden, a workspace in a hidden place is visible', () => {
    const inner = lines({
      roots: ['/Users/ada/.mini-cc/tree'],
      hidden: [
        {path: '/Users/ada/.mini-cc/tree/.ssh', isDirectory: true},
        {path: '/Users/ada/.mini-cc', isDirectory: true},
      ],
    }).filter((line) => line.includes('.mini-cc'));
    expect(inner).toEqual([
      '(deny file-read* file-write* (subpath "/Users/ada/.mini-cc"))',
      '(allow file-read* (subpath "/Users/ada/.mini-cc/tree"))',
      '(deny file-read* file-write* (subpath "/Users/ada/.mini-cc/tree/.ssh"))',
    ]);
  });

  test('escapes quotes in names', () => {
    expect(lines({roots: ['/a"b\\c']}).join('\n')).toContain('(allow file-read* (subpath "/a\\"b\\\\c"))');
  });
});

describe('the sandbox for macOS', () => {
  /** A program that replaces sandbox-exec. */
  function seatbelt(script: string) {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mini-cc-seatbelt-')));
    onTestFinished(() => rmSync(folder, {recursive: true}));
    const program = join(folder, 'sandbox-exec');
    writeFileSync(program, `#!/bin/sh\n${script}\n`);
    chmodSync(program, 0o755);
    return {sandbox: new Seatbelt({home: folder, miniCcHome: join(folder, '.mini-cc')}, [], program), folder};
  }

  test('is available when its program runs, and gives a read-only command a temporary folder of its own that is removed afterwards', async () => {
    const {sandbox, folder} = seatbelt('exit 0');
    expect(await sandbox.status()).toEqual({available: true, kind: 'Seatbelt'});
    onTestFinished(() => sandbox.folder.close());
    const places = {cwd: folder, root: folder, extraRoots: [], env: {PATH: '/usr/bin', API_TOKEN: 'x'}};
    const writing = sandbox.confine('workspace-write', ['bash', '-c', 'ls'], places);
    expect([writing.args[0], ...writing.args.slice(2)]).toEqual(['-p', 'bash', '-c', 'ls']);
    expect(writing.args[1]).toContain(`(allow file-write* (subpath "${folder}"))`);
    expect(writing.env).toMatchObject({PATH: '/usr/bin', TMPDIR: sandbox.folder.temporary});
    expect(writing.env.API_TOKEN).toBeUndefined();
    const reading = sandbox.confine('read-only', ['ls'], places);
    const {TMPDIR = ''} = reading.env;
    expect(TMPDIR).not.toBe(sandbox.folder.temporary);
    expect(existsSync(TMPDIR)).toBe(true);
    reading.release();
    expect(existsSync(TMPDIR)).toBe(false);
    writing.release();
    expect(existsSync(sandbox.folder.temporary)).toBe(true);
  });

  test('fails closed', async () => {
    const {sandbox} = seatbelt('echo "sandbox_apply: Operation not permitted" >&2; exit 71');
    expect(await sandbox.status()).toMatchObject({
      available: false,
      reason: 'the sandbox of macOS does not work here (sandbox_apply: Operation not permitted)',
    });
    expect(() => sandbox.confine('read-only', ['ls'], {cwd: '/', root: '/', extraRoots: []})).toThrow(
      'not found to work',
    );
  });
});
