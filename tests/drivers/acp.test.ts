/** One process of `mini-cc acp` has many sessions: most cases share it, and the server's script says which is meant. */
import {existsSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {type McpServer, methods} from '@agentclientprotocol/sdk/unstable';
import {describe, expect, it} from 'vitest';
import {explore, home, isSubagent, project, serve} from '../e2e/fixture.ts';
import {callTool, callTools, say, slow, thinkingThen, withUsage} from '../support/scripted-replies.ts';
import {choose, startAcp} from './acp-client.ts';

const kinds = (updates: readonly {sessionUpdate: string}[]) => updates.map(({sessionUpdate}) => sessionUpdate);

describe('an editor by the Agent Client Protocol', () => {
  it('holds a session: answers, thoughts, calls with places and diffs, a plan, questions, a load', async () => {
    const todos = [
      {content: 'write it', status: 'in_progress'},
      {content: 'test it', status: 'pending'},
    ];
    const server = await serve([
      thinkingThen('What is there?', callTool('read_file', {path: 'src/index.ts'}, 'r1')),
      callTool('todo_write', {todos}, 't1'),
      callTool('write_file', {path: 'a.txt', content: 'one\ntwo\n'}, 'w1'),
      callTool('edit_file', {path: 'a.txt', old_string: 'two', new_string: 'three'}, 'e1'),
      callTool('bash', {command: 'touch made'}, 'b1'),
      say('All done.'),
    ]);
    const [{path: cwd}, place] = [await project(), await home()];
    const acp = await startAcp([], {server, home: place});
    const {sessionId, modes} = await acp.agent.request(methods.agent.session.new, {cwd, mcpServers: []});
    expect(modes).toMatchObject({currentModeId: 'default'});
    expect(modes!.availableModes.map(({id}) => id)).toEqual(['default', 'acceptEdits', 'plan']);
    acp.answer = async ({toolCall, options}) => {
      if (toolCall.toolCallId === 'b1') return choose('no');
      expect(options.map(({optionId, kind}) => [optionId, kind])).toContainEqual(['session', 'allow_always']);
      return choose(options[0]!.optionId);
    };
    expect(await acp.prompt(sessionId, 'write a.txt')).toMatchObject({stopReason: 'end_turn'});

    expect(acp.of('available_commands_update')[0]!.availableCommands.map(({name}) => name)).toContain('compact');
    expect(acp.of('agent_thought_chunk')[0]!.content).toEqual({type: 'text', text: expect.stringContaining('What')});
    expect(acp.said()).toBe('All done.');
    expect(acp.of('plan')[0]!.entries).toEqual(todos.map((todo) => ({...todo, priority: 'medium'})));
    const cards = acp.of('tool_call');
    expect(cards.map(({toolCallId, name, kind}) => [toolCallId, name, kind])).toEqual([
      ['r1', 'Read', 'read'],
      ['w1', 'Write', 'edit'],
      ['e1', 'Edit', 'edit'],
      ['b1', 'Bash', 'execute'],
    ]);
    expect(cards[0]).toMatchObject({
      locations: [{path: path.join(cwd, 'src/index.ts')}],
      rawInput: {file_path: 'src/index.ts'},
    });
    const ends = acp.of('tool_call_update').filter(({status}) => status === 'completed' || status === 'failed');
    const file = path.join(cwd, 'a.txt');
    expect(ends.find(({toolCallId}) => toolCallId === 'w1')).toMatchObject({
      status: 'completed',
      content: [{type: 'diff', path: file, oldText: null, newText: 'one\ntwo'}],
    });
    expect(ends.find(({toolCallId}) => toolCallId === 'e1')).toMatchObject({
      content: [{type: 'diff', path: file, oldText: 'one\ntwo', newText: 'one\nthree'}],
      locations: [{path: file, line: 1}],
    });
    expect(ends.find(({toolCallId}) => toolCallId === 'b1')).toMatchObject({status: 'failed'});
    expect(existsSync(path.join(cwd, 'made'))).toBe(false);
    expect(readFileSync(file, 'utf8')).toBe('one\nthree\n');
    expect(acp.asked[0]!.toolCall).toMatchObject({
      toolCallId: 'w1',
      content: [{type: 'diff', path: file, oldText: null, newText: 'one\ntwo'}],
    });
    await acp.until(({sessionUpdate}) => sessionUpdate === 'usage_update');
    expect(acp.of('usage_update')[0]).toMatchObject({size: expect.any(Number), used: expect.any(Number)});

    const from = acp.updates.length;
    const list = await acp.agent.request(methods.agent.session.list, {cwd});
    expect(list.sessions).toMatchObject([{sessionId, cwd, title: 'write a.txt'}]);
    await acp.agent.request(methods.agent.session.load, {sessionId, cwd, mcpServers: []});
    await acp.until(({sessionUpdate}) => sessionUpdate === 'available_commands_update', from);
    expect(kinds(acp.updates.slice(from)).filter((kind) => kind !== 'tool_call_update')).toEqual([
      ...['user_message_chunk', 'agent_thought_chunk', 'tool_call', 'plan', 'tool_call', 'tool_call', 'tool_call'],
      ...['agent_message_chunk', 'available_commands_update'],
    ]);
    expect(
      acp.of('tool_call_update', from).find(({toolCallId, status}) => toolCallId === 'e1' && status === 'completed'),
    ).toMatchObject({
      content: [{type: 'diff', newText: 'one\nthree'}],
    });
    expect(acp.said(from)).toBe('All done.');
    expect(await acp.end()).toBe(0);
    expect(acp.stderr()).toBe('');
  });

  it('says what the subagents of a turn brought, again after a load, and the answer of a typed Task once', async () => {
    const found = withUsage(say('Found it.'), {input_tokens: 40, output_tokens: 3});
    const server = await serve((body) => {
      if (isSubagent(body)) return found;
      return JSON.stringify(body.messages).includes('tool_result') ? say('Done.') : callTools([explore()]);
    });
    const {path: cwd} = await project();
    const acp = await startAcp([], {server, home: await home()});
    const sessionId = await acp.open(cwd);
    await acp.prompt(sessionId, 'go');
    const said = acp.said();
    expect(said).toMatch(/^Done\.\n\n1 subagent · \S+ · 40 tokens read, 3 came back · est \S+$/);
    let from = acp.updates.length;
    await acp.agent.request(methods.agent.session.load, {sessionId, cwd, mcpServers: []});
    await acp.until(({sessionUpdate}) => sessionUpdate === 'available_commands_update', from);
    expect(acp.said(from)).toBe(said);
    from = acp.updates.length;
    await acp.prompt(sessionId, 'Task(explore): look again');
    expect(acp.said(from)).toMatch(/^Found it\.\n[\s\S]*\n\n1 subagent · [^\n]*$/);
    expect(await acp.end()).toBe(0);
  });

  it('cancels: the pending prompt answers cancelled, its question is taken back, and the next prompt goes on', async () => {
    const server = await serve([
      slow(say('never to be said in full'), 2_000),
      callTool('bash', {command: 'touch made'}, 'b1'),
      say('Here again.'),
    ]);
    const {path: cwd} = await project();
    const acp = await startAcp([], {server});
    const sessionId = await acp.open(cwd);
    const first = acp.prompt(sessionId, 'go');
    await server.waitForRequests(1);
    await acp.agent.notify(methods.agent.session.cancel, {sessionId});
    expect(await first).toMatchObject({stopReason: 'cancelled'});
    let asked: () => void = () => undefined;
    const question = new Promise<void>((resolve) => {
      asked = resolve;
    });
    acp.answer = () => {
      asked();
      return new Promise(() => undefined);
    };
    const second = acp.prompt(sessionId, 'touch it');
    await question;
    await acp.agent.notify(methods.agent.session.cancel, {sessionId});
    expect(await second).toMatchObject({stopReason: 'cancelled'});
    expect(existsSync(path.join(cwd, 'made'))).toBe(false);
    expect(await acp.prompt(sessionId, 'and now?')).toMatchObject({stopReason: 'end_turn'});
    expect(acp.said()).toContain('Here again.');
  });

  it('takes files, texts and images of a prompt as words of their own, a slash command, a mode; and says what it cannot take', async () => {
    const server = await serve([say('seen'), callTool('write_file', {path: 'b.txt', content: 'x'}), say('written')]);
    const {path: cwd} = await project();
    const acp = await startAcp(['--model', 'haiku'], {server});
    const sessionId = await acp.open(cwd);
    const send = (...prompt: object[]) =>
      acp.agent.request(methods.agent.session.prompt, {sessionId, prompt: prompt as never});
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';
    await send(
      {type: 'text', text: 'Compare'},
      {type: 'resource_link', uri: `file://${cwd}/src/index.ts`, name: 'index.ts'},
      {type: 'text', text: 'with this:'},
      {type: 'resource', resource: {uri: `file://${cwd}/unsaved.ts`, text: 'let unsaved = 1;'}},
      {type: 'image', data: png, mimeType: 'image/png'},
    );
    const [request] = server.requests;
    expect(request!.body.model).toMatch(/haiku/);
    expect(request!.body.messages[0]!.content).toMatchObject([
      {type: 'text', text: 'Compare @src/index.ts with this:'},
      {type: 'image', source: {media_type: 'image/png', data: png}},
      {type: 'text', text: '<file path="unsaved.ts">\nlet unsaved = 1;\n</file>'},
    ]);
    await expect(send({type: 'audio', data: 'AAAA', mimeType: 'audio/wav'})).rejects.toThrow(/audio/);
    await expect(send({type: 'text', text: '  '})).rejects.toThrow(/empty/);
    await expect(acp.prompt('no-such-id', 'hi')).rejects.toThrow(/session/i);
    await expect(acp.agent.request(methods.agent.session.load, {sessionId: 'x', cwd, mcpServers: []})).rejects.toThrow(
      /x/,
    );
    await expect(acp.agent.request(methods.agent.session.new, {cwd: '/no/such', mcpServers: []})).rejects.toThrow(
      /no\/such/,
    );
    await expect(acp.agent.request(methods.agent.authenticate, {methodId: 'x'})).rejects.toThrow(/environment/);

    const from = acp.updates.length;
    expect(await acp.prompt(sessionId, '/status')).toMatchObject({stopReason: 'end_turn'});
    expect(acp.said(from)).toContain('haiku');
    const setMode = (modeId: string) => acp.agent.request(methods.agent.session.setMode, {sessionId, modeId});
    await expect(setMode('bypassPermissions')).rejects.toThrow(/no mode/);
    await setMode('acceptEdits');
    await acp.until(({sessionUpdate}) => sessionUpdate === 'current_mode_update', from);
    expect(acp.of('current_mode_update', from)).toMatchObject([{currentModeId: 'acceptEdits'}]);
    await acp.prompt(sessionId, 'write b.txt');
    expect(acp.asked).toEqual([]);
    expect(readFileSync(path.join(cwd, 'b.txt'), 'utf8')).toBe('x');
  });

  it('sends what it can read of a prompt, and tells the person and the model what it cannot', async () => {
    const server = await serve([say('seen')]);
    const {path: cwd} = await project();
    const acp = await startAcp([], {server});
    const sessionId = await acp.open(cwd);
    const prompt = [
      {type: 'text', text: 'What is in '},
      {type: 'resource_link', uri: 'file://elsewhere/a.txt', name: 'a.txt'},
      {type: 'resource', resource: {uri: `file://${cwd}/a.pdf`, blob: 'AAAA', mimeType: 'application/pdf'}},
      {type: 'audio', data: 'AAAA', mimeType: 'audio/wav'},
      {type: 'image', data: 'AAAA', mimeType: 'image/tiff'},
      {type: 'text', text: '?'},
    ];
    const asked = acp.agent.request(methods.agent.session.prompt, {sessionId, prompt: prompt as never});
    expect(await asked).toMatchObject({stopReason: 'end_turn'});
    const [words, rest] = server.requests[0]!.body.messages[0]!.content as unknown as {text: string}[];
    const unread = [
      `the attached data file://${cwd}/a.pdf: `,
      'content of the type audio: ',
      'an image of the type image/tiff: ',
    ];
    expect(`${words?.text}${rest?.text ?? ''}`).toContain('What is in @file://elsewhere/a.txt?');
    for (const each of unread) {
      expect(`${words?.text}${rest?.text ?? ''}`).toContain(`(mini-cc cannot read ${each}`);
      expect(acp.said()).toContain(`> mini-cc cannot read ${each}`);
    }
  });

  it('gives a command file that comes during a turn a turn of its own, after it', async () => {
    const server = await serve([slow(say('the first answer'), 60), say('the second answer')]);
    const [{path: cwd, write}, place] = [await project(), await home()];
    await write('.mini-cc/commands/quick.md', '---\nmodel: haiku\n---\nBe quick about $1.');
    const acp = await startAcp([], {server, home: place});
    const sessionId = await acp.open(cwd);
    const first = acp.prompt(sessionId, 'slowly');
    await server.waitForRequests(1);
    const second = acp.prompt(sessionId, '/quick tests');
    expect(await Promise.all([first, second])).toMatchObject([{stopReason: 'end_turn'}, {stopReason: 'end_turn'}]);
    expect(acp.said()).toContain('the second answer');
    expect(server.requests).toHaveLength(2);
    expect(JSON.stringify(server.requests[0]!.body.messages)).not.toContain('quick');
    expect(JSON.stringify(server.requests[1]!.body.messages)).toContain('Be quick about tests.');
    expect(server.requests.map(({body}) => /haiku/.test(body.model))).toEqual([false, true]);
  });

  it('uses the MCP servers that the editor names for a session', async () => {
    const played = path.resolve(import.meta.dirname, '../extensions/mcp/played-server.mjs');
    const server = await serve((body) => {
      const asked = body.messages.length > 1;
      return asked ? say('Heard.') : callTool('mcp__play__echo', {text: 'hello'}, 'm1');
    });
    const {path: cwd} = await project();
    const acp = await startAcp(['--allowed-tools', 'mcp__play'], {server});
    const mcpServers: McpServer[] = [
      {name: 'play', command: process.execPath, args: [played], env: [{name: 'A', value: 'b'}]},
    ];
    const {sessionId} = await acp.agent.request(methods.agent.session.new, {cwd, mcpServers});
    await acp.prompt(sessionId, 'say hello');
    const ends = acp.of('tool_call_update').filter(({toolCallId}) => toolCallId === 'm1');
    expect(acp.of('tool_call')).toMatchObject([{toolCallId: 'm1', name: 'mcp__play__echo'}]);
    expect(JSON.stringify(ends.at(-1))).toContain('you said hello');
    expect(acp.said()).toBe('Heard.');
  });

  it('shows a subagent as one card: its calls, its edits with diffs, its questions, its end', async () => {
    const task = {
      name: 'Task',
      input: {description: 'add a file', prompt: 'Write c.txt', agent_type: 'code'},
      id: 'task1',
    };
    const server = await serve((body) => {
      const isSubagent = !body.tools?.some(({name}) => name === 'Task');
      const steps = body.messages.filter(({role}) => role === 'assistant').length;
      if (!isSubagent) return steps === 0 ? callTools([task]) : say('It is there.');
      return (
        [callTool('glob', {pattern: '*.json'}, 'g1'), callTool('write_file', {path: 'c.txt', content: 'c\n'}, 'cw1')][
          steps
        ] ?? say('Wrote c.txt.')
      );
    });
    const {path: cwd} = await project();
    const acp = await startAcp([], {server});
    const sessionId = await acp.open(cwd);
    await acp.prompt(sessionId, 'add c.txt');
    expect(acp.of('tool_call').map(({toolCallId, kind}) => [toolCallId, kind])).toEqual([
      ['task1', 'think'],
      ['cw1', 'edit'],
    ]);
    expect(acp.asked).toMatchObject([{toolCall: {toolCallId: 'cw1', title: expect.stringContaining('code')}}]);
    const ofTask = acp.of('tool_call_update').filter(({toolCallId}) => toolCallId === 'task1');
    const texts = ofTask.flatMap(({content}) => content ?? []).map((each) => JSON.stringify(each));
    expect(texts.some((text) => text.includes('- Glob *.json') && text.includes('- Write c.txt'))).toBe(true);
    expect(ofTask.at(-1)).toMatchObject({status: 'completed'});
    expect(JSON.stringify(ofTask.at(-1))).toContain('Wrote c.txt.');
    expect(
      acp
        .of('tool_call_update')
        .filter(({toolCallId}) => toolCallId === 'cw1')
        .at(-1),
    ).toMatchObject({
      status: 'completed',
      content: [{type: 'diff', path: path.join(cwd, 'c.txt'), oldText: null, newText: 'c'}],
    });
    expect(acp.said()).toMatch(/^It is there\.\n\n1 subagent · /);
  });
});
