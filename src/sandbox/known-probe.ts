/**
 * Stores for a day that the sandbox works, so that not every start has to start a program to test it. Failures are not
 * stored. When the sandbox stops working within the day, commands fail and none runs without it.
 */
import {readFileSync, readlinkSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {tryOr} from '../core/util/errors.ts';
import {hashJson} from '../core/util/hash.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** The probe's result also depends on these: the kernel's settings and the surroundings of this process. */
const FILES = [
  '/proc/sys/kernel/random/boot_id',
  '/proc/sys/kernel/unprivileged_userns_clone',
  '/proc/sys/kernel/apparmor_restrict_unprivileged_userns',
  '/proc/sys/user/max_user_namespaces',
  '/proc/self/attr/current',
];
const NAMESPACES = ['/proc/self/ns/user', '/proc/self/ns/mnt'];
/** Lines of `/proc/self/status` on which the result depends. */
const LIMITS = /^(?:Uid|CapEff|CapBnd|NoNewPrivs|Seccomp):.*$/gm;

export class KnownProbe {
  readonly #file: string;
  readonly #key: string | undefined;

  /**
   * @param folder an existing folder, in which the result is stored
   * @param program the program that was probed
   * @param args the arguments with which it was probed
   */
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
      // The file is missing or damaged, so the probe runs.
      return false;
    }
  }

  remember(): void {
    try {
      if (this.#key) writeFileSync(this.#file, JSON.stringify({key: this.#key, at: Date.now()}), {mode: 0o600});
    } catch {
      // The home cannot be written, so each start probes.
    }
  }
}

/** @returns undefined where the system gives too little information */
function createKey(program: string, args: readonly string[]): string | undefined {
  const read = (file: string) => tryOr(() => readFileSync(file, 'utf8'), '');
  const stat = statSync(program, {throwIfNoEntry: false});
  if (read(FILES[0]!) === '' || stat === undefined) return undefined;
  const parts = [
    ...[program, stat.dev, stat.ino, stat.size, stat.mtimeMs, stat.ctimeMs, stat.mode].map(String),
    ...args,
    ...FILES.map(read),
    ...NAMESPACES.map((link) => tryOr(() => readlinkSync(link), '')),
    ...(read('/proc/self/status').match(LIMITS) ?? []),
  ];
  return hashJson(parts);
}
