/** Ordinary reading goes on without a question, and prints what it prints unconfined. Real repositories: `tests/outside`. */

import {execFileSync} from 'node:child_process';
import {chmodSync, copyFileSync, mkdtempSync, realpathSync, rmSync} from 'node:fs';
import path from 'node:path';
import {rgPath} from '@vscode/ripgrep';
import {expect, onTestFinished, test} from 'vitest';
import {put} from '../storage/worktrees/fixture.ts';
import {hasSandbox} from '../support/sandbox.ts';
import {home} from './fixture.ts';
import {commandsFor, doWork, findDifferences} from './real-work-fixture.ts';

const usable = await hasSandbox();

/** Outside of /tmp, since confined commands have a /tmp of their own. */
function repository() {
  const base = realpathSync(mkdtempSync('/var/tmp/mini-cc-work-'));
  onTestFinished(() => rmSync(base, {recursive: true, force: true}));
  const root = path.join(base, 'project');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=a@b', ...args], {cwd: root});
  const lines = Array.from(
    {length: 40},
    (_, at) => `export const n${at} = () => { return ${at}; }; // TODO the ${at % 7}\n`,
  );
  put(root, {
    'src/a.ts': lines.slice(0, 20).join(''),
    'README.md': '# The project\n',
    'package.json': '{"name": "p", "version": "1.0.0"}\n',
  });
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '--message=One');
  put(root, {'src/a.ts': lines.join(''), 'src/deep/b.md': 'the text\n'});
  git('add', '--all');
  git('commit', '--quiet', '--message=Two');
  put(root, {'README.md': '# The whole project\n'});
  git('commit', '--quiet', '--all', '--message=Three');
  put(root, {'src/a.ts': `import x from 'y';\n${lines.join('')}`, 'new.txt': 'untracked\n'});
  copyFileSync(rgPath, path.join(base, 'rg'));
  chmodSync(path.join(base, 'rg'), 0o755);
  return {root, programs: [base]};
}

test.runIf(usable)(
  'the main agent reads a project by these commands as they are outside, and is asked nothing',
  async () => {
    const {root, programs} = repository();
    const commands = [...commandsFor('src/a.ts'), 'npm ls', 'npm --version', 'node --version'];
    expect(findDifferences(await doWork(root, commands, {home: await home(), programs}))).toEqual([]);
  },
);
