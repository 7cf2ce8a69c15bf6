import {execFileSync, spawn} from 'node:child_process';
import {existsSync, linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync} from 'node:fs';
import {hostname, tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {comparePlaces, getProcessPlace, type ProcessPlace} from '../../../src/core/util/process-owner.ts';
import {findForeignLock, isLeftLocked, isLocked, SessionLock} from '../../../src/storage/sessions/session-lock.ts';

const folder = () => mkdtempSync(path.join(tmpdir(), 'mini-cc-lock-'));

describe('the lock of a session', () => {
  it('belongs to one process; the second one gets one clear line', () => {
    const place = folder();
    const lock = new SessionLock(place, 's1');
    lock.acquire();
    lock.acquire();
    expect(isLocked(place)).toBe(true);
    expect(() => new SessionLock(place, 's1').acquire()).toThrow(
      /^Session s1 is open in another mini-cc \(process \d+\): leave that one first, or start a new session$/,
    );
    lock.release();
    expect(readdirSync(place)).toEqual([]);
    expect(isLocked(place)).toBe(false);
    new SessionLock(place, 's1').acquire();
  });

  it('is taken over from a process that has ended, also when its id belongs to another process now', async () => {
    const place = folder();
    const child = spawn('true');
    await new Promise((resolve) => child.once('exit', resolve));
    const write = (holder: object) => writeFileSync(path.join(place, 'lock'), JSON.stringify(holder));
    for (const holder of [
      {version: 1, pid: child.pid, started: '1', host: hostname()},
      {version: 1, pid: process.pid, started: 'another time', host: hostname()},
    ]) {
      write(holder);
      expect(isLocked(place)).toBe(false);
      const lock = new SessionLock(place, 's1');
      lock.acquire();
      expect(JSON.parse(readFileSync(path.join(place, 'lock'), 'utf8'))).toMatchObject({pid: process.pid});
      lock.release();
      expect(readdirSync(place)).toEqual([]);
    }
    writeFileSync(path.join(place, 'lock'), '{"vers');
    new SessionLock(place, 's1').acquire();
    expect(isLocked(place)).toBe(true);
  });

  const here = getProcessPlace();
  const machine = 'pid:[4026531836]';
  const ofMachine = {...here, machine: 'this', pidNamespace: machine};
  it.each<[string, Partial<ProcessPlace>, string]>([
    [
      'another machine',
      {host: 'elsewhere', boot: 'other'},
      'mini-cc on another machine (elsewhere, process 1), since 3 h',
    ],
    ['an earlier version on another machine', {host: 'elsewhere'}, 'on another machine (elsewhere'],
    [
      'a container with the same name',
      {...here, pidNamespace: 'pid:[4026539999]'},
      `in another container (${here.host}`,
    ],
    ['a machine with the same name', {...here, boot: 'other', pidNamespace: 'pid:[4026539999]'}, 'on another machine'],
  ])('of %s is left alone and named with its age, and taken over when the user says so', (_, holder, words) => {
    const place = folder();
    const file = path.join(place, 'lock');
    writeFileSync(file, JSON.stringify({version: 1, pid: 1, started: '', ...holder}));
    const at = new Date(Date.now() - 3 * 3_600_000);
    utimesSync(file, at, at);
    expect(() => new SessionLock(place, 's1').acquire()).toThrow(words);
    expect(() => new SessionLock(place, 's1').acquire()).toThrow('If that one has ended: add --take-over');
    expect(findForeignLock(place, 's1')).toContain(words);
    expect([isLocked(place), isLeftLocked(place)]).toEqual([true, false]);
    const lock = new SessionLock(place, 's1', {takeOver: true});
    lock.acquire();
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({pid: process.pid, ...here});
    lock.release();
  });

  it.each([
    [-5, '0 min'],
    [1.6, '2 min'],
    [119, '119 min'],
    [120, '2 h'],
    [47.4 * 60, '47 h'],
    [47.6 * 60, '2 days'],
    [100 * 60, '4 days'],
  ])('that is %d minutes old is named with its age, %s', (minutes, words) => {
    const place = folder();
    const file = path.join(place, 'lock');
    writeFileSync(file, JSON.stringify({version: 1, pid: 1, started: '', host: 'elsewhere'}));
    const at = new Date(Date.now() - minutes * 60_000);
    utimesSync(file, at, at);
    expect(findForeignLock(place, 's1')).toMatch(new RegExp(`, since ${words}$`));
  });

  it('of a live process here is not taken over, also when the user asks for it', () => {
    const place = folder();
    new SessionLock(place, 's1').acquire();
    expect(() => new SessionLock(place, 's1', {takeOver: true}).acquire()).toThrow('is open in another mini-cc');
  });

  it('that was taken over keeps its former holder from writing and from removing it; a deleted one is created anew', () => {
    const place = folder();
    const file = path.join(place, 'lock');
    const lock = new SessionLock(place, 's1');
    lock.acquire();
    rmSync(file);
    lock.acquire();
    expect(isLocked(place)).toBe(true);
    rmSync(file);
    // Not the number of the file that was deleted just now.
    writeFileSync(path.join(place, 'other'), '');
    writeFileSync(file, JSON.stringify({version: 1, pid: 7, started: '', host: 'elsewhere'}));
    expect(() => lock.acquire()).toThrow('Session s1 was taken over by process 7 on elsewhere');
    lock.release();
    expect(existsSync(file)).toBe(true);
  });

  it('is put back when another process took it after it was judged stale', () => {
    const place = folder();
    const file = path.join(place, 'lock');
    const pipe = path.join(folder(), 'pipe');
    new SessionLock(place, 's1').acquire();
    const alive = readFileSync(file, 'utf8');
    rmSync(file);
    // The lock is read from a pipe: first its holder has ended, after it was set aside its holder is alive.
    execFileSync('mkfifo', [file]);
    linkSync(file, pipe);
    const aside = `${file}.stale.${process.pid}`;
    const write = (holder: string) => `printf %s '${holder}' >'${pipe}'`;
    const ended = JSON.stringify({...JSON.parse(alive), started: 'another time'});
    const other = spawn('sh', [
      '-c',
      `${write(ended)}; until [ -e '${aside}' ]; do sleep 0.01; done; ${write(alive)}
       while [ -e '${aside}' ]; do sleep 0.01; done; ${write(alive)}`,
    ]);
    onTestFinished(() => void other.kill());
    expect(() => new SessionLock(place, 's1').acquire()).toThrow('is open in another mini-cc');
    expect(readdirSync(place)).toEqual(['lock']);
  });

  it('from before a restart of the machine is stale; where containers may look so, it is not', () => {
    expect(comparePlaces({...ofMachine, boot: 'before'}, ofMachine)).toBe('before restart');
    expect(comparePlaces({...ofMachine, boot: 'before', machine: 'that'}, ofMachine)).toBe('other machine');
    const inside = {...ofMachine, pidNamespace: 'pid:[4026539999]'};
    expect(comparePlaces({...inside, boot: 'before'}, inside)).toBe('other machine');
  });
});
