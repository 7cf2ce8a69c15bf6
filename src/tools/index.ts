/** Lists all tools. The module loads zod, so it is imported after the first paint. */
import type {CodeIndex} from '../code-index/contract.ts';
import type {EditorFiles, Tool} from '../core/contract/tool.ts';
import type {ToolFacts} from '../core/contract/tool-facts.ts';
import type {Sandbox} from '../sandbox/index.ts';
import type {ProcessGroups} from '../sandbox/launch/process-groups.ts';
import {
  ASK_USER_QUESTION,
  type AskUserDeps,
  createAskUserQuestion,
  createExitPlanMode,
  EXIT_PLAN_MODE,
} from './ask-user.ts';
import {BASH, createBash} from './bash/bash.ts';
import {FileLocks} from './files/change-file.ts';
import {createEditFile, EDIT_FILE} from './files/edit-file.ts';
import {EditorBuffers} from './files/editor-buffers.ts';
import {createReadFile, READ_FILE} from './files/read-file.ts';
import {createRenameSymbol, RENAME_SYMBOL} from './files/rename-symbol.ts';
import {createWriteFile, WRITE_FILE} from './files/write-file.ts';
import {createGlob, GLOB} from './search/glob.ts';
import {createGrep, GREP} from './search/grep.ts';
import {createSymbols, SYMBOLS} from './search/symbols.ts';
import {createFanOutTool, FAN_OUT, type FanOutToolDeps} from './task/fan-out.ts';
import {
  createTaskList,
  createTaskOutput,
  createTaskSend,
  createTaskStop,
  TASK_LIST,
  TASK_OUTPUT,
  TASK_SEND,
  TASK_STOP,
} from './task/run-tools.ts';
import {createTaskTool, TASK, type TaskDeps} from './task/task.ts';
import {TODO_WRITE, todoWriteTool} from './todo-write.ts';
import {createWebFetch, WEB_FETCH, type WebFetchOptions} from './web/web-fetch.ts';
import {WEB_SEARCH, webSearchTool} from './web/web-search.ts';

interface BaseToolDeps {
  readonly sandbox: Sandbox;
  readonly locks: FileLocks;
  readonly processes: ProcessGroups;
  readonly web: WebFetchOptions & {readonly searches?: boolean};
  readonly getIndex: (root: string) => CodeIndex;
}

/** A tool's facts, and the function that creates it. Undefined means that this session does not have the tool. */
type Listed<Deps> = readonly [ToolFacts, (deps: Deps) => ToolFacts | undefined];

/** Tools that every agent may get. The order never changes, because it is part of each request's bytes. */
const BASE_TOOLS: readonly Listed<BaseToolDeps>[] = [
  [BASH, ({sandbox, processes}) => createBash(sandbox, processes)],
  [READ_FILE, ({locks}) => createReadFile(locks.buffers)],
  [WRITE_FILE, ({locks}) => createWriteFile(locks)],
  [EDIT_FILE, ({locks}) => createEditFile(locks)],
  [GREP, ({sandbox}) => createGrep(sandbox)],
  [GLOB, ({sandbox}) => createGlob(sandbox)],
  [SYMBOLS, ({getIndex}) => createSymbols(getIndex)],
  [RENAME_SYMBOL, createRenameSymbol],
  [TODO_WRITE, () => todoWriteTool],
  [WEB_FETCH, ({web}) => createWebFetch(web)],
  [WEB_SEARCH, ({web}) => (web.searches ? webSearchTool : undefined)],
];

/** Tools of the main agent alone, because a subagent cannot dispatch another one. */
const TASK_TOOLS: readonly Listed<TaskDeps & FanOutToolDeps>[] = [
  [TASK, createTaskTool],
  [TASK_LIST, ({manager}) => createTaskList(manager)],
  [TASK_OUTPUT, ({manager}) => createTaskOutput(manager)],
  [TASK_SEND, ({manager}) => createTaskSend(manager)],
  [TASK_STOP, ({manager}) => createTaskStop(manager)],
  [FAN_OUT, createFanOutTool],
];

/** Tools by which the main agent asks a person. Only sessions in which a person can answer have them. */
const ASKING_TOOLS: readonly Listed<AskUserDeps>[] = [
  [ASK_USER_QUESTION, createAskUserQuestion],
  [EXIT_PLAN_MODE, createExitPlanMode],
];

/** Facts of all these tools, for code that has only their names. */
export const TOOLS: readonly ToolFacts[] = [...BASE_TOOLS, ...TASK_TOOLS, ...ASKING_TOOLS].map(([facts]) => facts);

/** Creates the tools once for all agents of a session. Data of one agent is stored by its id. */
export function createBaseTools({
  editor,
  ...deps
}: Omit<BaseToolDeps, 'locks'> & {readonly editor?: EditorFiles | undefined}): Tool[] {
  const locks = new FileLocks(editor && new EditorBuffers(editor, deps.processes));
  return createTools(BASE_TOOLS, {...deps, locks});
}

export function createTaskTools(deps: TaskDeps & FanOutToolDeps): Tool[] {
  return createTools(TASK_TOOLS, deps);
}

export function createAskingTools(deps: AskUserDeps): Tool[] {
  return createTools(ASKING_TOOLS, deps);
}

function createTools<Deps>(listed: readonly Listed<Deps>[], deps: Deps): Tool[] {
  return listed.flatMap(([, create]) => (create(deps) as Tool | undefined) ?? []);
}
