/**
 * Asks the built program the questions about a project. `node tests/outside/ask-projects.ts [NAME…]` prints how each
 * answer was marked; `MINI_CC_DOWNLOADS` keeps the downloads.
 */
import {existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync} from 'node:fs';
import path from 'node:path';
import {execaSync} from 'execa';
import {createUserEnvironment} from '../support/environment.ts';
import {installPackages, run, type Source, TYPESCRIPT, unpack} from './downloads.ts';
import {createOracle} from './oracle.ts';
import {ASKED_PROJECTS, type AskedProject} from './projects.ts';
import {createQuestions, type Mark, type Question} from './questions.ts';

const CLI = process.env.MINI_CC_CLI ?? path.resolve(import.meta.dirname, '../../dist/cli.js');

export interface Marked {
  readonly question: Question;
  readonly answer: string;
  readonly mark: Mark;
}

/** The folder for downloads and, below `tools`, the TypeScript compiler that the oracle needs. */
export function prepareDownloads(folder: string): void {
  const tools = path.join(folder, 'tools');
  if (existsSync(path.join(tools, 'node_modules/typescript'))) return;
  installPackages(TYPESCRIPT, tools);
}

/** Unpacks the project into a git repository. */
export function unpackProject(
  project: Pick<AskedProject, 'name' | 'built' | keyof Source>,
  downloads: string,
  base: string,
): string {
  const root = path.join(base, project.name.replace(/ .*/, ''));
  if (existsSync(root)) return root;
  unpack(project, downloads, root);
  if (project.built) rmSync(path.join(root, project.built), {recursive: true});
  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], root);
  git('init', '--quiet');
  git('add', '--all', '--force');
  git('commit', '--quiet', '--message', 'As it was published');
  return root;
}

export function askProject(project: AskedProject, downloads: string, base: string): readonly Marked[] {
  const root = unpackProject(project, downloads, base);
  const oracle = createOracle(root, project.extensions, project.parser, path.join(downloads, 'tools'));
  const home = path.join(base, 'home');
  mkdirSync(home, {recursive: true});
  const env = {...createUserEnvironment(), HOME: home, MINI_CC_HOME: home};
  return createQuestions(project, oracle).map((question) => {
    let answer = '';
    for (const [index, turn] of question.turns.entries()) {
      const args = [CLI, '-p', turn, '--offline', ...(index > 0 ? ['--continue'] : [])];
      answer = execaSync(process.execPath, args, {
        cwd: root,
        env,
        extendEnv: false,
        reject: false,
        timeout: 120_000,
      }).stdout;
    }
    // Lines that the answer calls a text search are beside what it claims; where it has nothing else, it claims nothing.
    const [claimed = ''] = answer.split(/^By (?:a )?text search\b/m);
    if (claimed.trim() === '' && question.mark(answer) === 'wrong') return {question, answer, mark: 'partly'};
    return {question, answer, mark: question.mark(claimed.trim() === '' ? answer : claimed)};
  });
}

export function countMarks(marked: readonly Marked[]): Readonly<Record<Mark, number>> {
  const count = (mark: Mark) => marked.filter((one) => one.mark === mark).length;
  return {right: count('right'), partly: count('partly'), wrong: count('wrong')};
}

function main(names: readonly string[]): void {
  const base = realpathSync(mkdtempSync('/var/tmp/mini-cc-asked-'));
  const downloads = process.env.MINI_CC_DOWNLOADS ?? path.join(base, 'downloads');
  try {
    prepareDownloads(downloads);
    for (const project of ASKED_PROJECTS) {
      if (names.length > 0 && !names.some((name) => project.name.startsWith(name))) continue;
      const marked = askProject(project, downloads, base);
      console.log(`== ${project.name} ${project.language} ${JSON.stringify(countMarks(marked))}`);
      for (const {question, answer, mark} of marked)
        if (mark !== 'right' || process.env.MINI_CC_SHOW)
          console.log(`-- ${mark}: ${question.turns.join(' → ')}\nexpected: ${question.expected}\n${answer}\n`);
    }
  } finally {
    rmSync(base, {recursive: true, force: true});
  }
}

if (process.argv[1] === import.meta.filename) main(process.argv.slice(2));
