/** The time that the search for repositories adds to a confined command that may write. */
import {mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {protectedPlaces} from '../../src/sandbox/protected-places.ts';
import {RepositoryFinder} from '../../src/sandbox/repositories/find-repositories.ts';
import {watchRepositories} from '../../src/sandbox/repositories/repository-watch.ts';
import type {Home} from '../../tests/support/environment.ts';
import {measureInRounds} from '../statistics.ts';

export const SEARCHED_FILES = 20_000;
const FILES_PER_FOLDER = 10;

/** Medians in milliseconds. */
interface SearchTimes {
  /** Around the first command of a session: nothing is known yet. */
  readonly firstMs: number;
  /** Around a later one, which changed a folder. */
  readonly laterMs: number;
}

/** Creates 20,000 files in 2,000 folders, as a package manager does. */
export async function measureSearch(home: Home, rounds: number): Promise<SearchTimes> {
  const root = path.join(home.path, 'searched');
  for (let index = 0; index < SEARCHED_FILES; index += 1) {
    const number = Math.floor(index / FILES_PER_FOLDER);
    const folder = path.join(root, 'node_modules', `package${number % 250}`, `part${Math.floor(number / 250)}`);
    if (index % FILES_PER_FOLDER === 0) mkdirSync(folder, {recursive: true});
    writeFileSync(path.join(folder, `file${index}.js`), '');
  }
  const search = (finder: RepositoryFinder) => {
    const startedAt = performance.now();
    const before = finder.find([root]);
    const places = protectedPlaces([root], home.path, before.found.values());
    const watch = watchRepositories(finder, before, {roots: [root], places});
    const lookedMs = performance.now() - startedAt;
    writeFileSync(path.join(root, `made${startedAt}`), '');
    const endedAt = performance.now();
    watch();
    return lookedMs + performance.now() - endedAt;
  };
  const known = new RepositoryFinder();
  const times = await measureInRounds(rounds, {
    first: async () => search(new RepositoryFinder()),
    later: async () => search(known),
  });
  return {firstMs: times.first, laterMs: times.later};
}
