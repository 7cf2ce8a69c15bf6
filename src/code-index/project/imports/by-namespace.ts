/** Resolves imports that name a class by its package or namespace: Java, C#, PHP. Each file declares its own. */
import type {ProjectFiles} from '../project-files.ts';
import type {ImportResolver} from './resolver.ts';

export function createNamespaceResolver(files: ProjectFiles): ImportResolver {
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
