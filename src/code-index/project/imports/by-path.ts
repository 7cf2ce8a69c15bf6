/** Resolves imports that name a path: `#include`, `require`, `require_relative`. */
import {posix} from 'node:path';
import type {ProjectFiles} from '../project-files.ts';
import {type ImportResolver, PathEnds} from './resolver.ts';

/** Looks beside the importing file for `"x.h"`, and otherwise for the header whose path ends with the specifier. */
export function createCResolver(files: ProjectFiles): ImportResolver {
  const ends = new PathEnds(files.entries.keys());
  return (from, {specifier}) => {
    const path = specifier.slice(1, -1);
    const beside = posix.join(posix.dirname(from.path), path);
    const found = specifier.startsWith('"') && files.entries.has(beside) ? beside : ends.find(path, from.path);
    return found === undefined ? [] : [found];
  };
}

/** For Ruby and PHP: `./x` is beside the file; other paths are found by their end. */
export function createPathResolver(files: ProjectFiles): ImportResolver {
  const ends = new PathEnds(files.entries.keys());
  return (from, {specifier}) => {
    const ending = from.language === 'ruby' ? '.rb' : '.php';
    const name = specifier.endsWith(ending) ? specifier : `${specifier}${ending}`;
    const beside = posix.join(posix.dirname(from.path), name);
    const isRelative = specifier.startsWith('./');
    // PHP's `__DIR__ . '/../x.php'` is also written as `./`, as are paths from an include folder, so the end of the
    // path is tried when the file is not beside.
    const found = isRelative && files.entries.has(beside) ? beside : ends.find(name, from.path);
    return found === undefined ? [] : [found];
  };
}
