/** A program of a test, run in its own mount namespace, where it has a tiny disk at `$DISK`. */
import {existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {execa} from 'execa';
import {until} from './wait.ts';

/** Root mounts in its own mount namespace, anybody else in a user namespace of their own. */
const NAMESPACES = process.getuid?.() === 0 ? ['-m'] : ['-Urm'];

const SRC = path.resolve(import.meta.dirname, '../../src');

/**
 * Runs TypeScript that may import `$SRC/…`, as root of its own namespaces: it may mount. Its last line on standard output is
 * JSON.
 * @param kilobytes the size of the disk
 */
export async function runOnSmallDisk(program: string, kilobytes: number): Promise<unknown> {
  const base = mkdtempSync(path.join(tmpdir(), 'mini-cc-disk-'));
  try {
    const file = path.join(base, 'program.ts');
    writeFileSync(file, program.replaceAll('$SRC', SRC));
    const script = `mkdir "$0/disk" && mount -t tmpfs -o size=${kilobytes}k none "$0/disk" && DISK="$0/disk" exec "$@"`;
    const node = [process.execPath, '--experimental-transform-types', '--disable-warning=ExperimentalWarning', file];
    const {stdout} = await execa('unshare', [...NAMESPACES, 'sh', '-c', script, base, ...node]);
    return JSON.parse(stdout.trim().split('\n').at(-1)!);
  } finally {
    rmSync(base, {recursive: true, force: true});
  }
}

/** A small disk for a program under test, which the test fills and frees meanwhile. */
export interface SmallDisk {
  /** Runs a command with the disk mounted. @returns the command for it */
  wrap(command: string, args: readonly string[]): [command: string, args: string[]];
  fill(): Promise<void>;
  free(): Promise<void>;
  /** The content of the disk when the command had ended. */
  readonly copy: string;
}

/**
 * The disk is mounted in the command's namespace alone: a shell beside the command does what files outside of it say.
 * @param folder where it is mounted
 */
export function createSmallDisk(folder: string, kilobytes: number): SmallDisk {
  const [orders, copy] = [`${folder}.orders`, `${folder}.copy`];
  for (const each of [folder, orders]) mkdirSync(each, {recursive: true});
  const script = `
    mount -t tmpfs -o size=${kilobytes}k none "$0" || exit 99
    (while kill -0 $$ 2>/dev/null; do
      if [ -e "${orders}/fill" ]; then cat /dev/zero > "$0/ballast" 2>/dev/null; rm "${orders}/fill"; fi
      if [ -e "${orders}/free" ]; then rm -f "$0/ballast"; rm "${orders}/free"; fi
      sleep 0.05
    done) </dev/null >/dev/null 2>&1 &
    # A key for the program that has just ended must not end the copying.
    trap : INT
    "$@"; code=$?
    rm -f "$0/ballast"; setsid -w cp -a "$0" "${copy}"; exit $code`;
  const order = async (name: 'fill' | 'free') => {
    const file = path.join(orders, name);
    writeFileSync(file, '');
    await until(() => !existsSync(file), `${name} at ${folder}`, 30_000);
  };
  return {
    copy,
    wrap: (command, args) => ['unshare', [...NAMESPACES, 'sh', '-c', script, folder, command, ...args]],
    fill: () => order('fill'),
    free: () => order('free'),
  };
}

/** Runs a command where this folder is empty and read-only. */
export function wrapReadOnly(folder: string): SmallDisk['wrap'] {
  const script = 'mount -t tmpfs -o ro none "$0" || exit 99; exec "$@"';
  return (command, args) => ['unshare', [...NAMESPACES, 'sh', '-c', script, folder, command, ...args]];
}
