import {describe, expect, it} from 'vitest';
import {permissionsCommand} from '../../src/commands/permissions.ts';
import {ALL_TOOLS} from '../../src/compose/known-tools.ts';
import type {PermissionState} from '../../src/core/contract/permission.ts';
import type {CommandContext} from '../../src/core/contract/session-requests.ts';
import {createRule} from '../../src/core/permissions/rules/rule.ts';
import {project, serve} from '../e2e/fixture.ts';
import {repl, send} from '../e2e/repl-fixture.ts';
import {say} from '../support/messages-server.ts';
import {answer} from '../support/questions.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool} from '../support/scripted-replies.ts';

async function shown(state: Partial<PermissionState>): Promise<string> {
  const permissions = {mode: 'default', rules: [], granted: [], ...state};
  return (await permissionsCommand.run({args: '', request: () => permissions} as unknown as CommandContext)).text;
}

describe('/permissions', () => {
  it('says the mode, and that there are no rules', async () => {
    const text = await shown({mode: 'plan'});
    expect(text).toContain('Mode: plan (reads only)');
    expect(text).toContain('No rules.');
    expect(text).not.toContain('Granted');
  });

  it('lists rules with where they come from, those that win first', async () => {
    const rules = [
      createRule('bash(npm test)', 'allow', '--allowed-tools', ALL_TOOLS),
      createRule('bash(rm:*)', 'deny', '/p/.mini-cc/settings.json', ALL_TOOLS),
      createRule('web_fetch', 'ask', '~/.mini-cc/settings.json', ALL_TOOLS),
    ];
    expect((await shown({rules})).split('\n').filter((line) => line.startsWith('  '))).toEqual([
      '  deny   bash(rm:*)      /p/.mini-cc/settings.json',
      '  ask    web_fetch       ~/.mini-cc/settings.json',
      '  allow  bash(npm test)  --allowed-tools',
    ]);
  });

  it('lists what was granted for this session, each on one line', async () => {
    expect(await shown({granted: ['run a\n  b', 'edits inside the workspace']})).toContain(
      'Granted for this session:\n  run a b\n  edits inside the workspace',
    );
  });

  it('works without a REPL', async () => {
    const run = await runCli(['-p', '/permissions', '--allowed-tools', 'bash(npm test)'], {server: await serve([])});
    expect(run).toMatchObject({code: 0});
    expect(run.stdout).toContain('  allow  bash(npm test)  --allowed-tools');
  });

  it('names in the REPL what a yes has granted, and the rule that 3 has written', async () => {
    const commands = ['touch a', 'touch b'];
    const server = await serve([...commands.map((command) => callTool('bash', {command})), say('Both there.')]);
    const terminal = await repl({server, cwd: (await project()).path});
    await send(terminal, 'go');
    for (const [index, command] of commands.entries()) {
      await answer(terminal, new RegExp(`^ {2}${command}$`, 'm'), index === 0 ? '2' : '3');
    }
    await terminal.waitFor('Both there.');
    await send(terminal, '/permissions');
    await terminal.waitFor(/allow {2}bash\(touch b.*permissions\.json/s);
    await terminal.waitFor('run touch a');
  });
});
