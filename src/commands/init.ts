/**
 * Implements /init, which creates an AGENTS.md for the project: by a turn of the model, or from manifests when there is
 * no model.
 */

import {existsSync, readdirSync, readFileSync, statSync} from 'node:fs';
import path from 'node:path';
import type {MemoryDeps} from '../config/memory-files.ts';
import type {CommandContext, CommandResult} from '../core/contract/session-requests.ts';
import {writeWhole} from '../core/util/files/whole-file.ts';
import {MANIFEST_NAMES, type Manifest, parseManifest} from '../core/util/manifests.ts';
import {formatFileName} from '../core/util/paths.ts';
import INIT_PROMPT from './init.md';
import type {SlashCommands} from './shared/command-deps.ts';
import {createDeclined} from './shared/results.ts';

export const slashCommands: SlashCommands = ({memory}) => [
  {
    name: 'init',
    description: 'write an AGENTS.md: it tells agents about this project, /init [what matters]',
    run: (context) => init(memory, context),
  },
];

async function init(deps: MemoryDeps, context: CommandContext): Promise<CommandResult> {
  const {info, args, ask} = context;
  const file = path.join(info.cwd, 'AGENTS.md');
  deps.prepareMemoryFile(file);
  const exists = existsSync(file);
  if (exists) {
    const answer = await ask({
      title: 'AGENTS.md exists. Overwrite it?',
      detail: file,
      escape: 'keep it',
      options: [
        {digit: 1, choice: 'write', label: info.offline ? 'overwrite it' : 'let the model improve it'},
        {digit: 2, choice: 'keep', label: 'keep it'},
      ],
    });
    if (answer?.choice !== 'write') return createDeclined('AGENTS.md stays as it is.', answer);
  }
  if (!info.offline) {
    const rest = [exists ? 'AGENTS.md exists: read it first, keep what is right, and correct the rest.' : '', args];
    return {
      ok: true,
      text: '',
      prompt: {content: [INIT_PROMPT.trim(), ...rest].filter((part) => part !== '').join('\n\n')},
    };
  }
  const manifests = readManifests(info.cwd);
  await writeWhole(file, describeProject(manifests, listFolders(info.cwd)));
  const from = manifests.map((manifest) => manifest.path).join(', ') || 'the names of its folders: it has no manifest';
  return {
    ok: true,
    text: `Wrote ${formatFileName('AGENTS.md')} from ${from}. The offline model has not read the code: check it, and complete it.`,
  };
}

const MAX_MANIFEST_BYTES = 256 * 1024;

function readManifests(cwd: string): Manifest[] {
  const names = new Set(readdirSync(cwd));
  return MANIFEST_NAMES.flatMap((name) => {
    const file = path.join(cwd, name);
    const stat = names.has(name) ? statSync(file, {throwIfNoEntry: false}) : undefined;
    if (!stat?.isFile() || stat.size > MAX_MANIFEST_BYTES) return [];
    return [parseManifest(name, readFileSync(file, 'utf8'))];
  });
}

const LEFT_OUT = new Set(['node_modules', 'dist', 'build', 'target', 'vendor', 'coverage', '__pycache__']);
const MAX_FOLDERS = 20;

function listFolders(cwd: string): string[] {
  return readdirSync(cwd, {withFileTypes: true})
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !LEFT_OUT.has(entry.name))
    .map(({name}) => name)
    .sort()
    .slice(0, MAX_FOLDERS);
}

function describeProject(manifests: readonly Manifest[], folders: readonly string[]): string {
  const about = manifests.flatMap(({path: file, name, description}) => {
    const parts = [name?.value, description?.value].filter((part) => part !== undefined && part !== '');
    return parts.length > 0 ? [`- ${parts.join(': ')} (${file})`] : [];
  });
  const commands = manifests.flatMap(({path: file, build, test, start, scripts}) => {
    const known = [
      ['Build', build],
      ['Test', test],
      ['Start', start],
    ] as const;
    const main = known.flatMap(([label, fact]) => (fact ? [`- ${label}: \`${fact.name}\` (${file})`] : []));
    const others = scripts.map(({name}) => name).filter((name) => !/^(?:build|test|start|pre|post)/.test(name));
    return others.length > 0 ? [...main, `- Further scripts of ${file}: ${others.join(', ')}`] : main;
  });
  const section = (title: string, lines: readonly string[]) =>
    lines.length > 0 ? [`## ${title}\n\n${lines.join('\n')}`] : [];
  return `${[
    '# About this project',
    '<!-- Made by mini-cc without a model, from manifests and folder names alone. Check it and complete it. -->',
    ...section('Project', about),
    ...section('Commands', commands),
    ...section(
      'Folders',
      folders.map((name) => `- \`${name}/\``),
    ),
    '## Conventions\n\n- (to be filled in: style, tests, what agents must not touch)',
  ].join('\n\n')}\n`;
}
