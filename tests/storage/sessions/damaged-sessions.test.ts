import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {History} from '../../../src/core/turn/history.ts';
import {SessionStore} from '../../../src/storage/sessions/session-store.ts';
import {readTranscript} from '../../../src/storage/sessions/transcript.ts';

const home = () => mkdtempSync(path.join(tmpdir(), 'mini-cc-bad-'));

function session(store: SessionStore, id: string, at: number): string {
  const open = store.openSession(id);
  new History(open.journal).append({role: 'user', content: `words of ${id}`});
  open.close();
  utimesSync(open.transcript, at, at);
  return open.transcript;
}

/** Rewrites the header only: all else is as this version writes it. */
function makeNewer(file: string): void {
  writeFileSync(file, readFileSync(file, 'utf8').replace('"version":1', '"version":99'));
}

describe('a damaged session', () => {
  it.each([0, 30])('of %i bytes is listed, passed over by --continue, and in nobody else’s way', (bytes) => {
    const store = new SessionStore(home(), '/project/x');
    session(store, 'whole', 1000);
    const bad = session(store, 'bad', 2000);
    truncateSync(bad, bytes);
    expect(store.list().map(({id, header}) => [id, header?.id])).toEqual([
      ['bad', undefined],
      ['whole', 'whole'],
    ]);
    expect(store.latest()?.id).toBe('whole');
    expect(() => readTranscript(bad)).toThrow('is no transcript of mini-cc');
    store.erase('bad');
    expect(store.list()).toHaveLength(1);
  });

  it('whose header is torn says so when it is to go on, before a line is written or a lock is left', () => {
    const store = new SessionStore(home(), '/project/x');
    const bad = session(store, 'bad', 2000);
    truncateSync(bad, 30);
    expect(() => store.openSession('bad')).toThrow('damaged and cannot be continued');
    expect(existsSync(path.join(path.dirname(bad), 'lock'))).toBe(false);
    expect(readFileSync(bad, 'utf8')).toHaveLength(30);
  });

  it('that is empty is no session yet: its id begins one', () => {
    const store = new SessionStore(home(), '/project/x');
    const bad = session(store, 'bad', 2000);
    truncateSync(bad, 0);
    expect(store.exists('bad')).toBe(false);
    session(store, 'bad', 2000);
    expect(readTranscript(bad)).toMatchObject({header: {id: 'bad', cwd: '/project/x'}, entries: [{type: 'message'}]});
  });
});

describe('a session of a newer version', () => {
  it('is read and not continued; --continue takes no other in its place', () => {
    const store = new SessionStore(home(), '/project/x');
    session(store, 'old', 1000);
    const newer = session(store, 'newer', 2000);
    makeNewer(newer);
    appendFileSync(newer, '{"type":"message","message":"of another shape"}\n{"type":"new kind"}\n');
    utimesSync(newer, 2000, 2000);
    expect(readTranscript(newer).entries.map(({type}) => type)).toEqual(['message', 'new kind']);
    expect(store.latest()?.id).toBe('newer');
    expect(() => store.openSession('newer')).toThrow(/newer mini-cc \(format 99, .*can be read, not continued/);
  });
});

describe('runs of a session that goes on', () => {
  function runs() {
    const files = new SessionStore(home(), '/project/x').runStore(() => 's1');
    const facts = {agent: 'explore', description: 'look', model: 'm', background: false, cleanup: 'keep'} as const;
    const cutOff = (runId: string) => {
      const run = files.create({runId, ...facts});
      new History(run.journal).append({role: 'user', content: 'look'});
      run.park();
      return run.transcript;
    };
    return {files, cutOff};
  }

  it('one of a newer version that was cut off is told as unknown, and its file left as it is', () => {
    const {files, cutOff} = runs();
    const file = cutOff('r1');
    makeNewer(file);
    const before = readFileSync(file, 'utf8');
    // It has an end, so that nobody has to write one.
    expect(files.list()).toMatchObject([{runId: 'r1', archived: false, end: {outcome: 'unknown'}}]);
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect(() => files.reopen('r1')).toThrow(/newer mini-cc/);
  });

  it('one that is damaged is left out, whatever is wrong with it', () => {
    const {files, cutOff} = runs();
    cutOff('good');
    truncateSync(cutOff('empty'), 0);
    truncateSync(cutOff('torn'), 30);
    appendFileSync(
      cutOff('odd'),
      '{"type":"message"}\n{"type":"message","message":{"role":"user","content":[null]}}\n',
    );
    mkdirSync(path.join(path.dirname(cutOff('good2')), '..', 'folder', 'session.jsonl'), {recursive: true});
    expect(
      files
        .list()
        .map(({runId}) => runId)
        .sort(),
    ).toEqual(['good', 'good2', 'odd']);
    expect(files.read('torn')).toEqual([]);
  });
});

describe('two directories whose paths make one folder name', () => {
  it.each([
    ['/p/a/b', '/p/a-b'],
    ['/工作/甲', '/项目/乙'],
  ])('%s and %s have each their own sessions', (here, there) => {
    const place = home();
    const [ours, theirs] = [new SessionStore(place, here), new SessionStore(place, there)];
    const file = session(ours, 'aaa-ours', 1000);
    session(theirs, 'aaa-theirs', 2000);
    expect(ours.folder).toBe(theirs.folder);
    expect(ours.list().map(({id}) => id)).toEqual(['aaa-ours']);
    expect(ours.latest()?.id).toBe('aaa-ours');
    expect(ours.find('aaa').id).toBe('aaa-ours');
    expect([ours.exists('aaa-ours'), theirs.exists('aaa-ours')]).toEqual([true, false]);
    expect(() => theirs.erase('aaa-ours')).toThrow('No session aaa-ours');
    expect(() => theirs.openSession('aaa-ours')).toThrow(`a session of another directory, ${here}`);
    expect(existsSync(file)).toBe(true);
  });
});
