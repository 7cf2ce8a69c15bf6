/** Flags that say what a session is made of: settings, tools, the system prompt, what stays on disk. */
import {mkdir, readdir, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {say} from '../support/messages-server.ts';
import {countReplies} from '../support/request-facts.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool} from '../support/scripted-replies.ts';
import {home, project, serve} from './fixture.ts';

const filesBelow = async (folder: string) => {
  const entries = await readdir(folder, {recursive: true, withFileTypes: true});
  return entries.filter((entry) => entry.isFile()).map(({name}) => name);
};

describe('--settings', () => {
  it('takes JSON in place of a file, over all files, and names its mistakes by place', async () => {
    const server = await serve(() => say('hello'));
    const where = await project();
    await where.write('.mini-cc/settings.json', '{"model": "haiku"}');
    const at = {server, home: await home(), cwd: where.path};
    await runCli(['-p', 'hi', '--settings', '{"model": "opus-of-the-command-line"}'], at);
    expect(server.requests.at(-1)!.body.model).toBe('opus-of-the-command-line');
    const shown = await runCli(['config', 'show', '--json', '--settings', '{"model": "x1"}'], at);
    const {settings} = JSON.parse(shown.stdout);
    expect(settings.find(({key}: {key: string}) => key === 'model')).toMatchObject({
      ...{value: 'x1', source: 'command line', from: ['--settings']},
    });
    const wrong = await runCli(['-p', 'hi', '--settings', '{"permissions": {"dny": []}}'], at);
    expect(wrong).toMatchObject({code: 2, stdout: ''});
    expect(wrong.stderr).toContain('--settings:1:18: unknown key "permissions.dny" (did you mean permissions.deny?)');
    const torn = await runCli(['-p', 'hi', '--settings', '{"model": '], at);
    expect(torn).toMatchObject({code: 2, stderr: expect.stringMatching(/^mini-cc: --settings:1:\d+: /)});
  });
});

describe('--setting-sources', () => {
  it('reads only the named files', async () => {
    const [where, mine] = [await project(), await home()];
    await where.write('.mini-cc/settings.json', '{"limits": {"idleSeconds": 11}}');
    await where.write('.mini-cc/settings.local.json', '{"maxOutputTokens": 2222}');
    await mkdir(mine.env.MINI_CC_HOME!, {recursive: true});
    await writeFile(path.join(mine.env.MINI_CC_HOME!, 'settings.json'), '{"model": "of-user"}');
    const at = {home: mine, cwd: where.path};
    const show = async (...flags: string[]) => {
      const {settings, files} = JSON.parse((await runCli(['config', 'show', '--json', ...flags], at)).stdout);
      const value = (name: string) => settings.find(({key}: {key: string}) => key === name)?.value ?? null;
      return [value('model'), value('limits.idleSeconds'), value('maxOutputTokens'), files.length];
    };
    expect(await show()).toEqual(['of-user', 11, 2222, 3]);
    expect(await show('--setting-sources', 'user')).toEqual(['of-user', 120, 16_384, 1]);
    expect(await show('--setting-sources', 'project,local')).toEqual(['sonnet', 11, 2222, 2]);
    expect(await show('--setting-sources', '')).toEqual(['sonnet', 120, 16_384, 0]);
    const wrong = await runCli(['-p', 'x', '--setting-sources', 'users'], at);
    expect(wrong).toMatchObject({
      code: 2,
      stderr: 'mini-cc: --setting-sources has no "users" (did you mean user?): user, project, local\n',
    });
  });

  it('reads agents, skills, commands and memory of the same sources', async () => {
    const [where, mine] = [await project(), await home()];
    const agent = (name: string) =>
      JSON.stringify({name, description: `Agent ${name}`, tools: ['read_file'], prompt: 'Read the files.'});
    const put = async (of: string, folder: string, memory: string) => {
      for (const sub of ['agents', 'skills/s', 'commands']) await mkdir(path.join(folder, sub), {recursive: true});
      await writeFile(path.join(folder, `agents/agent-${of}.json`), agent(`agent-${of}`));
      await writeFile(path.join(folder, 'skills/s/SKILL.md'), `---\nname: s\ndescription: skill-${of}\n---\nText.`);
      await writeFile(path.join(folder, `commands/say-${of}.md`), `command-${of}`);
      await writeFile(memory, `memory-${of}`);
    };
    await put('project', path.join(where.path, '.mini-cc'), path.join(where.path, 'AGENTS.md'));
    // It would be asked about, if it were read.
    await where.write('.mini-cc/commands/push.md', '---\nallowed-tools: Bash(git push:*)\n---\nPush.');
    await put('user', mine.env.MINI_CC_HOME!, path.join(mine.env.MINI_CC_HOME!, 'AGENTS.md'));
    const server = await serve(() => say('ok'));
    const ask = async (prompt: string, ...flags: string[]) => {
      const {stderr} = await runCli(['-p', prompt, ...flags], {home: mine, cwd: where.path, server});
      expect(stderr.includes('push.md')).toBe(flags.length === 0 || flags.includes('project'));
      const sent = JSON.stringify(server.requests.at(-1)!.body);
      return ['agent', 'skill', 'command', 'memory'].flatMap((kind) =>
        ['project', 'user'].map((of) => `${kind}-${of}`).filter((word) => sent.includes(word)),
      );
    };
    // A command of the user, by its name: where it is not read, its name is not known.
    expect(await ask('/say-user')).toEqual(
      expect.arrayContaining([
        'agent-project',
        'agent-user',
        'skill-project',
        'command-user',
        'memory-project',
        'memory-user',
      ]),
    );
    expect(await ask('/say-user', '--setting-sources', 'user')).toEqual([
      'agent-user',
      'skill-user',
      'command-user',
      'memory-user',
    ]);
    expect(await ask('/say-project', '--setting-sources', 'project')).toEqual([
      ...['agent-project', 'skill-project', 'command-project', 'memory-project'],
    ]);
    expect(await ask('hello', '--setting-sources', '')).toEqual([]);
  });
});

describe('--tools and --system-prompt', () => {
  it('offer the named tools alone, to subagents too, and replace the system prompt', async () => {
    const server = await serve((body) =>
      body.tools?.some(({name}) => name === 'Task') && countReplies(body) === 0
        ? callTool('Task', {description: 'look', prompt: 'look at it', agent_type: 'explore'})
        : say('done'),
    );
    const at = {server, home: await home(), cwd: (await project()).path};
    let seen = 0;
    const sent = () => server.requests.slice(seen).map(({body}) => (body.tools ?? []).map(({name}) => name));
    await runCli(['-p', 'hi', '--tools', 'Read,Task'], at);
    expect(sent()).toEqual([['read_file', 'Task'], ['read_file'], ['read_file', 'Task']]);
    seen = server.requests.length;
    await runCli(['-p', 'hi', '--tools', '', '--system-prompt', 'You are a parrot.'], at);
    expect(sent()).toEqual([[]]);
    const system = JSON.stringify(server.requests[seen]!.body.system);
    expect(system).toContain('You are a parrot.');
    expect(system).not.toContain('You are mini-cc');
    seen = server.requests.length;
    await runCli(['-p', 'hi', '--tools', 'default'], at);
    expect(sent()[0]!.length).toBeGreaterThan(8);
    const wrong = await runCli(['-p', 'hi', '--tools', 'Raed'], at);
    expect(wrong).toMatchObject({code: 2, stderr: expect.stringContaining('--tools has no "Raed"')});
  });
});

describe('names of tools that a session lacks', () => {
  it('are warnings in --allowed-tools, --disallowed-tools and --tools, whatever else knows them', async () => {
    const server = await serve(() => say('done'));
    const at = {server, home: await home(), cwd: (await project()).path};
    const run = async (...flags: string[]) => {
      const {code, stdout, stderr} = await runCli(['-p', 'hi', ...flags], at);
      expect([code, stdout]).toEqual([0, 'done\n']);
      return stderr.split('\n').filter((line) => line.includes('tools:'));
    };
    expect(await run('--allowed-tools', 'Skill,Edit,ToolSearch,mcp__a__b')).toEqual([]);
    expect(
      await run('--allowed-tools', 'NotebookEdit', 'Bash(ls)', '--disallowed-tools=MultiEdit(x),Frobnicate'),
    ).toEqual([
      'mini-cc: --allowed-tools: mini-cc has no tool NotebookEdit, so that this rule has no effect',
      'mini-cc: --disallowed-tools: mini-cc has no tool MultiEdit, so that this rule has no effect (its own is edit_file)',
      'mini-cc: --disallowed-tools: there is no tool "Frobnicate", so that this rule refuses nothing now; it stays, for a tool of this name',
    ]);
    expect(await run('--allowed-tools', 'bsh')).toEqual([
      'mini-cc: --allowed-tools: there is no tool "bsh", so that this rule has no effect (did you mean bash?)',
    ]);
    expect(await run('--tools', 'Read,Skill,NotebookEdit')).toEqual([
      'mini-cc: --tools: mini-cc has no tool NotebookEdit',
    ]);
    const offered = server.requests.at(-1)!.body.tools?.map(({name}) => name);
    expect(offered).toEqual(['read_file']);
  });

  it('are warnings in settings, where an unknown name is an error', async () => {
    const server = await serve(() => say('done'));
    const where = await project();
    const at = {server, home: await home(), cwd: where.path};
    await where.write('.mini-cc/settings.json', '{"permissions": {"deny": ["NotebookEdit", "Skill"]}}');
    const known = await runCli(['-p', 'hi'], at);
    expect(known).toMatchObject({code: 0, stdout: 'done\n'});
    expect(known.stderr).toContain(
      'settings.json:1:27: permissions.deny: mini-cc has no tool NotebookEdit, so that this rule has no effect',
    );
    expect(known.stderr).not.toContain('Skill');
    await where.write('.mini-cc/settings.json', '{"permissions": {"deny": ["NotebookEdt"]}}');
    expect(await runCli(['-p', 'hi'], at)).toMatchObject({code: 2, stderr: expect.stringContaining('"NotebookEdt"')});
  });
});

describe('--fork-session', () => {
  it('goes on with a copy: the old session stays as it was, the new one knows what was said, also twice', async () => {
    const server = await serve((body) => say(`answer ${countReplies(body) + 1}`));
    const at = {server, home: await home(), cwd: (await project()).path};
    const run = async (...flags: string[]) => {
      const {stdout, stderr} = await runCli(['-p', '--output-format', 'json', ...flags], at);
      return stdout === '' ? {stderr} : JSON.parse(stdout);
    };
    const first = await run('one');
    const forked = await run('two', '--resume', first.session_id, '--fork-session');
    expect(forked).toMatchObject({result: 'answer 2'});
    expect(forked.session_id).not.toBe(first.session_id);
    const id = '11111111-2222-4333-8444-555555555555';
    expect(await run('three', '--continue', '--fork-session', '--session-id', id)).toMatchObject({
      ...{result: 'answer 3', session_id: id},
    });
    expect(await run('other', '--resume', first.session_id)).toMatchObject({
      ...{result: 'answer 2', session_id: first.session_id},
    });
    expect(JSON.stringify(server.requests.at(-1)!.body.messages)).not.toMatch(/two|three/);
    expect(await run('x', '--continue', '--fork-session', '--session-id', id)).toMatchObject({
      stderr: expect.stringContaining('exists already'),
    });
    expect((await run('x', '--fork-session')).stderr).toContain('--fork-session goes with --continue and --resume');
  });
});

describe('--no-session-persistence', () => {
  it('leaves nothing of the session on disk, and works as any other', async () => {
    const server = await serve((body) =>
      countReplies(body) === 0
        ? callTool('bash', {command: 'seq 20000; echo "a secret thought" > note.txt'})
        : say('done'),
    );
    const at = {server, home: await home(), cwd: (await project()).path};
    const run = await runCli(['-p', 'hi', '--no-session-persistence', '--dangerously-skip-permissions'], at);
    expect(run).toMatchObject({code: 0, stdout: 'done\n'});
    expect(JSON.stringify(server.requests.at(-1)!.body.messages)).toContain('19999');
    const kept = await filesBelow(path.join(at.home.path, '.mini-cc'));
    expect(kept.filter((name) => /jsonl|lock|\.txt$/.test(name))).toEqual([]);
    expect((await runCli(['sessions', 'list'], at)).stdout).toBe('No sessions in this directory.\n');
    const twice = await runCli(['-p', 'hi', '--no-session-persistence', '--continue'], at);
    expect(twice).toMatchObject({code: 2, stderr: expect.stringContaining('is for a new session')});
  });
});
