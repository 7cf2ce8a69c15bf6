/** `mini-cc review` by the built program, in real repositories; the model is played by a scripted server. */
import {mkdir, readFile, rename, rm, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {expect, test} from 'vitest';
import {startDriven} from '../drivers/driven.ts';
import {callTool, say, startMessagesServer} from '../support/messages-server.ts';
import {runCli} from '../support/run-cli.ts';
import {emptyFolder} from '../support/workspace.ts';
import {changedProject, finding, isVerifier, PAY, reviewers, textOf} from './review-fixture.ts';

test('what finders claim is merged and checked, and each claim is verified by one who did not see its reasons', async () => {
  const workspace = await changedProject();
  const findings = [
    finding('Charges twice'),
    finding('charges  TWICE', {line: 1, endLine: 3}),
    finding('No such line', {line: 900}),
    finding('Elsewhere', {file: 'src/other.ts'}),
    finding('Not true', {line: 5}),
    finding('Caller pays double', {file: 'src/shop.ts', line: 3, severity: 'medium'}),
  ];
  const server = await startMessagesServer(
    reviewers(findings, (body) => (body.includes('Not true') ? 'refuted' : 'confirmed')),
  );
  const run = await runCli(['review', '--json', '--finders', 'correctness,security'], {cwd: workspace.path, server});
  const result = JSON.parse(run.stdout);
  expect(result).toMatchObject({
    complete: true,
    files: 1,
    lines: 2,
    findings: [
      {title: 'Charges twice', severity: 'high', verified: 'confirmed', by: ['review-correctness', 'review-security']},
      {title: 'Caller pays double', file: 'src/shop.ts', line: 3},
    ],
    dropped: {no_such_lines: 1, outside: 1, doubles: 7, refuted: 1},
    errors: [],
    subagent_summary: {runs: 5},
  });
  expect(run.code).toBe(1);
  const verifiers = server.requests.filter(({body}) => isVerifier(body)).map(({body}) => textOf(body));
  expect(verifiers).toHaveLength(3);
  for (const body of verifiers) {
    expect(body).toContain('FAILURE');
    expect(body).not.toMatch(/WHY|review-correctness|by":/);
  }
  const finders = server.requests.filter(({body}) => !isVerifier(body)).map(({body}) => textOf(body));
  expect(finders[0]).toContain('src/shop.ts:3');
  expect(finders[0]).toContain('+  return amount * 2;');
  expect(run.stderr).toMatch(/^1 file, 2 lines: about [\d.]+k tokens, about \$[\d.]+, at most \$[\d.]+$/m);
  await server.close();
});

test('a SARIF file that cannot be written is exit 2 before anything is asked', async () => {
  const workspace = await changedProject();
  const server = await startMessagesServer(reviewers([], () => 'plausible'));
  for (const place of ['missing/out.sarif', 'src']) {
    const run = await runCli(['review', '--yes', '--sarif', place], {cwd: workspace.path, server});
    expect(run).toMatchObject({code: 2, stdout: ''});
    expect(run.stderr).toMatch(new RegExp(`^mini-cc: --sarif: .*${place} cannot be written: .*\n$`));
  }
  expect(server.requests).toHaveLength(0);
  await server.close();
});

test('ten findings are shown, the rest by --all; SARIF has all of them, and --fail-on decides the exit code', async () => {
  const workspace = await changedProject();
  const findings = Array.from({length: 14}, (_, index) => finding(`Fault ${index}`, {severity: 'low'}));
  const server = await startMessagesServer(reviewers(findings, () => 'plausible'));
  const options = {cwd: workspace.path, server};
  const run = await runCli(['review', '--finders', 'api', '--sarif', 'out.sarif'], options);
  expect(run.stdout).toMatch(/^1 src\/pay\.ts:2 Fault 0\n(?: {2}.*\n)* {2}WHY Fault 0\n {2}FAILURE Fault 0\n/);
  expect(run.stdout).toContain('\n4 more: --all\n');
  expect(run.stdout).toMatch(/^15 subagents · .*came back · est \$[\d.]+$/m);
  expect(run.code).toBe(0);
  const sarif = JSON.parse(await readFile(path.join(workspace.path, 'out.sarif'), 'utf8'));
  expect(sarif.runs[0].results).toHaveLength(14);
  expect(sarif.runs[0].results[0]).toMatchObject({
    ruleId: 'review-api',
    level: 'note',
    locations: [{physicalLocation: {artifactLocation: {uri: 'src/pay.ts'}, region: {startLine: 2}}}],
  });
  const strict = await runCli(['review', 'src', '--finders', 'api', '--all', '--fail-on', 'low'], options);
  expect(strict.code).toBe(1);
  expect(strict.stdout).toContain('\n14 src/pay.ts:2 Fault 13');
  await server.close();
});

test('no report of a review is reviewed: neither the one that it writes nor an earlier one; code that names itself so is', async () => {
  const workspace = await changedProject();
  const server = await startMessagesServer(reviewers([finding('Charges twice')], () => 'plausible'));
  const options = {cwd: workspace.path, server};
  const review = (...args: string[]) => runCli(['review', '--finders', 'api', '--json', ...args], options);
  await workspace.write('old.sarif', 'to be replaced');
  expect(JSON.parse((await review('--sarif', 'old.sarif')).stdout)).toMatchObject({files: 1, lines: 2});
  const again = await review('--sarif', 'new.sarif');
  expect(JSON.parse(again.stdout)).toMatchObject({files: 1, lines: 2});
  expect(again.stderr).toContain('left out: old.sarif, a report of a review\n');
  const report = await readFile(path.join(workspace.path, 'old.sarif'), 'utf8');
  await workspace.write('src/evil.js', `// ${report.replaceAll('\n', ' ')}\nevil();\n`);
  expect(JSON.parse((await review()).stdout)).toMatchObject({files: 2, lines: 4});
  await server.close();
});

test('a review that may cost more than $0.50 asks first, and a finder that failed makes it incomplete', async () => {
  const workspace = await changedProject();
  const lines = Array.from({length: 3000}, (_, index) => `export const value${index} = ${index};\n`).join('');
  await workspace.write('src/many.ts', lines);
  const server = await startMessagesServer((body) =>
    textOf(body).includes('concern: security')
      ? callTool('StructuredOutput', {findings: 'none'})
      : callTool('StructuredOutput', {findings: []}),
  );
  const options = {cwd: workspace.path, server};
  const asked = await runCli(['review'], options);
  expect(asked.code).toBe(2);
  expect(asked.stderr).toMatch(/more than \$0\.50: --yes/);
  expect(server.requests).toHaveLength(0);
  const sure = await runCli(['review', '--yes', '--json'], options);
  expect(JSON.parse(sure.stdout)).toMatchObject({
    complete: false,
    files: 2,
    errors: [expect.stringContaining('review-security')],
  });
  expect(sure.code).toBe(1);
  const spent = await runCli(['review', '--yes', '--max-budget-usd', '0.001'], options);
  expect(spent.code).toBe(3);
  await server.close();
});

test('targets: a ref, a range, paths, renames, deletions, binaries, and nothing at all', async () => {
  const workspace = await changedProject();
  const read = async (...args: string[]) => {
    const run = await runCli(['review', '--json', '--offline', ...args], {cwd: workspace.path});
    return run.code === 0 ? JSON.parse(run.stdout) : run;
  };
  expect(await read('src/shop.ts')).toMatchObject({files: 0});
  expect(await read('HEAD')).toMatchObject({files: 1, lines: 2});
  await workspace.git('checkout', '--quiet', '-b', 'topic');
  await workspace.git('commit', '--quiet', '--all', '--message', 'Double');
  await writeFile(path.join(workspace.path, 'logo.png'), Buffer.from([0x89, 0, 1, 2]));
  await mkdir(path.join(workspace.path, 'lib'));
  await rename(path.join(workspace.path, 'src/shop.ts'), path.join(workspace.path, 'lib/shop é.ts'));
  await workspace.git('add', '--all');
  await workspace.git('commit', '--quiet', '--message', 'Move');
  expect(await read()).toMatchObject({files: 3, lines: 2});
  expect(await read('main..HEAD')).toMatchObject({files: 3});
  expect(await read('HEAD~1..')).toMatchObject({files: 2, lines: 0});
  await rm(path.join(workspace.path, 'src/pay.ts'));
  expect(await read('src/pay.ts')).toMatchObject({files: 1, lines: 7});
  expect(await read('--', 'src/pay.ts')).toMatchObject({files: 1});
  expect(await read('nowhere')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('"nowhere" is no path, ref or range'),
  });
  await workspace.git('checkout', '--quiet', '--force', 'main');
  const clean = await runCli(['review'], {cwd: workspace.path});
  expect(clean.stdout).toBe('Nothing to review: no change against main.\n');
  expect(clean.code).toBe(0);
});

test('a diff on standard input; a repository without a main branch; no repository', async () => {
  const workspace = await changedProject();
  const diff = await workspace.git('diff');
  const piped = await runCli(['review', '-', '--json', '--offline'], {cwd: workspace.path, input: diff});
  expect(JSON.parse(piped.stdout)).toMatchObject({files: 1, lines: 2});
  const none = await runCli(['review', '-', '--offline'], {cwd: workspace.path, input: 'hello\nworld\n'});
  expect(none).toMatchObject({code: 2, stderr: expect.stringContaining('no unified diff')});
  await workspace.git('branch', '--move', 'main', 'work');
  const onWork = await runCli(['review', '--offline'], {cwd: workspace.path});
  expect(onWork.stderr).toContain('no main branch here (on work): compared with HEAD');
  const bare = await emptyFolder();
  await bare.write('a.py', 'import os\n');
  expect(await runCli(['review', '--offline'], {cwd: bare.path})).toMatchObject({code: 2});
  const file = await runCli(['review', 'a.py', '--json', '--offline'], {cwd: bare.path});
  expect(JSON.parse(file.stdout)).toMatchObject({files: 1, lines: 1});
  await bare.remove();
});

/** Files with one fault each that syntax shows, and files without any. */
const FAULTS: Readonly<Record<string, readonly [text: string, line: number, title: RegExp]>> = {
  'a.ts': ["import {one, two} from './b.ts';\n\nexport const three = one + 1;\n", 1, /import two is not used/],
  'c.py': ['import os\nimport sys\n\n\ndef run():\n    return sys.argv\n', 1, /import os is not used/],
  'd.test.ts': ["test('it adds', () => {\n  add(1, 2);\n});\n", 1, /asserts nothing/],
  'test_e.py': ['def test_add():\n    add(1, 2)\n', 1, /test_add asserts nothing/],
  'f_test.go': ['package f\n\nfunc TestAdd(t *testing.T) {\n\tadd(1, 2)\n}\n', 3, /TestAdd asserts nothing/],
  'g.ts': ['export function g() {\n  try {\n    h();\n  } catch (error) {}\n}\n', 4, /error is swallowed/],
  'i.py': ['def i():\n    try:\n        j()\n    except ValueError:\n        pass\n', 4, /error is swallowed/],
  'k.ts': [
    'function add(a: number, b = 1, c?: number) {\n  return a + b;\n}\nexport const k = add(1) + add();\n',
    4,
    /add is called/,
  ],
  'l.py': ['def add(a, b, c=1):\n    return a + b + c\n\n\nadd(1, 2)\nadd(1)\n', 6, /add is called/],
  'm.go': ['package m\n\nfunc add(a, b int) int {\n\treturn a + b\n}\n\nvar x = add(1)\n', 7, /add is called/],
};
const CLEAN: Readonly<Record<string, string>> = {
  'n.ts': "import type {A} from './a.ts';\nimport b, {c as d} from './c.ts';\n\nexport const x: A = b(d);\n",
  'o.py': "from x import y, z\n\n__all__ = ['y']\n\n\ndef f(*args, **kwargs):\n    return z(f(1, 2, 3))\n",
  'p.test.ts': "test('adds', () => {\n  expect(add(1, 2)).toBe(3);\n});\ntest('checks', () => checkAll());\n",
  'q.ts':
    'function add(...all: number[]) {\n  return all.length;\n}\nexport const q = (f: () => void) => add(1, ...[2]) + (() => f())().length;\n',
  'r.go': 'package r\n\nfunc add(a, b int, c ...int) int {\n\treturn a\n}\n\nvar x = add(1, 2, 3, 4)\n',
  's.py': 'class S:\n    def add(self, a):\n        return a\n\n\ndef add(a, b):\n    return S().add(a)\n',
};

test('without a key, the review shows what syntax shows, says that it is no reviewer, and exits 0', async () => {
  const workspace = await emptyFolder();
  await workspace.write('README.md', 'empty');
  await workspace.git('init', '--quiet', '--initial-branch=main');
  await workspace.git('add', '--all');
  await workspace.git('commit', '--quiet', '--message', 'Start');
  for (const [file, [text]] of Object.entries(FAULTS)) await workspace.write(file, text);
  for (const [file, text] of Object.entries(CLEAN)) await workspace.write(file, text);
  const run = await runCli(['review', '--json', '--fail-on', 'low'], {cwd: workspace.path});
  expect(run.stderr).toMatch(/no reviewer.*by syntax/);
  expect(run.code).toBe(0);
  const {findings} = JSON.parse(run.stdout) as {findings: {file: string; line: number; title: string}[]};
  const byFile = findings.toSorted((a, b) => (a.file < b.file ? -1 : 1));
  expect(byFile.map(({file, line}) => `${file}:${line}`)).toEqual(
    Object.entries(FAULTS)
      .map(([file, [, line]]) => `${file}:${line}`)
      .sort(),
  );
  for (const {file, title} of findings) expect(title).toMatch(FAULTS[file]![2]);
  await workspace.remove();
});

test('/review fix gives a finding to the agent code, and /subagents undo takes it back', async () => {
  const workspace = await changedProject();
  const mend = [
    callTool('read_file', {path: 'src/pay.ts'}),
    callTool('edit_file', {path: 'src/pay.ts', old_string: 'amount * 2', new_string: 'amount'}),
    say('Mended.'),
  ];
  const findings = [finding('Charges twice'), finding('No test', {severity: 'low', line: 5})];
  const answer = reviewers(findings, () => 'confirmed');
  const server = await startMessagesServer((body) =>
    textOf(body).includes('A review found this') ? mend.shift()! : answer(body),
  );
  const session = await startDriven(['--permission-mode', 'acceptEdits'], {cwd: workspace.path, server});
  expect((await session.prompt('/review fix 1')).errors).toEqual(['No review yet: /review first']);
  expect((await session.prompt('/review')).result).toMatch(
    /^1 src\/pay.ts:2 Charges twice$(?:.|\n)*^2 src\/pay.ts:5 No test$/m,
  );
  expect((await session.prompt('/review fix 3')).errors).toEqual(['/review fix takes a number from 1 to 2, not 3']);
  const changed = await workspace.read('src/pay.ts');
  await session.prompt('/review fix 2');
  expect(await workspace.read('src/pay.ts')).toBe(PAY);
  const handed = server.requests.map(({body}) => textOf(body)).find((body) => body.includes('A review found this'));
  expect(handed).toContain('in src/pay.ts:5: No test');
  expect(handed).not.toContain('Charges twice');
  await session.prompt('/subagents undo 1');
  expect(await workspace.read('src/pay.ts')).toBe(changed);
  await session.end();
  await server.close();
});
