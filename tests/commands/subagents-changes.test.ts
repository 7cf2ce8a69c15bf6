/** What `/subagents diff` and `undo` say, over real files and a real run. */
import {chmodSync, symlinkSync, unlinkSync} from 'node:fs';
import {describe, expect, it, onTestFinished, vi} from 'vitest';
import {subagentsCommand} from '../../src/commands/subagents.ts';
import type {RunRecord} from '../../src/core/contract/runs.ts';
import type {CommandContext} from '../../src/core/contract/session-requests.ts';
import type {SubagentManager} from '../../src/core/subagent-manager.ts';
import {createChangedFiles} from '../../src/storage/checkpoints/changed-files.ts';
import {formatPatch} from '../../src/tools/files/patch.ts';
import {managerFixture} from '../core/manager-fixture.ts';
import {runFixture} from '../core/run-fixture.ts';
import {ScriptedModel} from '../core/scripted-model.ts';
import {sessionOver} from '../core/session/fixture.ts';
import {CODE, OTHER, workspace} from '../storage/checkpoints/fixture.ts';

const ended = {runId: CODE.agentId, agent: 'code', description: 'refactor auth', endedAt: 1} as RunRecord;
const {endedAt: _, ...atWork} = ended;

function given(files: Readonly<Record<string, string>> = {}, options = {}) {
  const made = workspace(files, options);
  const notified: string[] = [];
  const changes = createChangedFiles({
    root: made.root,
    checkpoints: () => made.store.current,
    openCheckpoints: () => made.store.current,
    formatPatch,
    onRestored: async (paths, label) => void notified.push(...paths.map((file) => `${label} ${file}`)),
  });
  /** What the command answers about this run. */
  const answer = async (form: 'diff' | 'undo', record: RunRecord) => {
    const manager = {find: () => record} as unknown as SubagentManager;
    const model = new ScriptedModel([]);
    const {session} = sessionOver(managerFixture(), model, runFixture(model), {manager, changes});
    try {
      const request: CommandContext['request'] = (each) => session.request(each);
      return await subagentsCommand.run({args: `${form} 1`, info: {cwd: made.root}, request} as CommandContext);
    } catch (error) {
      // As the session does it: what is thrown is the answer.
      return {ok: false, text: (error as Error).message};
    }
  };
  const diff = (record: RunRecord) => answer('diff', record);
  const undo = (record: RunRecord) => answer('undo', record);
  return {...made, diff, undo, notified};
}

describe('/subagents diff', () => {
  it('shows edits, new files, deleted ones, modes, links and binary files as git does', async () => {
    const {diff, command, put, at} = given({'a.txt': 'one\ntwo\n', 'gone.txt': 'x\n', 'run.sh': 'ls\n'});
    put('bin', Buffer.from([0, 1]));
    await command(
      `sed -i s/two/2/ a.txt; rm gone.txt; chmod +x run.sh; printf '\\0\\2' > bin; ln -s a.txt link; echo n > 'q"uote'`,
    );
    const {text, look} = await diff(ended);
    expect(look).toBe('diff');
    expect(text.split('\n\n')).toEqual([
      expect.stringContaining(
        '[code] refactor auth changed 6 files.\nCheckpoints of commands leave out: ignored files',
      ),
      'diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2',
      'diff --git a/bin b/bin\nBinary files a/bin and b/bin differ',
      'diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x',
      expect.stringContaining(
        'diff --git a/link b/link\nnew file mode 120000\n--- /dev/null\n+++ b/link\n@@ -0,0 +1,1 @@\n+a.txt',
      ),
      expect.stringContaining(
        'diff --git "a/q\\"uote" "b/q\\"uote"\nnew file mode 100644\n--- /dev/null\n+++ "b/q\\"uote"',
      ),
      'diff --git a/run.sh b/run.sh\nold mode 100644\nnew mode 100755',
    ]);
    unlinkSync(at('link'));
    symlinkSync('elsewhere', at('link'));
    chmodSync(at('bin'), 0o600);
    // What came later is not the run's.
    expect((await diff(ended)).text).toBe(text);
  });

  it('says with whom a change is shared, and of a run at work that there may be more', async () => {
    const {diff, store, run} = given({'a.txt': '1\n'});
    await store.around(CODE, (saved) =>
      saved.then(() => store.around(OTHER, (own) => own.then(() => run('echo 2 > a.txt')))),
    );
    const {text} = await diff(atWork);
    expect(text).toContain('[code] refactor auth changed 1 file so far.');
    expect(text).toContain('shared with [code] other:\ndiff --git a/a.txt b/a.txt');
  });

  it('shows the parts of a run alone where another run changed the file in between', async () => {
    const {diff, write} = given({'a.txt': '1\n'});
    await write('a.txt', '2\n');
    await write('a.txt', '3\n', OTHER);
    await write('a.txt', '4\n');
    const {text} = await diff(ended);
    expect(text.match(/^[-+]\d/gm)).toEqual(['-1', '+2', '-3', '+4']);
    expect(text).toContain('changed 1 file.');
  });

  it('says that nothing was changed, and which commands it knows nothing of', async () => {
    const {diff, store, reasons} = given({}, {git: false});
    vi.stubEnv('PATH', '/nonexistent');
    onTestFinished(() => void vi.unstubAllEnvs());
    for (const _ of [1, 2]) {
      const {value, compared} = await store.around(CODE, (saved) => saved.then(() => 'ran'));
      expect(value).toBe('ran');
      expect(await compared).toEqual({changed: [], uncounted: 'git is not installed'});
    }
    expect(reasons).toEqual(['git is not installed']);
    vi.unstubAllEnvs();
    expect((await diff(ended)).text).toBe(
      '[code] refactor auth changed no files.\nWhat some commands changed is not known: git is not installed.',
    );
  });
});

describe('/subagents undo', () => {
  it('names what it did and what it left, and notifies the agents that had read the files', async () => {
    const {undo, write, notified, at, put} = given({'a.txt': '1', 'b.txt': '1'});
    await write('a.txt', '2');
    await write('b.txt', '2');
    await write('n.txt', '2');
    put('b.txt', 'mine');
    expect(await undo(ended)).toEqual({
      ok: true,
      text: '[code] refactor auth: 1 file restored:\n  a.txt\n1 new file deleted:\n  n.txt\n1 file left as it is:\n  b.txt: changed since outside mini-cc',
    });
    expect(notified).toEqual([`/subagents undo ${at('n.txt')}`, `/subagents undo ${at('a.txt')}`]);
    put('b.txt', '1');
    expect(await undo(ended)).toEqual({ok: true, text: '[code] refactor auth: nothing to undo.'});
  });

  it('refuses a run that is at work', async () => {
    const {undo, write} = given({'a.txt': '1'});
    await write('a.txt', '2');
    expect(await undo(atWork)).toEqual({
      ok: false,
      text: '[code] refactor auth is at work: stop it first, by /subagents stop run-1',
    });
  });
});
