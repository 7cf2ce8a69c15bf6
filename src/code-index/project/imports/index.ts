/** Finds the files of the project that an import names, by the rules of each language. */
import type {Language} from '../../contract.ts';
import type {ProjectFiles} from '../project-files.ts';
import {createGoResolver, createPythonResolver, createRustResolver} from './by-module.ts';
import {createNamespaceResolver} from './by-namespace.ts';
import {createCResolver, createPathResolver} from './by-path.ts';
import {createJavaScriptResolver} from './javascript.ts';
import type {ImportResolver} from './resolver.ts';

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
