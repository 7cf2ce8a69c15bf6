/** Defines the tool `TaskSend`, which sends a further message to a run that still runs or has ended. */
import {z} from 'zod';
import type {Tool} from '../../core/contract/tool.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import type {SubagentManager} from '../../core/subagent-manager.ts';
import {errorResult, textResult} from '../../core/util/tool-output.ts';
import {createRunTool, runIdSchema} from './run-tool.ts';
import description from './task-send.md';

const input = z.object({run_id: runIdSchema, message: z.string()});

export const TASK_SEND: ToolFacts = {name: 'TaskSend', dispatches: true};

export function createTaskSend(manager: () => SubagentManager): Tool<z.infer<typeof input>> {
  return createRunTool({
    ...TASK_SEND,
    description,
    input,
    async run({run_id, message}) {
      if (message.trim() === '') return errorResult('The message is empty: nothing was sent.');
      return textResult(
        manager().send(String(run_id), message) === 'queued'
          ? 'Sent: it reads the message at its next turn.'
          : 'It goes on in the background; its end will be announced.',
      );
    },
  });
}
