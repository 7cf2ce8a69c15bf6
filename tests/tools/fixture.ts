/** A workspace on disk and a context to call tools in: nothing is mocked. */

import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {onTestFinished} from 'vitest';
import type {AgentEventBody} from '../../src/core/contract/events.ts';
import type {Workspace} from '../../src/core/contract/permission.ts';
import type {ToolResult} from '../../src/core/contract/results.ts';
import type {Tool, ToolContext} from '../../src/core/contract/tool.ts';
import {resolveLinks} from '../../src/core/permissions/files/resolve-links.ts';
import {createFileLedger, WriteLog} from '../../src/core/turn/file-ledger.ts';

export interface Fixture {
  readonly root: string;
  /** A second directory, for what must lie outside the workspace. */
  readonly outside: string;
  readonly workspace: Workspace;
  readonly events: AgentEventBody[];
  readonly log: WriteLog;
  /** Writes files of the workspace, given by their relative paths. */
  put(files: Readonly<Record<string, string | Buffer>>): void;
  context(more?: Partial<ToolContext>): ToolContext;
  /** Runs the tool as the agent loop does: it parses the input and turns thrown errors into results. */
  call<Input>(tool: Tool<Input>, input: unknown, more?: Partial<ToolContext>): Promise<Called>;
}

export interface Called extends ToolResult {
  readonly text: string;
}

export function fixture(given: Partial<Workspace> = {}): Fixture {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'mini-cc-tools-')));
  onTestFinished(() => rmSync(base, {recursive: true, force: true}));
  const root = join(base, 'workspace');
  const outside = join(base, 'outside');
  for (const directory of [root, outside, join(base, 'home')]) mkdirSync(directory);
  const env = {PATH: process.env.PATH ?? '', HOME: join(base, 'home'), LANG: 'C.UTF-8'};
  const workspace: Workspace = {root, extraRoots: [], cwd: root, confinement: 'none', env, ...given};
  const events: AgentEventBody[] = [];
  const log = new WriteLog();
  const files = createFileLedger(log, 'main');
  const context = (more: Partial<ToolContext> = {}): ToolContext => ({
    agentId: 'main',
    callId: 'call-1',
    outlivesTurn: false,
    signal: new AbortController().signal,
    workspace,
    files,
    output: {open: (callId) => outputFile(join(base, `${callId}.txt`))},
    emit: (event) => void events.push(event),
    ask: async () => '',
    runCalls: async () => [],
    places: [],
    attempt: {launch: getLaunch((more.workspace ?? workspace).confinement), checkpoint: false},
    ...more,
  });
  return {
    ...{root, outside, workspace, events, log, context},
    put(given) {
      for (const [path, content] of Object.entries(given)) {
        mkdirSync(dirname(join(root, path)), {recursive: true});
        writeFileSync(join(root, path), content);
      }
    },
    async call(tool, input, more) {
      try {
        const parsed = tool.input.parse(input);
        const {cwd} = more?.workspace ?? workspace;
        const accesses = tool.access(parsed, more?.workspace ?? workspace);
        const places = accesses.flatMap((access) => ('path' in access ? [resolveLinks(access.path, cwd)] : []));
        const result = await tool.run(parsed, context({places, ...more}));
        const text = typeof result.content === 'string' ? result.content : JSON.stringify(result.content);
        return {...result, text};
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        return {content: text, text, isError: true};
      }
    },
  };
}

/** As a decision has it where a sandbox works. */
function getLaunch(confinement: Workspace['confinement']): ToolContext['attempt']['launch'] {
  if (confinement === 'none') return 'plain';
  return confinement === 'read-only' ? 'read-only' : 'workspace-write';
}

function outputFile(path: string) {
  const descriptor = openSync(path, 'w');
  return {path, write: (chunk: string) => void writeSync(descriptor, chunk), close: () => closeSync(descriptor)};
}

/** False also for a zombie: a process that has ended and that its parent has not waited for. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return process.platform !== 'linux' || !isZombie(pid);
}

function isZombie(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}
