/** Defines the tools about runs: `TaskList`, `TaskOutput`, `TaskSend` and `TaskStop`. */
import {z} from 'zod';
import type {Tool} from '../../core/contract/tool.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {hasEnded} from '../../core/runs/run-record.ts';
import {describeRun, formatRunTable} from '../../core/runs/run-table.ts';
import type {SubagentManager} from '../../core/subagent-manager.ts';
import {errorResult, textResult} from '../../core/util/tool-output.ts';
import listDescription from './task-list.md';
import outputDescription from './task-output.md';
import sendDescription from './task-send.md';
import stopDescription from './task-stop.md';

export const TASK_LIST: ToolFacts = {name: 'TaskList', dispatches: true};
export const TASK_OUTPUT: ToolFacts = {name: 'TaskOutput', dispatches: true};
export const TASK_SEND: ToolFacts = {name: 'TaskSend', dispatches: true};
export const TASK_STOP: ToolFacts = {name: 'TaskStop', dispatches: true};

type GetManager = () => SubagentManager;

/** Creates a tool about runs. It needs no permission, and its title is the run that the call names. */
function createRunTool<Input extends {readonly run_id?: string | number}>(
  tool: ToolFacts & Pick<Tool<Input>, 'description' | 'input' | 'run'>,
): Tool<Input> {
  return {...tool, title: ({run_id}) => String(run_id ?? ''), access: () => [{kind: 'none'}]};
}

/** A run's id or its beginning, its path, or its number in the list, which models write as a number. */
const runIdSchema = z.union([z.string().min(1), z.int().min(1)]);

/** Lists the subagents of this session. */
export const createTaskList = (manager: GetManager) =>
  createRunTool({
    ...TASK_LIST,
    description: listDescription,
    input: z.object({}),
    async run() {
      const records = manager().list();
      return textResult(formatRunTable(records), records.every(hasEnded) ? {} : {background: 'waits'});
    },
  });

/** Limit of one wait. For a longer wait the model calls the tool again. */
const MAX_WAIT_SECONDS = 600;

/** Returns the report of a run that has ended, or the state of one that still runs. */
export const createTaskOutput = (manager: GetManager) =>
  createRunTool({
    ...TASK_OUTPUT,
    description: outputDescription,
    input: z.object({run_id: runIdSchema, wait_seconds: z.number().min(0).max(MAX_WAIT_SECONDS).optional()}),
    async run({run_id, wait_seconds = 0}, {signal}) {
      const {runId} = manager().find(String(run_id));
      await manager().waitFor(runId, wait_seconds * 1000, signal);
      const record = manager().find(runId);
      if (hasEnded(record)) return textResult(manager().report(record));
      return textResult(describeRun(record, Date.now()), {background: 'waits'});
    },
  });

/** Sends a further message to a run that still runs or has ended. */
export const createTaskSend = (manager: GetManager) =>
  createRunTool({
    ...TASK_SEND,
    description: sendDescription,
    input: z.object({run_id: runIdSchema, message: z.string()}),
    async run({run_id, message}) {
      if (message.trim() === '') return errorResult('The message is empty: nothing was sent.');
      if (manager().send(String(run_id), message) === 'queued')
        return textResult('Sent: it reads the message at its next turn.');
      return textResult('It goes on in the background; its end will be announced.', {background: 'starts'});
    },
  });

/** Stops a run. Its findings stay available. */
export const createTaskStop = (manager: GetManager) =>
  createRunTool({
    ...TASK_STOP,
    description: stopDescription,
    input: z.object({run_id: runIdSchema}),
    async run({run_id}) {
      const record = manager().find(String(run_id));
      if (hasEnded(record)) return textResult(`It has ended already: ${record.outcome}.`);
      await manager().stop(record.runId, 'stop', 'agent');
      return textResult(manager().report(manager().find(record.runId)));
    },
  });
