/** The repository in which all programs work: 2,000 files, two commits, and a change that is not committed. */
import {execFileSync} from 'node:child_process';
import {appendFileSync, mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';

const FILES = 2_000;
const FILES_PER_FOLDER = 100;

export function createProject(root: string): void {
  const write = (file: string, text: string) => writeFileSync(path.join(root, file), text);
  for (let index = 0; index < FILES; index += 1) {
    const folder = `src/part${Math.floor(index / FILES_PER_FOLDER)}`;
    if (index % FILES_PER_FOLDER === 0) mkdirSync(path.join(root, folder), {recursive: true});
    const lines = Array.from({length: 40}, (_, line) => `export const value${index}_${line} = ${index + line};`);
    write(`${folder}/file${index}.ts`, `${lines.join('\n')}\n`);
  }
  const readme = Array.from({length: 60}, (_, line) => `Line ${line % 7} of what this project says about itself.`);
  write('README.md', `${readme.join('\n')}\n`);
  write('package.json', `${JSON.stringify({name: 'project', version: '1.0.0', scripts: {test: 'exit 0'}}, null, 2)}\n`);
  const git = (...args: string[]) => execFileSync('git', args, {cwd: root, stdio: 'pipe'});
  const commit = (message: string) => git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qam', message);
  git('init', '-q');
  git('add', '-A');
  commit('Begin');
  for (const index of [3, 120, 440]) {
    appendFileSync(path.join(root, `src/part${Math.floor(index / 100)}/file${index}.ts`), 'export const more = 1;\n');
  }
  commit('Add more');
  appendFileSync(path.join(root, 'README.md'), 'A last line.\n');
}
