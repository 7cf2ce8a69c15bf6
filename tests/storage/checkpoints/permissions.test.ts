/** Permissions of files that commands removed. Git stores only whether a file is executable. */
import {chmodSync, lstatSync, readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {expect, it} from 'vitest';
import {OTHER, workspace} from './fixture.ts';

const getMode = (file: string) => lstatSync(file).mode & 0o7777;

it('a restored file has its earlier permissions', async () => {
  const {put, at, command, undo} = workspace({'a.txt': 'a'});
  put('private.key', 'k');
  chmodSync(at('private.key'), 0o600);
  put('run', '#!/bin/sh\n');
  chmodSync(at('run'), 0o700);
  await command('true');
  await command('rm private.key run');
  expect(await undo()).toEqual({'private.key': 'brought back', run: 'brought back'});
  expect([getMode(at('private.key')), getMode(at('run'))]).toEqual([0o600, 0o700]);
});

it('a state with unknown permissions equals the same content with known permissions', async () => {
  const {put, at, command, write, undo} = workspace({'a.txt': 'a'});
  put('private.txt', 'one');
  chmodSync(at('private.txt'), 0o600);
  await command('echo two > private.txt');
  await write('private.txt', 'three', OTHER);
  expect(await undo(OTHER)).toEqual({'private.txt': 'put back'});
  expect(await undo()).toEqual({'private.txt': 'put back'});
  expect([readFileSync(at('private.txt'), 'utf8'), getMode(at('private.txt'))]).toEqual(['one', 0o600]);
});

it('the first snapshot of many files stores them in a pack', async () => {
  const {run, home, command, undo, at} = workspace({}, {git: false});
  run('for n in $(seq 300); do echo "text $n" > "$n.txt"; done');
  await command('rm *.txt');
  const kept = readdirSync(path.join(home, 'session', 'checkpoints', 'git', 'objects'), {recursive: true});
  expect(kept.length).toBeLessThan(50);
  expect(Object.keys(await undo())).toHaveLength(300);
  expect(readFileSync(at('300.txt'), 'utf8')).toBe('text 300\n');
});
