import {readdir} from 'node:fs/promises';
import {describe, expect, it} from 'vitest';
import {type MessagesServer, say} from '../support/messages-server.ts';
import {answer} from '../support/questions.ts';
import {countReplies, getFirstPrompt, getToolResults} from '../support/request-facts.ts';
import {callTool, callTools} from '../support/scripted-replies.ts';
import type {Terminal} from '../support/terminal.ts';
import {isSubagent, project, serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

/** The number of files that each of the eight agents creates, one after the other. */
const FILES = [3, 3, 3, 3, 2, 2, 2, 2];

function eightAgents(): Promise<MessagesServer> {
  return serve((body) => {
    if (!isSubagent(body)) {
      if (countReplies(body) > 0) return say('All eight are back.');
      return callTools(
        FILES.map((_, agent) => ({
          name: 'Task',
          input: {description: `task ${agent}`, prompt: `part ${agent}`, agent_type: 'code'},
        })),
      );
    }
    const agent = Number(/part (\d)/.exec(getFirstPrompt(body))?.[1]);
    const turn = countReplies(body);
    return turn < FILES[agent]!
      ? callTool('bash', {command: `touch made-${agent}-${turn}`})
      : say(`part ${agent} done`);
  });
}

/** Starts the agents, and waits until all eight wait for an answer. */
async function startAgents(server: MessagesServer) {
  const workspace = await project();
  await workspace.write('.mini-cc/settings.json', JSON.stringify({subagents: {maxConcurrent: 8}}));
  const terminal = await repl({server, cwd: workspace.path, rows: 40});
  await send(terminal, 'go');
  await terminal.waitFor('(1 of 8)');
  return {workspace, terminal};
}

const ASKED = /^\[code\] task (\d): Run this command\?(?: \(1 of \d\))?$/;

/** The question on the screen: which agent asks, and for which file. */
function readQuestion(terminal: Terminal): {agent: string; file: string} | undefined {
  const lines = terminal.screen();
  const at = lines.findLastIndex((line) => ASKED.test(line));
  const [, agent] = ASKED.exec(lines[at] ?? '') ?? [];
  const [, file] = /touch (made-\d-\d)/.exec(lines.slice(at).join('\n')) ?? [];
  return agent && file ? {agent, file} : undefined;
}

describe('many questions in the REPL', () => {
  it('of eight agents at the same time are answered one after the other, and exactly the permitted calls run', async () => {
    const server = await eightAgents();
    const {workspace, terminal} = await startAgents(server);
    const permitted: string[] = [];
    const refused: string[] = [];
    for (let answered = 0; answered < 20; answered++) {
      const seen = [...permitted, ...refused];
      await terminal.waitFor((at) => {
        const file = readQuestion(at)?.file;
        return file !== undefined && !seen.includes(file);
      });
      const {agent, file} = readQuestion(terminal)!;
      expect(file).toContain(`made-${agent}-`);
      const isRefused = answered % 4 === 3;
      await answer(terminal, (at) => readQuestion(at)?.file === file, isRefused ? 'escape' : '1');
      (isRefused ? refused : permitted).push(file);
    }
    await terminal.waitFor('All eight are back.');
    await idle(terminal);
    expect(terminal.screen().join('\n')).not.toContain('  1 yes');
    const made = (await readdir(workspace.path)).filter((name) => name.startsWith('made-'));
    expect(made.toSorted()).toEqual(permitted.toSorted());
    expect(refused).toHaveLength(5);
    const results = server.requests.flatMap(({body}) => (isSubagent(body) ? getToolResults(body) : []));
    expect(results.filter(({text}) => text.startsWith('The user refused this call.'))).toHaveLength(5);
    expect(results).toHaveLength(20);
  });

  it('all disappear when the turn is interrupted, and none of the calls runs', async () => {
    const server = await eightAgents();
    const {workspace, terminal} = await startAgents(server);
    terminal.press('ctrl-c');
    await terminal.waitFor('interrupted');
    await idle(terminal);
    expect(terminal.screen().join('\n')).not.toMatch(/ {2}1 yes|1 of \d/);
    expect((await readdir(workspace.path)).filter((name) => name.startsWith('made-'))).toEqual([]);
    // The session continues.
    await send(terminal, '/subagents');
    await terminal.waitFor((at) => (at.text().match(/stopped {2,}code/g) ?? []).length === 8);
  });

  it('all disappear after /stop, typed while they wait', async () => {
    const server = await eightAgents();
    const {workspace, terminal} = await startAgents(server);
    await send(terminal, '/stop');
    await terminal.waitFor('Stopped, with 8 subagents.');
    await idle(terminal);
    expect(terminal.screen().join('\n')).not.toMatch(/ {2}1 yes|1 of \d/);
    expect((await readdir(workspace.path)).filter((name) => name.startsWith('made-'))).toEqual([]);
  });
});
