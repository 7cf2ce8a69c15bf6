import {describe, expect, it} from 'vitest';
import {say} from '../support/messages-server.ts';
import {getToolResults} from '../support/request-facts.ts';
import {callTool} from '../support/scripted-replies.ts';
import {project, serve} from './fixture.ts';
import {repl, send} from './repl-fixture.ts';

const write = () => callTool('write_file', {path: 'new.txt', content: 'first line\n'});

describe('the permission mode in the REPL', () => {
  it('goes from bypassPermissions to default by Shift+Tab', async () => {
    const bypassing = await repl({args: ['--dangerously-skip-permissions']});
    bypassing.press('shift-tab');
    await bypassing.waitFor(/^default · /m);
  });

  it('answers a waiting question when it changes: acceptEdits allows the edit', async () => {
    const server = await serve([write(), say('Written.')]);
    const workspace = await project();
    const terminal = await repl({server, cwd: workspace.path});
    await send(terminal, 'write');
    await terminal.waitFor('1 yes');
    terminal.press('shift-tab');
    await terminal.waitFor('Written.');
    expect(await workspace.read('new.txt')).toBe('first line\n');
  });

  it('plan denies writes, also one that is being asked about, and tells the model why', async () => {
    const server = await serve([write(), write(), say('I only read.')]);
    const workspace = await project();
    const terminal = await repl({server, cwd: workspace.path});
    await send(terminal, 'write');
    await terminal.waitFor('1 yes');
    terminal.type('/mode plan\r');
    await terminal.waitFor('I only read.');
    expect(terminal.text()).toContain('Mode: plan, was default (reads only)');
    for (const index of [1, 2]) {
      expect(getToolResults(server.requests[index]!.body)[0]).toMatchObject({
        isError: true,
        text: expect.stringMatching(/^Permission denied: .*plan/),
      });
    }
    await expect(workspace.read('new.txt')).rejects.toThrow('ENOENT');
  });
});
