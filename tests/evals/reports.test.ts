/** What `mini-cc agents test` writes for others: JUnit read by Python's parser, and the page of results. */
import {execFileSync} from 'node:child_process';
import {existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {createHome} from '../support/environment.ts';
import {runCli} from '../support/run-cli.ts';
import {hostileTest} from './reports-fixture.ts';

/** Reads JUnit as CI systems do. */
const READ = `
import json, sys, xml.etree.ElementTree as tree
top = tree.parse(sys.argv[1]).getroot()
cases = [[each.get("classname"), each.get("name"), [f.get("message") for f in each.findall("failure")]] for each in top.iter("testcase")]
counts = [[each.tag, each.get("tests"), each.get("failures"), each.get("errors")] for each in [top, *top.findall("testsuite")]]
print(json.dumps([top.tag, counts, cases]))
`;

test('JUnit is well-formed XML with one test case a trial, whatever answers and names contain', async () => {
  const {folder, run} = await hostileTest();
  expect(run.code).toBe(1);
  const read = execFileSync('python3', ['-c', READ, path.join(folder, 'out.xml')], {encoding: 'utf8'});
  const [top, counts, cases] = JSON.parse(read);
  expect([top, counts]).toEqual([
    'testsuites',
    [
      ['testsuites', '4', '2', '0'],
      ['testsuite', '4', '2', '0'],
    ],
  ]);
  expect(cases.map(([agent, name, failures]: [string, string, string[]]) => [agent, name, failures.length])).toEqual([
    ['fixer', 'a', 0],
    ['fixer', 'a', 0],
    ['fixer', 'b <"&> ]]>', 1],
    ['fixer', 'b <"&> ]]>', 1],
  ]);
  expect(cases[2][2][0]).toMatch(/^file: expected .*"never".*, seen: /);
});

test('the table of the terminal and the page show rates, intervals, failed checks, answers and diffs, and nothing runs', async () => {
  const {run, page} = await hostileTest();
  const tooWide = run.stdout.split('\n').filter((line) => line.length > 80 && !/^\s+(?:seen:|in |✗)/.test(line));
  expect(tooWide).toEqual([]);
  expect(page).toContain("default-src 'none'");
  expect(page).toMatch(/2 of 4: 50 % \(95 %: \d+ % to \d+ %, 2 cases\) · pass\^2 50 %/);
  expect(page).toContain('no difference can be seen with 2 cases');
  expect(page.match(/<section class="run">/g)).toHaveLength(4);
  expect(page.match(/<figure>/g)).toHaveLength(3);
  expect(page).toMatch(/^-export function greet(?:.|\n){0,600}^\+hacked &#60;/m);
  expect(page).toContain('<title>write_file: ');
  expect(page).not.toMatch(/<script|<img|<link|(?:href|src|onerror)="/);
});

test('the files of the guide are in a folder that git ignores, or in that of --out, and no link leads them elsewhere', async () => {
  const {folder, run, home} = await hostileTest();
  const results = path.join(folder, '.mini-cc/evals/results');
  expect(run.stderr).toContain('Results are in .mini-cc/evals/results.\n');
  const read = (name: string) => JSON.parse(readFileSync(path.join(results, 'fixer', name), 'utf8'));
  const {run_summary: summary} = read('benchmark.json');
  expect(summary.with_agent.pass_rate).toEqual({mean: 0.5, stddev: expect.closeTo(Math.SQRT1_2, 3)});
  expect(summary.delta).toEqual({pass_rate: 0, time_seconds: expect.any(Number), tokens: expect.any(Number)});
  const [bad = ''] = readdirSync(path.join(results, 'fixer')).filter((name) => name.startsWith('eval-b'));
  const grading = read(`${bad}/without_agent/trial-2/grading.json`);
  expect(grading.summary).toEqual({passed: 1, failed: 1, total: 2, pass_rate: 0.5});
  expect(grading.assertion_results[1]).toEqual({
    text: expect.stringMatching(/^file: /),
    passed: false,
    evidence: expect.stringContaining('hacked'),
  });
  expect(read('eval-a/with_agent/trial-1/timing.json')).toEqual({
    total_tokens: expect.any(Number),
    duration_ms: expect.any(Number),
  });
  const status = execFileSync('git', ['status', '--porcelain', '-uall'], {cwd: folder, encoding: 'utf8'});
  expect(status).not.toContain('results');
  // The folder has what the last test measured, and nothing of the tests before.
  const again = (...args: string[]) => runCli(['agents', 'test', 'fixer', '--regrade', ...args], {cwd: folder, home});
  await again('--case', 'a');
  expect(readdirSync(path.join(results, 'fixer'))).toEqual(['benchmark.json', 'eval-a']);
  await again('--out', path.join(folder, 'else/where'));
  expect(existsSync(path.join(folder, 'else/where/fixer/eval-a/with_agent/trial-2/grading.json'))).toBe(true);
  // A clone may have brought a link to a place outside.
  const outside = await createHome();
  onTestFinished(outside.remove);
  writeFileSync(path.join(outside.path, 'fixer'), 'mine');
  rmSync(results, {recursive: true});
  symlinkSync(outside.path, results);
  const linked = await again();
  expect(linked.stderr).toMatch(/warning: the results are not written to \.mini-cc\/evals\/results: .*is a link/);
  expect([linked.stdout.includes('pass rate'), readFileSync(path.join(outside.path, 'fixer'), 'utf8')]).toEqual([
    true,
    'mine',
  ]);
});

test('a report that cannot be written is exit 2 before anything runs', async () => {
  const {folder, home} = await hostileTest();
  for (const [flag, place] of [
    ['--junit', 'missing/out.xml'],
    ['--html', 'missing/out.html'],
    ['--out', 'README.md/results'],
    ['--out', '/proc/results'],
    ['--record', '/proc/recordings'],
    ['--junit', 'src'],
  ] as const) {
    const {code, stdout, stderr} = await runCli(['agents', 'test', 'fixer', '--yes', '--trust', flag, place], {
      cwd: folder,
      home,
    });
    expect([code, stdout, stderr.trimEnd().split('\n').length]).toEqual([2, '', 1]);
    expect(stderr).toContain(`${flag}: ${place} cannot be written`);
  }
});
