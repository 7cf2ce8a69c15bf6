/** What the store does with whole sessions: it forks, lists, finds and erases them, and keeps the outputs that were cut. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import type {FanOutLine} from '../../../src/core/contract/fan-out.ts';
import {Redactor} from '../../../src/core/secrets/redaction.ts';
import {History} from '../../../src/core/turn/history.ts';
import {createFanOutJournal} from '../../../src/storage/sessions/fan-out-journal.ts';
import {getProjectFolder, SessionStore} from '../../../src/storage/sessions/session-store.ts';
import {readTranscript} from '../../../src/storage/sessions/transcript.ts';
import {TranscriptWriter} from '../../../src/storage/sessions/transcript-writer.ts';

const KEY = 'sk-test-0123456789';
const redactor = new Redactor([{name: 'SOME_KEY', value: KEY}]);

function given(cwd = '/project/x') {
  const home = mkdtempSync(path.join(tmpdir(), 'mini-cc-store-'));
  const store = new SessionStore(home, cwd, redactor);
  const add = (id: string, at: number, ...texts: readonly string[]) => {
    const open = store.openSession(id);
    const history = new History(open.journal);
    for (const text of texts) history.appendPrompt(text);
    open.close();
    utimesSync(open.transcript, at, at);
    return open.transcript;
  };
  const lockElsewhere = (id: string) =>
    writeFileSync(
      path.join(store.sessionFolder(id), 'lock'),
      JSON.stringify({version: 1, pid: 7, started: '', host: 'elsewhere', boot: 'other'}),
    );
  return {home, store, add, lockElsewhere};
}
const said = (file: string) =>
  readTranscript(file).entries.map((entry) => entry.type === 'message' && entry.message.content);

describe('a fork', () => {
  it('has the whole lines of the conversation and a header of its own, and the first session stays as it is', () => {
    const {store, add} = given();
    const file = add('first', 1000, 'one', 'two');
    appendFileSync(file, '{"type":"message","torn');
    const before = readFileSync(file, 'utf8');
    store.fork('first', 'second');
    const copy = store.find('second').transcript;
    expect(readTranscript(copy).header).toMatchObject({id: 'second', agent: 'main', cwd: '/project/x', version: 1});
    expect(said(copy)).toEqual(['one', 'two']);
    expect(readFileSync(copy, 'utf8')).not.toMatch(/torn|"id":"first"/);
    expect(readFileSync(copy, 'utf8').split('\n')).toHaveLength(4);
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect(readdirSync(path.dirname(copy))).toEqual(['session.jsonl']);
    expect([path.dirname(copy), copy].map((each) => statSync(each).mode & 0o777)).toEqual([0o700, 0o600]);
    expect(() => store.fork('first', 'second')).toThrow('Session second exists already: choose another id');
  });

  it('of a session whose first line is damaged has all that can be read; of one where nothing can, there is none', () => {
    const {store, add} = given();
    const file = add('first', 1000, 'one');
    writeFileSync(file, readFileSync(file, 'utf8').slice(20));
    store.fork('first', 'second');
    expect(said(store.find('second').transcript)).toEqual(['one']);
    writeFileSync(file, '{"torn');
    expect(() => store.fork('first', 'third')).toThrow('cannot be continued: it is damaged');
    expect(store.exists('third')).toBe(false);
  });
});

describe('sessions of a directory', () => {
  it('are listed with what was asked first, the newest first, and with what prevents their use', () => {
    const {store, add, lockElsewhere} = given();
    expect([store.list(), store.latest().whole]).toEqual([[], undefined]);
    add('old', 1000, 'one', 'two');
    writeFileSync(add('void', 2000, 'x'), '');
    lockElsewhere('old');
    const old = {id: 'old', at: 1_000_000, messages: 2, prompt: 'one'};
    expect(store.summaries()).toEqual([
      {id: 'void', at: expect.any(Number), messages: 0, prompt: '', problem: 'it is empty'},
      {...old, lockedBy: expect.stringMatching(/^Session old is locked by mini-cc on another machine \(elsewhere, /)},
    ]);
    expect(store.find('old').id).toBe('old');
  });

  it('are found by an id that begins the id of another', () => {
    const {store, add} = given();
    for (const id of ['a-1', 'a']) add(id, 1000, 'x');
    expect([store.find('a').id, store.find('a-').id]).toEqual(['a', 'a-1']);
    for (const id of ['.hidden', 'a..b', '-a', 'a b']) expect(() => store.find(id)).toThrow('Not a session id');
  });

  it('are erased whole, but not while a mini-cc has them open here or elsewhere', () => {
    const {store, add, lockElsewhere} = given();
    add('one', 1000, 'x');
    const open = store.openSession('one');
    expect(() => store.erase('one')).toThrow('Session one is open in another mini-cc: leave that one first');
    open.close();
    lockElsewhere('one');
    const lock = path.join(store.sessionFolder('one'), 'lock');
    expect(() => store.erase('one')).toThrow(`If that one has ended, delete ${lock} first`);
    expect(() => store.openSession('one')).toThrow('add --take-over');
    store.openSession('one', {takeOver: true}).close();
    mkdirSync(path.join(store.sessionFolder('one'), 'output'));
    store.erase('o');
    expect(existsSync(store.sessionFolder('one'))).toBe(false);
  });

  it('have a folder whose name a file system takes, and of which agents may read what was said', () => {
    const {home, store} = given();
    const at = (length: number) => path.basename(getProjectFolder(home, `/${'a'.repeat(length - 2)}z`));
    expect(at(200)).toBe(`-${'a'.repeat(198)}z`);
    expect(at(201)).toBe(`-${'a'.repeat(99)}-${'a'.repeat(98)}z`);
    expect(store.getReadablePlaces('s')).toEqual(
      ['session.jsonl', 'output', 'subagents'].map((name) => path.join(home, 'projects', '-project-x', 's', name)),
    );
  });
});

it('a cut output is kept without keys, also where one lies across two pieces, under a name that fits', () => {
  const {store} = given();
  const {output} = store.openSession('s');
  const file = output.open(`a/b ${'c'.repeat(200)}`);
  for (const piece of ['before ', KEY.slice(0, 8), KEY.slice(8), ' after ', 's']) file.write(piece);
  file.close();
  expect(readFileSync(file.path, 'utf8')).toBe('before [redacted: SOME_KEY] after s');
  expect(path.basename(file.path)).toBe(`a_b_${'c'.repeat(116)}.txt`);
  expect(statSync(path.dirname(file.path)).mode & 0o777).toBe(0o700);
});

it('a line that the lock refuses is not written later, and the next one is', () => {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'mini-cc-store-')), 'session.jsonl');
  let isRefused = true;
  const beforeLine = () => {
    if (isRefused) throw new Error('taken over');
  };
  const writer = new TranscriptWriter(file, {id: 'one', agent: 'main', cwd: '/work'}, redactor, {beforeLine});
  const line = (content: string) => ({
    ...({type: 'message', uuid: content, at: '', message: {role: 'user', content}} as const),
  });
  expect(() => writer.append(line('refused'))).toThrow('taken over');
  isRefused = false;
  writer.append(line('next'));
  expect(said(file)).toEqual(['next']);
});

describe('the journal of fan-outs', () => {
  const line = (id: string) => ({id, type: 'agent', agentId: KEY}) satisfies FanOutLine;
  const journal = ({store}: ReturnType<typeof given>, id = 'now') =>
    createFanOutJournal(
      store,
      () => id,
      (value) => redactor.values(value),
    );

  it('has its steps in their order, by session, without keys; a torn line is passed over', () => {
    const place = given();
    const {read, append} = journal(place);
    expect(read()).toEqual([]);
    append(line('one'));
    const file = path.join(place.store.sessionFolder('now'), 'fan-outs.jsonl');
    appendFileSync(file, 'null\n3\n{"id": "no type"}\n{"type": "no id"}\n{"id": "torn');
    append(line('two'));
    append(line('three'), 'other');
    expect(read()).toEqual(['one', 'two'].map((id) => ({...line(id), agentId: '[redacted: SOME_KEY]'})));
    expect(read('other').map(({id}) => id)).toEqual(['three']);
    expect([path.dirname(file), file].map((each) => statSync(each).mode & 0o777)).toEqual([0o700, 0o600]);
  });

  it('names the earlier sessions that have one and are not open, the newest first, twenty at most', () => {
    const place = given();
    const {append, earlierSessions} = journal(place);
    expect(earlierSessions()).toEqual([]);
    const ids = Array.from({length: 23}, (_, index) => `s${index}`);
    for (const [index, id] of ['now', 'plain', ...ids].entries()) place.add(id, 1000 + index, 'x');
    expect(earlierSessions()).toEqual([]);
    for (const id of ['now', ...ids]) append(line('one'), id);
    place.lockElsewhere('s22');
    expect(earlierSessions()).toEqual(ids.slice(2, 22).toReversed());
  });
});
