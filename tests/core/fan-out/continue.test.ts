/** A fan-out that was cut off: the next start says what is done, and it goes on with the rest. */
import {appendFileSync, readdirSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {readFanOuts} from '../../../src/core/fan-out/state.ts';
import {hangBeforeHeaders, type MessagesBody, status} from '../../support/messages-server.ts';
import {until} from '../../support/wait.ts';
import {changeAll, countSuccessful, getPartFiles, getText, numbered, openProject} from './session-fixture.ts';

/** The second part gets this reply, until `isOpen`. */
function closed(reply = hangBeforeHeaders) {
  const state = {isOpen: false};
  const script = (body: MessagesBody) =>
    getPartFiles(body)?.includes('src/f003.ts') && !state.isOpen ? reply() : changeAll(body);
  return {state, script};
}

async function cutOff() {
  const {state, script} = closed();
  const made = await openProject({files: numbered(9), script});
  const {session} = made;
  const ended = session.submit('Refactor all files');
  await until(() => countSuccessful(session) === 2, 'the end of two parts');
  const {sessionId} = session.info;
  await session.close();
  await ended;
  state.isOpen = true;
  return {...made, sessionId, before: made.server.requests.length};
}

const CUT_OFF =
  'The fan-out "Refactor all files" was cut off: of 3 parts parts 1 and 3 are done, part 2 is missing. /fanout continue goes on with it; /fanout undo takes it back.';

test('the session goes on with the parts that are missing, and undo takes back all of it', async () => {
  const {open, folder, server, sessionId, before} = await cutOff();
  expect(await folder.git('diff', '--stat')).toContain('6 files changed');
  const {session} = await open({which: {type: 'resume', id: sessionId}});
  expect(session.info.warnings).toContain(CUT_OFF);
  expect(getText(await session.submit('/fanout'))).toContain('(not finished: /fanout continue runs what is missing)');
  const text = getText(await session.submit('/fanout continue'));
  expect(text).toMatch(/^fan-out: 3 agents · 3 ok · 9 files changed/);
  expect(server.requests.slice(before).flatMap(({body}) => getPartFiles(body) ?? [])).toEqual(
    Array.from({length: 3}, () => ['src/f003.ts', 'src/f004.ts', 'src/f005.ts']).flat(),
  );
  expect(await session.submit('/fanout continue')).toMatchObject({
    result: {error: 'There is no fan-out to go on with. /fanout shows the last one.'},
  });
  expect(getText(await session.submit('/fanout undo'))).toMatch(/^9 files restored/);
  expect(await folder.git('status', '--short')).toBe('');
});

test('a new session of the project says it, too, goes on with it, and takes all of it back', async () => {
  const {open, folder} = await cutOff();
  const {session} = await open();
  expect(session.info.warnings).toContain(CUT_OFF);
  expect(getText(await session.submit('/fanout continue'))).toMatch(/^fan-out: 3 agents · 3 ok · 9 files changed/);
  expect(await folder.git('diff', '--stat')).toContain('9 files changed');
  expect(getText(await session.submit('/fanout undo'))).toMatch(/^9 files restored/);
  expect(await folder.git('status', '--short')).toBe('');
  // It is told once: the next start has nothing to say.
  expect((await open()).session.info.warnings).not.toContain(CUT_OFF);
});

test('a new session takes back what was cut off, without going on with it', async () => {
  const {open, folder} = await cutOff();
  const {session} = await open();
  expect(getText(await session.submit('/fanout undo'))).toMatch(/^6 files restored/);
  expect(await folder.git('status', '--short')).toBe('');
});

test('a part that failed can be gone on with, in its session', async () => {
  const {state, script} = closed(() => status(400, {message: 'too bad'}));
  const {session} = await openProject({files: numbered(9), script});
  expect(getText(await session.submit('Refactor all files'))).toMatch(/2 ok · 1 failed/);
  state.isOpen = true;
  expect(getText(await session.submit('/fanout continue'))).toMatch(/^fan-out: 3 agents · 3 ok · 9 files changed/);
});

test('a journal with a torn or foreign line is read as far as it goes; a newer format is left alone', async () => {
  const {open, sessionId} = await cutOff();
  const {session} = await open({which: {type: 'resume', id: sessionId}});
  const home = path.dirname(path.dirname(session.info.transcript));
  const [id] = readdirSync(home).filter((name) => name === sessionId);
  appendFileSync(path.join(home, id!, 'fan-outs.jsonl'), '{"type":"part_end","id"');
  await session.close();
  expect((await open()).session.info.warnings).toContain(CUT_OFF);
  const plan = {
    type: 'plan',
    id: 'x',
    version: 2,
    at: 0,
    instruction: '',
    parts: [],
    tools: [],
    allowed: true,
  } as const;
  expect(
    readFanOuts([
      plan,
      {
        type: 'end',
        id: 'x',
        report: {line: '', text: '', results: {total: 0, successful: 0, failed: 0, filesModified: 0}},
      },
    ]),
  ).toEqual([]);
});
