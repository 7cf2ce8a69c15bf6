/** Reads package.json, Cargo.toml, pyproject.toml, Makefile and similar files. Each fact has its line. */
import {toFields} from '../core/util/objects.ts';
import {type Line, parseLines} from './results.ts';
import {ask, type Job, type Work} from './skill.ts';

export interface Fact {
  readonly name: string;
  readonly value: string;
  readonly line: number;
  /** A dependency for development only. */
  readonly dev?: boolean;
}

export interface Manifest {
  readonly path: string;
  readonly name: Fact | undefined;
  readonly description: Fact | undefined;
  readonly scripts: readonly Fact[];
  readonly dependencies: readonly Fact[];
  /** ManifestEntry points: bin, main, exports. */
  readonly entries: readonly Fact[];
  /** The command that runs the tests. */
  readonly test: Fact | undefined;
  readonly build: Fact | undefined;
  /** The command that starts the program. */
  readonly start: Fact | undefined;
}

/** As the alternatives of a glob. */
export const MANIFESTS = `{${[
  'package.json,deno.json,pyproject.toml,setup.py,requirements.txt,Cargo.toml,go.mod,pom.xml,build.gradle',
  'build.gradle.kts,Makefile,makefile,justfile,CMakeLists.txt,composer.json,Gemfile,mix.exs',
].join(',')}}`;

/** Manifests whose list of dependencies is read here. */
export const LISTS_DEPENDENCIES =
  /(^|\/)(package\.json|composer\.json|pyproject\.toml|Cargo\.toml|go\.mod|requirements\.txt|Gemfile|setup\.py)$/;

export function parseManifest(path: string, lines: readonly Line[]): Manifest {
  const file = path.replace(/^.*\//, '');
  if (file.endsWith('.json')) return parseJsonManifest(path, lines);
  if (/^makefile$|^justfile$/i.test(file)) return parseMakefile(path, lines);
  if (file.endsWith('.toml')) return parseToml(path, lines);
  return parseOtherManifest(path, file, lines);
}

/** Reads the files. Those that cannot be read are left out. @param limit lines of each */
export function* readManifests(paths: readonly string[], {toolbox}: Job, limit: number): Work<readonly Manifest[]> {
  const texts = yield* ask(paths.map((path) => toolbox.read(path, undefined, limit)));
  return paths.flatMap((path, index) => {
    const lines = parseLines(texts[index]);
    return lines ? [parseManifest(path, lines)] : [];
  });
}

function createEmptyManifest(path: string): Manifest {
  const none = {name: undefined, description: undefined, test: undefined, build: undefined, start: undefined};
  return {path, ...none, scripts: [], dependencies: [], entries: []};
}

function parseJsonManifest(path: string, lines: readonly Line[]): Manifest {
  const json = parsed(lines.map((line) => line.text).join('\n'));
  // JSON.parse does not give lines. The line of a key is the first line with the key after the line of its section.
  const findLine = (key: string, section?: string): number => {
    const start = section === undefined ? 0 : lines.findIndex((line) => line.text.includes(`"${section}"`));
    const found = lines.slice(Math.max(0, start)).find((line) => line.text.includes(`"${key}"`));
    return found?.number ?? lines[Math.max(0, start)]?.number ?? 1;
  };
  const section = (key: string): readonly Fact[] =>
    Object.entries(toFields(json[key])).map(([name, value]) => ({
      name,
      value: plain(value),
      line: findLine(name, key),
    }));
  const single = (key: string): Fact | undefined =>
    typeof json[key] === 'string' ? {name: key, value: json[key], line: findLine(key)} : undefined;
  const scripts = [...section('scripts'), ...section('tasks')];
  const bin = single('bin');
  const prefix = /deno/.test(path) ? 'deno task' : 'npm run';
  const script = (name: string): Fact | undefined => {
    const found = scripts.find((one) => one.name === name);
    const command = `${prefix} ${name}`.replace(/^npm run (?=(?:test|start)$)/, 'npm ');
    return found && {...found, name: command};
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

function parsed(text: string): Record<string, unknown> {
  try {
    return toFields(JSON.parse(text));
  } catch (error) {
    // A manifest with comments, or one that was cut: no facts are taken from it.
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

function parseMakefile(path: string, lines: readonly Line[]): Manifest {
  const program = /(^|\/)just[^/]*$/i.test(path) ? 'just' : 'make';
  const targets = lines.flatMap((line, index): readonly Fact[] => {
    const name = /^([A-Za-z0-9][\w.-]*)(?:\s+[^:=]*)?:(?!=)/.exec(line.text)?.[1];
    if (name === undefined) return [];
    const recipe = lines[index + 1]?.text ?? '';
    return [{name: `${program} ${name}`, value: /^\s/.test(recipe) ? recipe.trim() : '', line: line.number}];
  });
  const target = (names: RegExp) => targets.find((one) => names.test(one.name));
  return {
    ...createEmptyManifest(path),
    scripts: targets,
    test: target(/\s(test|tests|check)$/),
    build: target(/\sbuild$/) ?? target(/\sall$/),
    start: target(/\s(run|start|serve)$/),
  };
}

function parseOtherManifest(path: string, file: string, lines: readonly Line[]): Manifest {
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
  const base = createEmptyManifest(path);
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
      build: {...command('cmake -B build && cmake --build build'), line: findLineNumber(lines, /project\s*\(/i)},
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
    dependencies: file === 'setup.py' ? parseInstallRequires(lines) : [],
    build: file === 'setup.py' ? {...command('pip install .'), line: findLineNumber(lines, /\bsetup\(/)} : undefined,
  };
}

/** The items of `install_requires=[…]` in setup.py. */
function parseInstallRequires(lines: readonly Line[]): readonly Fact[] {
  const start = lines.findIndex((line) => /\binstall_requires\s*=\s*\[/.test(line.text));
  if (start < 0) return [];
  const end = lines.findIndex((line, index) => index >= start && /\]\s*,?\s*\)?\s*$/.test(line.text));
  return lines
    .slice(start, end < 0 ? undefined : end + 1)
    .flatMap(({number, text}) =>
      [...text.matchAll(/"([^"]+)"|'([^']+)'/g)].map((item) => ({name: item[1] ?? item[2]!, value: '', line: number})),
    );
}

/** The first line that matches; line 1 when none does. */
function findLineNumber(lines: readonly Line[], form: RegExp): number {
  return lines.find((line) => form.test(line.text))?.number ?? 1;
}

interface ManifestEntry extends Fact {
  readonly section: string;
}

/** Sections of TOML whose keys are packages. */
const PACKAGES =
  /^(?:(?:target\..+\.|workspace\.)?(?:dev-|build-)?dependencies|tool\.poetry\.(?:dev-dependencies|dependencies|group\.[^.]+\.dependencies))$/;
/** A section for one package: `[dependencies.serde]`. */
const PACKAGE = /^(?:target\..+\.)?(?:dev-|build-)?dependencies\.([\w-]+)$/;
/** Lists of packages. */
const PACKAGE_LISTS = /^(?:project\.dependencies|project\.optional-dependencies\..+|dependency-groups\..+)\[\]$/;

function parseToml(path: string, lines: readonly Line[]): Manifest {
  const facts = tomlEntries(lines);
  const within = (...sections: string[]) => facts.filter((one) => one.name !== '' && sections.includes(one.section));
  const pick = (key: string, ...sections: string[]) => within(...sections).find((one) => one.name === key);
  const cargo = path.endsWith('Cargo.toml');
  const root = cargo ? 'package' : 'project';
  const head = (section: string): ManifestEntry | undefined =>
    facts.find((one) => one.name === '' && one.section === section);
  const pytest =
    facts.find((one) => one.section.startsWith('tool.pytest')) ??
    facts.find((one) => one.name === 'pytest' || /^pytest\b/.test(one.name) || /^pytest\b/.test(one.value));
  const command = (name: string, at: Fact | undefined): Fact => ({name, value: '', line: at?.line ?? 1});
  const home = head(root) ?? head('workspace');
  const system = head('build-system');
  return {
    ...createEmptyManifest(path),
    name: pick('name', root, 'tool.poetry'),
    description: pick('description', root, 'tool.poetry'),
    scripts: within('project.scripts', 'tool.poetry.scripts', 'tool.poe.tasks', 'tool.pdm.scripts'),
    dependencies: facts.filter(isDependency).map(asDependency),
    entries: [
      ...within('project.scripts', 'tool.poetry.scripts').map((one) => ({...one, name: `script ${one.name}`})),
      ...facts.filter((one) => one.section === 'bin' && one.name === 'path'),
    ],
    test: cargo ? command('cargo test', home) : pytest && command('pytest', pytest),
    build: cargo ? command('cargo build', home) : system && command('pip install .', system),
    start: cargo ? undefined : within('project.scripts', 'tool.poetry.scripts')[0],
  };
}

function isDependency({section, name}: ManifestEntry): boolean {
  if (name === '') return PACKAGE.test(section);
  return PACKAGES.test(section) || PACKAGE_LISTS.test(section);
}

function asDependency(entry: ManifestEntry): Fact {
  const dev = /\bdev|optional-|dependency-groups|\.group\./.test(entry.section);
  const name = entry.name === '' ? PACKAGE.exec(entry.section)![1]! : entry.name;
  return {name, value: entry.value, line: entry.line, ...(dev && {dev})};
}

/**
 * Lines `key = value` with their section. The line of a section itself has an empty name. Items of a list have the
 * section `section.key[]`.
 */
function tomlEntries(lines: readonly Line[]): readonly ManifestEntry[] {
  const facts: ManifestEntry[] = [];
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
    for (const item of value.matchAll(/"([^"]+)"|'([^']+)'/g))
      facts.push({section: open, name: item[1] ?? item[2] ?? '', value: '', line: number});
    // A bracket in quotes, as in "uvicorn[standard]", does not end the list.
    if (/\]/.test(value.replace(/"[^"]*"|'[^']*'|#.*$/g, ''))) open = '';
  }
  return facts;
}
