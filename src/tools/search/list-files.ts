/** Lists the files of a folder as the search tools see them: without ignored ones, without `.git` and places of keys. */
import {runRipgrep} from './ripgrep.ts';

/** More are not listed: someone who types a name finds its folder by other means then. */
const MAX_FILES = 100_000;

/** @returns paths relative to the folder, sorted. @throws MiniCcError `RIPGREP` when it cannot be started. */
export async function listFiles(folder: string, env: Readonly<Record<string, string>>): Promise<string[]> {
  const found: string[] = [];
  await runRipgrep(
    {
      ...{args: ['--files', '--null'], cwd: folder, paths: ['.'], separator: '\0'},
      onRecord: (record) => found.push(record.replace(/^\.\//, '')) < MAX_FILES,
    },
    {workspace: {env}, signal: new AbortController().signal},
  );
  return found.sort();
}
