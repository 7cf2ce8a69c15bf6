/** The tools that every agent may be given. Loads zod: import it after the first paint. */
import type {Tool} from '../core/tool.ts';
import type {Sandbox} from '../sandbox/index.ts';
import {createBash} from './bash.ts';
import {createEditFile} from './edit-file.ts';
import {FileLocks} from './file-locks.ts';
import {globTool} from './glob.ts';
import {grepTool} from './grep.ts';
import {ProcessGroups} from './process-groups.ts';
import {readFileTool} from './read-file.ts';
import {createTaskTool, type TaskDeps} from './task.ts';
import {createTaskList} from './task-list.ts';
import {createTaskOutput} from './task-output.ts';
import {createTaskSend} from './task-send.ts';
import {createTaskStop} from './task-stop.ts';
import {createTodoWrite} from './todo-write.ts';
import {createWebFetch, type WebFetchOptions} from './web-fetch.ts';
import {createWriteFile} from './write-file.ts';

/**
 * Made once and given to all agents of a session: what belongs to one agent is kept by its id, while locks of files
 * and the list of running processes must be shared. The order never changes: it is part of each request's bytes.
 */
export function createBaseTools(sandbox: Sandbox, web: WebFetchOptions): Tool[] {
  const locks = new FileLocks();
  return [
    createBash(sandbox, new ProcessGroups()),
    readFileTool,
    createWriteFile(locks),
    createEditFile(locks),
    grepTool,
    globTool,
    createTodoWrite(),
    createWebFetch(web),
  ] as Tool[];
}

/** Names of the tools that `createTaskTools` makes. */
export const TASK_TOOL_NAMES: readonly string[] = ['Task', 'TaskList', 'TaskOutput', 'TaskSend', 'TaskStop'];

/** The main agent's alone: no subagent has them, so none can dispatch. */
export function createTaskTools(deps: TaskDeps): Tool[] {
  const {manager} = deps;
  return [
    createTaskTool(deps),
    createTaskList(manager),
    createTaskOutput(manager),
    createTaskSend(manager),
    createTaskStop(manager),
  ] as Tool[];
}
