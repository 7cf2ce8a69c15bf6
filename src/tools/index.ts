/** The tools that every agent may be given. Loads zod: import it after the first paint. */
import type {CodeIndex} from '../code-index/contract.ts';
import type {Tool} from '../core/contract/tool.ts';
import type {Sandbox} from '../sandbox/index.ts';
import {ProcessGroups} from '../sandbox/launch/process-groups.ts';
import {createBash} from './bash/bash.ts';
import {FileLocks} from './files/change-file.ts';
import {createEditFile} from './files/edit-file.ts';
import {readFileTool} from './files/read-file.ts';
import {createWriteFile} from './files/write-file.ts';
import {globTool} from './search/glob.ts';
import {grepTool} from './search/grep.ts';
import {createSymbols} from './search/symbols.ts';
import {createFanOutTool, type FanOutToolDeps} from './task/fan-out.ts';
import {createTaskTool, type TaskDeps} from './task/task.ts';
import {createTaskList} from './task/task-list.ts';
import {createTaskOutput} from './task/task-output.ts';
import {createTaskSend} from './task/task-send.ts';
import {createTaskStop} from './task/task-stop.ts';
import {createTodoWrite} from './todo-write.ts';
import {createWebFetch, type WebFetchOptions} from './web/web-fetch.ts';
import {webSearchTool} from './web/web-search.ts';

/**
 * Created once and used by all agents of a session. They share file locks and the list of running processes; what
 * belongs to one agent is stored by its id. `getIndex` gives the code index of a folder. The order never changes, because it is part of each request's bytes.
 */
export function createBaseTools(
  sandbox: Sandbox,
  web: WebFetchOptions & {readonly searches?: boolean},
  getIndex: (root: string) => CodeIndex,
): Tool[] {
  const locks = new FileLocks();
  return [
    createBash(sandbox, new ProcessGroups()),
    readFileTool,
    createWriteFile(locks),
    createEditFile(locks),
    grepTool,
    globTool,
    createSymbols(getIndex),
    createTodoWrite(),
    createWebFetch(web),
    ...(web.searches ? [webSearchTool] : []),
  ] as Tool[];
}

/** Names of the tools that `createTaskTools` makes. */
export const TASK_TOOL_NAMES: readonly string[] = ['Task', 'TaskList', 'TaskOutput', 'TaskSend', 'TaskStop', 'FanOut'];

/** Only the main agent gets these tools: a subagent cannot dispatch another one. */
export function createTaskTools(deps: TaskDeps & FanOutToolDeps): Tool[] {
  const {manager} = deps;
  return [
    createTaskTool(deps),
    createTaskList(manager),
    createTaskOutput(manager),
    createTaskSend(manager),
    createTaskStop(manager),
    createFanOutTool(deps),
  ] as Tool[];
}
