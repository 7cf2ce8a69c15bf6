/** Background runs in the REPL: their end starts a turn of the idle main agent, and slash commands manage them. */
import {readFileSync} from 'node:fs';
import {describe, expect, it} from 'vitest';
import {type MessagesBody, say} from '../support/messages-server.ts';
import {countReplies, getToolResults} from '../support/request-facts.ts';
import {callTools} from '../support/scripted-replies.ts';
import {findTranscripts, isRun, readLines} from '../support/session-files.ts';
import {explore, home, isSubagent, processesWith, project, serve, uniqueSleep} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

const announced = (body: MessagesBody) => JSON.stringify(body.messages).split('<task_announcement run=').length - 1;

describe('a background run in the REPL', () => {
  it('is announced once to the idle main agent, which then starts a turn', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const server = await serve(async (body) => {
      if (isSubagent(body)) {
        await released;
        return say('it is in src/greet.ts:4');
      }
      if (countReplies(body) > 0) return say(announced(body) === 1 ? 'The run has ended.' : 'It is running.');
      const task = explore();
      return callTools([{...task, input: {...task.input, background: true}}]);
    });
    const terminal = await repl({server, home: await home()});
    await send(terminal, 'look around');
    await terminal.waitFor('It is running.');
    await idle(terminal);
    await send(terminal, '/subagents');
    await terminal.waitFor(/1 +running +explore +explore code/);
    const before = server.requests.length;
    release();
    await terminal.waitFor('The run has ended.');
    await idle(terminal);
    await send(terminal, '/subagents info 1');
    await terminal.waitFor(/outcome: +success/);
    await send(terminal, '/tasks log 1');
    await terminal.waitFor(/assistant: it is in src\/greet\.ts:4/);
    // Its end started one turn: the next one is that of the next prompt, and has the same announcement.
    await send(terminal, 'and now?');
    await server.waitForRequests(before + 2);
    expect(server.requests).toHaveLength(before + 2);
    const last = server.requests.at(-1)!.body;
    expect([JSON.stringify(last.messages.at(-1)).includes('and now?'), announced(last)]).toEqual([true, 1]);
  });

  it('that ends together with seven others is announced with them: one message, one turn, one line each', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const server = await serve(async (body) => {
      if (isSubagent(body)) {
        await released;
        return say('found');
      }
      if (countReplies(body) > 0) return say(announced(body) === 8 ? 'All eight have ended.' : 'They are running.');
      const tasks = Array.from({length: 8}, (_, index) => explore(`part ${index}`, `look at part ${index}`));
      return callTools(tasks.map((task) => ({...task, input: {...task.input, background: true}})));
    });
    const place = await home();
    const terminal = await repl({server, home: place, rows: 40});
    await send(terminal, 'look around');
    await terminal.waitFor('They are running.');
    await idle(terminal);
    const before = server.requests.filter(({body}) => !isSubagent(body)).length;
    release();
    await terminal.waitFor('All eight have ended.');
    await idle(terminal);
    const turns = server.requests.filter(({body}) => !isSubagent(body)).slice(before);
    const ends = turns
      .at(-1)!
      .body.messages.filter(({content}) => JSON.stringify(content).includes('<task_announcement'));
    expect(ends).toHaveLength(turns.length);
    const endedAt = findTranscripts(place.path)
      .filter(isRun)
      .map((file) => Date.parse(String(readLines(file).at(-1)!.at)));
    expect(endedAt).toHaveLength(8);
    // A quarter of a second is "together"; on a loaded machine they may end further apart.
    const spread = Math.max(...endedAt) - Math.min(...endedAt);
    expect(turns.length, `${spread} ms apart`).toBeLessThanOrEqual(1 + Math.floor(spread / 150));
    for (let index = 0; index < 8; index++) {
      const lines = terminal
        .scrollback()
        .filter((line) => line.includes(`[explore] look at part ${index}`) && / - done \(/.test(line));
      expect(lines).toHaveLength(1);
    }
  });

  it('is made of a command at work by Ctrl+B: listed, readable, announced at its end, and the turn goes on', async () => {
    const told = (body: MessagesBody) => getToolResults(body).map(({text}) => text)[0] ?? '';
    const server = await serve((body) => {
      if (countReplies(body) === 0)
        return callTools([
          {name: 'bash', input: {command: 'echo one; until [ -e go ]; do sleep 0.05; done; cd src; echo two'}},
        ]);
      if (JSON.stringify(body.messages).includes('and where?')) {
        const isAsked = JSON.stringify(body.messages.at(-1)).includes('and where?');
        return isAsked ? callTools([{name: 'bash', input: {command: 'pwd'}}]) : say('That is all.');
      }
      return say(announced(body) === 1 ? 'It has ended.' : 'I go on meanwhile.');
    });
    const workspace = await project();
    const terminal = await repl({server, cwd: workspace.path, args: ['--permission-mode', 'bypassPermissions']});
    await send(terminal, 'wait for it');
    await terminal.waitFor((at) => at.screen().some((line) => line.trim() === 'one'));
    await terminal.waitFor('Ctrl+B background');
    terminal.press('ctrl-b');
    await terminal.waitFor('I go on meanwhile.');
    await idle(terminal);
    const {output, ...rest} = JSON.parse(told(server.requests.at(-1)!.body)) as Record<string, string>;
    expect(rest).toMatchObject({status: 'accepted', note: expect.stringContaining('The user sent this command')});
    expect(readFileSync(output!, 'utf8')).toBe('one\n');
    await send(terminal, '/subagents');
    await terminal.waitFor(/1 +running +bash +echo one/);
    await workspace.write('go', '');
    await terminal.waitFor('It has ended.');
    await idle(terminal);
    expect(readFileSync(output!, 'utf8')).toBe('one\ntwo\n');
    expect(JSON.stringify(server.requests.at(-1)!.body.messages)).toContain('Result: one\\ntwo');
    // The agent stays where it was: the command in the background has a folder of its own.
    await send(terminal, 'and where?');
    await terminal.waitFor('That is all.');
    expect(told(server.requests.at(-1)!.body)).toBe(workspace.path);
  });

  it('is made of a command that the user typed by Ctrl+B, and /subagents stop ends it', async () => {
    const server = await serve(() => say('fine'));
    const sleeping = uniqueSleep();
    const terminal = await repl({server, home: await home()});
    await send(terminal, `!echo begun; ${sleeping}`);
    await terminal.waitFor((at) => at.screen().some((line) => line.trim() === 'begun'));
    terminal.press('ctrl-b');
    await terminal.waitFor(/runs in the\s+background: \/subagents/);
    await idle(terminal);
    expect(await processesWith(sleeping)).toHaveLength(1);
    await send(terminal, '/subagents stop 1');
    await terminal.waitFor(/\[bash\] echo begun; .* - stopped/);
    await expect.poll(() => processesWith(sleeping)).toEqual([]);
  });

  it('is made from a foreground run by /background, and /stop ends it', async () => {
    const server = await serve((body) => {
      if (isSubagent(body)) return {type: 'hang'};
      return countReplies(body) === 0 ? callTools([explore()]) : say('I go on meanwhile.');
    });
    const terminal = await repl({server, home: await home()});
    await send(terminal, 'look around');
    await terminal.waitFor('[explore] explore codebase');
    await server.waitForRequests(2);
    await send(terminal, '/background');
    await terminal.waitFor('I go on meanwhile.');
    await idle(terminal);
    await send(terminal, '/stop');
    await terminal.waitFor(/Stopped, with 1 subagent\./);
    await send(terminal, '/subagents');
    await terminal.waitFor(/1 +stopped +explore/);
    // Its end starts no turn: the next one is that of the next prompt.
    await send(terminal, 'and now?');
    await server.waitForRequests(4);
    expect(JSON.stringify(server.requests[3]!.body.messages.at(-1))).toContain('and now?');
  });
});
