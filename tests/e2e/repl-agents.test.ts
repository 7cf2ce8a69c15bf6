import {existsSync} from 'node:fs';
import {chmod} from 'node:fs/promises';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {say} from '../support/messages-server.ts';
import {answer, takesKeys} from '../support/questions.ts';
import {callTools} from '../support/scripted-replies.ts';
import {isSubagent, project, serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

const definition = (change: object = {}) =>
  JSON.stringify({
    name: 'reviewer',
    description: 'Reviews code for bugs and clarity, and reports findings',
    tools: ['bash', 'read_file'],
    prompt: 'You review code. Report findings with path:line.',
    ...change,
  });

describe('agents in a running REPL', () => {
  it('change with their files for the next Task: created, broken, repaired and deleted', async () => {
    const workspace = await project();
    const server = await serve((body) => {
      if (isSubagent(body)) return say('reviewed');
      const answered = body.messages.length % 4 === 3;
      return answered
        ? say('done')
        : callTools([
            {
              name: 'Task',
              input: {description: 'review it', prompt: `review ${body.messages.length}`, agent_type: 'reviewer'},
            },
          ]);
    });
    const terminal = await repl({server, cwd: workspace.path});
    const file = await workspace.write('.mini-cc/agents/reviewer.json', definition());
    await terminal.waitFor('New agent reviewer.');
    await send(terminal, 'review one');
    await terminal.waitFor('[reviewer] review it - done');
    await idle(terminal);

    await workspace.write('.mini-cc/agents/reviewer.json', '{\n  "name": "reviewer",\n  "tools": [}');
    await terminal.waitFor(/its last valid definition stays in use:\s+\S+reviewer\.json:3:13: /);
    await send(terminal, 'review two');
    await terminal.waitFor((at) => at.text().split('[reviewer] review it - done').length === 3);
    await idle(terminal);

    const {rm} = await import('node:fs/promises');
    await rm(file);
    await terminal.waitFor('Deleted agent reviewer.');
    await send(terminal, 'Task(reviewer): review three');
    await terminal.waitFor('Invalid agent_type: "reviewer"');
  });

  it('are created from a text, edited before they are saved, used at once, and deleted', async () => {
    const workspace = await project();
    // An editor of the project would not be started.
    const editor = await (await project()).write(
      'editor.sh',
      '#!/bin/sh\nsed -i "s/Code review agent/Edited agent/" "$1"\n',
    );
    await chmod(editor, 0o755);
    const terminal = await repl({cwd: workspace.path, rows: 45, env: {EDITOR: editor, VISUAL: ''}});
    await send(terminal, '/agents create a code review agent with read-only access');
    await terminal.waitFor(/tools: bash, read_file, grep, glob$/m);
    await terminal.waitFor('read-only: yes');
    await terminal.waitFor('1 save as reviewer.json');
    await answer(terminal, 'Code review agent', '2');
    // The prompt is text, not a string of JSON.
    expect(terminal.text()).toMatch(/^ +You are a code review agent/m);
    expect(terminal.text()).not.toContain('"prompt"');
    await answer(terminal, 'Edited agent', '1');
    await terminal.waitFor('Saved .mini-cc/agents/reviewer.json');
    expect(JSON.parse(await workspace.read('.mini-cc/agents/reviewer.json')).description).toContain('Edited agent');
    await send(terminal, 'Task(reviewer): review src');
    await terminal.waitFor(/\[reviewer\] review src - done/);
    await idle(terminal);
    await send(terminal, '/agents delete reviewer');
    await answer(terminal, 'Delete the agent reviewer?', '1');
    await terminal.waitFor('Deleted .mini-cc/agents/reviewer.json');
    expect(existsSync(path.join(workspace.path, '.mini-cc/agents/reviewer.json'))).toBe(false);
    // The catalog has seen the new agent and its end, and says neither again.
    await send(terminal, '/agents');
    await terminal.waitFor('none of your own');
    expect(terminal.text()).not.toMatch(/New agent|Deleted agent/);
  });

  it('get the prompt that mentions one, whose name the prompt completes', async () => {
    const workspace = await project();
    await workspace.write('.mini-cc/agents/reviewer.json', definition());
    const server = await serve(() => say('all is well'));
    const terminal = await repl({server, cwd: workspace.path});
    terminal.type('look at this, @revi');
    await terminal.waitFor('goes to this agent');
    terminal.press('tab');
    await terminal.waitFor('look at this, @agent-reviewer');
    terminal.press('enter');
    await terminal.waitFor(/\[reviewer\] .* - done/);
    await terminal.waitFor('all is well');
    await idle(terminal);
    expect(server.requests).toHaveLength(1);
    expect(isSubagent(server.requests[0]!.body)).toBe(true);
    expect(JSON.stringify(server.requests[0]!.body.messages)).toContain('look at this, @agent-reviewer');
  });

  it('are saved with three cases that the model drafts, which are checked before they are written', async () => {
    const workspace = await project();
    const evals = ['usual', 'edge', 'nothing'].map((id) => ({
      ...{id, prompt: `Review src/greet.ts (${id}).`, expected_output: 'greet is named', contains: ['greet']},
      changes: id === 'edge' ? ['src/*.ts'] : [],
    }));
    const server = await serve(({messages}) => {
      const text = JSON.stringify(messages.at(-1));
      if (text.includes('Write three cases')) return say(JSON.stringify({evals}));
      return say(definition());
    });
    const terminal = await repl({server, cwd: workspace.path, rows: 45});
    await send(terminal, '/agents create a reviewer');
    await answer(terminal, '4 save it, and draft three cases', '4');
    await terminal.waitFor('Saved .mini-cc/evals/reviewer.json');
    expect(existsSync(path.join(workspace.path, '.mini-cc/agents/reviewer.json'))).toBe(true);
    expect(JSON.parse(await workspace.read('.mini-cc/evals/reviewer.json')).evals).toMatchObject([
      {id: 'usual', checks: [{answer: {contains: 'greet'}}, {unchanged: ['**']}]},
      {id: 'edge', checks: [{answer: {contains: 'greet'}}, {changed: ['src/*.ts']}]},
      {id: 'nothing'},
    ]);
    await idle(terminal);
  });

  it('asks what the new agent is for, and Esc cancels it', async () => {
    const workspace = await project();
    const terminal = await repl({cwd: workspace.path, rows: 45});
    await send(terminal, '/agents create');
    await takesKeys(terminal, 'What is the new agent for?');
    terminal.type('writes tests for python');
    await terminal.waitFor('? writes tests for python');
    terminal.press('enter');
    await answer(terminal, '1 save as writes-tests-python.json', 'escape');
    await terminal.waitFor('nothing was saved');
    expect(existsSync(path.join(workspace.path, '.mini-cc'))).toBe(false);
  });

  it('refuses to delete a file outside the folder, and lists the forms of /agents', async () => {
    const terminal = await repl();
    await send(terminal, '/agents delete ../../package');
    await terminal.waitFor('Not an agent name: "../../package"');
    await send(terminal, '/agents help');
    await terminal.waitFor('/agents create --template');
    await send(terminal, '/agents frob');
    await terminal.waitFor('/agents frob is not known.');
  });

  it.each([40, 200])('are listed one by one, also 60 of them in a window of %d columns', async (cols) => {
    const workspace = await project();
    for (let index = 0; index < 60; index += 1) {
      await workspace.write(`.mini-cc/agents/agent-${index}.json`, definition({name: `agent-${index}`}));
    }
    const terminal = await repl({cwd: workspace.path, cols, rows: 20});
    await send(terminal, '/agents');
    await terminal.waitFor('agent-59');
    await idle(terminal);
    const lines = terminal.text().split('\n');
    expect(lines.filter((line) => /^agent-\d+ · project · read-only$/.test(line))).toHaveLength(60);
    expect(terminal.text()).toContain('Agents: 3 built in, 60 of your own');
  });
});
