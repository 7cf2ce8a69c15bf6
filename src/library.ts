/** Subagents for other programs: the same engine, without a session around it. */
import {homedir} from 'node:os';
import path from 'node:path';
import {compose} from './compose.ts';
import type {AgentCatalog, AgentDefinition} from './core/agent-types.ts';
import {UsageError} from './core/errors.ts';
import type {PermissionMode} from './core/events.ts';
import {reasonOf} from './core/run-result.ts';
import type {Session} from './core/session.ts';
import type {SubagentResult} from './core/subagent.ts';
import {tokensOf} from './core/token-budget.ts';
import {toolName} from './core/tool-names.ts';

export interface SubagentManagerConfig {
  /** Without key and server the built-in offline model answers. */
  readonly apiKey?: string;
  readonly baseURL?: string;
  /** Default: as mini-cc itself chooses it. */
  readonly model?: string;
  /** Runs at work at a time. Default: 8, 3 for a server on this machine. */
  readonly maxConcurrent?: number;
  /** Milliseconds that a run may take. Default: by the kind of agent, 300,000 to 900,000. */
  readonly timeout?: number;
  /** Writes a log to `<home>/logs/`. */
  readonly debug?: boolean;
  /** Where the runs work. Default: the directory of the process. */
  readonly cwd?: string;
  /** Nobody can be asked: what is not allowed is refused. `acceptEdits` lets runs change files. Default: `default`. */
  readonly permissionMode?: PermissionMode;
  /** Where transcripts go. Default: `MINI_CC_HOME`, else `~/.mini-cc`. */
  readonly home?: string;
}

export interface SubtaskRequest {
  /** Built in or of the project's own. Default: `code` where it may write, that is without `tools` or with one that writes; else `explore`. */
  readonly agent_type?: string;
  /** What to do; one of the two. */
  readonly prompt?: string;
  readonly instruction?: string;
  /** The files that it is about. */
  readonly files?: readonly string[];
  /** Only these of the agent's tools. */
  readonly tools?: readonly string[];
}

export interface SubtaskResult {
  readonly success: boolean;
  /** Its final answer, or what it had when it was cut off. */
  readonly summary: string;
  /** Files that its tools changed. */
  readonly changes: readonly string[];
  /** Milliseconds. */
  readonly duration: number;
  /** Why it did not succeed; a run past its time has `EXECUTION_TIMEOUT` in it. */
  readonly error?: string;
  readonly metadata: {
    /** Names, each once, in the order of their first call. */
    readonly toolsUsed: readonly string[];
    /** In and out, cache included. */
    readonly tokensUsed: number;
    readonly filesRead: readonly string[];
    readonly filesModified: readonly string[];
  };
}

const WRITING_TOOLS = ['write_file', 'edit_file', 'bash'];

/**
 * Dispatches tasks to subagents and gives back what they found.
 *
 * ```ts
 * import {SubagentManager} from 'mini-cc';
 *
 * // 1. A manager. Without a key and a server, the built-in offline model works: nothing is needed to try this.
 * const manager = new SubagentManager({cwd: '/path/to/project'});
 *
 * // 2. One task, with the tools that it may use.
 * const found = await manager.spawn({agent_type: 'explore', prompt: 'Where is greet defined?'});
 * console.log(found.summary, found.metadata.toolsUsed);
 *
 * // 3. Several at once: results in the order of the tasks, and one failure leaves the others be.
 * const results = await manager.spawnParallel([
 *   {instruction: 'What does this file do?', files: ['src/main.ts'], tools: ['read_file', 'grep', 'glob']},
 *   {instruction: 'List the files in tests', tools: ['glob']},
 * ]);
 * console.log(`${results.filter((result) => result.success).length}/2`);
 *
 * // 4. The end: what still runs is stopped.
 * await manager.close();
 * ```
 */
export class SubagentManager {
  readonly #config: SubagentManagerConfig;
  readonly #abort = new AbortController();
  #session: Promise<Session> | undefined;

  constructor(config: SubagentManagerConfig = {}) {
    this.#config = config;
  }

  /** Never rejects for what happens in the run. @throws UsageError for a request or a configuration that is wrong. */
  async spawn(request: SubtaskRequest): Promise<SubtaskResult> {
    const prompt = promptOf(request);
    this.#session ??= this.#open();
    const session = await this.#session;
    const agent = agentFor(request, session.agents);
    const {timeout} = this.#config;
    const ended = await session.subagents.spawn({
      ...{agent, prompt, description: prompt.trim().split(/\s+/).slice(0, 5).join(' ')},
      ...{model: session.model, signal: this.#abort.signal},
      ...(timeout === undefined ? {} : {timeoutSeconds: timeout / 1000}),
    });
    return resultOf(ended);
  }

  /** All at once, within `maxConcurrent`. Results in the order of the requests. */
  async spawnParallel(requests: readonly SubtaskRequest[]): Promise<SubtaskResult[]> {
    return Promise.all(requests.map((request) => this.spawn(request)));
  }

  /** Ends what runs. May be called twice. */
  async close(): Promise<void> {
    await (await this.#session)?.close();
  }

  #open(): Promise<Session> {
    const {apiKey, baseURL, model, maxConcurrent, debug = false, cwd = process.cwd(), permissionMode} = this.#config;
    const {ANTHROPIC_API_KEY: _, ANTHROPIC_AUTH_TOKEN: _t, ANTHROPIC_BASE_URL: _u, ...others} = process.env;
    return compose({
      ...{cwd, debug, interactive: false, which: {type: 'new'}},
      // What is configured here decides, not what happens to be set around the program.
      env: {
        ...others,
        ...(apiKey ? {ANTHROPIC_API_KEY: apiKey} : {}),
        ...(baseURL ? {ANTHROPIC_BASE_URL: baseURL} : {}),
      },
      home: this.#config.home ?? process.env.MINI_CC_HOME ?? path.join(homedir(), '.mini-cc'),
      // No timer may keep a program alive that forgets to close.
      archiveAfterMinutes: 0,
      ...(model === undefined ? {} : {model}),
      ...(maxConcurrent === undefined ? {} : {maxConcurrent}),
      ...(permissionMode === undefined ? {} : {permissionMode}),
    });
  }
}

function promptOf({prompt, instruction, files = []}: SubtaskRequest): string {
  const words = prompt ?? instruction ?? '';
  if (words.trim() === '') throw new UsageError('A subtask needs a prompt or an instruction');
  return files.length === 0 ? words : `${words}\n\nFiles:\n${files.map((file) => `- ${file}`).join('\n')}`;
}

function agentFor({agent_type, tools}: SubtaskRequest, agents: AgentCatalog): AgentDefinition {
  const asked = tools?.map(toolName);
  const writes = asked === undefined || asked.some((tool) => WRITING_TOOLS.includes(tool));
  const name = agent_type ?? (writes ? 'code' : 'explore');
  const agent = agents.get(name);
  if (!agent) {
    const names = agents.list().map((each) => each.name);
    throw new UsageError(`Invalid agent_type: "${name}". Valid types: ${names.join(', ')}`);
  }
  if (!asked) return agent;
  return {...agent, tools: agent.tools === '*' ? asked : agent.tools.filter((tool) => asked.includes(tool))};
}

function resultOf({result, receipt}: SubagentResult): SubtaskResult {
  const reason = reasonOf(result);
  const error = result.outcome === 'timeout' ? `EXECUTION_TIMEOUT: ${reason}` : reason;
  return {
    success: result.outcome === 'success',
    summary: result.text,
    changes: receipt.filesChanged,
    duration: Math.round(result.durationMs),
    ...(error === '' ? {} : {error}),
    metadata: {
      toolsUsed: [...new Set(result.tools.map(({tool}) => tool))],
      tokensUsed: tokensOf(result.usage),
      filesRead: receipt.filesRead,
      filesModified: receipt.filesChanged,
    },
  };
}
