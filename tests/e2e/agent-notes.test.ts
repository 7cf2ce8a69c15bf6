/** Notes that agents keep between their runs: `memory` of a definition. */
import {existsSync} from 'node:fs';
import {mkdir, readFile, rm, symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {type MessagesServer, type Reply, say} from '../support/messages-server.ts';
import {countReplies, getSystem} from '../support/request-facts.ts';
import {runCli} from '../support/run-cli.ts';
import {hasSandbox} from '../support/sandbox.ts';
import {callTool} from '../support/scripted-replies.ts';
import {home, isSubagent, project, serve} from './fixture.ts';

const KEEPER = {
  name: 'keeper',
  description: 'Looks after the build and its history',
  tools: ['read_file', 'bash'],
  prompt: 'You look after the build.',
};
const NOTES = '.mini-cc/agent-memory/keeper/MEMORY.md';
const usable = await hasSandbox();
const task = {description: 'look', prompt: 'look at the build', agent_type: 'keeper'};

/** A project with the agent, a home, and a way to let the agent make calls, one in each turn, under a main agent. */
async function setUp(definition: object = {memory: 'project'}) {
  const [work, at] = [await project(), await home()];
  await work.write('.mini-cc/agents/keeper.json', JSON.stringify({...KEEPER, ...definition}));
  const run = async (calls: readonly Reply[], ...args: string[]) => {
    const server = await serve((body) => {
      if (!isSubagent(body)) return countReplies(body) === 0 ? callTool('Task', task) : say('all done');
      return calls[countReplies(body)] ?? say('seen');
    });
    const done = await runCli(['-p', 'go', ...args], {home: at, cwd: work.path, server});
    return {...done, ...facts(server)};
  };
  const command = (...args: string[]) => runCli(['-p', '--continue', ...args], {home: at, cwd: work.path});
  return {...work, home: at, run, command};
}

function facts({requests}: MessagesServer) {
  const own = requests.map(({body}) => body).filter((body) => isSubagent(body));
  const results = JSON.stringify(own.at(-1)?.messages);
  return {
    system: getSystem(own[0]!),
    results,
    told: JSON.stringify(requests.at(-1)?.body.messages),
    tools: own[0]?.tools,
  };
}

const write = (file: string, content: string) => callTool('write_file', {path: file, content});

describe('the notes of an agent', () => {
  it('are in the system prompt of its next run, in its receipt and in its diff', async () => {
    const at = await setUp();
    const first = await at.run([write(NOTES, 'the build needs node 24\n')], '--trust');
    expect(first.system).toContain('There is no MEMORY.md yet.');
    expect(first.told).toContain(`changed 1 file: ${NOTES}`);
    expect((await at.command('/subagents diff 1')).stdout).toContain('+the build needs node 24');
    const second = await at.run([]);
    expect(second.stderr).not.toContain('ignored');
    expect(second.system).toContain('the build needs node 24');
  });

  it('are taken back by an undo of the run', async () => {
    const at = await setUp();
    await at.run([write(NOTES, 'wrong\n')], '--trust');
    expect(await at.command('/subagents undo 1')).toMatchObject({code: 0});
    expect(existsSync(path.join(at.path, NOTES))).toBe(false);
  });

  it('are all that a read-only agent may write with its tools for edits', async () => {
    const at = await setUp();
    const {results, tools} = await at.run(
      [
        write('src/new.ts', 'x'),
        write('.mini-cc/settings.json', '{}'),
        write('.mini-cc/agent-memory/other/MEMORY.md', 'x'),
        write('.mini-cc/agent-memory/keeper/../../agents/keeper.json', '{}'),
        write('.mini-cc/agent-memory/keeper/.git/config', 'x'),
      ],
      ...['--trust', '--dangerously-skip-permissions'],
    );
    expect(tools?.map(({name}) => name)).not.toContain('rename_symbol');
    expect(results.match(/may change only its notes/g)).toHaveLength(5);
    expect(await at.git('status', '--porcelain')).toBe('?? .mini-cc/\n');
    expect(existsSync(path.join(at.path, '.mini-cc/agent-memory'))).toBe(false);
  });

  it.runIf(usable)('are not written by its commands, which the sandbox confines', async () => {
    const at = await setUp();
    await at.write(NOTES, 'old\n');
    const {results} = await at.run([callTool('bash', {command: `echo new > ${NOTES}; echo x > made`})], '--trust');
    expect(results).toMatch(/Read-only file system/i);
    expect(await at.read(NOTES)).toBe('old\n');
    expect(existsSync(path.join(at.path, 'made'))).toBe(false);
  });

  it('of a project that is not trusted do nothing, and the agent gets no tool for them', async () => {
    const at = await setUp();
    await at.write(NOTES, 'obey me\n');
    const before = await at.run([write(NOTES, 'x')]);
    expect(before.stderr).toContain('.mini-cc/agents/keeper.json: memory');
    expect(before.stderr).toContain('.mini-cc/agent-memory/keeper: memory');
    expect(before.system).not.toContain('obey me');
    expect(await at.read(NOTES)).toBe('obey me\n');
    expect((await at.run([], '--trust')).system).toContain('obey me');
  });

  it('that a project brings for an agent of the user need trust too', async () => {
    const at = await setUp();
    await rm(path.join(at.path, '.mini-cc/agents'), {recursive: true});
    const agents = path.join(at.home.path, '.mini-cc/agents');
    await mkdir(agents, {recursive: true});
    await writeFile(path.join(agents, 'keeper.json'), JSON.stringify({...KEEPER, memory: 'project'}));
    await at.write(NOTES, 'obey me\n');
    expect((await at.run([])).system).not.toContain('obey me');
    await rm(path.join(at.path, '.mini-cc/agent-memory'), {recursive: true});
    await at.run([write(NOTES, 'mine\n')]);
    expect((await at.run([])).system).toContain('mine');
  });

  it.each(['.mini-cc/agent-memory', '.mini-cc/agent-memory/keeper', NOTES])(
    'are not read through a link at %s',
    async (link) => {
      const at = await setUp();
      const outside = await project();
      await outside.write('keeper/MEMORY.md', 'from outside');
      await outside.write('MEMORY.md', 'from outside');
      await mkdir(path.dirname(path.join(at.path, link)), {recursive: true});
      await symlink(
        path.join(outside.path, link === NOTES ? 'MEMORY.md' : link === path.dirname(NOTES) ? 'keeper' : ''),
        path.join(at.path, link),
      );
      const {system, stderr} = await at.run([write(NOTES, 'changed')], '--trust');
      expect(system).not.toContain('from outside');
      expect(stderr).toContain('agent keeper works without its notes');
      expect(stderr).not.toContain('agent-memory/src');
      expect([await outside.read('keeper/MEMORY.md'), await outside.read('MEMORY.md')]).toEqual([
        'from outside',
        'from outside',
      ]);
    },
  );

  it('are in the home with `user`, and stay there when the run works in a worktree', async () => {
    const at = await setUp({memory: 'user', isolation: 'worktree'});
    const file = path.join(at.home.path, '.mini-cc/agent-memory/keeper/MEMORY.md');
    const first = await at.run([write(file, 'for all projects\n')], '--trust');
    expect(await readFile(file, 'utf8')).toBe('for all projects\n');
    expect(first.told).toMatch(/changed 1 file: \S*agent-memory\/keeper\/MEMORY\.md/);
    expect((await at.command('/subagents diff 1')).stdout).toContain('+for all projects');
    expect((await at.run([])).system).toContain('for all projects');
  });

  it('with `local` are ignored by git, and only 200 lines are told', async () => {
    const at = await setUp({memory: 'local'});
    await at.write(
      '.mini-cc/agent-memory-local/keeper/MEMORY.md',
      Array.from({length: 300}, (_, line) => `line ${line + 1}`).join('\n'),
    );
    const {system} = await at.run([], '--trust');
    expect(system).toContain('line 200\n(MEMORY.md is longer');
    expect(system).not.toContain('line 201');
    expect(await at.git('status', '--porcelain', '--untracked-files=all')).not.toContain('agent-memory-local');
  });

  it('belong to an agent in Claude Code’s shape, and to the agent that the session runs as', async () => {
    const at = await setUp();
    await rm(path.join(at.path, '.mini-cc/agents'), {recursive: true});
    const head = ['name: keeper', 'description: Looks after the build', 'tools: Read, Bash', 'memory: project'];
    await at.write('.claude/agents/keeper.md', ['---', ...head, '---', 'You look after the build.'].join('\n'));
    const {results} = await at.run([write('src/new.ts', 'x'), write(NOTES, 'kept\n')], '--trust');
    expect(results).toContain('may change only its notes');
    const server = await serve([
      callTool('edit_file', {path: NOTES, old_string: 'kept', new_string: 'changed'}),
      say('ok'),
    ]);
    await runCli(['-p', 'go', '--agent', 'keeper'], {home: at.home, cwd: at.path, server});
    expect(getSystem(server.requests[0]!.body)).toContain('kept');
    expect(JSON.stringify(server.requests[1]?.body.messages)).toContain('read_file');
  });
});
