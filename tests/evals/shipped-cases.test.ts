/** The cases that mini-cc ships for its own agents, by the built program in an empty folder. */
import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {ALL_TOOLS} from '../../src/compose/known-tools.ts';
import {findAgentCases} from '../../src/evals/case-file.ts';
import type {AgentTestResult} from '../../src/evals/result-types.ts';
import {agreesWith, parseDiff} from '../../src/review/change.ts';
import {callTool, type MessagesBody, startMessagesServer} from '../support/messages-server.ts';
import {root, runCli} from '../support/run-cli.ts';
import {emptyFolder} from '../support/workspace.ts';

const FOLDER = path.join(root, 'examples', 'evals');
const FINDERS = ['review-api', 'review-correctness', 'review-security', 'review-tests'];

interface WrittenCase {
  readonly id: string;
  readonly prompt: string;
  readonly expected_output: string;
  readonly files: readonly {readonly from: string; readonly to: string}[];
}

function readCases(agent: string): readonly WrittenCase[] {
  return JSON.parse(readFileSync(path.join(FOLDER, `${agent}.json`), 'utf8')).evals;
}

const REVIEW_CASES = FINDERS.flatMap(readCases);
const CLAIMS = readCases('review-verifier');
/** `review-case/list.ts:9: …` in what is expected; undefined for a change without a fault. */
const placeOf = ({expected_output: expected}: WrittenCase) => /^(\S+):(\d+): /.exec(expected);

test('all cases that are shipped can be read, and those of review show the change as a review does', async () => {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
  expect(names.length).toBeGreaterThanOrEqual(15);
  for (const name of names) {
    const found = await findAgentCases(path.basename(name, '.json'), FOLDER, ALL_TOOLS);
    expect(found?.problems).toEqual([]);
    expect(found?.set?.cases.length).toBeGreaterThan(0);
  }
  const faulty = REVIEW_CASES.filter(placeOf);
  expect([faulty.length, REVIEW_CASES.length - faulty.length]).toEqual([12, 6]);
  for (const list of [faulty, REVIEW_CASES]) {
    expect(new Set(list.map(({files}) => path.extname(files[0]!.to)))).toEqual(new Set(['.ts', '.py', '.go']));
  }
  for (const {prompt, files, id} of [...REVIEW_CASES, ...CLAIMS]) {
    const {from, to} = files[0]!;
    const text = readFileSync(path.join(FOLDER, from), 'utf8');
    const hunks = /<hunks>\n(.*)\n<\/hunks>/s.exec(prompt)![1]!;
    const [file] = parseDiff(`--- a/${to}\n+++ b/${to}\n${hunks}\n`);
    expect(agreesWith(file!, text), id).toBe(true);
    expect(prompt, id).toContain(text.trimEnd().split('\n').at(-1)!);
  }
});

/** @param claim returns the finding for a case; undefined for none */
async function review(claim: (evalCase: WrittenCase) => object | undefined): Promise<AgentTestResult> {
  const workspace = await emptyFolder();
  onTestFinished(workspace.remove);
  const server = await startMessagesServer((body: MessagesBody) => {
    const text = JSON.stringify(body.messages[0]);
    const evalCase = REVIEW_CASES.find(({files, prompt}) =>
      text.includes(JSON.stringify(prompt.split('\n')[2]).slice(1, -1)) ? files : undefined,
    );
    const found = evalCase && claim(evalCase);
    return callTool('StructuredOutput', {findings: found ? [found] : []});
  });
  onTestFinished(server.close);
  const args = ['agents', 'test', ...FINDERS, '--yes', '--json'];
  const run = await runCli(args, {cwd: workspace.path, server});
  expect(run.stderr).toContain('18 runs on ');
  return JSON.parse(run.stdout);
}

const finding = (line: number, file: string) => ({
  ...{severity: 'high', title: 'A fault', file, line, why: 'It is so.', failure: 'It fails.'},
});
const countPassed = ({agents}: AgentTestResult) => agents.reduce((sum, {summary}) => sum + summary.passed, 0);

test('a reviewer that names each fault passes all; one that finds nothing, and one that always finds, do not', async () => {
  const right = await review((evalCase) => {
    const [, file, line] = placeOf(evalCase) ?? [];
    return file === undefined ? undefined : finding(Number(line), file);
  });
  expect(countPassed(right)).toBe(18);
  expect(countPassed(await review(() => undefined))).toBe(6);
  expect(countPassed(await review(({files}) => finding(1, files[0]!.to)))).toBe(0);
});

test('a verifier that looks passes its cases; one that always says the same does not', async () => {
  const verify = async (judge: (expected: string) => string) => {
    const workspace = await emptyFolder();
    onTestFinished(workspace.remove);
    const server = await startMessagesServer(({messages}: MessagesBody) => {
      const text = JSON.stringify(messages[0]);
      const claim = CLAIMS.find(({prompt}) => text.includes(prompt.split('\n')[2]!))!;
      return callTool('StructuredOutput', {verdict: judge(claim.expected_output), why: 'Line 5.'});
    });
    onTestFinished(server.close);
    const run = await runCli(['agents', 'test', 'review-verifier', '--yes', '--json'], {cwd: workspace.path, server});
    return countPassed(JSON.parse(run.stdout));
  };
  expect(await verify((expected) => (expected.startsWith('refuted') ? 'refuted' : 'confirmed'))).toBe(2);
  expect([await verify(() => 'refuted'), await verify(() => 'confirmed')]).toEqual([1, 1]);
});

test('explore has cases in any folder, and passes them without a key', async () => {
  const workspace = await emptyFolder();
  onTestFinished(workspace.remove);
  const run = await runCli(['agents', 'test', 'explore', '--offline'], {cwd: workspace.path});
  expect(run.stdout, run.stderr).toContain('pass rate 100 %');
  expect(run.code).toBe(0);
});
