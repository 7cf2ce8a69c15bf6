/** The history of a repository is read by git, and questions about code with like words are not taken for it. */
import {execFileSync} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {afterAll, describe, expect, it} from 'vitest';
import {converse} from '../converse.ts';
import {closeIndexes, folder, MAIN_TOOLS} from '../simple-tools.ts';

afterAll(closeIndexes);

const root = folder({
  'a.ts': 'export const a = 1;\n',
  'CHANGELOG.md': '# Changes\n\n## 0.9.0 (2020-01-02)\n\n- First\n',
});
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=a@b', ...args], {
    cwd: root,
    env: {...process.env, GIT_COMMITTER_DATE: '2024-05-06T00:00:00Z', GIT_AUTHOR_DATE: '2024-05-06T00:00:00Z'},
  });
git('init', '-q');
git('add', '-A');
git('commit', '-qm', 'Begin');
git('tag', 'v1.2.0');
writeFileSync(path.join(root, 'b.ts'), 'export const b = 2;\n');
git('add', '-A');
git('commit', '-qm', 'Add b');

const answer = async (prompt: string) => (await converse(prompt, {root, tools: MAIN_TOOLS})).text;

describe('a question about the history', () => {
  it.each([
    ['last 5 commits', /2024-05-06 Ada: Add b\n.*Ada: Begin/],
    ['show me the most recent commit', /Add b/],
    ['最近的提交', /Ada: Add b/],
    ['who last changed a.ts?', /Ada: Begin/],
    ['who committed the most', /2\s+Ada/],
    ['list the contributors', /2\s+Ada/],
    ['who is the author?', /2\s+Ada/],
    ['how many commits are there?', /^- 2\n/],
    ['when was the first commit?', /^- \w+ 2024-05-06 Ada: Begin\n\n/],
    ['list all tags', /- v1\.2\.0 2024-05-06/],
  ])('is answered by git: %s', async (prompt, expected) => {
    expect(await answer(prompt)).toMatch(expected);
  });

  it('names the commits of the file that it names only', async () => {
    expect(await answer('history of a.ts')).not.toContain('Add b');
  });

  it.each(['which functions parse tags?', 'who changes a.ts?', 'where are commits parsed?'])(
    'is not seen in one about code: %s',
    async (prompt) => {
      expect(await answer(prompt)).not.toContain('(By `git');
    },
  );
});
