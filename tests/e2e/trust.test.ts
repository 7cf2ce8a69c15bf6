/** Trust where no question is possible: print mode and subcommands. */
import {existsSync} from 'node:fs';
import {readFile, rm, symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {say} from '../support/messages-server.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool, callTools} from '../support/scripted-replies.ts';
import {home, project, serve} from './fixture.ts';

const SETTINGS = '.mini-cc/settings.json';
const ALLOW = JSON.stringify({permissions: {allow: ['bash']}});
const IGNORED =
  'mini-cc: ignored, as this directory is not trusted: .mini-cc/settings.json: permissions.allow. To trust what they say: --trust, or start mini-cc in a terminal\n';

/** A project whose settings allow commands, a home, and a way to run mini-cc there, whose model calls bash once. */
async function setUp(settings = ALLOW) {
  const [work, userHome] = [await project(), await home()];
  await work.write(SETTINGS, settings);
  const options = async () => ({
    home: userHome,
    cwd: work.path,
    server: await serve([callTool('bash', {command: 'touch ran'}), say('done')]),
  });
  return {
    ...work,
    userHome,
    trustFile: path.join(userHome.path, '.mini-cc/trust.json'),
    run: async (...args: string[]) => runCli(args, await options()),
    ran: () => existsSync(path.join(work.path, 'ran')),
  };
}

const DENIED = "mini-cc: denied: bash touch ran: runs a command. --allowed-tools 'bash(touch ran)' allows it\n";

describe('print mode in an untrusted directory', () => {
  it('ignores settings that could run code, lists them, and stores nothing', async () => {
    const at = await setUp();
    expect(await at.run('-p', 'go')).toMatchObject({code: 0, stdout: 'done\n', stderr: `${IGNORED}${DENIED}`});
    expect([at.ran(), existsSync(at.trustFile)]).toEqual([false, false]);
  });

  it('trusts the current values with --trust, now and later, but no other values', async () => {
    const at = await setUp();
    const first = await at.run('-p', '--trust', 'go');
    expect(first.stderr).toBe('mini-cc: trusted from now on: .mini-cc/settings.json: permissions.allow\n');
    expect(at.ran()).toBe(true);
    expect(await at.run('-p', 'go')).toMatchObject({stderr: ''});
    expect(await at.run('-p', '--trust', 'go')).toMatchObject({stderr: ''});
    await at.write(SETTINGS, JSON.stringify({permissions: {allow: ['bash', 'write_file']}}));
    expect(await at.run('-p', 'go')).toMatchObject({stderr: `${IGNORED}${DENIED}`});
  });

  it('lists everything that is ignored in one line, also of agents', async () => {
    const at = await setUp(JSON.stringify({providers: {}, hooks: {}, sandbox: 'off', fanOut: 'auto', pricing: {}}));
    await at.write('.mini-cc/settings.local.json', ALLOW);
    const agent = {description: 'Repairs broken tests', prompt: 'Repair it.', tools: ['bash']};
    const definition = JSON.stringify({...agent, name: 'fixer', permissionMode: 'bypassPermissions', apiKeyEnv: 'K'});
    await at.write('.mini-cc/agents/fixer.json', definition);
    await at.write(
      '.claude/agents/other.md',
      '---\nname: other\ndescription: Other\npermissionMode: acceptEdits\n---\nDo.',
    );
    await at.write(
      '.claude/agents/a\nmini-cc: b.md',
      '---\nname: b\ndescription: B\npermissionMode: acceptEdits\n---\nDo.',
    );
    const {stderr} = await at.run('-p', 'go');
    const files = [
      '.mini-cc/settings.json: providers, hooks, sandbox, fanOut',
      '.mini-cc/settings.local.json: permissions.allow',
      '.mini-cc/agents/fixer.json: permissionMode, apiKeyEnv',
      '.claude/agents/a mini-cc: b.md: permissionMode',
      '.claude/agents/other.md: permissionMode',
    ];
    expect(stderr).toContain(`not trusted: ${files.join('; ')}. To trust`);
    expect(stderr.match(/providers|hooks/g)).toHaveLength(2);
    await at.run('-p', '--trust', 'go');
    expect((await at.run('-p', 'go')).stderr).not.toMatch(/ignored, as/);
  });

  it('with a damaged trust file trusts nothing, and does not overwrite the file', async () => {
    const at = await setUp();
    await at.run('-p', '--trust', 'go');
    await writeFile(at.trustFile, '{"version": 1, "direct');
    const run = await at.run('-p', 'go');
    const [damaged, ignored] = run.stderr.trimEnd().split('\n');
    expect(damaged).toMatch(/trust\.json: .*: nothing is trusted until you repair or delete it$/);
    expect(`${ignored}\n`).toBe(IGNORED);
    const trusting = await at.run('-p', '--trust', 'go');
    expect(trusting.stderr).toContain('your answer about this directory holds for this session only');
    expect(await readFile(at.trustFile, 'utf8')).toBe('{"version": 1, "direct');
  });

  it('sends no file outside of the project that a memory file links to', async () => {
    const at = await setUp('{}');
    await writeFile(path.join(at.userHome.path, 'id_rsa'), 'MARKER-KEY');
    await symlink(path.join(at.userHome.path, 'id_rsa'), path.join(at.path, 'AGENTS.md'));
    const server = await serve(() => say('done'));
    const options = {home: at.userHome, cwd: at.path, server};
    const {stderr} = await runCli(['-p', 'go'], options);
    expect(stderr).toMatch(/^mini-cc: ignored, as this directory is not trusted: AGENTS\.md: link\. /);
    expect(JSON.stringify(server.requests)).not.toContain('MARKER-KEY');
    await runCli(['-p', '--trust', 'go'], options);
    expect(JSON.stringify(server.requests.at(-1))).toContain('MARKER-KEY');
  });

  it('prints nothing when nothing needs trust, also with --trust', async () => {
    const at = await setUp(JSON.stringify({permissions: {deny: ['bash']}}));
    expect(await at.run('-p', '--trust', 'go')).toMatchObject({stderr: ''});
    expect([at.ran(), existsSync(at.trustFile)]).toEqual([false, false]);
  });
});

describe('an agent of a project', () => {
  const fixer = (permissionMode: string) =>
    JSON.stringify({
      name: 'fixer',
      description: 'Repairs broken tests',
      tools: ['bash'],
      prompt: 'Repair it.',
      permissionMode,
    });

  it('has its permission mode only when it is trusted, as mini-cc agents shows', async () => {
    const at = await setUp('{}');
    await at.write('.mini-cc/agents/fixer.json', fixer('bypassPermissions'));
    const before = await at.run('agents', 'lint', 'fixer');
    expect(before.stdout).toMatch(/fixer\.json:1:\d+: .*permissionMode "bypassPermissions" is ignored/);
    expect((await at.run('agents', 'show', 'fixer')).stdout).not.toContain('mode:');
    expect(before.stderr).toContain('not trusted: .mini-cc/agents/fixer.json: permissionMode. To trust');
    const list = await at.run('agents', 'list', '--trust');
    expect(list.stderr).toBe('mini-cc: trusted from now on: .mini-cc/agents/fixer.json: permissionMode\n');
    expect((await at.run('agents', 'show', 'fixer')).stdout).toContain('mode: bypassPermissions');
    await at.write('.mini-cc/agents/fixer.json', fixer('acceptEdits'));
    expect((await at.run('agents', 'show', 'fixer')).stdout).not.toContain('mode:');
  });

  it('edits files without a question only when that is trusted; plan forbids it always', async () => {
    const at = await setUp('{}');
    const task = {name: 'Task', input: {description: 'repair the tests', prompt: 'repair', agent_type: 'fixer'}};
    const edit = async (...flags: string[]) => {
      const server = await serve(({tools = [], messages}) => {
        if (messages.length > 1) return say('done');
        const isMain = tools.some(({name}) => name === 'Task');
        return isMain ? callTools([task]) : callTool('write_file', {path: 'repaired.txt', content: 'x'});
      });
      const run = await runCli(['-p', 'go', '--output-format', 'json', ...flags], {
        home: at.userHome,
        cwd: at.path,
        server,
      });
      const denied = JSON.parse(run.stdout).permission_denials.length;
      const isThere = existsSync(path.join(at.path, 'repaired.txt'));
      await rm(path.join(at.path, 'repaired.txt'), {force: true});
      return [denied, isThere];
    };
    const withMode = (mode: string) => fixer(mode).replace('["bash"]', '["write_file"]');
    await at.write('.mini-cc/agents/fixer.json', withMode('acceptEdits'));
    expect(await edit()).toEqual([1, false]);
    expect(await edit('--trust')).toEqual([0, true]);
    await at.write('.mini-cc/agents/fixer.json', withMode('bypassPermissions'));
    expect(await edit()).toEqual([1, false]);
    await at.write('.mini-cc/agents/fixer.json', withMode('plan'));
    expect(await edit('--permission-mode', 'bypassPermissions')).toEqual([1, false]);
  });

  it('needs no trust when it only narrows permissions', async () => {
    const at = await setUp('{}');
    await at.write('.mini-cc/agents/fixer.json', fixer('plan'));
    expect((await at.run('-p', 'go')).stderr).toBe(DENIED);
    expect((await at.run('agents', 'show', 'fixer')).stdout).toContain('mode: plan');
  });
});

describe('mini-cc config show', () => {
  it('shows the state of each key, without its value', async () => {
    const at = await setUp(JSON.stringify({permissions: {allow: ['bash']}, mcpServers: {x: {env: {TOKEN: 's3cret'}}}}));
    await at.run('-p', '--trust', 'go');
    await at.write(
      SETTINGS,
      JSON.stringify({permissions: {allow: ['grep']}, mcpServers: {x: {env: {TOKEN: 's3cret'}}}}),
    );
    await at.write('.mini-cc/settings.local.json', ALLOW);
    const {stdout, stderr} = await at.run('config', 'show');
    expect(stdout).toMatch(/^Trust$/m);
    expect(stdout).toMatch(/^ {2}mcpServers\.x +trusted +\/.*settings\.json$/m);
    expect(stdout).toMatch(/^ {2}permissions\.allow +ignored: changed since you trusted it +\/.*settings\.json$/m);
    expect(stdout).toMatch(/^ {2}permissions\.allow +ignored: not trusted +\/.*settings\.local\.json$/m);
    expect(stderr).toContain('ignored, as this directory is not trusted: .mini-cc/settings.json: permissions.allow;');
    expect((await at.run('doctor')).stdout).toContain(
      'ignored, as this directory is not trusted: .mini-cc/settings.json',
    );
    const shown = JSON.parse((await at.run('config', 'show', '--json')).stdout);
    expect(shown.trust.keys.map(({state}: {state: string}) => state)).toEqual(['trusted', 'changed', 'new']);
    expect(stdout + JSON.stringify(shown)).not.toContain('s3cret');
  });
});
