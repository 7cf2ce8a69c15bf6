/** What package.json, Cargo.toml, pyproject.toml, Makefile and their kin say, each fact with its line. */
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

export interface Fact {
  readonly name: string;
  readonly value: string;
  readonly line: number;
}

export interface ManifestFacts {
  readonly path: string;
  readonly name: Fact | undefined;
  readonly description: Fact | undefined;
  readonly scripts: readonly Fact[];
  readonly dependencies: readonly Fact[];
  /** Files that the manifest starts: bin, main, exports. */
  readonly entries: readonly Fact[];
  /** The command that runs the tests. */
  readonly test: Fact | undefined;
}

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
  const test = scripts.find((one) => one.name === 'test');
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
      ...section('devDependencies'),
      ...section('require'),
      ...section('peerDependencies'),
    ],
    entries: [
      ...(bin ? [bin] : section('bin').map((one) => ({...one, name: `bin ${one.name}`}))),
      ...present(single('main')),
      ...exports.map((one) => ({...one, name: `exports ${one.name}`})),
    ],
    test: test && {...test, name: /deno/.test(path) ? 'deno task test' : 'npm test'},
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
  return {...nothing(path), scripts: targets, test: targets.find((one) => /\s(test|tests|check)$/.test(one.name))};
}

function tomlFacts(path: string, lines: readonly Line[]): ManifestFacts {
  const facts = tomlEntries(lines);
  const within = (...sections: string[]) => facts.filter((one) => sections.includes(one.section));
  const pick = (key: string, ...sections: string[]) => within(...sections).find((one) => one.name === key);
  const cargo = path.endsWith('Cargo.toml');
  const listed = facts.filter((one) => one.section === 'project.dependencies[]');
  const pytest =
    facts.find((one) => one.section.startsWith('tool.pytest')) ??
    facts.find((one) => one.name === 'pytest' || /^pytest\b/.test(one.value));
  const root = cargo ? 'package' : 'project';
  const test = cargo
    ? {name: 'cargo test', value: '', line: 1}
    : pytest && {name: 'pytest', value: '', line: pytest.line};
  return {
    ...nothing(path),
    name: pick('name', root, 'tool.poetry'),
    description: pick('description', root, 'tool.poetry'),
    scripts: within('project.scripts', 'tool.poetry.scripts', 'tool.poe.tasks', 'tool.pdm.scripts'),
    dependencies: [...within('dependencies', 'dev-dependencies', 'tool.poetry.dependencies'), ...listed],
    entries: [
      ...within('project.scripts', 'tool.poetry.scripts').map((one) => ({...one, name: `script ${one.name}`})),
      ...facts.filter((one) => one.section === 'bin' && one.name === 'path'),
    ],
    test,
  };
}

/** `key = value` lines with their section; the items of a list under `section.key[]`. */
function tomlEntries(lines: readonly Line[]): readonly (Fact & {readonly section: string})[] {
  const facts: (Fact & {readonly section: string})[] = [];
  let section = '';
  let open = '';
  for (const {number, text} of lines) {
    const header = /^\s*\[\[?([^\]]+)\]\]?\s*$/.exec(text)?.[1];
    const entry = /^\s*"?([\w.-]+)"?\s*=\s*(.*)$/.exec(text);
    if (open !== '') {
      for (const item of text.matchAll(/"([^"]+)"|'([^']+)'/g))
        facts.push({section: open, name: item[1] ?? item[2] ?? '', value: '', line: number});
      if (/^\s*\]/.test(text)) open = '';
    } else if (header !== undefined) {
      section = header;
      facts.push({section, name: '', value: '', line: number});
    } else if (entry) {
      const value = entry[2]!.trim();
      facts.push({section, name: entry[1]!, value: value.replace(/^(["'])(.*)\1.*$/, '$2'), line: number});
      if (/^\[[^\]]*$/.test(value)) open = `${section}.${entry[1]}[]`;
    }
  }
  return facts.filter((one) => one.name !== '' || one.section.startsWith('tool.pytest'));
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
  if (file === 'go.mod')
    return {
      ...base,
      name: first(/^module\s+(\S+)/, 'module'),
      dependencies: all(/^\s*(?:require\s+)?([\w.-]+\.[\w.-]+\/\S+)\s+(v\S+)/),
      test: {name: 'go test ./...', value: '', line: 1},
    };
  if (file === 'pom.xml')
    return {...base, name: first(/<artifactId>([^<]+)</, 'artifactId'), test: {name: 'mvn test', value: '', line: 1}};
  if (file.startsWith('build.gradle')) return {...base, test: {name: 'gradle test', value: '', line: 1}};
  if (file === 'CMakeLists.txt')
    return {
      ...base,
      name: first(/project\s*\(\s*([\w-]+)/i, 'project'),
      entries: all(/add_executable\s*\(\s*([\w-]+)\s+([^)]*)/i),
      test: present(first(/(enable_testing)/i, 'ctest'))[0],
    };
  if (file === 'requirements.txt') return {...base, dependencies: all(/^([A-Za-z][\w.-]*)(?:\[.*\])?\s*([=<>~!].*)?$/)};
  if (file === 'Gemfile') return {...base, dependencies: all(/^\s*gem\s+['"]([\w-]+)['"](?:,\s*['"]([^'"]+)['"])?/)};
  if (file === 'mix.exs')
    return {...base, name: first(/app:\s*:(\w+)/, 'app'), test: {name: 'mix test', value: '', line: 1}};
  return {...base, name: first(/\bname\s*=\s*['"]([^'"]+)['"]/, 'name')};
}

function nothing(path: string): ManifestFacts {
  return {path, name: undefined, description: undefined, scripts: [], dependencies: [], entries: [], test: undefined};
}

function present(fact: Fact | undefined): readonly Fact[] {
  return fact === undefined ? [] : [fact];
}
