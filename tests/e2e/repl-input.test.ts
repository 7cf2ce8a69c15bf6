import {describe, expect, it} from 'vitest';
import {say} from '../support/messages-server.ts';
import {slow} from '../support/scripted-replies.ts';
import {project, serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

describe('a line that begins with !', () => {
  it('runs in the shell without a question, shows its output, and goes before the model with the next prompt', async () => {
    const server = await serve([say('I saw it.'), slow(say('A long answer.'), 200), say('I saw both.')]);
    const workspace = await project();
    const terminal = await repl({server, cwd: workspace.path});
    await send(terminal, '!touch made && echo "one two" | tr a-z A-Z');
    await terminal.waitFor('ONE TWO');
    expect(await workspace.read('made')).toBe('');
    expect(server.requests).toHaveLength(0);
    await idle(terminal);
    await send(terminal, '!cd src; false');
    await terminal.waitFor('exit code 1');
    await send(terminal, '!pwd; seq 30000');
    await terminal.waitFor(/characters cut; the whole/);
    await send(terminal, 'what is new?');
    await terminal.waitFor('I saw it.');
    const {messages} = server.requests[0]!.body;
    const text = JSON.stringify(messages);
    expect(text).toMatch(/\$ touch made.*ONE TWO.*exit code 1.*characters cut.*what is new\?/s);
    expect(text).toContain(`${workspace.path}/src:\\n$ pwd`);
    expect(text.length).toBeLessThan(40_000);

    // Esc ends a command. During a turn, the output waits for the next prompt.
    await idle(terminal);
    await send(terminal, '!echo begun; sleep 60');
    await terminal.waitFor(/^ {2}begun$/m);
    terminal.press('escape');
    await terminal.waitFor('interrupted');
    await idle(terminal);
    await send(terminal, 'go');
    await server.waitForRequests(2);
    await send(terminal, '!echo beside');
    await terminal.waitFor(/^beside$/m);
    await terminal.waitFor('A long answer.');
    await idle(terminal);
    expect(server.requests).toHaveLength(2);
    await send(terminal, 'and now?');
    await terminal.waitFor('I saw both.');
    expect(JSON.stringify(server.requests[2]!.body.messages.slice(-1))).toMatch(/echo beside.*and now\?/);
  });
});
