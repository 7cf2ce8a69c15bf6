/** What Cargo.toml and pyproject.toml say. */
import {type Fact, type ManifestFacts, nothing} from './manifest-facts.ts';
import type {Line} from './results.ts';

interface Entry extends Fact {
  readonly section: string;
}

/** Sections whose keys are packages. */
const PACKAGES =
  /^(?:(?:target\..+\.|workspace\.)?(?:dev-|build-)?dependencies|tool\.poetry\.(?:dev-dependencies|dependencies|group\.[^.]+\.dependencies))$/;
/** A package with a section of its own: `[dependencies.serde]`. */
const PACKAGE = /^(?:target\..+\.)?(?:dev-|build-)?dependencies\.([\w-]+)$/;
/** Lists of packages. */
const PACKAGE_LISTS = /^(?:project\.dependencies|project\.optional-dependencies\..+|dependency-groups\..+)\[\]$/;

export function tomlFacts(path: string, lines: readonly Line[]): ManifestFacts {
  const facts = tomlEntries(lines);
  const within = (...sections: string[]) => facts.filter((one) => one.name !== '' && sections.includes(one.section));
  const pick = (key: string, ...sections: string[]) => within(...sections).find((one) => one.name === key);
  const cargo = path.endsWith('Cargo.toml');
  const root = cargo ? 'package' : 'project';
  const head = (section: string): Entry | undefined => facts.find((one) => one.name === '' && one.section === section);
  const pytest =
    facts.find((one) => one.section.startsWith('tool.pytest')) ??
    facts.find((one) => one.name === 'pytest' || /^pytest\b/.test(one.name) || /^pytest\b/.test(one.value));
  const command = (name: string, at: Fact | undefined): Fact => ({name, value: '', line: at?.line ?? 1});
  const home = head(root) ?? head('workspace');
  const system = head('build-system');
  return {
    ...nothing(path),
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

function isDependency({section, name}: Entry): boolean {
  if (name === '') return PACKAGE.test(section);
  return PACKAGES.test(section) || PACKAGE_LISTS.test(section);
}

function asDependency(entry: Entry): Fact {
  const dev = /\bdev|optional-|dependency-groups|\.group\./.test(entry.section);
  const name = entry.name === '' ? PACKAGE.exec(entry.section)![1]! : entry.name;
  return {name, value: entry.value, line: entry.line, ...(dev && {dev})};
}

/** `key = value` lines with their section; a section's own line without a name; a list's items under `section.key[]`. */
function tomlEntries(lines: readonly Line[]): readonly Entry[] {
  const facts: Entry[] = [];
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
    // A bracket within quotes, as in "uvicorn[standard]", closes nothing.
    if (/\]/.test(value.replace(/"[^"]*"|'[^']*'|#.*$/g, ''))) open = '';
  }
  return facts;
}
