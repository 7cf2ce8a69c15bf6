/** Finds the files of the project that an import names, by the rules of each language. */

import {posix} from 'node:path';
import type {Language} from '../../contract.ts';
import type {ProjectFiles} from '../project-files.ts';
import {createGoResolver, createPythonResolver, createRustResolver} from './by-module.ts';
import {createJavaScriptResolver} from './javascript.ts';
import {type ImportResolver, PathEnds} from './resolver.ts';

/** Creates the resolver of all languages. It is valid until files change. */
export function createImportResolver(files: ProjectFiles): ImportResolver {
  const javascript = createJavaScriptResolver(files);
  const c = createCResolver(files);
  const namespaces = createNamespaceResolver(files);
  const byPath = createPathResolver(files);
  const byLanguage: Readonly<Record<Language, ImportResolver>> = {
    typescript: javascript,
    tsx: javascript,
    javascript,
    c,
    cpp: c,
    python: createPythonResolver(files),
    go: createGoResolver(files),
    rust: createRustResolver(files),
    java: namespaces,
    csharp: namespaces,
    php: (from, imported) => (imported.specifier.startsWith('./') ? byPath : namespaces)(from, imported),
    ruby: byPath,
  };
  return (from, imported) => byLanguage[from.language](from, imported);
}

/** Looks beside the importing file for `"x.h"`, and otherwise for the header whose path ends with the specifier. */
function createCResolver(files: ProjectFiles): ImportResolver {
  const ends = new PathEnds(files.entries.keys());
  return (from, {specifier}) => {
    const path = specifier.slice(1, -1);
    const beside = posix.join(posix.dirname(from.path), path);
    const found = specifier.startsWith('"') && files.entries.has(beside) ? beside : ends.find(path, from.path);
    return found === undefined ? [] : [found];
  };
}

/** For Ruby and PHP: `./x` is beside the file; other paths are found by their end. */
function createPathResolver(files: ProjectFiles): ImportResolver {
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

function createNamespaceResolver(files: ProjectFiles): ImportResolver {
  /** Files by language, namespace and name of a class or function. The name `*` stands for all files of a namespace. */
  const byName = new Map<string, string[]>();
  const add = (key: string, file: string) => {
    const list = byName.get(key);
    if (list) list.push(file);
    else byName.set(key, [file]);
  };
  for (const {path, language, facts} of files.sorted) {
    if (!facts || !/^(?:java|csharp|php)$/.test(language)) continue;
    const separator = language === 'php' ? '\\' : '.';
    add(`${language}\n${facts.space}${separator}*`, path);
    for (const {name, container} of facts.definitions) {
      if (container.length === 0) add(`${language}\n${[facts.space, name].filter(Boolean).join(separator)}`, path);
    }
  }
  return ({language}, {specifier}) => {
    const find = (name: string) => [...new Set(byName.get(`${language}\n${name}`))];
    // `using A.B` imports a whole namespace; `import a.B.C` may name a class inside the class `a.B`.
    if (language === 'csharp') return find(`${specifier}.*`).length > 0 ? find(`${specifier}.*`) : find(specifier);
    const found = find(specifier);
    return found.length > 0 || language !== 'java' ? found : find(specifier.replace(/\.[^.]+$/, ''));
  };
}
