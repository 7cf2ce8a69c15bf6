import {statSync} from 'node:fs';
import path from 'node:path';
import {expect, it, onTestFinished} from 'vitest';
import {chooseSocket, removeLive} from '../../src/storage/live-sessions.ts';
import {emptyFolder} from '../support/workspace.ts';

it('a socket stands in a private folder elsewhere where the path of the home is too long', async () => {
  const folder = await emptyFolder();
  onTestFinished(folder.remove);
  const near = path.join(folder.path, 'h');
  expect(chooseSocket(near, {})).toBe(path.join(near, 'live', `${process.pid}.sock`));
  const far = path.join(folder.path, 'x'.repeat(120));
  const socket = chooseSocket(far, {XDG_RUNTIME_DIR: folder.path});
  expect(path.dirname(path.dirname(socket))).toBe(folder.path);
  expect(socket.length).toBeLessThan(108);
  expect(statSync(path.dirname(socket)).mode & 0o777).toBe(0o700);
  removeLive(far, {pid: process.pid, socket});
  expect(() => statSync(path.dirname(socket))).toThrow('ENOENT');
});
