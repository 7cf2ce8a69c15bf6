/** What package.json, Cargo.toml, pyproject.toml, Makefile and their kin say, each fact with its line. */
import {type Fact, type ManifestFacts, nothing} from './manifest-facts.ts';
import {tomlFacts} from './manifest-toml.ts';
import {fieldsOf} from './request.ts';
import type {Line} from './results.ts';

export const MANIFESTS = [
  'package.json',
  'deno.json',
  'pyproject.toml',
  'setup.py',
  'requirements.txt',
  'Cargo.toml',
  'go.mod',
  'pom.xml',
  'build.gradle',
  'build.gradle.kts',
  'Makefile',
  'makefile',
  'justfile',
  'CMakeLists.txt',
  'composer.json',
  'Gemfile',
  'mix.exs',
] as const;

export type {Fact, ManifestFacts} from './manifest-facts.ts';

/** Manifests of these kinds list what the project depends on in a form that is read here. */
export const LISTS_DEPENDENCIES =
  /(^|\/)(package\.json|composer\.json|pyproject\.toml|Cargo\.toml|go\.mod|requirements\.txt|Gemfile|setup\.py)$/;

export function manifestFacts(path: string, lines: readonly Line[]): ManifestFacts {
  const file = path.replace(/^.*\//, '');
  if (file.endsWith('.json')) return jsonFacts(path, lines);
  if (/^makefile$|^justfile$/i.test(file)) return makeFacts(path, lines);
  if (file.endsWith('.toml')) return tomlFacts(path, lines);
  return otherFacts(path, file, lines);
}

function jsonFacts(path: string, lines: readonly Line[]): ManifestFacts {
  const json = parsed(lines.map((line) => line.text).join('\n'));
  // JSON.parse keeps no lines: a key's line is the first that holds it after its section's.
  const lineOf = (key: string, section?: string): number => {
    const start = section === undefined ? 0 : lines.findIndex((line) => line.text.includes(`"${section}"`));
    const found = lines.slice(Math.max(0, start)).find((line) => line.text.includes(`"${key}"`));
    return found?.number ?? lines[Math.max(0, start)]?.number ?? 1;
  };
  const section = (key: string): readonly Fact[] =>
    Object.entries(fieldsOf(json[key])).map(([name, value]) => ({name, value: plain(value), line: lineOf(name, key)}));
  const single = (key: string): Fact | undefined =>
    typeof json[key] === 'string' ? {name: key, value: json[key], line: lineOf(key)} : undefined;
  const scripts = [...section('scripts'), ...section('tasks')];
  const bin = single('bin');
  const prefix = /deno/.test(path) ? 'deno task' : 'npm run';
  const script = (name: string): Fact | undefined => {
    const found = scripts.find((one) => one.name === name);
    return (
      found && {
        ...found,
        name: /^(test|start)$/.test(name) ? `${prefix} ${name}`.replace('npm run', 'npm') : `${prefix} ${name}`,
      }
    );
  };
  const exports = section('exports')
    .filter((one) => /^\.?\.?\//.test(one.value))
    .slice(0, 3);
  return {
    path,
    name: single('name'),
    description: single('description'),
    scripts,
    dependencies: [
      ...section('dependencies'),
      ...section('devDependencies').map((one) => ({...one, dev: true})),
      ...section('require'),
      ...section('peerDependencies'),
    ],
    entries: [
      ...(bin ? [bin] : section('bin').map((one) => ({...one, name: `bin ${one.name}`}))),
      ...present(single('main')),
      ...exports.map((one) => ({...one, name: `exports ${one.name}`})),
    ],
    test: script('test'),
    build: script('build'),
    start: script('start') ?? script('dev'),
  };
}

function plain(value: unknown): string {
  if (typeof value === 'string') return value;
  const fields = fieldsOf(value);
  return String(fields.default ?? fields.import ?? fields.require ?? JSON.stringify(value));
}

function parsed(text: string): Record<string, unknown> {
  try {
    return fieldsOf(JSON.parse(text));
  } catch (error) {
    // A manifest with comments or cut short: nothing is claimed from it.
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

function makeFacts(path: string, lines: readonly Line[]): ManifestFacts {
  const targets = lines.flatMap((line, index) => {
    const name = /^([A-Za-z0-9][\w.-]*)(?:\s+[^:=]*)?:(?!=)/.exec(line.text)?.[1];
    const recipe = lines[index + 1]?.text ?? '';
    return name === undefined
      ? []
      : [
          {
            name: `${/^just/i.test(path.replace(/^.*\//, '')) ? 'just' : 'make'} ${name}`,
            value: /^\s/.test(recipe) ? recipe.trim() : '',
            line: line.number,
          },
        ];
  });
  const target = (names: RegExp) => targets.find((one) => names.test(one.name));
  return {
    ...nothing(path),
    scripts: targets,
    test: target(/\s(test|tests|check)$/),
    build: target(/\sbuild$/) ?? target(/\sall$/),
    start: target(/\s(run|start|serve)$/),
  };
}

function otherFacts(path: string, file: string, lines: readonly Line[]): ManifestFacts {
  const first = (form: RegExp, name: string): Fact | undefined => {
    for (const line of lines) {
      const value = form.exec(line.text)?.[1];
      if (value !== undefined) return {name, value, line: line.number};
    }
    return undefined;
  };
  const all = (form: RegExp): readonly Fact[] =>
    lines.flatMap((line) => {
      const match = form.exec(line.text);
      return match ? [{name: match[1]!, value: match[2] ?? '', line: line.number}] : [];
    });
  const base = nothing(path);
  const command = (name: string): Fact => ({name, value: '', line: 1});
  if (file === 'go.mod')
    return {
      ...base,
      name: first(/^module\s+(\S+)/, 'module'),
      dependencies: all(/^\s*(?:require\s+)?([\w.-]+\.[\w.-]+\/\S+)\s+(v\S+)/),
      test: command('go test ./...'),
      build: command('go build ./...'),
    };
  if (file === 'pom.xml')
    return {
      ...base,
      name: first(/<artifactId>([^<]+)</, 'artifactId'),
      test: command('mvn test'),
      build: command('mvn package'),
    };
  if (file.startsWith('build.gradle')) return {...base, test: command('gradle test'), build: command('gradle build')};
  if (file === 'CMakeLists.txt')
    return {
      ...base,
      name: first(/project\s*\(\s*([\w-]+)/i, 'project'),
      entries: all(/add_executable\s*\(\s*([\w-]+)\s+([^)]*)/i),
      test: first(/(enable_testing)/i, 'ctest'),
      build: {...command('cmake -B build && cmake --build build'), line: lineWith(lines, /project\s*\(/i)},
    };
  if (file === 'requirements.txt') {
    const dependencies = all(/^([A-Za-z][\w.-]*)(?:\[.*\])?\s*([=<>~!].*)?$/);
    const pytest = dependencies.find((one) => one.name === 'pytest');
    return {
      ...base,
      dependencies,
      test: pytest && {...pytest, value: ''},
      build: {...command(`pip install -r ${path}`), line: dependencies[0]?.line ?? 1},
    };
  }
  if (file === 'Gemfile') return {...base, dependencies: all(/^\s*gem\s+['"]([\w-]+)['"](?:,\s*['"]([^'"]+)['"])?/)};
  if (file === 'mix.exs')
    return {...base, name: first(/app:\s*:(\w+)/, 'app'), test: command('mix test'), build: command('mix compile')};
  return {
    ...base,
    name: first(/\bname\s*=\s*['"]([^'"]+)['"]/, 'name'),
    dependencies: file === 'setup.py' ? requiredIn(lines) : [],
    build: file === 'setup.py' ? {...command('pip install .'), line: lineWith(lines, /\bsetup\(/)} : undefined,
  };
}

/** The items of `install_requires=[…]`. */
function requiredIn(lines: readonly Line[]): readonly Fact[] {
  const start = lines.findIndex((line) => /\binstall_requires\s*=\s*\[/.test(line.text));
  if (start < 0) return [];
  const end = lines.findIndex((line, index) => index >= start && /\]\s*,?\s*\)?\s*$/.test(line.text));
  return lines
    .slice(start, end < 0 ? undefined : end + 1)
    .flatMap(({number, text}) =>
      [...text.matchAll(/"([^"]+)"|'([^']+)'/g)].map((item) => ({name: item[1] ?? item[2]!, value: '', line: number})),
    );
}

/** The line that the form stands in; the first where none does. */
function lineWith(lines: readonly Line[], form: RegExp): number {
  return lines.find((line) => form.test(line.text))?.number ?? 1;
}

function present(fact: Fact | undefined): readonly Fact[] {
  return fact === undefined ? [] : [fact];
}
