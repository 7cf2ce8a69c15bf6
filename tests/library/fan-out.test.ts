/** `SubagentManager.fanOut` of the library. */
import {expect, it, onTestFinished} from 'vitest';
import {SubagentManager} from '../../src/library/index.ts';
import {changeAll, numbered} from '../core/fan-out/session-fixture.ts';
import {home, serve} from '../e2e/fixture.ts';
import {emptyFolder} from '../support/workspace.ts';

it('does the same work on many files, and returns what came of it', async () => {
  const [folder, place, server] = [await emptyFolder(), await home(), await serve(changeAll)];
  onTestFinished(folder.remove);
  for (const [name, text] of Object.entries(numbered(4))) await folder.write(name, text);
  const manager = new SubagentManager({
    ...{cwd: folder.path, home: place.env.MINI_CC_HOME!, apiKey: 'k', baseURL: server.url},
    permissionMode: 'acceptEdits',
  });
  onTestFinished(() => manager.close());
  const result = await manager.fanOut({instruction: 'Update all files'});
  expect(result).toMatchObject({
    success: true,
    summary: expect.stringMatching(/^fan-out: 2 agents · 2 ok · 4 files changed · /),
    subagentResults: {total: 2, successful: 2, failed: 0, filesModified: 4},
    parts: [{files: ['src/f000.ts', 'src/f001.ts'], outcome: 'success'}, {files: ['src/f002.ts', 'src/f003.ts']}],
  });
  expect(result.changes).toHaveLength(4);
  expect(manager.list()).toHaveLength(2);
  await expect(manager.fanOut({instruction: 'x', files: ['none.ts']})).rejects.toThrow('No file is meant by "none.ts"');
  await expect(manager.fanOut({instruction: 'x', tools: ['Task']})).rejects.toThrow('not Task');
});
