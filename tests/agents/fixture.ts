/** A project, a home and a user folder of their own for each test, and shortcuts to write definitions into them. */

import {mkdir, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {onTestFinished} from 'vitest';
import type {CatalogOptions, LoadedCatalog} from '../../src/agents/catalog.ts';
import {LiveCatalog} from '../../src/agents/live-catalog.ts';
import type {ListableTools} from '../../src/agents/tool-list.ts';
import {AGENT_TOOLS} from '../../src/compose/known-tools.ts';
import {emptyFolder} from '../support/workspace.ts';

export const TOOLS = [
  'bash',
  'read_file',
  'write_file',
  'edit_file',
  'grep',
  'glob',
  'todo_write',
  'web_fetch',
  'Task',
];

/** These, and what is known of all. */
export const LISTABLE: ListableTools = {known: AGENT_TOOLS, names: TOOLS};

export const good = (name = 'reviewer', change: Record<string, unknown> = {}) => ({
  name,
  description: 'Code review expert focusing on code quality and improvements',
  tools: ['bash', 'read_file'],
  prompt: 'You are a code review expert. Analyze code for bugs. Never modify files, only report findings.',
  ...change,
});

export const json = (value: unknown) => JSON.stringify(value, null, 2);

export const markdown = (head: string, body = 'Read what is concerned, then answer with path and line.') =>
  `---\n${head}\n---\n\n${body}\n`;

export interface AgentWorkspace {
  readonly options: CatalogOptions;
  readonly root: string;
  readonly project: string;
  readonly user: string;
  readonly claudeProject: string;
  readonly claudeUser: string;
  /** Makes the folders that it needs. @returns its path */
  write(folder: string, name: string, content: string | Uint8Array): Promise<string>;
}

export async function agentWorkspace(): Promise<AgentWorkspace> {
  const work = await emptyFolder();
  onTestFinished(work.remove);
  const at = (...parts: string[]) => path.join(work.path, ...parts);
  return {
    options: {cwd: at('project'), home: at('home'), miniCcHome: at('home', '.mini-cc'), listable: LISTABLE},
    root: work.path,
    project: at('project', '.mini-cc', 'agents'),
    user: at('home', '.mini-cc', 'agents'),
    claudeProject: at('project', '.claude', 'agents'),
    claudeUser: at('home', '.claude', 'agents'),
    async write(folder, name, content) {
      const file = path.join(folder, name);
      await mkdir(path.dirname(file), {recursive: true});
      await writeFile(file, content);
      return file;
    },
  };
}

/** The agents as a session that starts now finds them. */
export function readCatalog({listable, overrides, ...options}: CatalogOptions): LoadedCatalog {
  const onNotice = () => undefined;
  return new LiveCatalog({...options, listable: () => listable, overrides: () => overrides, onNotice}).snapshot();
}
