/**
 * Remembers for a day that the sandbox was found to work, so that not every start has to start a program to see it. Of what
 * does not work nothing is remembered. Where it stops working in that time, its commands fail: none runs without it.
 */
import {createHash} from 'node:crypto';
import {readFileSync, readlinkSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';

const DAY_MS = 24 * 60 * 60 * 1000;
/** What decides beside the program whether it works: the kernel's settings, and what surrounds this process. */
const FILES = [
  '/proc/sys/kernel/random/boot_id',
  '/proc/sys/kernel/unprivileged_userns_clone',
  '/proc/sys/kernel/apparmor_restrict_unprivileged_userns',
  '/proc/sys/user/max_user_namespaces',
  '/proc/self/attr/current',
];
const NAMESPACES = ['/proc/self/ns/user', '/proc/self/ns/mnt'];
/** Of `/proc/self/status`. */
const LIMITS = /^(?:Uid|CapEff|CapBnd|NoNewPrivs|Seccomp):.*$/gm;

export class KnownProbe {
  readonly #file: string;
  readonly #key: string | undefined;

  /** @param folder where it is kept; it must be there. @param program what was probed, and how */
  constructor(folder: string, program: string, args: readonly string[]) {
    this.#file = path.join(folder, 'sandbox.json');
    this.#key = createKey(program, args);
  }

  get works(): boolean {
    try {
      const {key, at} = JSON.parse(readFileSync(this.#file, 'utf8')) as {key?: unknown; at?: unknown};
      const age = Date.now() - Number(at);
      return this.#key !== undefined && key === this.#key && age >= 0 && age < DAY_MS;
    } catch {
      // There is none yet, or it is damaged: the probe is made.
      return false;
    }
  }

  remember(): void {
    try {
      if (this.#key) writeFileSync(this.#file, JSON.stringify({key: this.#key, at: Date.now()}), {mode: 0o600});
    } catch {
      // A home that cannot be written: each start probes.
    }
  }
}

/** @returns undefined where the system does not say enough */
function createKey(program: string, args: readonly string[]): string | undefined {
  const read = (look: () => string) => {
    try {
      return look();
    } catch {
      return '';
    }
  };
  const boot = read(() => readFileSync(FILES[0]!, 'utf8'));
  const stat = statSync(program, {throwIfNoEntry: false});
  if (boot === '' || stat === undefined) return undefined;
  const parts = [
    ...[program, stat.dev, stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs, stat.mode].map(String),
    ...args,
    ...FILES.map((file) => read(() => readFileSync(file, 'utf8'))),
    ...NAMESPACES.map((link) => read(() => readlinkSync(link))),
    ...(read(() => readFileSync('/proc/self/status', 'utf8')).match(LIMITS) ?? []),
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
