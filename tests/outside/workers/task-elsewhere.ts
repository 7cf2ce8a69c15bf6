/** A main agent that gives a task to a worker, and a subagent that writes one file there. */
import {isSubagent} from '../../e2e/fixture.ts';
import {callTool, type MessagesBody, say} from '../../support/messages-server.ts';

export const EDITS = ['--permission-mode', 'acceptEdits'];
const task = callTool('Task', {
  ...{description: 'add a file', prompt: 'Write made.txt', agent_type: 'code'},
  ...{isolation: 'worktree', where: 'workers'},
});

export async function answer(body: MessagesBody) {
  const turns = body.messages.filter(({role}) => role === 'assistant').length;
  if (!isSubagent(body)) return turns === 0 ? task : say('All done.');
  return turns === 0
    ? callTool('write_file', {path: 'made.txt', content: 'made elsewhere\n'})
    : say('I wrote made.txt:1.');
}
