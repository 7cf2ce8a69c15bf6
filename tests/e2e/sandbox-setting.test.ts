/** The setting `sandbox`, seen from outside: with it commands of agents that may write need no question. */
import {existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {execa} from 'execa';
import {describe, expect, test} from 'vitest';
import {say} from '../support/messages-server.ts';
import {runCli} from '../support/run-cli.ts';
import {hasSandbox} from '../support/sandbox.ts';
import {callTools} from '../support/scripted-replies.ts';
import {home, project, serve} from './fixture.ts';

const usable = await hasSandbox();

/** Print mode, where nobody can be asked; the model calls bash once. */
async function bashUnder(sandbox: string, input: object, {isMissing = false} = {}) {
  const [at, workspace] = [await home(), await project()];
  writeFileSync(path.join(at.path, '.mini-cc/settings.json'), JSON.stringify({sandbox}));
  const server = await serve([callTools([{name: 'bash', input}]), say('done')]);
  const env = isMissing ? {PATH: await pathWithoutSandbox(at.path)} : {};
  const run = await runCli(['-p', 'go', '--output-format', 'json'], {home: at, cwd: workspace.path, server, env});
  const [, second] = server.requests.map(({body}) => JSON.stringify(body.messages));
  return {...run, told: second ?? '', workspace, denials: JSON.parse(run.stdout).permission_denials as unknown[]};
}

async function pathWithoutSandbox(folder: string): Promise<string> {
  const bin = path.join(folder, 'bin');
  mkdirSync(bin);
  for (const name of ['bash', 'sh', 'touch', 'git']) {
    const {stdout} = await execa('sh', ['-c', `command -v ${name}`]);
    symlinkSync(stdout, path.join(bin, name));
  }
  return bin;
}

describe.runIf(usable)('a sandbox that is there', () => {
  test.each(['auto', 'required'])(
    '%s: a command that it holds is not asked for, and leaves nothing else',
    async (mode) => {
      const {told, denials, workspace} = await bashUnder(mode, {command: 'touch made; touch /var/tmp/made-by-mini-cc'});
      expect(denials).toEqual([]);
      expect(told).toContain('the sandbox confined this command: only the workspace can be written');
      expect(existsSync(path.join(workspace.path, 'made'))).toBe(true);
      expect(existsSync('/var/tmp/made-by-mini-cc')).toBe(false);
      expect(readdirSync(workspace.path)).not.toContain('.mini-cc');
    },
  );

  test('what asks to run outside of it is asked for, and refused where nobody is', async () => {
    const {told, denials, workspace} = await bashUnder('auto', {command: 'touch made', unconfined: true});
    expect(denials).toHaveLength(1);
    expect(told).toContain('Permission denied');
    expect(existsSync(path.join(workspace.path, 'made'))).toBe(false);
  });

  test('off: commands are asked for as ever', async () => {
    const {denials} = await bashUnder('off', {command: 'touch made'});
    expect(denials).toHaveLength(1);
  });
});

describe('a sandbox that is missing', () => {
  test('auto: says once that commands run without it, and they are asked for', async () => {
    const {stderr, denials} = await bashUnder('auto', {command: 'touch made'}, {isMissing: true});
    expect(
      stderr.match(/bubblewrap is not installed: apt-get install bubblewrap\. Commands run without it\./g),
    ).toHaveLength(1);
    expect(denials).toHaveLength(1);
  });

  test('required: runs nothing, and says how to get it', async () => {
    const {stderr, told, workspace} = await bashUnder('required', {command: 'touch made'}, {isMissing: true});
    expect(stderr).toContain('Until then bash runs nothing');
    expect(told).toContain('Nothing was run');
    expect(existsSync(path.join(workspace.path, 'made'))).toBe(false);
  });
});
