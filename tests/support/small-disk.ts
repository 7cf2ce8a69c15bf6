/** A program of a test, run in its own mount namespace, where it has a tiny disk at `$DISK`. */
import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {execa} from 'execa';

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
    const namespaces = process.getuid?.() === 0 ? ['-m'] : ['-Urm'];
    const {stdout} = await execa('unshare', [...namespaces, 'sh', '-c', script, base, ...node]);
    return JSON.parse(stdout.trim().split('\n').at(-1)!);
  } finally {
    rmSync(base, {recursive: true, force: true});
  }
}
