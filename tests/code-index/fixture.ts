/** A project in a temporary folder, with a code index of its own. */
import {mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {onTestFinished} from 'vitest';
import type {CodeIndex, Definition, Reference} from '../../src/code-index/contract.ts';
import {openCodeIndex} from '../../src/code-index/index.ts';

export interface Project {
  readonly root: string;
  readonly index: CodeIndex;
  put(files: Readonly<Record<string, string>>): void;
  /** A further index of the same folder. */
  open(cacheFolder?: string): CodeIndex;
}

export function createProject(files: Readonly<Record<string, string>>, cacheFolder?: string): Project {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'mini-cc-index-')));
  const open = (cache?: string) => {
    const env = {PATH: process.env.PATH ?? ''};
    const index = openCodeIndex({root, env, ...(cache !== undefined && {cacheFolder: cache})});
    onTestFinished(() => index.close());
    return index;
  };
  onTestFinished(() => rmSync(root, {recursive: true, force: true, maxRetries: 3}));
  const project: Project = {
    root,
    index: open(cacheFolder),
    put(more) {
      for (const [file, text] of Object.entries(more)) {
        mkdirSync(path.dirname(path.join(root, file)), {recursive: true});
        writeFileSync(path.join(root, file), text);
      }
    },
    open,
  };
  project.put(files);
  return project;
}

/** `3 method Parser.parse exported` */
export function formatDefinition({line, kind, container, name, exported, declaration}: Definition): string {
  const marks = `${exported ? ' exported' : ''}${declaration ? ' declared' : ''}`;
  return `${line} ${kind} ${[...container, name].join('.')}${marks}`;
}

/** `src/a.ts:3 call in main → src/b.ts` */
export function formatReference({path, line, kind, inside, target}: Reference): string {
  return `${path}:${line} ${kind}${inside === undefined ? '' : ` in ${inside}`} → ${target}`;
}
