/** Resolves imports that name a module whose path follows from its name: Python, Go, Rust. */
import {posix} from 'node:path';
import {parseManifest} from '../../../core/util/manifests.ts';
import type {ProjectFiles} from '../project-files.ts';
import {findFirst, type ImportResolver, type PathEnds} from './resolver.ts';

export function createPythonResolver(files: ProjectFiles, ends: PathEnds): ImportResolver {
  const findModule = (place: string): string | undefined =>
    [`${place}.py`, posix.join(place, '__init__.py'), `${place}.pyi`].find((file) => files.entries.has(file));
  const findAbsolute = (path: string, from: string): string | undefined => {
    const found = findFirst(['.', 'src', 'lib', posix.dirname(from)], (root) => findModule(posix.join(root, path)));
    if (found !== undefined) return found;
    // Packages below other folders are found by the end of their path. A single part is usually a package from outside.
    return path.includes('/') ? (ends.find(`${path}.py`, from) ?? ends.find(`${path}/__init__.py`, from)) : undefined;
  };
  return (from, {specifier, names}) => {
    const [, dots = '', rest = ''] = /^(\.*)(.*)$/.exec(specifier) ?? [];
    const path = rest.replaceAll('.', '/');
    const around = posix.join(posix.dirname(from.path), '../'.repeat(Math.max(0, dots.length - 1)));
    const find = (place: string) =>
      dots === '' ? findAbsolute(place, from.path) : findModule(posix.join(around, place));
    // `from package import module` may name files.
    const parts = names.filter(({imported}) => imported !== '*').map(({imported}) => find(posix.join(path, imported)));
    return [find(path), ...parts];
  };
}

/** The path of a Go package is its folder below the module that a go.mod names. */
export function createGoResolver(files: ProjectFiles): ImportResolver {
  const modules = [...files.paths]
    .filter((file) => posix.basename(file) === 'go.mod')
    .flatMap((file) => {
      const name = parseManifest(file, files.readText(file)).name?.value;
      return name === undefined ? [] : [{name, folder: posix.dirname(file)}];
    })
    .sort((a, b) => b.name.length - a.name.length);
  const sources = files.sorted.filter(({path, language}) => language === 'go' && !path.endsWith('_test.go'));
  const byFolder = Map.groupBy(
    sources.map(({path}) => path),
    (path) => posix.dirname(path),
  );
  return (_from, {specifier}) => {
    const module = modules.find(({name}) => specifier === name || specifier.startsWith(`${name}/`));
    if (!module) return [];
    return byFolder.get(posix.join(module.folder, specifier.slice(module.name.length + 1))) ?? [];
  };
}

/** In Rust, `crate::a::b` is `a/b.rs` or `a/b/mod.rs` below the folder of the crate's first file. */
export function createRustResolver(files: ProjectFiles): ImportResolver {
  const crates = new Map<string, string>();
  for (const file of files.paths) {
    if (posix.basename(file) !== 'Cargo.toml') continue;
    const {name: own, library} = parseManifest(file, files.readText(file));
    const name = library?.value ?? own?.value;
    if (name !== undefined) crates.set(name.replaceAll('-', '_'), posix.join(posix.dirname(file), 'src'));
  }
  const has = (file: string) => files.entries.has(file);
  const findCrateRoot = (from: string): string => {
    for (let folder = posix.dirname(from); ; folder = posix.dirname(folder)) {
      if (has(posix.join(folder, 'lib.rs')) || has(posix.join(folder, 'main.rs')) || folder === '.') return folder;
    }
  };
  /** Returns the folder that contains the submodules of a file. */
  const getOwnFolder = (file: string): string => {
    const name = posix.basename(file, '.rs');
    return /^(?:mod|lib|main)$/.test(name) ? posix.dirname(file) : posix.join(posix.dirname(file), name);
  };
  const getFile = (folder: string): string | undefined =>
    [`${folder}.rs`, posix.join(folder, 'mod.rs'), posix.join(folder, 'lib.rs'), posix.join(folder, 'main.rs')].find(
      has,
    );
  const findFile = (from: string, specifier: string): string | undefined => {
    const parts = specifier.split('::').filter(Boolean);
    const first = parts.shift()!;
    let folder: string;
    if (first === 'crate') folder = findCrateRoot(from);
    else if (first === 'self') folder = getOwnFolder(from);
    else if (first === 'super') folder = posix.dirname(getOwnFolder(from));
    else if (crates.has(first)) folder = crates.get(first)!;
    // The name is a submodule that is written without `self::`.
    else folder = posix.join(getOwnFolder(from), first);
    while (parts[0] === 'super') {
      parts.shift();
      folder = posix.dirname(folder);
    }
    // The last parts may be names inside a file, such as an enum or an inline module.
    for (let count = parts.length; count >= 0; count -= 1) {
      const found = getFile(posix.join(folder, ...parts.slice(0, count)));
      if (found !== undefined) return found;
    }
    return undefined;
  };
  // `use crate::a` may name a file, as `mod a` does.
  return ({path}, {specifier, names}) => {
    const all = names.map(({imported}) => findFile(path, imported === '*' ? specifier : `${specifier}::${imported}`));
    return [...new Set(all.filter((file) => file !== undefined))];
  };
}
