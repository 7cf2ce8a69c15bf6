import {spawn} from 'node:child_process';
import {existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {hostname, tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {isLocked, SessionLock} from '../../../src/storage/sessions/session-lock.ts';

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

  it('names the folder that cannot be written, and says what to do', () => {
    const file = path.join(folder(), 'file');
    writeFileSync(file, '');
    const place = path.join(file, 's1');
    expect(() => new SessionLock(place, 's1').acquire()).toThrow(
      /^Nothing can be written to .*s1 \(ENOTDIR.*\): free space there, or set MINI_CC_HOME to a folder that can be written$/,
    );
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

  it('of another machine is left alone', () => {
    const place = folder();
    writeFileSync(path.join(place, 'lock'), JSON.stringify({version: 1, pid: 1, started: '', host: 'elsewhere'}));
    expect(() => new SessionLock(place, 's1').acquire()).toThrow('process 1 on elsewhere');
    expect(existsSync(path.join(place, 'lock'))).toBe(true);
  });
});
