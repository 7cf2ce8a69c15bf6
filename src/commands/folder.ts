/** /folder: the folder that the session works in. */
import type {Command} from '../core/contract/session-requests.ts';

export const folderCommand: Command = {
  name: 'folder',
  description: 'the folder that the session works in',
  run: ({request}) => ({ok: true, text: request({type: 'folders'}).join('\n') || process.cwd()}),
};
