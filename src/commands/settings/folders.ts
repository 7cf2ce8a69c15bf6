/** Implements `/add-dir`, which lets agents read and write in a further folder during this session. */
import type {Command} from '../../core/contract/session-requests.ts';

export const addFolderCommand: Command = {
  name: 'add-dir',
  description: 'work in a further folder: /add-dir FOLDER',
  run({args, info, request}) {
    if (args !== '') {
      const folders = request({type: 'add_folder', folder: args.replace(/^(["'])(.*)\1$/, '$2')});
      return {ok: true, text: `Agents may read and write here too, in this session: ${folders.at(-1)}`};
    }
    const folders = request({type: 'folders'});
    const list = [info.cwd, ...folders].map((folder) => `  ${folder}`).join('\n');
    return {ok: true, text: `Agents work in:\n${list}\nA further folder: /add-dir FOLDER. At each start: --add-dir`};
  },
};
