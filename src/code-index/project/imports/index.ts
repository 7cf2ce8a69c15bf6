/** Finds the files of the project that an import names, by the rules of each language. */

import {posix} from 'node:path';
import type {Language} from '../../contract.ts';
import type {RawImport} from '../../syntax/file-facts.ts';
import type {ProjectFiles} from '../project-files.ts';
import type {IndexedEntry} from '../read-entry.ts';
import {createGoResolver, createPythonResolver, createRustResolver} from './by-module.ts';
import {createJavaScriptResolver} from './javascript.ts';
import {type ImportResolver, PathEnds} from './resolver.ts';

/** Creates a function that returns the other files that an import names. It is valid until files change. */
export function createImportResolver(files: ProjectFiles): (from: IndexedEntry, imported: RawImport) => string[] {
  const ends = new PathEnds(files.entries.keys());
  const javascript = createJavaScriptResolver(files);
  const c = createPathResolver(files, ends, '');
  const php = createPathResolver(files, ends, '.php');
  const namespaces = createNamespaceResolver(files);
  const byLanguage: Readonly<Record<Language, ImportResolver>> = {
    typescript: javascript,
    tsx: javascript,
    javascript,
    c,
    cpp: c,
    python: createPythonResolver(files, ends),
    go: createGoResolver(files),
    rust: createRustResolver(files),
    java: namespaces,
    csharp: namespaces,
    php: (from, imported) => (imported.specifier.startsWith('./') ? php : namespaces)(from, imported),
    ruby: createPathResolver(files, ends, '.rb'),
  };
  return (from, imported) => {
    const found = new Set(byLanguage[from.language](from, imported));
    return [...found].filter((file) => file !== undefined && file !== from.path) as string[];
  };
}

/**
 * For C, Ruby and PHP: `"x.h"` and `./x` are beside the importing file; other paths are found by their end.
 * @param ending what a specifier may leave out
 */
function createPathResolver(files: ProjectFiles, ends: PathEnds, ending: string): ImportResolver {
  return (from, {specifier}) => {
    const path = specifier.replace(/^["<]|[">]$/g, '');
    const name = path.endsWith(ending) ? path : `${path}${ending}`;
    const beside = posix.join(posix.dirname(from.path), name);
    const isBeside = /^(?:"|\.\/)/.test(specifier) && files.entries.has(beside);
    // PHP's `__DIR__ . '/../x.php'` is also written as `./`, as are paths from an include folder, so the end of the
    // path is tried when the file is not beside.
    return [isBeside ? beside : ends.find(name, from.path)];
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
    const find = (name: string) => byName.get(`${language}\n${name}`) ?? [];
    // `using A.B` imports a whole namespace; `import a.B.C` may name a class inside the class `a.B`.
    if (language === 'csharp') return find(`${specifier}.*`).length > 0 ? find(`${specifier}.*`) : find(specifier);
    const found = find(specifier);
    return found.length > 0 || language !== 'java' ? found : find(specifier.replace(/\.[^.]+$/, ''));
  };
}
