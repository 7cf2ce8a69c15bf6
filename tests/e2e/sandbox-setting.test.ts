/** The setting `sandbox`: confined commands of agents that may write need no question. */
import {existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {execa} from 'execa';
import {describe, expect, test} from 'vitest';
import {say} from '../support/messages-server.ts';
import {killGroup, runCli, spawnCli} from '../support/run-cli.ts';
import {hasSandbox} from '../support/sandbox.ts';
import {callTools} from '../support/scripted-replies.ts';
import {until} from '../support/wait.ts';
import {home, project, serve} from './fixture.ts';

const usable = await hasSandbox();

/** Runs one bash call in print mode, where no question is possible. */
async function bashUnder(sandbox: string, input: object, {isMissing = false} = {}) {
  const [at, workspace] = [await home(), await project()];
  writeFileSync(path.join(at.path, '.mini-cc/settings.json'), JSON.stringify({sandbox}));
  const server = await serve([callTools([{name: 'bash', input}]), say('done')]);
  const env = isMissing ? {PATH: await pathWithoutSandbox(at.path)} : {};
  const run = await runCli(['-p', 'go', '--output-format', 'json'], {home: at, cwd: workspace.path, server, env});
  const [, second] = server.requests.map(({body}) => JSON.stringify(body.messages));
  return {
    ...run,
    conversation: second ?? '',
    workspace,
    denials: JSON.parse(run.stdout).permission_denials as unknown[],
  };
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

describe.runIf(usable)('with a sandbox', () => {
  test.each(['auto', 'required'])(
    '%s: a confined command needs no question, and leaves no other files',
    async (mode) => {
      const elsewhere = `/var/tmp/made-by-mini-cc-${process.pid}`;
      const {conversation, denials, workspace} = await bashUnder(mode, {command: `touch made; touch ${elsewhere}`});
      expect(denials).toEqual([]);
      expect(conversation).toContain('the sandbox confined this command: only the workspace can be written');
      expect(existsSync(path.join(workspace.path, 'made'))).toBe(true);
      expect(existsSync(elsewhere)).toBe(false);
      expect(readdirSync(workspace.path)).not.toContain('.mini-cc');
    },
  );

  test('a repository that a command made and that names a program is set aside, and the result says so', async () => {
    const mark = path.join((await home()).path, 'ran');
    const command = `git init -q sub; git -C sub config core.fsmonitor 'touch ${mark}; false'`;
    const {conversation, workspace} = await bashUnder('auto', {command});
    expect(conversation).toContain('names what git would run (core.fsmonitor): it is set aside as');
    await execa('git', ['-C', 'sub', 'status'], {cwd: workspace.path});
    expect(existsSync(mark)).toBe(false);
    renameSync(path.join(workspace.path, 'sub/.git.set-aside-1'), path.join(workspace.path, 'sub/.git'));
    await execa('git', ['-C', 'sub', 'status'], {cwd: workspace.path});
    expect(existsSync(mark)).toBe(true);
  });

  test('what a killed mini-cc left in the workspace goes at the next start', async () => {
    const [at, workspace] = [await home(), await project()];
    writeFileSync(path.join(at.path, '.mini-cc/settings.json'), JSON.stringify({sandbox: 'auto'}));
    const list = () => [...readdirSync(workspace.path), ...readdirSync(path.join(workspace.path, '.git'))].sort();
    const before = list();
    const server = await serve([callTools([{name: 'bash', input: {command: 'touch a; sleep 60'}}]), say('done')]);
    const child = await spawnCli(['-p', 'go'], {home: at, cwd: workspace.path, server});
    await until(async () => existsSync(path.join(workspace.path, 'a')));
    killGroup(child);
    await until(async () => child.signalCode !== null);
    const left = list();
    expect(left).toEqual(expect.arrayContaining(['.mini-cc', '.claude', 'commondir', 'modules']));
    const again = await serve([say('done')]);
    expect(await runCli(['-p', 'go'], {home: at, cwd: workspace.path, server: again})).toMatchObject({code: 0});
    expect(list()).toEqual([...before, 'a'].sort());
  });

  test('a command that asks to run unconfined needs a question, and is denied without one', async () => {
    const {conversation, denials, workspace} = await bashUnder('auto', {command: 'touch made', unconfined: true});
    expect(denials).toHaveLength(1);
    expect(conversation).toContain('Permission denied');
    expect(existsSync(path.join(workspace.path, 'made'))).toBe(false);
  });

  test('off: commands need a question', async () => {
    const {denials} = await bashUnder('off', {command: 'touch made'});
    expect(denials).toHaveLength(1);
  });
});

describe('without a sandbox', () => {
  test('auto: one line says that commands run without a sandbox, and they need a question', async () => {
    const {stderr, denials} = await bashUnder('auto', {command: 'touch made'}, {isMissing: true});
    expect(
      stderr.match(/bubblewrap is not installed: apt-get install bubblewrap.*\. Commands run without it\./g),
    ).toHaveLength(1);
    expect(denials).toHaveLength(1);
  });

  test('off: one line at the start says that there is none and what mends it', async () => {
    const {stderr} = await bashUnder('off', {command: 'touch made'}, {isMissing: true});
    expect(stderr.match(/no sandbox, .*bubblewrap is not installed: apt-get install bubblewrap/g)).toHaveLength(1);
  });

  test('required: no command runs, and a line says how to get a sandbox', async () => {
    const {stderr, conversation, workspace} = await bashUnder('required', {command: 'touch made'}, {isMissing: true});
    expect(stderr).toContain('Until then bash runs nothing');
    expect(conversation).toContain('Nothing was run');
    expect(existsSync(path.join(workspace.path, 'made'))).toBe(false);
  });
});
