import {chmodSync, mkdtempSync, readFileSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {onTestFinished, vi} from 'vitest';

/**
 * Counts the starts of git until the test ends: each costs a fork of the whole program.
 * @returns gives the arguments of each start since it was called last
 */
export function countGit(): () => readonly string[] {
  const [bin, earlier] = [mkdtempSync(path.join(tmpdir(), 'count-git-')), process.env.PATH!];
  const log = path.join(bin, 'log');
  writeFileSync(log, '');
  writeFileSync(path.join(bin, 'git'), `#!/bin/sh\necho "$*" >> ${log}\nPATH=${earlier} exec git "$@"\n`);
  chmodSync(path.join(bin, 'git'), 0o755);
  vi.stubEnv('PATH', `${bin}:${earlier}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  return () => {
    const lines = readFileSync(log, 'utf8').split('\n').filter(Boolean);
    writeFileSync(log, '');
    return lines;
  };
}
