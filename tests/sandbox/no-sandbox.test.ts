/** Without a working sandbox, bash of a read-only agent is refused. */
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {createSandbox, type Sandbox} from '../../src/sandbox/index.ts';
import {ProcessGroups} from '../../src/sandbox/launch/process-groups.ts';
import {createBash} from '../../src/tools/bash/bash.ts';
import {fixture} from '../tools/fixture.ts';

describe('without a working sandbox', () => {
  const at = (searchPath: string) => createSandbox({home: '/x', miniCcHome: '/x', searchPath, platform: 'linux'});

  async function refuses(sandbox: Sandbox, words: RegExp) {
    const {call, workspace, root} = fixture({confinement: 'read-only'});
    workspace.cwd = root;
    const confined = {...workspace, confinement: 'read-only' as const};
    const bash = createBash(sandbox, new ProcessGroups());
    const {text, isError} = await call(bash, {command: 'touch made'}, {workspace: confined});
    expect(isError).toBe(true);
    expect(text).toMatch(words);
    expect(readdirSync(root)).toEqual([]);
  }

  test('bash of a read-only agent runs nothing and says how to get a sandbox', async () => {
    await refuses(
      at('/nonexistent'),
      /^This command runs only in a sandbox, and bubblewrap is not installed: apt-get install bubblewrap/,
    );
  });

  test('a sandbox that fails is not used, and the reason is given', async () => {
    const {root} = fixture();
    const script = '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n';
    writeFileSync(join(root, 'bwrap'), script, {mode: 0o755});
    await refuses(
      at(root),
      /does not work here \(bwrap: setting up uid map: Permission denied\): (?:allow unprivileged|start the container)/,
    );
  });

  test('nothing can be confined before the sandbox was tried out', () => {
    const options = {cwd: '/', root: '/', extraRoots: []};
    expect(() => at('/usr/bin').confine('read-only', ['true'], options)).toThrow('was not found to work');
  });

  test('a project cannot provide its own bwrap by a relative PATH', async () => {
    expect(await at('.:node_modules/.bin').status()).toMatchObject({available: false});
  });

  test('the sandbox is tried out once', async () => {
    const {root} = fixture();
    writeFileSync(join(root, 'bwrap'), `#!/bin/sh\necho x >> ${root}/tries\n`, {mode: 0o755});
    const sandbox = at(root);
    await Promise.all([sandbox.status(), sandbox.status()]);
    await sandbox.status();
    expect(readFileSync(join(root, 'tries'), 'utf8')).toBe('x\n');
  });

  test('on a system without a sandbox the status says what to do', async () => {
    const sandbox = createSandbox({home: '/x', miniCcHome: '/x', platform: 'freebsd'});
    expect(await sandbox.status()).toMatchObject({available: false, reason: 'there is no sandbox for freebsd'});
    await refuses(sandbox, /there is no sandbox for freebsd: run it on Linux/);
  });
});
