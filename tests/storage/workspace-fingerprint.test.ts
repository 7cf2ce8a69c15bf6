import {utimesSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import {WorkspaceFingerprint} from '../../src/storage/workspace-fingerprint.ts';
import {typescriptProject} from '../support/workspace.ts';

describe.each([true, false])('the fingerprint of a workspace (git: %s)', (git) => {
  async function workspace() {
    const made = await typescriptProject({git});
    onTestFinished(made.remove);
    const fingerprint = new WorkspaceFingerprint(made.path);
    return {...made, take: () => fingerprint.take()};
  }

  it('stays the same while nothing changes', async () => {
    const {take} = await workspace();
    expect(await take()).toBe(await take());
  });

  it('changes with each edit, also of the same length, with a new file, and with a deleted file', async () => {
    const {take, write, path: root} = await workspace();
    const seen = [await take()];
    await write('src/greet.ts', 'one');
    seen.push(await take());
    const file = await write('src/greet.ts', 'two');
    utimesSync(file, 1_700_000_000, 1_700_000_000);
    seen.push(await take());
    await write('src/new folder/new.ts', 'x');
    seen.push(await take());
    await write('src/new folder/new.ts', 'xy');
    seen.push(await take());
    const {rm} = await import('node:fs/promises');
    await rm(path.join(root, 'src/languages.ts'));
    seen.push(await take());
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('is computed once for calls at the same time', async () => {
    const {path: root} = await workspace();
    const fingerprint = new WorkspaceFingerprint(root);
    expect(fingerprint.take()).toBe(fingerprint.take());
  });
});

describe('the fingerprint', () => {
  it('changes with a commit', async () => {
    const made = await typescriptProject();
    onTestFinished(made.remove);
    const fingerprint = new WorkspaceFingerprint(made.path);
    const before = await fingerprint.take();
    await made.git('commit', '--quiet', '--allow-empty', '--message', 'Nothing');
    expect(await fingerprint.take()).not.toBe(before);
  });

  it('of an unreadable workspace is never the same', async () => {
    const fingerprint = new WorkspaceFingerprint('/nowhere');
    expect(await fingerprint.take()).not.toBe(await fingerprint.take());
  });
});
