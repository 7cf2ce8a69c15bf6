import {readFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';

interface Entry {
  readonly version?: string;
  readonly optionalDependencies?: Record<string, string>;
}

const lock = JSON.parse(readFileSync(path.resolve(import.meta.dirname, '../../package-lock.json'), 'utf8')) as {
  packages: Record<string, Entry>;
};

test('the lock file names the packages of every platform, so that npm ci takes it in a fresh clone', () => {
  const missing = Object.entries(lock.packages).flatMap(([place, {optionalDependencies = {}}]) =>
    Object.entries(optionalDependencies)
      .filter(([name, version]) => resolve(place, name)?.version !== version.replace(/^[\^~]/, ''))
      .map(([name, version]) => `${name}@${version}`),
  );
  expect(missing).toEqual([]);
});

/** The entry that a package finds, searching upwards as Node does. */
function resolve(from: string, name: string): Entry | undefined {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf('/node_modules/')))) {
    const entry = lock.packages[`${place === '' ? '' : `${place}/`}node_modules/${name}`];
    if (entry !== undefined || place === '') return entry;
  }
}
