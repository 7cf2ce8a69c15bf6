/** Showing and undoing what a run changed, from the command line and in the REPL. */
import {chmod, readdir} from 'node:fs/promises';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import {say} from '../support/messages-server.ts';
import {answer, takesKeys} from '../support/questions.ts';
import {countReplies, getFirstPrompt, getToolResults} from '../support/request-facts.ts';
import {runCli, startCli} from '../support/run-cli.ts';
import {callTool, callTools} from '../support/scripted-replies.ts';
import {until} from '../support/wait.ts';
import {home, isSubagent, project, searchPathWithout, serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

const filesBelow = async (folder: string) => {
  const entries = await readdir(folder, {recursive: true, withFileTypes: true});
  return entries.filter((entry) => entry.isFile()).map(({name}) => name);
};

const code = (description: string, prompt = description) => ({
  name: 'Task',
  input: {description, prompt, agent_type: 'code'},
});
const write = (path: string, content: string) => ({name: 'write_file', input: {path, content}});
const read = (path: string) => ({name: 'read_file', input: {path}});

/** A run that edits two files and creates a third with tools, and changes all sources with a command. */
const refactoring = () =>
  serve((body) => {
    if (!isSubagent(body)) return countReplies(body) === 0 ? callTools([code('refactor auth')]) : say('all done');
    const steps = [
      callTools([read('README.md'), read('package.json')]),
      callTools([write('README.md', '# New\n'), write('package.json', '{}\n'), write('src/auth/key.ts', 'key\n')]),
      callTool('bash', {command: 'sed -i s/greet/welcome/g src/*.ts'}),
    ];
    return steps[countReplies(body)] ?? say('refactored');
  });

describe('/subagents diff and undo', () => {
  it('show and undo the changes of tools and commands of a run, also in the next process', async () => {
    const [at, where] = [await home(), await project()];
    const before = await where.read('src/main.ts');
    const server = await refactoring();
    const given = {home: at, cwd: where.path, server};
    const done = await runCli(['-p', 'go', '--dangerously-skip-permissions', '--verbose'], given);
    expect(done.code).toBe(0);
    const receipt = JSON.stringify(server.requests.at(-1)!.body.messages);
    expect(receipt).toMatch(/changed \d files: README\.md, package\.json, src\/auth\/key\.ts, src\/\w+\.ts/);
    expect(receipt).not.toContain('not counted');

    const diff = await runCli(['-p', '--continue', '/subagents diff 1'], given);
    expect(diff.stdout).toContain('[code] refactor auth changed ');
    expect(diff.stdout).toContain(
      'diff --git a/README.md b/README.md\n--- a/README.md\n+++ b/README.md\n@@ -1,3 +1,1 @@',
    );
    expect(diff.stdout).toContain(
      'diff --git a/src/auth/key.ts b/src/auth/key.ts\nnew file mode 100644\n--- /dev/null',
    );
    expect(diff.stdout).toContain("-import {greet} from './greet.ts';\n+import {welcome} from './welcome.ts';");

    await where.write('README.md', '# Mine\n');
    const undone = await runCli(['-p', '--continue', '/subagents undo 1'], given);
    expect(undone).toMatchObject({code: 0});
    expect(undone.stdout).toContain('1 new file deleted:\n  src/auth/key.ts');
    expect(undone.stdout).toContain('1 file left as it is:\n  README.md: changed since outside mini-cc');
    expect(await where.read('README.md')).toBe('# Mine\n');
    expect(await where.read('src/main.ts')).toBe(before);
    expect(await where.git('status', '--porcelain')).toBe(' M README.md\n');
    const again = await runCli(['-p', '--continue', '/subagents undo 1'], given);
    expect(again).toMatchObject({code: 1});
    const list = await runCli(['sessions', 'list', '--json'], given);
    const [{id}] = JSON.parse(list.stdout);
    expect(await runCli(['sessions', 'delete', id, '--yes'], given)).toMatchObject({code: 0});
    expect(await filesBelow(path.join(at.path, '.mini-cc', 'projects'))).toEqual([]);
  });

  it('undo a command that was running when mini-cc was killed', async () => {
    const [at, where] = [await home(), await project()];
    const before = await where.read('README.md');
    const server = await serve((body) => {
      if (!isSubagent(body)) return callTools([code('break things')]);
      return callTool('bash', {command: 'echo broken > README.md; rm -r src; sleep 30'});
    });
    const given = {home: at, cwd: where.path, server};
    const terminal = await startCli(['--dangerously-skip-permissions', 'go'], given);
    await until(async () => (await where.git('status', '--porcelain')).includes(' D src/main.ts'));
    process.kill(terminal.pid, 'SIGKILL');
    await terminal.close();
    const undone = await runCli(['-p', '--continue', '/subagents undo 1'], given);
    expect(undone.stdout).toMatch(/deleted files brought back:[\s\S]*src\/main.ts/);
    expect(await where.read('README.md')).toBe(before);
    expect(await where.git('status', '--porcelain')).toBe('');
  });

  it('mark a file that two runs may have changed as shared, and leave it', async () => {
    const [at, where] = [await home(), await project()];
    const server = await serve((body) => {
      if (!isSubagent(body)) return countReplies(body) === 0 ? callTools([code('left'), code('right')]) : say('done');
      const own = getFirstPrompt(body);
      // Each command waits for the other one, and then writes. They meet outside of the workspace: a file that one makes
      // in it before the other begins is not shared.
      const meet = `cd ${at.path}; touch ${own}; until [ -e left ] && [ -e right ]; do sleep 0.02; done; cd ${where.path}`;
      if (countReplies(body) > 0) return say('done');
      return callTool('bash', {command: `${meet}; echo ${own} >> README.md`});
    });
    const given = {home: at, cwd: where.path, server};
    await runCli(['-p', 'go', '--dangerously-skip-permissions'], given);
    const receipts = getToolResults(server.requests.at(-1)!.body).map(({text}) => text);
    expect(receipts.join('\n')).toMatch(/changed \d files?: .* \(\d shared: commands of other runs were at work too\)/);
    const diff = await runCli(['-p', '--continue', '/subagents diff 1'], given);
    expect(diff.stdout).toMatch(/^shared with \[code\] (left|right):\ndiff --git a\/README\.md/m);
    const undo = await runCli(['-p', '--continue', '/subagents undo 1'], given);
    expect(undo.code).toBe(1);
    expect(undo.stderr).toMatch(/README\.md: shared: \[code\] \w+ and \[code\] \w+ ran commands at the same time/);
    expect((await where.read('README.md')).split('\n')).toEqual(expect.arrayContaining(['left', 'right']));
  });

  it('an agent that wants to overwrite a file learns which agent changed it, and nothing is lost', async () => {
    const where = await project();
    const server = await serve((body) => {
      if (!isSubagent(body)) {
        const steps = [callTool('read_file', {path: 'README.md'}), callTools([code('refactor auth')])];
        return (
          steps[countReplies(body)] ??
          (countReplies(body) === 2 ? callTools([write('README.md', 'main\n')]) : say('done'))
        );
      }
      return countReplies(body) === 0 ? callTool('bash', {command: 'echo theirs > README.md'}) : say('changed it');
    });
    await runCli(['-p', 'go', '--dangerously-skip-permissions'], {cwd: where.path, server});
    expect(JSON.stringify(server.requests.at(-1)!.body.messages)).toContain(
      'README.md changed since you read it (by [code] refactor auth). Nothing was written',
    );
    expect(await where.read('README.md')).toBe('theirs\n');
  });
});

describe('/rewind', () => {
  const editing = () =>
    serve((body) => {
      const last = JSON.stringify(body.messages.at(-1));
      const word = /write (\w+)/.exec(last)?.[1];
      if (word) return callTool('bash', {command: `echo ${word} > ${word}.txt; echo ${word} >> log.txt`});
      return say(`There are ${body.messages.length} messages.`);
    });

  it('takes conversation and files back to before a prompt, in print mode by the number of the prompt', async () => {
    const [at, where, server] = [await home(), await project(), await editing()];
    const given = {home: at, cwd: where.path, server};
    const flags = ['-p', '--dangerously-skip-permissions'];
    await runCli([...flags, 'write one'], given);
    await runCli([...flags, '--continue', 'write two'], given);
    const back = await runCli(['-p', '--continue', '/rewind 1'], given);
    expect(back.stdout).toContain('The conversation is as it was before: write two (4 messages taken back)');
    expect(back.stdout).toContain('1 file restored:\n  log.txt\n1 new file deleted:\n  two.txt');
    expect(await where.read('log.txt')).toBe('one\n');
    await expect(where.read('two.txt')).rejects.toThrow('ENOENT');
    const next = await runCli(['-p', '--continue', 'how many?'], given);
    expect(next.stdout).toBe('There are 5 messages.\n');
    expect(JSON.stringify(server.requests.at(-1)!.body.messages)).not.toContain('write two');
  });

  it('opens by Esc Esc, asks for the prompt and the scope, and puts the prompt back for editing', async () => {
    const [where, server] = [await project(), await editing()];
    const terminal = await repl({server, cwd: where.path, args: ['--dangerously-skip-permissions']});
    for (const word of ['one', 'two']) {
      await send(terminal, `write ${word}`);
      await terminal.waitFor(`There are ${word === 'one' ? 3 : 7} messages.`);
      await idle(terminal);
    }
    terminal.press('escape');
    await terminal.waitFor('press Esc again');
    terminal.press('escape');
    await terminal.waitFor(/> write two +\d files? +\+\d+ -\d+ +\d\d:\d\d/);
    await takesKeys(terminal, 'Go back to before which prompt?');
    terminal.type('one');
    await terminal.waitFor(/> write one +\d files? +\+\d+ -\d+ +\d\d:\d\d/);
    terminal.press('enter');
    await terminal.waitFor('8 messages would be taken back.');
    await answer(terminal, 'What should be as before: write one', '1');
    await answer(terminal, 'Delete 3 files made since then?', '1');
    await terminal.waitFor('The conversation is as it was before: write one (8 messages taken back)');
    await terminal.waitFor(/^> .*write one/m);
    expect(await where.git('status', '--porcelain')).toBe('');
  });
});

describe('a command that only looks like reading', () => {
  it.each([
    ['where a sandbox works', true],
    ['where there is none', false],
  ])(
    'is counted in the receipt and put back by undo when git runs a program by it, %s',
    async (_where, isSandboxed) => {
      const [at, where] = [await home(), await project()];
      const before = await where.read('README.md');
      await where.git('config', 'core.fsmonitor', path.join(where.path, 'mon.sh'));
      await where.write('mon.sh', '#!/bin/sh\necho changed > README.md\n');
      await chmod(path.join(where.path, 'mon.sh'), 0o755);
      const server = await serve((body) => {
        if (!isSubagent(body)) return countReplies(body) === 0 ? callTools([code('look around')]) : say('all done');
        return countReplies(body) === 0 ? callTool('bash', {command: 'git status'}) : say('looked');
      });
      const given = {home: at, cwd: where.path, server, ...(!isSandboxed && {env: {PATH: searchPathWithout('bwrap')}})};
      const done = await runCli(['-p', 'go', '--dangerously-skip-permissions'], given);
      expect(done.code).toBe(0);
      expect(await where.read('README.md')).toBe('changed\n');
      expect(JSON.stringify(server.requests.at(-1)!.body.messages)).toContain('changed 1 file: README.md');
      await runCli(['-p', '--continue', '/subagents undo 1'], given);
      expect(await where.read('README.md')).toBe(before);
    },
  );
});
