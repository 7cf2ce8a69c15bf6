import {describe, expect, it, onTestFinished} from 'vitest';
import {type RipgrepRun, runRipgrep} from '../../../src/core/util/ripgrep.ts';
import {emptyFolder} from '../../support/workspace.ts';

async function search(run: Partial<RipgrepRun>, options: {signal?: AbortSignal; most?: number} = {}) {
  const folder = await emptyFolder();
  onTestFinished(folder.remove);
  for (const name of ['a.ts', 'ignored.ts', '.hidden.ts', 'sub/ü.ts']) await folder.write(name, 'text\n');
  for (const name of ['.git/x', '.ssh/id', 'home/.aws/x', 'home/.netrc', 'home/.git-credentials']) {
    await folder.write(name, 'text\n');
  }
  await folder.write('.gitignore', 'ignored.ts\n');
  await folder.write('config', '--invert-match\n');
  const records: string[] = [];
  const {signal = new AbortController().signal, most = 9} = options;
  const end = await runRipgrep(
    {
      ...{args: ['--files', '--sort=path'], cwd: folder.path, paths: ['.'], separator: '\n', ...run},
      onRecord: (record) => records.push(record) < most,
    },
    {signal, workspace: {env: {RIPGREP_CONFIG_PATH: `${folder.path}/config`}}},
  );
  return {records, end};
}

describe('a search', () => {
  const FILES = ['./.gitignore', './.hidden.ts', './a.ts', './config', './sub/ü.ts'];

  it('passes on each record, also of hidden files, and none that git ignores or that has keys', async () => {
    const {records, end} = await search({});
    expect(records).toEqual(FILES);
    expect(end).toEqual({ended: 'exit', exitCode: 0, errors: ''});
    expect((await search({args: ['--files', '--sort=path', '--null'], separator: '\0'})).records).toEqual(FILES);
  });

  it('does not read the configuration of the user, and takes no path for an option', async () => {
    expect((await search({args: ['--no-filename', 'text'], paths: ['a.ts']})).records).toEqual(['text']);
    const {end} = await search({paths: ['--version']});
    expect(end).toMatchObject({exitCode: 2, errors: expect.stringContaining('--version')});
  });

  it('ends when no more records are needed, and when it is aborted', async () => {
    expect((await search({}, {most: 2})).records).toEqual(FILES.slice(0, 2));
    expect(await search({}, {signal: AbortSignal.abort()})).toMatchObject({records: [], end: {ended: 'abort'}});
  });

  it('that cannot be started is an error', async () => {
    await expect(search({cwd: '/no/such/folder'})).rejects.toMatchObject({code: 'RIPGREP'});
  });
});
