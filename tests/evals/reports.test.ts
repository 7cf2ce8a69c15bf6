/** What `mini-cc agents test` writes for others: JUnit read by Python's parser, and the page of results. */
import {execFileSync} from 'node:child_process';
import path from 'node:path';
import {expect, test} from 'vitest';
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
