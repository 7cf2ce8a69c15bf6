import {existsSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {say} from '../support/messages-server.ts';
import {runCli} from '../support/run-cli.ts';
import {callTools} from '../support/scripted-replies.ts';
import {explore, home, isSubagent, project, serve} from './fixture.ts';

async function twoSessions() {
  const server = await serve((body) => {
    if (isSubagent(body)) return say('found in src/greet.ts:4');
    return body.messages.length === 1 && JSON.stringify(body.messages).includes('explore')
      ? callTools([explore()])
      : say('Hello, Ada.');
  });
  const at = {server, home: await home(), cwd: (await project()).path};
  await runCli(['-p', 'I am Ada', '--session-id', '11111111-9d4a-4c6b-8e5f-0a1b2c3d4e5f'], at);
  await runCli(['-p', 'explore it', '--session-id', '22222222-9d4a-4c6b-8e5f-0a1b2c3d4e5f'], at);
  return {...at, sessions: (...args: string[]) => runCli(['sessions', ...args], at)};
}

describe('mini-cc sessions', () => {
  it('lists the sessions of the directory, newest first, as text and as JSON', async () => {
    const {sessions, cwd} = await twoSessions();
    const text = await sessions('list');
    expect(text.stdout.split('\n')).toEqual([
      expect.stringMatching(/^22222222-\S+ {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}4 messages {4}explore it$/),
      expect.stringMatching(/^11111111-\S+ {2}.* {2}2 messages {4}I am Ada$/),
      '',
    ]);
    const [first] = JSON.parse((await sessions('list', '--json')).stdout);
    expect(first).toMatchObject({cwd, messages: 4, subagents: 1, prompt: 'explore it'});
    expect(existsSync(first.transcript)).toBe(true);
  });

  it('shows and exports a session by the beginning of its id', async () => {
    const {sessions} = await twoSessions();
    const shown = await sessions('show', '1111');
    expect(shown.stdout).toContain('messages:   2');
    expect(shown.stdout).toContain('## I am Ada\n\nHello, Ada.');
    expect((await sessions('export', '2222')).stdout).toMatch(/^## explore it\n\n- \*\*Task\*\* /);
    const lines = JSON.parse((await sessions('export', '2222', '--json')).stdout);
    expect(lines[0]).toMatchObject({type: 'session', version: 1});
    expect(lines.filter((line: {type: string}) => line.type === 'message')).toHaveLength(4);
  });

  it.each([
    ['show', []],
    ['export', ['md']],
    ['export', ['json']],
    ['export', ['html']],
  ])('%s %j shows hostile text, and the terminal obeys none of it', async (verb, format) => {
    const hostile = 'a\u001b[31mb\u009bc\u202ed';
    const server = await serve(() => say(hostile));
    const at = {server, home: await home(), cwd: (await project()).path};
    await runCli(['-p', 'x', '--session-id', '11111111-9d4a-4c6b-8e5f-0a1b2c3d4e5f'], at);
    const {code, stdout} = await runCli(['sessions', verb, '1111', ...format], at);
    expect({code, unsafe: stdout.match(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202e]/g)}).toEqual({code: 0, unsafe: null});
    if (format[0] === 'json') expect(JSON.parse(stdout).at(-1).message.content[0].text).toBe(hostile);
    else expect(stdout).toMatch(/a.*\[31mb.*c.*d/);
  });

  it('erases a session with its subagents, only with --yes', async () => {
    const {sessions, home: at} = await twoSessions();
    expect(await sessions('delete', '2222')).toMatchObject({code: 2, stderr: expect.stringContaining('say --yes')});
    expect(await sessions('delete', '2222', '--yes')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Erased 22222222'),
    });
    expect(JSON.parse((await sessions('list', '--json')).stdout)).toHaveLength(1);
    expect(existsSync(path.join(at.env.MINI_CC_HOME!, 'projects'))).toBe(true);
  });

  it.each([
    [['show'], /needs the id of one session/],
    [['show', 'ffff'], /No session ffff/],
    [['delete', '../..', '--yes'], /Not a session id/],
    [['list', 'extra'], /takes no words/],
    [['frob'], /there is no command mini-cc sessions frob\. There is list, show ID/],
  ])('%j is bad usage', async (args, words) => {
    const run = await runCli(['sessions', ...args]);
    expect(run).toMatchObject({code: 2, stdout: '', stderr: expect.stringMatching(words)});
  });
});
