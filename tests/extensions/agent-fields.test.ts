/** What agents bring besides their prompt: the fields `skills` and `hooks` of their definitions. */
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {home as createHome, isSubagent, project, serve} from '../e2e/fixture.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool, callTools, say} from '../support/scripted-replies.ts';

function put(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), {recursive: true});
    writeFileSync(file, text);
  }
}

const hook = (command: string) => ({hooks: [{type: 'command', command}]});

/** The main agent dispatches it; it runs one command. */
async function serveTask(agent: string) {
  return serve((body) => {
    const steps = body.messages.filter(({role}) => role === 'assistant').length;
    if (!isSubagent(body)) {
      const task = {name: 'Task', input: {description: 'd', prompt: 'p', agent_type: agent}};
      return [callTools([task]), callTool('bash', {command: 'touch main'})][steps] ?? say('done');
    }
    return steps === 0 ? callTool('bash', {command: 'touch sub'}) : say('ended');
  });
}

test('the skills of an agent are in its prompt, its hooks are told of its runs alone; also as the main agent', async () => {
  const [{path: cwd}, home] = [await project(), await createHome()];
  put(home.path, {
    '.claude/skills/pdf/SKILL.md': '---\ndescription: Reads PDF\n---\nPDF-BODY',
    '.mini-cc/agents/reader.json': JSON.stringify({
      ...{name: 'reader', description: 'reads', tools: ['bash', 'write_file'], prompt: 'You read.'},
      skills: ['pdf', 'gone'],
      hooks: {
        PreToolUse: [{matcher: 'Bash', ...hook('echo pre >> hooks.log; echo not here >&2; exit 2')}],
        Stop: [hook('echo stop >> hooks.log')],
        Nonsense: [hook('true')],
      },
    }),
  });
  const server = await serveTask('reader');
  const flags = ['-p', 'go', '--dangerously-skip-permissions'];
  const run = await runCli(flags, {server, cwd, home});
  expect(run).toMatchObject({code: 0, stdout: 'done\n'});
  expect(run.stderr).toContain('the agent reader names the skill gone, which is not there');
  const [first, ...rest] = server.requests.filter(({body}) => isSubagent(body));
  expect(JSON.stringify(first!.body.system)).toMatch(/You read\..*PDF-BODY/);
  expect(JSON.stringify(rest.at(-1)!.body.messages)).toContain('not here');
  expect(['sub', 'main'].map((name) => existsSync(path.join(cwd, name)))).toEqual([false, true]);
  expect(readFileSync(path.join(cwd, 'hooks.log'), 'utf8')).toBe('pre\nstop\n');

  const alone = await serve([callTool('bash', {command: 'touch alone'}), say('ended')]);
  const asMain = await runCli([...flags, '--agent', 'reader'], {server: alone, cwd, home});
  expect(asMain.stderr).toContain('names the skill gone');
  expect(JSON.stringify(alone.requests[0]!.body.system)).toContain('PDF-BODY');
  expect(existsSync(path.join(cwd, 'alone'))).toBe(false);
  const linted = await runCli(['agents', 'lint', 'reader'], {cwd, home});
  expect(linted.stdout + linted.stderr).toMatch(/hooks\.Nonsense: mini-cc has no such event/);
});

test('the hooks of a project’s agent count under trust alone, those of a file for Claude Code too', async () => {
  const [{path: cwd}, home] = [await project(), await createHome()];
  put(cwd, {
    '.claude/agents/theirs.md':
      '---\nname: theirs\ndescription: d\nskills: a, b\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: touch hooked\n---\nYou work.',
  });
  const server = await serveTask('theirs');
  const flags = ['-p', 'go', '--dangerously-skip-permissions'];
  const untrusted = await runCli(flags, {server, cwd, home});
  expect(untrusted.stderr).toMatch(/not trusted: .*theirs\.md: hooks/);
  expect(existsSync(path.join(cwd, 'hooked'))).toBe(false);
  await runCli([...flags, '--trust'], {server: await serveTask('theirs'), cwd, home});
  expect(existsSync(path.join(cwd, 'hooked'))).toBe(true);
});

test('agents lint, list and show name the tools that are left by the settings, and why the others are missing', async () => {
  const [{path: cwd}, home] = [await project(), await createHome()];
  put(cwd, {
    '.mini-cc/settings.json': JSON.stringify({
      ...{subagents: {tools: {allow: ['Read', 'Grep', 'bash', 'mcp__gone'], deny: ['GREP']}}},
      permissions: {deny: ['bash']},
    }),
    '.claude/agents/theirs.md': '---\nname: theirs\ndescription: d\ntools: Read, Glob, mcp__gone__find\n---\nYou work.',
  });
  const lint = await runCli(['agents', 'lint', 'explore'], {cwd, home});
  expect(lint.stdout).toMatch(/^explore \(read-only\): read_file$/m);
  expect(lint.stdout).toContain('without bash: a deny rule forbids it');
  expect(lint.stdout).toContain('without grep: it is in subagents.tools.deny');
  expect(lint.stdout).toContain('without glob: it is not in subagents.tools.allow');
  const listed = await runCli(['agents', 'list', '--json'], {cwd, home});
  expect(JSON.parse(listed.stdout).find(({name}: {name: string}) => name === 'theirs').tools).toEqual(['read_file']);
  const show = await runCli(['agents', 'show', 'theirs'], {cwd, home});
  expect(show.stdout).toContain('without mcp__gone__find: there is no such MCP server');
});
