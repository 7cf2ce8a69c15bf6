/** What servers ask of mini-cc: the person, the folders, and to wait for a task; and servers of the newest revision. */
import path from 'node:path';
import {expect, it} from 'vitest';
import type {Answer} from '../../../src/core/contract/events.ts';
import type {CommandQuestion} from '../../../src/core/contract/session-requests.ts';
import type {AskPerson} from '../../../src/extensions/mcp/elicitation.ts';
import {pause} from '../../support/wait.ts';
import {call, openServers, played, readLog, workFolder} from './fixture.ts';

const getRoots = () => ['/var/tmp', '/opt/with space'];
const typed = (note: string): Answer => ({choice: 'text', note});

/** A person who gives these answers in turn. */
function person(...answers: readonly (Answer | undefined)[]) {
  const asked: CommandQuestion[] = [];
  const ask: AskPerson = async (question) => answers[asked.push(question) - 1];
  return {asked, ask};
}

function open(ask: AskPerson | undefined, ...words: string[]) {
  const log = path.join(workFolder(), 'log');
  const {mcp} = openServers(
    {notes: {...played(log, 'asking', ...words), timeout: 3_000}},
    {questions: {getRoots, ...(ask && {ask})}},
  );
  return {mcp, log, source: mcp.forMain()};
}

it.each([[], ['newer']])('asks the person field by field for what a server wants to know %s', async (...words) => {
  const answers = [typed('A'), typed('Ada'), {choice: 'green'}, typed('7.5'), {choice: 'use 7'}, {choice: 'yes'}];
  const {asked, ask} = person(...answers, typed('Small, huge'), typed('small, LARGE'));
  const {source} = open(ask, ...words);
  const {text} = await call(source, 'mcp__notes__form');
  const content = {name: 'Ada', color: '#0f0', age: 7, sure: true, kinds: ['small', 'large']};
  expect(JSON.parse(text)).toEqual({action: 'accept', content});
  expect(asked.map(({because}) => because)).toEqual([
    ...[
      undefined,
      'it must have 2 to Infinity characters',
      undefined,
      undefined,
      'it must be a whole number',
      undefined,
    ],
    ...[undefined, 'huge is none of the choices; separate them by commas'],
  ]);
  expect(asked[0]).toMatchObject({
    title: 'The MCP server notes asks: Your name (1 of 5)',
    options: [],
    escape: 'decline',
  });
  expect(asked[2]?.options).toMatchObject([
    {digit: 1, label: 'red'},
    {digit: 2, label: 'green'},
  ]);
});

it('tells the server when the person declines, leaves, or opened the address', async () => {
  const {ask} = person({choice: 'decline'}, undefined, {choice: 'accept'});
  const {source} = open(ask);
  expect((await call(source, 'mcp__notes__form')).text).toBe('{"action":"decline"}');
  expect((await call(source, 'mcp__notes__form')).text).toBe('{"action":"cancel"}');
  expect((await call(source, 'mcp__notes__open')).text).toBe('{"action":"accept"}');
});

it('does not count the time in which the person thinks, and refuses where there is no person', async () => {
  let isAsked: () => void = () => undefined;
  const wait = new Promise<void>((resolve) => {
    isAsked = () => void pause(4_000, 'the person thinks for longer than the limit of a call').then(resolve);
  });
  const slow = open(async () => {
    isAsked();
    await wait;
    return {choice: 'decline'};
  });
  expect((await call(slow.source, 'mcp__notes__form')).text).toBe('{"action":"decline"}');
  const {source} = open(undefined);
  expect((await call(source, 'mcp__notes__form')).text).toMatch(/-32601/);
  expect((await call(source, 'mcp__notes__echo', {text: 'on'})).text).toContain('you said on');
});

it('tells servers the folders of the session, and waits for the result of a task', async () => {
  const {source, mcp, log} = open(undefined);
  const {roots} = JSON.parse((await call(source, 'mcp__notes__folders')).text);
  expect(roots).toEqual([
    {uri: 'file:///var/tmp', name: 'tmp'},
    {uri: 'file:///opt/with%20space', name: 'with space'},
  ]);
  await mcp.noteRoots();
  await expect.poll(() => readLog(log)).toContain('notifications/roots/list_changed');
  expect((await call(source, 'mcp__notes__long')).text).toBe('the result of the task');
});

it('refuses a server that asks a model, and the call goes on', async () => {
  const {source} = open(person().ask);
  expect((await call(source, 'mcp__notes__think')).text).toMatch(/-32601/);
  expect((await call(source, 'mcp__notes__echo', {text: 'on'})).text).toContain('you said on');
});

it('answers a server that may ask a model ten times during a call, and no more', async () => {
  const asked: string[] = [];
  const {mcp} = openServers(
    {notes: played(path.join(workFolder(), 'log'), 'asking')},
    {
      questions: {
        getRoots,
        sampling: {
          ...{allowed: ['notes'], granted: new Set()},
          async complete({messages}) {
            asked.push(messages[0]!.content[0]!.text);
            return {text: `answer ${asked.length}`, model: 'm', stopReason: 'endTurn'};
          },
        },
      },
    },
  );
  const {text} = await call(mcp.forMain(), 'mcp__notes__ponder');
  expect(asked).toEqual(Array.from({length: 10}, (_, at) => `${at + 1}?`));
  expect(text).toContain('answer 10');
  expect(text.match(/it asked 10 times already/g)).toHaveLength(2);
});

it('asks a program in the way of old servers first, and starts one of the newest revision once more', async () => {
  const {source, log} = open(undefined, 'newer');
  expect((await call(source, 'mcp__notes__echo', {text: 'x'})).text).toBe('you said x (1)');
  const methods = readLog(log).filter((line) => !/^(?:start|end|subscriptions)/.test(line));
  expect(methods).toEqual(['initialize', 'server/discover', 'tools/list', 'tools/call echo']);
});
