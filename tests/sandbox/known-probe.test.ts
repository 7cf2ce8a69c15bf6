import {chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {createSandbox} from '../../src/sandbox/index.ts';

/** A `bwrap` that counts how often it is started, and ends with `code`. */
function setUp(code = 0) {
  const folder = mkdtempSync(path.join(tmpdir(), 'mini-cc-probe-'));
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}));
  const program = path.join(folder, 'bwrap');
  const write = (exit: number) => {
    writeFileSync(program, `#!/bin/sh\necho x >> ${folder}/starts\nexit ${exit}\n`);
    chmodSync(program, 0o755);
  };
  write(code);
  const look = async (knownIn: string | undefined = folder) => {
    const sandbox = createSandbox({home: folder, miniCcHome: folder, platform: 'linux', searchPath: folder, knownIn});
    const {available} = await sandbox.status();
    sandbox.folder.close();
    return available;
  };
  const starts = () => readFileSync(path.join(folder, 'starts'), 'utf8').split('\n').length - 1;
  return {folder, look, starts, write};
}

test.runIf(process.platform === 'linux')('a sandbox that was found to work is not tried at each start', async () => {
  const {folder, look, starts, write} = setUp();
  expect([await look(), await look(), await look()]).toEqual([true, true, true]);
  expect(starts()).toBe(1);

  // Another program, or another way to call it, is tried.
  write(1);
  expect(await look()).toBe(false);
  write(0);
  expect(await look()).toBe(true);
  expect(starts()).toBe(3);

  // What is a day old or damaged does not count.
  const file = path.join(folder, 'sandbox.json');
  const known = JSON.parse(readFileSync(file, 'utf8')) as {at: number};
  for (const text of [JSON.stringify({...known, at: known.at - 25 * 3_600_000}), '{"key": 1', 'null']) {
    writeFileSync(file, text);
    expect(await look()).toBe(true);
  }
  expect(starts()).toBe(6);
});

test.runIf(process.platform === 'linux')('a sandbox that does not work is tried again at each start', async () => {
  const {look, starts} = setUp(1);
  expect([await look(), await look()]).toEqual([false, false]);
  expect(starts()).toBe(2);
});

test.runIf(process.platform === 'linux')('where nothing is remembered, or nothing can be, it is tried', async () => {
  const {folder, look, starts} = setUp();
  const missing = path.join(folder, 'missing');
  expect([await look(missing), await look(missing)]).toEqual([true, true]);
  expect(starts()).toBe(2);
});
