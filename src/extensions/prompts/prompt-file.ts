/** Reads commands and skills: markdown files with front matter, in the shapes of Claude Code. */
import path from 'node:path';
import {readDefinitionFile} from '../../agents/definition-file.ts';
import {type FrontMatter, readFrontMatter} from '../../agents/front-matter.ts';
import {PLUGIN_ROOT} from '../../core/contract/plugin.ts';
import {findTypo} from '../../core/util/names.ts';
import {formatProblem, type Problem, ProblemList, quote, START} from '../../core/util/problem.ts';
import {toCommandName} from '../../core/util/prompt-syntax.ts';

export type PromptKind = 'command' | 'skill';

export interface PromptFile {
  readonly kind: PromptKind;
  /** The name as typed after the slash, e.g. `review` or `git:commit`. */
  readonly name: string;
  readonly description: string;
  readonly argumentHint: string;
  /** Rules whose calls pass without a question in the turn of the command. An untrusted project has none. */
  readonly allowedTools: readonly string[];
  readonly model?: string;
  /** True when the model may call it. */
  readonly isForModel: boolean;
  /** True when the user may type it. */
  readonly isForUser: boolean;
  /** Type of the subagent that runs it; absent when it runs in the conversation. */
  readonly forkAgent?: string;
  readonly body: string;
  readonly file: string;
  /** Folder of the file. The further files of a skill are in it. */
  readonly folder: string;
  /** The origin, e.g. `your .mini-cc`. */
  readonly from: string;
}

const KEYS = [
  'name',
  'description',
  'argument-hint',
  'allowed-tools',
  'model',
  'disable-model-invocation',
  'user-invocable',

  'context',
  'agent',
  'license',
  'compatibility',
  'metadata',
  'version',
  'when_to_use',
  'hooks',
  'category',
  'tags',
] as const;

/**
 * Reads a file.
 * @param about its facts; the name is that of the file or of the skill's folder
 * @param pluginRoot folder of the plugin that has it, which its text may name
 * @returns the prompt unless the file cannot be used, and its problems as lines; `isSkipped` when nothing was read
 */
export function readPromptFile(
  file: string,
  about: {readonly kind: PromptKind; readonly name: string; readonly from: string},
  pluginRoot?: string,
): {readonly prompt?: PromptFile; readonly problems: readonly string[]; readonly isSkipped?: true} {
  const {text: written, problems: unread} = readDefinitionFile(file, {lossy: true});
  const text = pluginRoot === undefined ? written : written?.replaceAll(`\${${PLUGIN_ROOT}}`, pluginRoot);
  const problems = new ProblemList(file);
  if (text === undefined) return {problems: unread.map(format), isSkipped: true};
  const head = readFrontMatter(text, KEYS, problems);
  if (problems.failed) return {problems: problems.all.map(format)};
  if (head) reportMisspelt(head, problems);
  const body = (head?.body ?? text).trim();
  const values = head?.values ?? new Map<string, unknown>();
  const description = toText(values.get('description')) || toText(values.get('when_to_use')) || getFirstLine(body);
  if (body === '') problems.error('missing', START, 'there is nothing below the front matter');
  if (about.kind === 'skill' && description === '') problems.error('missing', START, 'description is missing');
  if (problems.failed) return {problems: problems.all.map(format)};
  const fork = toText(values.get('context')) === 'fork';
  const model = toText(values.get('model'));
  return {
    prompt: {
      ...about,
      description: description.replaceAll(/\s+/g, ' '),
      argumentHint: toText(values.get('argument-hint')),
      allowedTools: toList(values.get('allowed-tools')),
      ...(model !== '' && model !== 'inherit' && {model}),
      isForModel: about.kind === 'skill' && readSwitch(values.get('disable-model-invocation')) !== true,
      isForUser: readSwitch(values.get('user-invocable')) !== false,
      ...(fork && {forkAgent: toText(values.get('agent')) || 'code'}),
      body,
      file,
      folder: path.dirname(file),
    },
    problems: problems.all.map(format),
  };
}

/** Reports keys that were probably misspelt. Other unknown keys belong to other programs and are ignored. */
function reportMisspelt({values, positions}: FrontMatter, problems: ProblemList): void {
  for (const key of values.keys()) {
    if ((KEYS as readonly string[]).includes(key)) continue;
    const meant = key === 'tools' ? 'allowed-tools' : findTypo(key.replaceAll('_', '-'), KEYS);
    if (meant === undefined) continue;
    problems.warn('unknown-key', positions.get(key) ?? START, `unknown key ${quote(key)} is ignored`, meant);
  }
}

function format(problem: Problem): string {
  return formatProblem(problem);
}

function toText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.join(', ')}]`;
  return typeof value === 'string' || typeof value === 'number' ? String(value).trim() : '';
}

/** Reads a Boolean value, including the words of older YAML, because one of the two values restricts the prompt. */
function readSwitch(value: unknown): boolean | undefined {
  if (/^(?:true|yes|on)$/i.test(String(value))) return true;
  return /^(?:false|no|off)$/i.test(String(value)) ? false : undefined;
}

/** Reads a list, or a text that separates rules by commas or spaces. */
function toList(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => (typeof each === 'string' ? [each.trim()] : []));
  if (typeof value !== 'string') return [];
  return [...value.matchAll(/[\w*:.-]+(?:\([^)]*\))?/g)].map(([rule]) => rule);
}

/** Returns the first line of the body, in place of a missing description. */
function getFirstLine(body: string): string {
  const line = body.split('\n').find((each) => each.trim() !== '') ?? '';
  return line
    .replace(/^#+\s*/, '')
    .trim()
    .slice(0, MAX_DESCRIPTION_CHARS);
}

const MAX_DESCRIPTION_CHARS = 1024;

/** Returns the name of a command: `git/commit.md` below the folder becomes `git:commit`. */
export function getCommandName(folder: string, file: string): string {
  const parts = path.relative(folder, file).replace(/\.md$/i, '').split(path.sep);
  return parts.map(toCommandName).join(':');
}
