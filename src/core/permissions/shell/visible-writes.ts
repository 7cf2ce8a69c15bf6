/** Which files a program is seen to change, by its words: guarded whatever else allows the command. */
import path from 'node:path';
import {WRAPPERS} from '../rules/command-rule.ts';
import {pathOf} from './program-options.ts';
import type {ShellWord} from './shell-words.ts';

/** Change each file that they are given. */
const EACH = new Set(['rm', 'rmdir', 'unlink', 'shred', 'touch', 'truncate', 'tee', 'chmod', 'chown', 'chgrp']);
/** Write to the last one, or into it. */
const INTO = new Set(['cp', 'mv', 'ln', 'install', 'rsync']);

const WRITERS = new Set([...EACH, ...INTO, 'sed', 'perl', 'dd']);

/** @param words without the program's name. @returns paths as the words have them; rather one too many. */
export function visibleWrites(program: string, words: readonly ShellWord[]): string[] {
  const name = path.basename(program);
  if (WRAPPERS.has(name)) {
    const at = words.findIndex((word) => word.kind === 'text' && WRITERS.has(path.basename(word.text)));
    const writer = words[at];
    return writer?.kind === 'text' ? visibleWrites(writer.text, words.slice(at + 1)) : [];
  }
  const texts = words.flatMap((word) => (word.kind === 'text' ? [word] : []));
  const options = texts.map(({text}) => text).filter((text) => text.startsWith('-'));
  const files = texts.filter(({text}) => !text.startsWith('-')).map(pathOf);
  const has = (pattern: RegExp) => options.some((option) => pattern.test(option));
  if (EACH.has(name) || (/^(?:sed|perl)$/.test(name) && has(/^-\w*i|^--in-place/))) return files;
  if (name === 'dd') return files.flatMap((file) => (file.startsWith('of=') ? [file.slice('of='.length)] : []));
  if (!INTO.has(name)) return [];
  const named = options.flatMap((option) => /^--target-directory=(.+)$/s.exec(option)?.[1] ?? []);
  const targets = [...named, ...(has(/^-\w*t$/) ? files : files.slice(-1))];
  const into = targets.flatMap((target) => files.map((file) => path.join(target, path.basename(file))));
  return [...targets, ...into, ...(name === 'mv' ? files : [])];
}
