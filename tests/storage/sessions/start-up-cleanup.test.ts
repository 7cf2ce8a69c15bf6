import {spawn} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readdirSync, utimesSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {History} from '../../../src/core/turn/history.ts';
import {getProcessPlace} from '../../../src/core/util/process-owner.ts';
import {SessionStore} from '../../../src/storage/sessions/session-store.ts';
import {cleanUpAtStart} from '../../../src/storage/sessions/start-up-cleanup.ts';

const HOUR = 3_600_000;

function sessions() {
  const store = new SessionStore(mkdtempSync(path.join(tmpdir(), 'mini-cc-cleanup-')), '/project/x');
  const session = (id: string, ageHours: number) => {
    const open = store.openSession(id);
    new History(open.journal).append({role: 'user', content: 'x'});
    age(open.transcript, ageHours);
    return open;
  };
  const run = (sessionId: string, runId: string, ageHours: number, ended = true) => {
    const header = {runId, agent: 'explore', description: 'x', model: 'm', background: false, cleanup: 'keep'} as const;
    const open = store.runStore(() => sessionId).create(header);
    const history = new History(open.journal);
    history.append({role: 'user', content: 'x'});
    if (ended) history.recordEnd({outcome: 'success'});
    open.close();
    age(open.transcript, ageHours);
    return open.transcript;
  };
  const cleanUp = (change: {archiveAfterMinutes?: number; retentionDays?: number} = {}) =>
    cleanUpAtStart({
      ...{folder: store.folder, cwd: '/project/x'},
      ...{archiveAfterMinutes: 60, retentionDays: 0, openSession: 'open', now: Date.now()},
      ...change,
    });
  return {store, session, run, cleanUp};
}

function age(file: string, hours: number): void {
  const at = new Date(Date.now() - hours * HOUR);
  utimesSync(file, at, at);
}

describe('start-up cleanup', () => {
  it('archives only runs that ended an hour ago or earlier, also while mini-cc did not run', () => {
    const {store, session, run, cleanUp} = sessions();
    for (const id of ['closed', 'open']) session(id, 2).close();
    const live = session('live', 2);
    const old = run('closed', 'old', 1.01);
    // Rules that a person saved lie beside the sessions.
    writeFileSync(path.join(store.folder, 'permissions.json'), '{}');
    const kept = [
      run('closed', 'young', 0.9),
      run('closed', 'cut-off', 5, false),
      run('open', 'ours', 5),
      run('live', 'theirs', 5),
    ];
    cleanUp();
    expect(existsSync(old)).toBe(false);
    expect(readdirSync(path.dirname(old))).toEqual([expect.stringMatching(/^session\.jsonl\.deleted\.\d{4}-/)]);
    expect(kept.map((file) => existsSync(file))).toEqual([true, true, true, true]);
    live.close();
    cleanUp({archiveAfterMinutes: 0});
    expect(existsSync(kept[3]!)).toBe(true);
    cleanUp();
    expect(existsSync(kept[3]!)).toBe(false);
  });

  it('erases nothing unless retention days are set', () => {
    const {session, store, cleanUp} = sessions();
    session('ancient', 24 * 400).close();
    session('young', 24).close();
    cleanUp();
    expect(readdirSync(store.folder).sort()).toEqual(['ancient', 'young']);
    cleanUp({retentionDays: 30});
    expect(readdirSync(store.folder)).toEqual(['young']);
  });

  it('removes temporary files of killed processes, also beside files that they wrote, and of no live one', async () => {
    const root = mkdtempSync(path.join(tmpdir(), 'mini-cc-killed-'));
    const store = new SessionStore(path.join(root, 'home'), root);
    const child = spawn('true');
    await new Promise((resolve) => child.once('exit', resolve));
    const write = (pid: number | undefined, ...folder: string[]) => {
      const file = path.join(root, ...folder, `.mini-cc-draft-${pid}-0123456789ab`);
      mkdirSync(path.dirname(file), {recursive: true});
      writeFileSync(file, 'half of it');
      return file;
    };
    const sessions = ['killed', 'open'].map((id) => {
      const open = store.openSession(id);
      const input = {path: `src/of-${id}/a.ts`, content: 'x'};
      new History(open.journal).append({
        role: 'assistant',
        content: [{type: 'tool_use', id, name: 'write_file', input}],
      });
      open.close();
      return path.dirname(open.transcript);
    });
    writeFileSync(
      path.join(sessions[0]!, 'lock'),
      JSON.stringify({version: 1, pid: child.pid, started: '1', ...getProcessPlace()}),
    );
    writeFileSync(path.join(sessions[0]!, `lock.${child.pid}`), '{}');
    const places = [['home'], ['.mini-cc'], ['.mini-cc', 'agents'], ['src', 'of-killed'], ['src', 'of-open']];
    const left = [...places, ['src', 'restored']].map((place) => write(child.pid, ...place));
    const folders = [path.join(root, 'src', 'restored')];
    mkdirSync(path.join(sessions[0]!, 'checkpoints'));
    const line = {type: 'restoring', at: 1, id: 'a', files: 1, folders, by: {undo: '/fanout undo'}};
    writeFileSync(path.join(sessions[0]!, 'checkpoints', 'changes.jsonl'), JSON.stringify(line));
    const others = [write(process.pid, 'src', 'of-killed'), write(child.pid, 'elsewhere')];
    cleanUpAtStart({
      ...{folder: store.folder, cwd: root, archiveAfterMinutes: 60, retentionDays: 0, openSession: 'open'},
      now: Date.now(),
    });
    expect(left.filter((file) => existsSync(file))).toEqual([]);
    expect(others.map((file) => existsSync(file))).toEqual([true, true]);
    expect(readdirSync(sessions[0]!)).toEqual(['checkpoints', 'session.jsonl']);
  });

  it('leaves sessions of another directory whose folder has the same name', () => {
    const {store, session, cleanUp} = sessions();
    const other = new SessionStore(path.dirname(path.dirname(store.folder)), '/project-x');
    expect(other.folder).toBe(store.folder);
    session('ours', 100).close();
    const theirs = other.openSession('theirs');
    new History(theirs.journal).append({role: 'user', content: 'x'});
    theirs.close();
    age(theirs.transcript, 100);
    cleanUp({retentionDays: 1});
    expect(readdirSync(store.folder)).toEqual(['theirs']);
  });
});
