/** Clones with files that would stop a reader: each start says what it skips, and is as fast and small as any other. */
import {execFileSync} from 'node:child_process';
import {mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {say} from '../support/messages-server.ts';
import {runCli} from '../support/run-cli.ts';
import {callTools} from '../support/scripted-replies.ts';
import {home, project, serve} from './fixture.ts';
import {repl, send} from './repl-fixture.ts';

/** Seconds and kilobytes for a start, which computes for less than one second. What is read without end has no limit. */
const MAX_CPU_S = 8;
const MAX_KB = 300_000;

type Make = (at: (name: string) => string) => void;

const pipe =
  (name: string): Make =>
  (at) => {
    mkdirSync(path.dirname(at(name)), {recursive: true});
    rmSync(at(name), {force: true, recursive: true});
    execFileSync('mkfifo', [at(name)]);
  };
const link =
  (name: string, target: string): Make =>
  (at) => {
    mkdirSync(path.dirname(at(name)), {recursive: true});
    rmSync(at(name), {force: true});
    symlinkSync(target, at(name));
  };
/** A file of this size that takes no room on the disk. */
const huge =
  (name: string): Make =>
  (at) => {
    mkdirSync(path.dirname(at(name)), {recursive: true});
    writeFileSync(at(name), '{"mcpServers": {"a": "');
    truncateSync(at(name), 100 * 1024 * 1024);
  };
const many =
  (folder: string, ending: string, text: (index: number) => string): Make =>
  (at) => {
    mkdirSync(at(folder), {recursive: true});
    for (let index = 0; index < 5000; index++) writeFileSync(path.join(at(folder), `a${index}${ending}`), text(index));
  };
const agent = (index: number) =>
  JSON.stringify({name: `a${index}`, description: 'Repairs broken tests', prompt: 'Repair it.', tools: ['read_file']});
const deep: Make = (at) => mkdirSync(at(`.mini-cc/commands/${'d/'.repeat(200)}`), {recursive: true});

/** What each file of a clone is, how it is made, and what is said about it. */
type Hostile = readonly [string, Make, RegExp];

const CLONES: readonly (readonly Hostile[])[] = [
  [
    ['a link .gitignore to /dev/zero', link('.gitignore', '/dev/zero'), /\.gitignore is not a regular file/],
    ['a link .rgignore to /dev/zero', link('.rgignore', '/dev/zero'), /\.rgignore is not a regular file/],
    ['a pipe .ignore', pipe('.ignore'), /\.ignore is not a regular file/],
    ['commands that are a link to /', link('.mini-cc/commands', '/'), /commands:1:1: is a link out of the project/],
    ['an AGENTS.md of 100 MB', huge('AGENTS.md'), /AGENTS\.md has 100\.0 MB/],
    ['a pipe .mcp.json', pipe('.mcp.json'), /\.mcp\.json is not a regular file/],
    ['a pipe .claude/settings.json', pipe('.claude/settings.json'), /settings\.json is not a regular file/],
    ['a pipe as a skill', pipe('.mini-cc/skills/a/SKILL.md'), /SKILL\.md:1:1: is not a regular file/],
  ],
  [
    ['a .gitignore of 100 MB', huge('.gitignore'), /\.gitignore has 100\.0 MB/],
    ['5,000 commands', many('.mini-cc/commands', '.md', String), /more than 1000 commands/],
    ['a .mcp.json of 100 MB', huge('.mcp.json'), /\.mcp\.json has 100\.0 MB/],
  ],
  [
    ['a link .claude to /', link('.claude', '/'), /\.claude:1:1: is a link out of the project/],
    ['folders of commands without end', deep, /8 folders below each other/],
    ['a pipe CLAUDE.md', pipe('CLAUDE.md'), /CLAUDE\.md is not a regular file/],
  ],
  [['5,000 agents', many('.mini-cc/agents', '.json', agent), /agents:1:1: has more than 1000 definitions/]],
  [['a pipe .git/HEAD', pipe('.git/HEAD'), /HEAD is not a regular file: mini-cc runs no git/]],
  [['a pipe .git/config', pipe('.git/config'), /config is not a regular file: mini-cc runs no git/]],
  [['a pipe .git', pipe('.git'), /\.git is not a regular file: git passes over it/]],
  [['a pipe .git/info/exclude', pipe('.git/info/exclude'), /exclude is not a regular file: mini-cc runs no git/]],
];

const TIME = ['/usr/bin/time', '-f', 'used %U %S %M'];

async function runIn(...makes: readonly Make[]) {
  const [work, userHome] = [await project(), await home()];
  await work.write('secret.ts', 'export const needle = 1;\n');
  for (const make of makes) make((name) => path.join(work.path, name));
  const search = callTools([
    {name: 'grep', input: {pattern: 'needle'}},
    {name: 'glob', input: {pattern: '**/*.ts'}},
    {name: 'write_file', input: {path: 'new.ts', content: 'export {};\n'}},
  ]);
  const server = await serve([search, say('done')]);
  const wrap = (command: string, args: readonly string[]): [string, string[]] => [
    TIME[0]!,
    [...TIME.slice(1), command, ...args],
  ];
  const args = ['-p', 'go', '--permission-mode', 'acceptEdits', '--output-format', 'stream-json', '--verbose'];
  const run = await runCli(args, {cwd: work.path, home: userHome, server, wrap});
  const [, user, system, kilobytes] = /used (\S+) (\S+) (\S+)/.exec(run.stderr) ?? [];
  return {...run, cpu: Number(user) + Number(system), kilobytes: Number(kilobytes)};
}

const NAMED = CLONES.map((clone) => [clone.map(([name]) => name).join(', '), clone] as const);

test.each(NAMED)('with %s it starts, says so and searches', async (_, clone) => {
  const {code, stdout, stderr, cpu, kilobytes} = await runIn(...clone.map(([, make]) => make));
  expect({code, stderr}).toMatchObject({code: 0});
  for (const [, , notice] of clone) expect(stderr).toMatch(notice);
  expect(stdout).toMatch(/secret\.ts/);
  expect(cpu).toBeLessThan(MAX_CPU_S);
  expect(kilobytes).toBeLessThan(MAX_KB);
});

test('a search that meets a pipe further down ends with its name', async () => {
  const {code, stdout, cpu} = await runIn(pipe('src/.gitignore'));
  expect(code).toBe(0);
  expect(stdout).toMatch(/src\/\.gitignore is not a regular file: the search stopped there/);
  expect(cpu).toBeLessThan(MAX_CPU_S);
});

test.each(NAMED)('with %s the prompt comes, and takes keys', async (_, clone) => {
  const work = await project();
  for (const [, make] of clone) make((name) => path.join(work.path, name));
  const terminal = await repl({cwd: work.path, server: await serve([say('here')])});
  // The work until the prompt is there, which is all that a busy machine does not change.
  expect(readCpuSeconds(terminal.pid)).toBeLessThan(MAX_CPU_S);
  await send(terminal, 'go');
  await terminal.waitFor('here');
});

/** @returns how long the process and what it waited for have computed */
function readCpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
  return ticks / 100;
}

test('a checkpoint that meets a pipe further down names it, and the command runs', async () => {
  const work = await project();
  pipe('src/.gitignore')((name) => path.join(work.path, name));
  const server = await serve([callTools([{name: 'bash', input: {command: 'echo ran > made.txt'}}]), say('done')]);
  const began = performance.now();
  const run = await runCli(['-p', 'go', '--allowed-tools', 'bash'], {cwd: work.path, server});
  expect(run).toMatchObject({code: 0, stdout: 'done\n'});
  expect(run.stderr).toMatch(/src\/\.gitignore is not a regular file/);
  // Git would wait for a minute and more.
  expect(performance.now() - began).toBeLessThan(50_000);
});

test('settings that are a pipe are bad usage', async () => {
  const {code, stderr} = await runIn(pipe('.mini-cc/settings.json'));
  expect({code, stderr}).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/settings\.json:1:1: is not a regular/),
  });
});
