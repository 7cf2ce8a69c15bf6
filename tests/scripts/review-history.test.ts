import {execFileSync} from 'node:child_process';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {ALL_TOOLS} from '../../src/compose/known-tools.ts';
import {findAgentCases} from '../../src/evals/case-file.ts';
import {root} from '../support/run-cli.ts';
import {emptyFolder} from '../support/workspace.ts';

test('a commit that a later one mended becomes a case that names its lines, and others do not', async () => {
  const {path: folder, write, git, remove} = await emptyFolder();
  onTestFinished(remove);
  const commit = async (message: string, text: string) => {
    await write('src/page.py', text);
    await git('add', '--all');
    await git('commit', '--quiet', '--message', message);
    return (await git('rev-parse', 'HEAD')).trim();
  };
  await git('init', '--quiet');
  const head = 'def page(items, number, size):\n';
  await commit('Start', `${head}    pass\n`);
  const guilty = await commit(
    'Give the page',
    `${head}    start = number * size\n    return items[start:start + size]\n`,
  );
  await commit('Say what it is', `# Pages.\n${head}    start = number * size\n    return items[start:start + size]\n`);
  const mended = `# Pages.\n${head}    start = (number - 1) * size\n    return items[start:start + size]\n`;
  const mending = await commit('Fix the first page', mended);
  await commit('Fix a typo', mended.replace('Pages', 'A page'));
  const script = path.join(root, 'bench/review-history.mjs');
  const printed = execFileSync(process.execPath, [script, folder], {encoding: 'utf8'});
  expect(printed).toContain('1 cases in ');
  const found = await findAgentCases('review-correctness', folder, ALL_TOOLS);
  expect(found?.problems).toEqual([]);
  const [only] = found!.set!.cases;
  expect(only).toMatchObject({id: `${guilty.slice(0, 10)}-mended-by-${mending.slice(0, 10)}`, commit: guilty});
  expect(only!.prompt).toContain('+    start = number * size');
  expect(only!.expectedOutput).toContain('src/page.py:2: mended later by');
  expect(new RegExp((only!.checks[0] as {answer: {matches: string}}).answer.matches).test('{"line": 2}')).toBe(true);
});
