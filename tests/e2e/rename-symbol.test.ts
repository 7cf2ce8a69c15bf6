/** The tool `rename_symbol` in print mode: all uses or none, as an edit of all its files. */
import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, it} from 'vitest';
import {say} from '../support/messages-server.ts';
import {getToolResults} from '../support/request-facts.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool} from '../support/scripted-replies.ts';
import {home, project, serve} from './fixture.ts';

const FILES = {
  'a.ts': 'export function load(x: number) {\n  return x;\n}\n',
  'b.ts': "import {load} from './a.ts';\n// load it\nload(1);\n",
};

async function rename(
  input: Record<string, unknown>,
  flags: readonly string[] = [],
  files: Record<string, string> = FILES,
) {
  const [workspace, userHome] = [await project(), await home()];
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(workspace.path, name), text);
  const server = await serve([
    callTool('rename_symbol', {path: 'a.ts', line: 1, name: 'load', new_name: 'fetchIt', ...input}),
    say('done'),
  ]);
  await runCli(['-p', 'x', ...flags], {server, home: userHome, cwd: workspace.path});
  const [result] = getToolResults(server.requests[1]!.body);
  const read = (name: string) => readFileSync(path.join(workspace.path, name), 'utf8');
  return {result: result!, changed: Object.keys(files).filter((name) => read(name) !== files[name]), read};
}

const EDITS = ['--permission-mode', 'acceptEdits'];

it('shows what would change, and changes nothing without `apply`', async () => {
  const {result, changed} = await rename({});
  expect(result.text).toContain('Would rename load to fetchIt: 3 places in 2 files');
  expect(result.text).toContain('b.ts: 1, 3');
  expect(changed).toEqual([]);
});

it('changes all files with `apply`, and leaves comments alone', async () => {
  const {result, read} = await rename({apply: true}, EDITS);
  expect(result).toMatchObject({
    isError: false,
    text: expect.stringContaining('Renamed load to fetchIt: 3 places in 2 files'),
  });
  expect(read('a.ts')).toContain('export function fetchIt(x: number)');
  expect(read('b.ts')).toBe("import {fetchIt} from './a.ts';\n// load it\nfetchIt(1);\n");
});

it('changes no file when one of them may not be edited', async () => {
  const {result, changed} = await rename({apply: true}, [...EDITS, '--disallowed-tools', 'edit_file(b.ts)']);
  expect(result.isError).toBe(true);
  expect(changed).toEqual([]);
});

it('is refused where nobody can be asked about edits', async () => {
  const {result, changed} = await rename({apply: true});
  expect(result).toMatchObject({isError: true, text: expect.stringContaining('Permission denied')});
  expect(changed).toEqual([]);
});

it('is refused with the reason when the new name is taken, and for the public class of a file of Java', async () => {
  const taken = await rename({apply: true, new_name: 'other'}, EDITS, {
    ...FILES,
    'b.ts': "import {load} from './a.ts';\nconst other = 1;\nload(other);\n",
  });
  expect(taken.result.text).toMatch(/^Refused, nothing was changed: .*other/);
  const java = await rename({apply: true, path: 'Foo.java', name: 'Foo', new_name: 'Bar'}, EDITS, {
    'Foo.java': 'public class Foo {\n}\n',
  });
  expect(java.result.text).toContain('a public class and its file have one name');
  expect([...taken.changed, ...java.changed]).toEqual([]);
});
