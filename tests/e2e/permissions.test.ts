/** Permissions in print mode, where no question is possible: which calls run, which are denied, and the reports. */
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {say} from '../support/messages-server.ts';
import {getToolResults} from '../support/request-facts.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool, callTools} from '../support/scripted-replies.ts';
import {explore, home, isSubagent, project, serve} from './fixture.ts';

interface Session {
  readonly command: string;
  readonly flags?: readonly string[];
  /** The user's settings. */
  readonly settings?: unknown;
}

/** Runs one bash call in print mode. @returns its result and effects */
async function bash({command, flags = [], settings = {}}: Session) {
  const [workspace, userHome] = [await project(), await home()];
  writeFileSync(path.join(userHome.path, '.mini-cc/settings.json'), JSON.stringify(settings));
  const server = await serve([callTool('bash', {command}, 'toolu_1'), say('done')]);
  const run = await runCli(['-p', 'x', '--output-format', 'json', ...flags], {
    server,
    home: userHome,
    cwd: workspace.path,
  });
  const [result] = getToolResults(server.requests[1]!.body);
  return {
    result: result!,
    denials: JSON.parse(run.stdout).permission_denials,
    made: (file: string) => existsSync(path.join(workspace.path, file)),
    code: run.code,
    stderr: run.stderr,
  };
}

describe('a command in print mode', () => {
  it('runs without any rule when it looks like reading', async () => {
    const {result, denials} = await bash({command: 'cd src && grep -c greet *.ts | head -2; git --version'});
    expect(result).toMatchObject({isError: false, text: expect.stringMatching(/greet\.ts:\d[\s\S]*git version/)});
    expect(denials).toEqual([]);
  });

  it('is denied when it would need a question, and listed in the format of Claude Code', async () => {
    const {result, denials, made, code, stderr} = await bash({command: 'touch made'});
    const how = "--allowed-tools 'bash(touch made)' allows it";
    expect(result).toMatchObject({
      isError: true,
      text: `Permission denied: bash runs a command, and nobody can be asked here. It was not run. ${how}.`,
    });
    expect(denials).toMatchObject([
      {
        tool_name: 'bash',
        tool_use_id: 'toolu_1',
        tool_input: {command: 'touch made'},
        reason: `runs a command. ${how}`,
      },
    ]);
    expect(stderr).toBe(`mini-cc: denied: bash touch made: runs a command. ${how}\n`);
    expect(made('made')).toBe(false);
    expect(code).toBe(0);
  });

  it.each([
    {command: 'ls && touch made', flags: ['--allowed-tools', 'Read,Bash(touch:*)']},
    {command: 'ls > made', flags: ['--permission-mode', 'acceptEdits']},
    {command: 'touch made', settings: {permissions: {allow: ['bash(touch:*)']}}},
  ])('runs with a rule or a mode that allows it: %j', async (session) => {
    const {made, denials} = await bash(session);
    expect(made('made')).toBe(true);
    expect(denials).toEqual([]);
  });

  it.each([
    {command: 'touch other; touch made', flags: ['--allowed-tools', 'bash(touch other)']},
    {
      command: 'touch x $(touch made)',
      flags: ['--allowed-tools', 'bash(touch x *)', '--disallowed-tools', 'bash(touch made)'],
    },
    {
      command: 'echo a; "to"uch made',
      flags: ['--dangerously-skip-permissions', '--disallowed-tools', 'bash(touch:*)'],
    },
    {command: 'touch made', flags: ['--allowed-tools', 'bash'], settings: {permissions: {deny: ['bash(touch *)']}}},
    {command: 'touch made', flags: ['--allowed-tools', 'bash'], settings: {permissions: {ask: ['bash(touch *)']}}},
    {command: 'touch made > .git/made', flags: ['--allowed-tools', 'bash(touch:*)']},
  ])('does not run against a rule: %j', async (session) => {
    const {made, denials, result} = await bash(session);
    expect(made('made')).toBe(false);
    expect(result.text).toMatch(/^Permission denied: /);
    expect(denials).toHaveLength(1);
  });

  it('in plan mode changes nothing, even with allow rules', async () => {
    const {made, denials} = await bash({
      command: 'touch made',
      flags: ['--permission-mode', 'plan', '--allowed-tools', 'bash'],
    });
    expect(made('made')).toBe(false);
    expect(denials.length).toBeLessThanOrEqual(1);
  });
});

describe('a read-only agent without a sandbox', () => {
  it('runs literal commands that only read, and the other denials say how to get a sandbox', async () => {
    const workspace = await project();
    const programs = path.join(workspace.path, '../', `${path.basename(workspace.path)}-bin`);
    mkdirSync(programs);
    onTestFinished(() => rmSync(programs, {recursive: true}));
    for (const name of ['bash', 'ls', 'touch', 'git']) symlinkSync(findProgram(name), path.join(programs, name));
    const results: string[] = [];
    const server = await serve((body) => {
      if (!isSubagent(body)) return body.messages.length === 1 ? callTools([explore()]) : say('done');
      results.push(...getToolResults(body).map(({text}) => text));
      const [command] = ['ls src', 'touch made', 'git log > made'].slice(results.length);
      return command === undefined ? say('seen') : callTool('bash', {command});
    });
    const {stdout} = await runCli(['-p', 'x', '--output-format', 'json', '--dangerously-skip-permissions'], {
      server,
      cwd: workspace.path,
      env: {PATH: programs},
    });
    expect(results).toEqual([
      expect.stringContaining('greet.ts'),
      expect.stringMatching(
        /^Permission denied: touch is not one of the plain programs; without a sandbox .*mini-cc doctor/,
      ),
      expect.stringMatching(/^Permission denied: it has more than plain words; /),
    ]);
    expect(JSON.parse(stdout).permission_denials).toHaveLength(2);
    expect(existsSync(path.join(workspace.path, 'made'))).toBe(false);
  });
});

it('a read-only agent is not offered to run a command outside of the sandbox', async () => {
  const server = await serve((body) =>
    isSubagent(body) || body.messages.length > 1 ? say('done') : callTools([explore()]),
  );
  await runCli(['-p', 'x'], {server});
  const offered = (isReader: boolean) => {
    const {body} = server.requests.find((each) => isSubagent(each.body) === isReader)!;
    const bash = body.tools!.find(({name}) => name === 'bash') as {input_schema?: {properties?: object}} | undefined;
    return Object.keys(bash?.input_schema?.properties ?? {});
  };
  expect(offered(false)).toContain('unconfined');
  expect(offered(true)).toContain('command');
  expect(offered(true)).not.toContain('unconfined');
});

/** The path of a program on this machine. */
function findProgram(name: string): string {
  return execFileSync('which', [name], {encoding: 'utf8'}).trim();
}

describe('permission rules', () => {
  it('apply to subagents and to their dispatch', async () => {
    const workspace = await project();
    const server = await serve((body) => {
      if (isSubagent(body)) {
        return body.messages.length === 1 ? callTool('read_file', {path: 'package.json'}) : say('seen');
      }
      const task = (agent_type: string) => ({name: 'Task', input: {description: 'd', prompt: agent_type, agent_type}});
      return body.messages.length === 1 ? callTools([task('plan'), task('explore')]) : say('done');
    });
    const flags = ['--disallowed-tools', 'Task(plan) read_file(*.json)', '--dangerously-skip-permissions'];
    const run = await runCli(['-p', 'x', '--output-format', 'json', ...flags], {server, cwd: workspace.path});
    const {permission_denials: denials, subagents} = JSON.parse(run.stdout);
    expect(subagents).toMatchObject([{agent: 'explore'}]);
    expect(denials).toMatchObject([
      {tool_name: 'Task', tool_input: {agent_type: 'plan'}, reason: expect.stringContaining('Task(plan)')},
      {tool_name: 'read_file', tool_input: {path: 'package.json'}},
    ]);
  });

  it('with a misspelling are an error of usage with position and suggestion', async () => {
    const [workspace, userHome] = [await project(), await home()];
    await workspace.write('.mini-cc/settings.json', '{"permissions": {\n  "deny": ["bsh(rm:*)"]\n}}');
    const run = await runCli(['-p', 'x'], {home: userHome, cwd: workspace.path});
    expect(run).toMatchObject({code: 2, stdout: ''});
    expect(run.stderr).toMatch(
      /settings\.json:2:12: permissions\.deny, entry 1: there is no tool "bsh" \(did you mean bash\?\)\n$/,
    );
  });

  it('that deny a file leave the search of all others a search that found nothing', async () => {
    const workspace = await project();
    for (const name of ['secret.txt', 'other.txt']) await workspace.write(name, 'hidden\n');
    const server = await serve([callTool('grep', {pattern: 'nowhere'}), say('done')]);
    await runCli(['-p', 'x', '--disallowed-tools', 'read_file(secret.txt)'], {server, cwd: workspace.path});
    expect(getToolResults(server.requests[1]!.body)).toEqual([
      {
        id: expect.any(String),
        text: expect.stringMatching(/^No matches(?:\n\(not all could be searched: .*\))?$/),
        isError: false,
      },
    ]);
  });

  it('that deny a whole tool remove it from the tools that the model gets', async () => {
    const server = await serve([say('done')]);
    await runCli(['-p', 'x', '--disallowed-tools', 'Edit,bash(rm:*),mcp__*'], {server});
    const offered = server.requests[0]!.body.tools?.map(({name}) => name);
    expect(offered).toContain('bash');
    expect(offered).not.toContain('edit_file');
  });
});

it('where the settings turn bypassPermissions off, asking for it is exit code 2 with one line, and no model is called', async () => {
  const off = {permissions: {disableBypassPermissionsMode: 'disable'}};
  const mine = await home();
  writeFileSync(path.join(mine.path, '.mini-cc/settings.json'), JSON.stringify(off));
  const server = await serve(() => say('hi'));
  const line =
    'mini-cc: the mode bypassPermissions is turned off by permissions.disableBypassPermissionsMode in the settings\n';
  for (const flags of [['--dangerously-skip-permissions'], ['--permission-mode', 'bypassPermissions']]) {
    const refused = await runCli(['-p', 'x', ...flags], {server, home: mine});
    expect(refused).toMatchObject({code: 2, stdout: '', stderr: line});
  }
  const managed = ['--managed-settings', JSON.stringify(off), '--dangerously-skip-permissions'];
  expect(await runCli(['-p', 'x', ...managed], {server})).toMatchObject({code: 2, stderr: line});
  expect(server.requests).toEqual([]);
  const typed = await runCli(['-p', '/mode bypassPermissions'], {server, home: mine});
  expect(typed.stdout + typed.stderr).toContain('the mode bypassPermissions is turned off');
});
