/** Permissions of files that commands took away: git itself knows only whether a file is executable. */
import {chmodSync, lstatSync, readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {expect, it} from 'vitest';
import {OTHER, workspace} from './fixture.ts';

const modeOf = (file: string) => lstatSync(file).mode & 0o7777;

it('what only its user could read is so again when a removed file is brought back', async () => {
  const {put, at, command, undo} = workspace({'a.txt': 'a'});
  put('private.key', 'k');
  chmodSync(at('private.key'), 0o600);
  put('run', '#!/bin/sh\n');
  chmodSync(at('run'), 0o700);
  await command('true');
  await command('rm private.key run');
  expect(await undo()).toEqual({'private.key': 'brought back', run: 'brought back'});
  expect([modeOf(at('private.key')), modeOf(at('run'))]).toEqual([0o600, 0o700]);
});

it('a command that others came between takes nothing for changed where only permissions were read', async () => {
  const {put, at, command, write, undo} = workspace({'a.txt': 'a'});
  put('private.txt', 'one');
  chmodSync(at('private.txt'), 0o600);
  await command('echo two > private.txt');
  await write('private.txt', 'three', OTHER);
  expect(await undo(OTHER)).toEqual({'private.txt': 'put back'});
  expect(await undo()).toEqual({'private.txt': 'put back'});
  expect([readFileSync(at('private.txt'), 'utf8'), modeOf(at('private.txt'))]).toEqual(['one', 0o600]);
});

it('the first look at many files keeps them in few', async () => {
  const {run, home, command, undo, at} = workspace({}, {git: false});
  run('for n in $(seq 300); do echo "text $n" > "$n.txt"; done');
  await command('rm *.txt');
  const kept = readdirSync(path.join(home, 'session', 'checkpoints', 'git', 'objects'), {recursive: true});
  expect(kept.length).toBeLessThan(50);
  expect(Object.keys(await undo())).toHaveLength(300);
  expect(readFileSync(at('300.txt'), 'utf8')).toBe('text 300\n');
});
