/** `TaskSend`: a further word to a run, at work or ended. */
import {z} from 'zod';
import type {Tool} from '../../core/contract/tool.ts';
import type {SubagentManager} from '../../core/subagent-manager.ts';
import {errorResult, textResult} from '../../core/util/tool-result.ts';
import {runId} from './run-id.ts';
import description from './task-send.md';

const input = z.object({run_id: runId, message: z.string()});

export function createTaskSend(manager: () => SubagentManager): Tool<z.infer<typeof input>> {
  return {
    name: 'TaskSend',
    description,
    input,
    title: ({run_id}) => String(run_id),
    access: () => [{kind: 'none'}],
    async run({run_id, message}) {
      if (message.trim() === '') return errorResult('The message is empty: nothing was sent.');
      return textResult(
        manager().send(String(run_id), message) === 'queued'
          ? 'Sent: it reads the message at its next turn.'
          : 'It goes on in the background; its end will be announced.',
      );
    },
  };
}
