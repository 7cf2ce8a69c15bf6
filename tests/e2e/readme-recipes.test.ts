/** The prompts and recipes of README.md, in mini-cc's own repository and without a key, as somebody tries them first. */
import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {expect, it} from 'vitest';
import {root, runCli} from '../support/run-cli.ts';

const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
const section = /## Five prompts to try without a key\n[\s\S]*?```\n([\s\S]*?)```/.exec(readme)![1]!;
const prompts = section.trim().split('\n');

/** What the answer to each of the five prompts must have, in their order. */
const EXPECTED = [
  /TypeScript [\d,]+ files/,
  /^src\/core\/agent-loop\.ts:\d+ — function/m,
  /Calls of `runAgent`: \d+/,
  /[\d,]+ test files/,
  /src\/core\/agent-loop\.ts/,
];

const ask = (prompt: string, flags: readonly string[] = [], input?: string) =>
  runCli(['-p', prompt, '--offline', ...flags], {cwd: root, timeoutMs: 120_000, ...(input !== undefined && {input})});

it.each(prompts.map((prompt, index) => [prompt, EXPECTED[index]!] as const))(
  'is answered: %s',
  async (prompt, expected) => {
    // "It" is what the prompt before asked about.
    const first = prompt === 'who calls it?' ? 'who calls runAgent?' : prompt;
    const {stdout, code} = await ask(first);
    expect({code, stdout}).toMatchObject({code: 0, stdout: expect.stringMatching(expected)});
  },
);

it('reviews a diff on standard input by the files that it changes', async () => {
  const name = 'src/core/agent-loop.ts';
  const diff = `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-old\n+new\n`;
  const {stdout, code} = await ask('review this change', [], diff);
  expect({code, stdout}).toMatchObject({code: 0, stdout: expect.stringContaining(`Review of ${name}`)});
});

it('says what could break in the last commit', async () => {
  const head = execFileSync('git', ['log', '-1', '--format=%h'], {cwd: root, encoding: 'utf8'}).trim();
  const {stdout, code} = await ask('Task(plan): what could break in the last commit?');
  expect({code, stdout}).toMatchObject({code: 0, stdout: expect.stringContaining(`The last commit is ${head}`)});
});

it.each([
  'Refactor all files in src/tools/',
  'Implement the user registration form',
  'Design a migration strategy for the database',
])('is refused once, with the reason: %s', async (prompt) => {
  const {stdout, stderr, code} = await ask(prompt, ['--fan-out', 'auto']);
  expect(code).toBe(1);
  const said = `${stdout}\n${stderr}`;
  expect(said).toMatch(/language model|I would only guess/);
  expect(stdout.match(/I cannot do this offline/g)?.length ?? 0).toBeLessThanOrEqual(1);
});
