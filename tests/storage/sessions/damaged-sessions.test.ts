import {execFileSync} from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {History} from '../../../src/core/turn/history.ts';
import {SessionStore} from '../../../src/storage/sessions/session-store.ts';
import {cleanUpAtStart} from '../../../src/storage/sessions/start-up-cleanup.ts';
import {readTranscript} from '../../../src/storage/sessions/transcript.ts';

const home = () => mkdtempSync(path.join(tmpdir(), 'mini-cc-bad-'));

function session(store: SessionStore, id: string, at: number): string {
  const open = store.openSession(id);
  new History(open.journal).append({role: 'user', content: `words of ${id}`});
  open.close();
  utimesSync(open.transcript, at, at);
  return open.transcript;
}

/** Changes only the version in the header. */
function makeNewer(file: string): void {
  writeFileSync(file, readFileSync(file, 'utf8').replace('"version":1', '"version":99'));
}

describe('a damaged session', () => {
  it.each([0, 30])('of %i bytes is listed, skipped by --continue, and does not affect other sessions', (bytes) => {
    const store = new SessionStore(home(), '/project/x');
    session(store, 'whole', 1000);
    const bad = session(store, 'bad', 2000);
    truncateSync(bad, bytes);
    expect(store.list().map(({id, header}) => [id, header?.id])).toEqual([
      ['bad', undefined],
      ['whole', 'whole'],
    ]);
    expect(store.latest().whole?.id).toBe('whole');
    expect(() => readTranscript(bad)).toThrow('is not a transcript of mini-cc');
    store.erase('bad');
    expect(store.list()).toHaveLength(1);
  });

  it('with a torn header is not continued: nothing is written and no lock is left', () => {
    const store = new SessionStore(home(), '/project/x');
    const bad = session(store, 'bad', 2000);
    truncateSync(bad, 30);
    expect(() => store.openSession('bad')).toThrow('cannot be continued: it is damaged, nothing in it can be read');
    expect(existsSync(path.join(path.dirname(bad), 'lock'))).toBe(false);
    expect(readFileSync(bad, 'utf8')).toHaveLength(30);
  });

  it.each([
    ['a pipe', (file: string) => execFileSync('mkfifo', [file])],
    ['a link to a device without end', (file: string) => symlinkSync('/dev/zero', file)],
    ['a folder', (file: string) => mkdirSync(file)],
  ])('that is %s is named and passed over, and is not continued', (_, create) => {
    const store = new SessionStore(home(), '/project/x');
    session(store, 'whole', 1000);
    const bad = path.join(store.sessionFolder('bad'), 'session.jsonl');
    mkdirSync(path.dirname(bad));
    create(bad);
    expect(store.latest().whole?.id).toBe('whole');
    const problem = `it cannot be read: ${bad} is not a regular file`;
    expect(store.list().find(({id}) => id === 'bad')?.problem).toContain(problem);
    expect(() => store.openSession('bad')).toThrow(problem);
    cleanUpAtStart({
      ...{folder: store.folder, cwd: '/project/x', archiveAfterMinutes: 60, retentionDays: 0},
      ...{openSession: 'bad', now: Date.now()},
    });
  });

  it('with a line that no request could hold goes on without it', () => {
    const store = new SessionStore(home(), '/project/x');
    const file = session(store, 'long', 1000);
    const fd = openSync(file, 'a');
    writeSync(fd, '{"type":"message","uuid":"big","message":{"role":"user","content":"');
    const part = Buffer.alloc(1024 * 1024, 'x');
    for (let written = 0; written < 65; written += 1) writeSync(fd, part);
    writeSync(fd, '"}}\n');
    closeSync(fd);
    appendFileSync(file, readFileSync(file, 'utf8').split('\n')[1]!);
    expect(readTranscript(file).entries.map(({type}) => type)).toEqual(['message', 'message']);
    writeFileSync(file, part, {flag: 'r+'});
    expect(store.list()[0]?.problem).toContain('its first line is damaged, 1 message can be read');
    store.openSession('long').close();
    expect(readTranscript(file).entries).toHaveLength(1);
  });

  it('that is empty does not exist yet: its id starts a new one', () => {
    const store = new SessionStore(home(), '/project/x');
    const bad = session(store, 'bad', 2000);
    truncateSync(bad, 0);
    expect(store.exists('bad')).toBe(false);
    session(store, 'bad', 2000);
    expect(readTranscript(bad)).toMatchObject({header: {id: 'bad', cwd: '/project/x'}, entries: [{type: 'message'}]});
  });
});

describe('a session whose first line is damaged', () => {
  const damage = (file: string) => {
    writeFileSync(file, readFileSync(file, 'utf8').slice(20));
    utimesSync(file, 2000, 2000);
  };

  it('is named with what can be done, and passed over for the newest whole one', () => {
    const store = new SessionStore(home(), '/project/x');
    session(store, 'whole', 1000);
    damage(session(store, 'bad', 2000));
    mkdirSync(path.join(store.folder, 'folder', 'session.jsonl'), {recursive: true});
    truncateSync(session(store, 'torn', 3000), 30);
    truncateSync(session(store, 'empty', 3000), 0);
    const {whole, passedOver} = store.latest();
    expect(whole?.id).toBe('whole');
    expect(Object.fromEntries(passedOver.map(({id, problem}) => [id, problem]))).toEqual({
      bad: 'its first line is damaged, 1 message can be read: --resume bad goes on with what can be read',
      torn: 'it is damaged, nothing in it can be read: mini-cc sessions delete torn removes it',
      folder: expect.stringMatching(
        /^it cannot be read: .*is not a regular file.*: mini-cc sessions delete folder removes it$/,
      ),
    });
  });

  it('goes on when it is asked for by its id: it gets a new first line, and keeps its lines', () => {
    const store = new SessionStore(home(), '/project/x');
    const bad = session(store, 'bad', 2000);
    damage(bad);
    const before = readFileSync(bad, 'utf8');
    const open = store.openSession('bad');
    expect(readFileSync(bad, 'utf8').endsWith(before)).toBe(true);
    new History(open.journal).append({role: 'user', content: 'more'});
    open.close();
    const read = readTranscript(bad);
    expect(read.header).toMatchObject({id: 'bad', cwd: '/project/x'});
    expect(read.entries.map(({type}) => type)).toEqual(['message', 'message']);
    expect(store.latest()).toMatchObject({whole: {id: 'bad'}, passedOver: []});
  });
});

describe('a session of a newer format', () => {
  it('is read but not continued, and --continue does not choose another one instead', () => {
    const store = new SessionStore(home(), '/project/x');
    session(store, 'old', 1000);
    const newer = session(store, 'newer', 2000);
    makeNewer(newer);
    appendFileSync(newer, '{"type":"message","message":"of another shape"}\n{"type":"new kind"}\n');
    utimesSync(newer, 2000, 2000);
    expect(readTranscript(newer).entries.map(({type}) => type)).toEqual(['message', 'new kind']);
    expect(store.latest().whole?.id).toBe('newer');
    expect(() => store.openSession('newer')).toThrow(/newer mini-cc \(format 99, .*can be read, not continued/);
  });
});

describe('the runs of a continued session', () => {
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

  it('a run of a newer format that was cut off is unknown, and its file stays as it is', () => {
    const {files, cutOff} = runs();
    const file = cutOff('r1');
    makeNewer(file);
    const before = readFileSync(file, 'utf8');
    // It has an end, so that none is written to the file.
    expect(files.list()).toMatchObject([{runId: 'r1', archived: false, end: {outcome: 'unknown'}}]);
    expect(readFileSync(file, 'utf8')).toBe(before);
    expect(() => files.reopen('r1')).toThrow(/newer mini-cc/);
  });

  it('a damaged run is left out', () => {
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

describe('two directories with the same folder name', () => {
  it.each([
    ['/p/a/b', '/p/a-b'],
    ['/工作/甲', '/项目/乙'],
  ])('%s and %s each have their own sessions', (here, there) => {
    const place = home();
    const [ours, theirs] = [new SessionStore(place, here), new SessionStore(place, there)];
    const file = session(ours, 'aaa-ours', 1000);
    session(theirs, 'aaa-theirs', 2000);
    expect(ours.folder).toBe(theirs.folder);
    expect(ours.list().map(({id}) => id)).toEqual(['aaa-ours']);
    expect(ours.latest().whole?.id).toBe('aaa-ours');
    expect(ours.find('aaa').id).toBe('aaa-ours');
    expect([ours.exists('aaa-ours'), theirs.exists('aaa-ours')]).toEqual([true, false]);
    expect(() => theirs.erase('aaa-ours')).toThrow('No session aaa-ours');
    expect(() => theirs.openSession('aaa-ours')).toThrow(`a session of another directory, ${here}`);
    expect(existsSync(file)).toBe(true);
  });
});
