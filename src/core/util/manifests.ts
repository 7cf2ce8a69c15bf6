/**
 * Reads the manifests of a project: package.json, Cargo.toml, pyproject.toml, Makefile and similar files. Each fact has
 * its line. Nothing is run, and a manifest that cannot be parsed gives few facts or none.
 */
import {toFields} from './objects.ts';

export interface Fact {
  readonly name: string;
  readonly value: string;
  readonly line: number;
  /** Present for a dependency that users of the package do not install with it. */
  readonly use?: 'dev' | 'peer';
  /** The command is usual for this kind of manifest, and is not written in it. */
  readonly isUsual?: true;
}

export interface Manifest {
  readonly path: string;
  readonly name?: Fact | undefined;
  /** Name of a Rust library, if the manifest names it separately from the package. */
  readonly library?: Fact | undefined;
  readonly description?: Fact | undefined;
  readonly scripts: readonly Fact[];
  readonly dependencies: readonly Fact[];
  /** Where the program starts, or what it exports: bin, main, exports. */
  readonly entries: readonly Fact[];
  readonly test?: Fact | undefined;
  readonly build?: Fact | undefined;
  readonly start?: Fact | undefined;
}

interface Line {
  readonly number: number;
  readonly text: string;
}

type Reader = (lines: readonly Line[], path: string) => Partial<Manifest>;

const READERS: Readonly<Record<string, Reader>> = {
  'package.json': readJson,
  'pyproject.toml': readPyproject,
  'requirements.txt': readRequirements,
  'Cargo.toml': readCargo,
  'go.mod': (lines) => ({
    name: findFirst(lines, /^module\s+"?([^\s"]+)/, 'module'),
    dependencies: findAll(lines, /^\s*(?:require\s+)?([\w.-]+\.[\w.-]+\/\S+)\s+(v\S+)/),
    test: command('go test ./...'),
    build: command('go build ./...'),
  }),
  'pom.xml': (lines) => ({
    name: findFirst(lines, /<artifactId>([^<]+)</, 'artifactId'),
    test: command('mvn test'),
    build: command('mvn package'),
  }),
  'build.gradle': readGradle,
  'build.gradle.kts': readGradle,
  Makefile: readMakefile,
  makefile: readMakefile,
  'CMakeLists.txt': (lines) => ({
    name: findFirst(lines, /project\s*\(\s*([\w-]+)/i, 'project'),
    entries: findAll(lines, /add_executable\s*\(\s*([\w-]+)\s+([^)]*)/i),
    test: findFirst(lines, /(enable_testing)/i, 'ctest'),
    build: command('cmake -B build && cmake --build build', findLine(lines, /project\s*\(/i)),
  }),
  'composer.json': readJson,
  Gemfile: (lines) => ({
    dependencies: findAll(lines, /^\s*gem\s+['"]([\w-]+)['"](?:,\s*['"]([^'"]+)['"])?/),
    test: findCommand(lines, /^\s*gem\s+['"]rspec\b/, 'bundle exec rspec'),
  }),
  '*.gemspec': (lines) => ({
    name: findFirst(lines, /\.name\s*=\s*['"]([\w-]+)/, 'name'),
    dependencies: [
      ...findAll(lines, /\.add_(?:runtime_)?dependency[\s(]+['"]([\w-]+)['"](?:,\s*['"]([^'"]+)['"])?/),
      ...findAll(lines, /\.add_development_dependency[\s(]+['"]([\w-]+)['"](?:,\s*['"]([^'"]+)['"])?/).map((one) => ({
        ...one,
        use: 'dev' as const,
      })),
    ],
  }),
  '.rspec': () => ({test: command('bundle exec rspec')}),
  // A solution tests all its projects.
  '*.sln': (lines) => ({test: findCommand(lines, /^Project\(.*\btests?\.\w+proj"/i, 'dotnet test')}),
  '*.csproj': (lines, path) => ({
    test: findCommand(lines, /Include="(?:xunit|NUnit|MSTest|Microsoft\.NET\.Test\.Sdk)\b/i, `dotnet test ${path}`),
  }),
};

export const MANIFEST_NAMES: readonly string[] = Object.keys(READERS);
/** Manifests from which this module reads a list of dependencies. */
export const LISTS_DEPENDENCIES =
  /(^|\/)(package\.json|composer\.json|pyproject\.toml|Cargo\.toml|go\.mod|requirements\.txt|Gemfile|[^/]*\.gemspec)$/;

/** @param path path whose last part is one of `MANIFEST_NAMES`, where `*` stands for any name */
export function parseManifest(path: string, text: string | readonly Line[]): Manifest {
  const file = path.replace(/^.*\//, '');
  const name = Object.hasOwn(READERS, file) ? file : file.replace(/^.+(?=\.)/, '*');
  const lines = typeof text === 'string' ? toLines(text) : text;
  const facts = Object.hasOwn(READERS, name) ? READERS[name]!(lines, path) : {};
  return {scripts: [], dependencies: [], entries: [], ...facts, path};
}

function toLines(text: string): readonly Line[] {
  return text.split(/\r?\n/).map((line, index) => ({number: index + 1, text: line}));
}

function command(name: string, line = 1): Fact {
  return {name, value: '', line, isUsual: true};
}

/** Returns the command at the first line that matches. */
function findCommand(lines: readonly Line[], form: RegExp, name: string): Fact | undefined {
  const line = lines.find(({text}) => form.test(text));
  return line && command(name, line.number);
}

/** Returns the number of the first line that matches, or 1 when none does. */
function findLine(lines: readonly Line[], form: RegExp): number {
  return lines.find((line) => form.test(line.text))?.number ?? 1;
}

function findFirst(lines: readonly Line[], form: RegExp, name: string): Fact | undefined {
  for (const {text, number} of lines) {
    const value = form.exec(text)?.[1];
    if (value !== undefined) return {name, value, line: number};
  }
  return undefined;
}

/** Returns the name and the value that the form captures in each line. */
function findAll(lines: readonly Line[], form: RegExp): readonly Fact[] {
  return lines.flatMap(({text, number}) => {
    const match = form.exec(text);
    return match ? [{name: match[1]!, value: match[2] ?? '', line: number}] : [];
  });
}

function readJson(lines: readonly Line[]): Partial<Manifest> {
  const json = parseJson(lines.map((line) => line.text).join('\n'));
  // JSON.parse reports no lines. The line of a key is the first line with the key after the line of its section.
  const findKey = (key: string, section?: string): number => {
    const start = section === undefined ? 0 : lines.findIndex((line) => line.text.includes(`"${section}"`));
    const found = lines.slice(Math.max(0, start)).find((line) => line.text.includes(`"${key}"`));
    return found?.number ?? lines[Math.max(0, start)]?.number ?? 1;
  };
  const section = (key: string): readonly Fact[] =>
    Object.entries(toFields(json[key])).map(([name, value]) => ({
      name,
      value: plain(value),
      line: findKey(name, key),
    }));
  const single = (key: string): Fact | undefined =>
    typeof json[key] === 'string' ? {name: key, value: json[key], line: findKey(key)} : undefined;
  const own = toFields(json.scripts);
  // In composer.json a script may be a list of commands. A number or an object is not a script.
  const isScript = ({name}: Fact) => typeof own[name] === 'string' || Array.isArray(own[name]);
  const scripts = section('scripts').filter(isScript);
  const bin = single('bin');
  const script = (name: string): Fact | undefined => {
    const found = scripts.find((one) => one.name === name);
    return found && {...found, name: /^(?:test|start)$/.test(name) ? `npm ${name}` : `npm run ${name}`};
  };
  const exports = section('exports')
    .filter(({name, value}) => name !== './package.json' && /^\.?\.?\//.test(value))
    .slice(0, 3);
  return {
    name: single('name'),
    description: single('description'),
    scripts,
    dependencies: [
      ...section('dependencies'),
      ...section('devDependencies').map((one) => ({...one, use: 'dev' as const})),
      ...section('require'),
      ...section('peerDependencies').map((one) => ({...one, use: 'peer' as const})),
    ],
    entries: [
      ...(bin ? [bin] : section('bin').map((one) => ({...one, name: `bin ${one.name}`}))),
      ...[single('main')].filter((fact) => fact !== undefined),
      ...exports.map((one) => ({...one, name: `exports ${one.name}`})),
    ],
    test: script('test'),
    build: script('build'),
    start: script('start') ?? script('dev'),
  };
}

function plain(value: unknown): string {
  if (typeof value === 'string') return value;
  const fields = toFields(value);
  return String(fields.default ?? fields.import ?? fields.require ?? JSON.stringify(value));
}

function parseJson(text: string): Record<string, unknown> {
  try {
    return toFields(JSON.parse(text.replace(/^\uFEFF/, '')));
  } catch (error) {
    // The file has comments, was cut, or is being edited. Its own tools cannot read it either.
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

function readMakefile(lines: readonly Line[]): Partial<Manifest> {
  const targets = lines.flatMap(({text, number}, index): readonly Fact[] => {
    const name = /^([A-Za-z0-9][\w.-]*)(?:\s+[^:=]*)?:(?!=)/.exec(text)?.[1];
    if (name === undefined) return [];
    const recipe = lines[index + 1]?.text ?? '';
    return [{name: `make ${name}`, value: /^\s/.test(recipe) ? recipe.trim() : '', line: number}];
  });
  const target = (names: RegExp) => targets.find((one) => names.test(one.name));
  return {
    scripts: targets,
    test: target(/\s(test|tests|check)$/),
    build: target(/\sbuild$/) ?? target(/\sall$/),
    start: target(/\s(run|start|serve)$/),
  };
}

function readGradle(): Partial<Manifest> {
  return {test: command('gradle test'), build: command('gradle build')};
}

function readRequirements(lines: readonly Line[], path: string): Partial<Manifest> {
  const dependencies = findAll(lines, /^([A-Za-z][\w.-]*)(?:\[.*\])?\s*([=<>~!].*)?$/);
  const pytest = dependencies.find((one) => one.name === 'pytest');
  return {
    dependencies,
    test: pytest && {...pytest, value: ''},
    build: command(`pip install -r ${path}`, dependencies[0]?.line),
  };
}

function findQuoted(text: string, line: number): readonly Fact[] {
  return [...text.matchAll(/"([^"]+)"|'([^']+)'/g)].map((item) => ({name: item[1] ?? item[2]!, value: '', line}));
}

interface TomlFact extends Fact {
  readonly section: string;
}

/** Sections of TOML whose keys are packages. */
const PACKAGES =
  /^(?:(?:target\..+\.|workspace\.)?(?:dev-|build-)?dependencies|tool\.poetry\.(?:dev-dependencies|dependencies|group\.[^.]+\.dependencies))$/;
/** Sections for one package: `[dependencies.serde]`. */
const PACKAGE = /^(?:target\..+\.)?(?:dev-|build-)?dependencies\.([\w-]+)$/;
/** Lists of packages. */
const PACKAGE_LISTS = /^(?:project\.dependencies|project\.optional-dependencies\..+|dependency-groups\..+)\[\]$/;

function readCargo(lines: readonly Line[]): Partial<Manifest> {
  const facts = readToml(lines);
  const home = findSection(facts, 'package') ?? findSection(facts, 'workspace');
  return {
    name: findValue(facts, 'name', 'package'),
    library: findValue(facts, 'name', 'lib'),
    description: findValue(facts, 'description', 'package'),
    dependencies: facts.filter(isDependency).map(toDependency),
    entries: facts.filter((one) => one.section === 'bin' && one.name === 'path'),
    test: command('cargo test', home?.line),
    build: command('cargo build', home?.line),
  };
}

function readPyproject(lines: readonly Line[]): Partial<Manifest> {
  const facts = readToml(lines);
  const within = (...sections: string[]) => facts.filter((one) => one.name !== '' && sections.includes(one.section));
  const started = within('project.scripts', 'tool.poetry.scripts');
  const pytest =
    facts.find((one) => one.section.startsWith('tool.pytest')) ??
    facts.find((one) => /^pytest\b/.test(one.name) || /^pytest\b/.test(one.value));
  const system = findSection(facts, 'build-system');
  return {
    name: findValue(facts, 'name', 'project', 'tool.poetry'),
    description: findValue(facts, 'description', 'project', 'tool.poetry'),
    scripts: within('project.scripts', 'tool.poetry.scripts', 'tool.poe.tasks', 'tool.pdm.scripts'),
    dependencies: facts.filter(isDependency).map(toDependency),
    entries: started.map((one) => ({...one, name: `script ${one.name}`})),
    test: pytest && command('pytest', pytest.line),
    build: system && command('pip install .', system.line),
    start: started[0],
  };
}

function findSection(facts: readonly TomlFact[], section: string): TomlFact | undefined {
  return facts.find((one) => one.name === '' && one.section === section);
}

function findValue(facts: readonly TomlFact[], key: string, ...sections: readonly string[]): TomlFact | undefined {
  return facts.find((one) => one.name === key && sections.includes(one.section));
}

function isDependency({section, name}: TomlFact): boolean {
  if (name === '') return PACKAGE.test(section);
  return PACKAGES.test(section) || PACKAGE_LISTS.test(section);
}

function toDependency(entry: TomlFact): Fact {
  const dev = /\bdev|optional-|dependency-groups|\.group\./.test(entry.section);
  const name = entry.name === '' ? PACKAGE.exec(entry.section)![1]! : entry.name;
  return {name, value: entry.value, line: entry.line, ...(dev && {use: 'dev' as const})};
}

/**
 * Reads lines `key = value` with their section. The line of a section itself becomes a fact with an empty name. Items
 * of a list have the section `section.key[]`.
 */
function readToml(lines: readonly Line[]): readonly TomlFact[] {
  const facts: TomlFact[] = [];
  let section = '';
  let open = '';
  for (const {number, text} of lines) {
    if (/^\s*#/.test(text)) continue;
    const header = open === '' ? /^\s*\[\[?([^\]]+)\]\]?\s*(?:#.*)?$/.exec(text)?.[1] : undefined;
    const entry = /^\s*"?([\w.-]+)"?\s*=\s*(.*)$/.exec(text);
    if (header !== undefined) {
      section = header.replaceAll('"', '');
      facts.push({section, name: '', value: '', line: number});
      continue;
    }
    const value = open === '' ? entry?.[2]?.trim() : text.trim();
    if (value === undefined) continue;
    if (open === '' && entry) {
      facts.push({section, name: entry[1]!, value: value.replace(/^(["'])(.*)\1.*$/, '$2'), line: number});
      if (value.startsWith('[')) open = `${section}.${entry[1]}[]`;
    }
    if (open === '') continue;
    for (const item of findQuoted(value, number)) facts.push({section: open, ...item});
    // A bracket in quotes, as in "uvicorn[standard]", does not end the list.
    if (/\]/.test(value.replace(/"[^"]*"|'[^']*'|#.*$/g, ''))) open = '';
  }
  return facts;
}
