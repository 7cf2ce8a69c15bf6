/**
 * Reads rules: markdown files in `.mini-cc/rules` and `.claude/rules` of the project and of the user. A rule without
 * `paths` is used like a memory file. An agent gets a rule with `paths` when it first reads a file that matches.
 */
import {realpathSync} from 'node:fs';
import path from 'node:path';
import {isRead, type UserPlaces} from '../config/layers.ts';
import type {PermitRequest} from '../core/contract/permission.ts';
import type {AfterCall} from '../core/contract/tool.ts';
import {tryOr} from '../core/util/errors.ts';
import {
  listMarkdownFiles,
  MAX_DEFINITIONS,
  MAX_DEFINITIONS_BYTES,
  MAX_MARKDOWN_BYTES,
  readProjectFile,
} from '../core/util/files/project-file.ts';
import {Glob} from '../core/util/glob.ts';
import {findLinkOut, listProjectFolders} from '../core/util/paths.ts';
import {ProblemList} from '../core/util/problem.ts';
import {readFrontMatter} from './front-matter.ts';

interface Rule {
  readonly path: string;
  readonly text: string;
  /** Folder to which the patterns are relative. */
  readonly folder: string;
  /** Empty for a rule about everything. */
  readonly patterns: readonly Glob[];
}

/** Finds the rules, those of the user first and the nearest last. What cannot be read, or is a link out, is skipped. */
export function findRules({cwd, home, miniCcHome, sources}: UserPlaces): Rule[] {
  const projects = isRead('project', sources) ? listProjectFolders(cwd) : [];
  const own = isRead('user', sources) ? [path.join(home, '.claude'), miniCcHome] : [];
  let bytes = 0;
  const readAll = (top: string, folder: string, root?: string): Rule[] =>
    listFiles(top, root).flatMap((file) => {
      const text = bytes > MAX_DEFINITIONS_BYTES ? undefined : readText(file);
      bytes += text?.length ?? 0;
      return text === undefined ? [] : readRule(file, text, folder);
    });
  return [
    ...own.flatMap((folder) => readAll(path.join(folder, 'rules'), cwd)),
    ...projects.flatMap((folder) =>
      ['.claude', '.mini-cc'].flatMap((name) => readAll(path.join(folder, name, 'rules'), folder, projects[0])),
    ),
  ];
}

/** @param root project that links must not leave */
function listFiles(top: string, root: string | undefined): string[] {
  const isIn = (file: string) =>
    tryOr(() => root === undefined || findLinkOut(file, realpathSync(root)) === undefined, false);
  return isIn(top) ? listMarkdownFiles(top, isIn, () => undefined).slice(0, MAX_DEFINITIONS) : [];
}

function readText(file: string): string | undefined {
  return tryOr(
    () =>
      readProjectFile(file, MAX_MARKDOWN_BYTES)
        .toString()
        .replace(/^\uFEFF/, ''),
    undefined,
  );
}

function readRule(file: string, text: string, folder: string): Rule[] {
  const head = readFrontMatter(text, ['paths'], new ProblemList(file));
  const body = (head?.body ?? text).trim().toWellFormed();
  const named = head?.values.get('paths');
  const list = (Array.isArray(named) ? named : [named]).filter((each) => typeof each === 'string');
  // A comma inside braces belongs to the pattern.
  const patterns = list.flatMap((each) => each.split(/,(?![^{]*\})/)).map((each) => each.trim());
  if (body === '') return [];
  return [{path: file, text: body, folder, patterns: patterns.filter(Boolean).map(toGlob)}];
}

/** A folder stands for what is below it, and a pattern without a slash for files anywhere. */
function toGlob(pattern: string): Glob {
  const relative = pattern.replace(/^\.?\//, '').replace(/\/$/, '/**');
  return new Glob(relative.includes('/') ? relative : `**/${relative}`, {braces: true, plainBrackets: true});
}

/**
 * Creates the step after a call that adds the rules about a file to the result by which an agent first read such a file.
 * An agent gets each rule once. The rules are read once for each agent.
 * @param getAgent names the agent that a call belongs to
 */
export function createRuleTeller(places: UserPlaces, getAgent: (call: PermitRequest) => string): AfterCall {
  const untold = new Map<string, readonly Rule[]>();
  return async (call, result) => {
    const read = result.facts?.read ?? [];
    if (read.length === 0 || result.isError) return result;
    const agent = getAgent(call);
    const left = untold.get(agent) ?? findRules(places).filter(({patterns}) => patterns.length > 0);
    const due = left.filter((rule) => read.some((file) => isAbout(rule, file, call)));
    untold.set(agent, due.length === 0 ? left : left.filter((rule) => !due.includes(rule)));
    if (due.length === 0) return result;
    const lines = due.map((rule) => `\n\n# Rule for this file, from ${rule.path}\n\n${rule.text}`).join('');
    const {content = ''} = result;
    return {
      ...result,
      content: typeof content === 'string' ? content + lines : [...content, {type: 'text', text: lines.trim()}],
    };
  };
}

/** In a worktree, patterns are relative to its top. */
function isAbout({folder, patterns}: Rule, file: string, {workspace}: PermitRequest): boolean {
  const tops = [folder, ...(workspace ? [workspace.root] : [])];
  const names = tops.map((top) => path.relative(top, file)).filter((name) => !name.startsWith('..'));
  return patterns.some((pattern) => names.some((name) => pattern.matches(name)));
}
