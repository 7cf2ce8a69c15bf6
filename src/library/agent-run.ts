/** Creates one run of an agent for programs that call `runAgent` themselves, with their own tools and model. */
import {randomUUID} from 'node:crypto';
import {z} from 'zod';
import {type AgentRun, runAgent} from '../core/agent-loop.ts';
import type {AssistantBlock, Model} from '../core/contract/model.ts';
import type {Tool} from '../core/contract/tool.ts';
import {checkTools} from '../core/session/requests.ts';
import {createMainRun} from '../core/session/turns.ts';
import {createSession} from '../core/session.ts';
import {RunAborted} from '../core/turn/run-ending.ts';
import {getErrorMessage, UsageError} from '../core/util/errors.ts';
import {NO_USAGE} from '../core/util/messages.ts';
import {withoutUndefined} from '../core/util/objects.ts';
import {toToolName} from '../core/util/tool-names.ts';
import {
  checkCount,
  checkFolders,
  checkMode,
  checkTimeout,
  composeSession,
  isRunEvent,
  toSeconds,
} from './compose-session.ts';
import type * as shipped from './public.d.ts';

export {runAgent};

/** The argument of `runAgent`, and the session that it belongs to. */
interface LibraryRun extends AgentRun {
  readonly sessionId: string;
  readonly transcript: string;
  close(): Promise<void>;
}

export async function createAgentRun(options: shipped.AgentRunOptions): Promise<LibraryRun> {
  const {prompt, model, agent_type: agent, tools, maxTurns, timeout, resume, signal, onEvent} = options;
  const {allowedTools, disallowedTools} = options;
  if (typeof prompt !== 'string' || prompt.trim() === '') throw new UsageError('A run needs a prompt');
  checkCount('maxTurns', maxTurns);
  checkTimeout(timeout);
  checkMode(options.permissionMode);
  checkFolders(options);
  const own = (tools ?? []).filter((tool) => typeof tool !== 'string').map(toTool);
  const parts = await composeSession(options, {
    ...(typeof model === 'string' && {model}),
    ...(resume !== undefined && {which: {type: 'resume', id: resume}}),
    ...withoutUndefined({agent, allowedTools, disallowedTools}),
    limits: withoutUndefined({maxTurns, timeoutSeconds: toSeconds(timeout)}),
  });
  const session = createSession(parts);
  try {
    if (onEvent) session.subscribe((event) => isRunEvent(event) && onEvent(event));
    const closing = new AbortController();
    const run = createMainRun(parts, AbortSignal.any([closing.signal, ...(signal ? [signal] : [])]));
    run.history.appendPrompt(prompt);
    return {
      ...run,
      ...(typeof model === 'object' ? {model: toModel(model)} : {}),
      tools: assertUnique([...selectTools(run.tools, tools, agent ?? 'mini-cc'), ...own]),
      sessionId: session.info.sessionId,
      transcript: session.info.transcript,
      close: async () => {
        closing.abort(new RunAborted('close'));
        await session.close();
      },
    };
  } catch (error) {
    await session.close();
    throw error;
  }
}

/**
 * Selects the requested built-in tools. It leaves out the Task tools, which need a session that waits for subagents.
 */
function selectTools(tools: readonly Tool[], asked: shipped.AgentRunOptions['tools'], agent: string): readonly Tool[] {
  const offered = tools.filter(({name}) => !name.startsWith('Task'));
  const names = asked?.filter((tool) => typeof tool === 'string').map((tool) => toToolName(tool, tools));
  if (names === undefined) return offered;
  if (names.length > 0 || asked?.length === 0) {
    checkTools(
      agent,
      names,
      offered.map(({name}) => name),
    );
  }
  return offered.filter(({name}) => names.includes(name));
}

/** Rejects two tools of the same name, because model servers refuse them. */
function assertUnique(tools: readonly Tool[]): readonly Tool[] {
  const twice = tools.find(({name}, index) => tools.findIndex((other) => other.name === name) < index);
  if (twice) throw new UsageError(`Two tools are named ${twice.name}`);
  return tools;
}

function toTool({name, description, inputSchema, run}: shipped.CustomTool): Tool<Record<string, unknown>> {
  return {
    name,
    description,
    input: parseSchema(name, inputSchema),
    title: () => '',
    // The program decides what its tool may touch, so the tool is neither asked about nor refused.
    access: () => [{kind: 'none'}],
    run: async (input, {signal, workspace}) => ({content: await run(input, {signal, cwd: workspace.cwd})}),
  };
}

function parseSchema(tool: string, schema: shipped.CustomTool['inputSchema']): z.ZodType<Record<string, unknown>> {
  try {
    const parsed = z.fromJSONSchema(schema);
    if (parsed instanceof z.ZodObject) return parsed as z.ZodType<Record<string, unknown>>;
  } catch (error) {
    throw new UsageError(`The inputSchema of ${tool} is no JSON Schema: ${getErrorMessage(error)}`, {cause: error});
  }
  throw new UsageError(`The inputSchema of ${tool} must be of type object`);
}

function toModel(model: shipped.CustomModel): Model {
  return {
    name: model.name,
    offline: false,
    local: false,
    maxOutputTokens: model.maxOutputTokens ?? 16_384,
    contextWindow: async () => model.contextWindow ?? 200_000,
    async reply({system, messages, tools, signal}, onProgress) {
      const reply = await model.reply({system, messages, tools, signal});
      const {content, usage} =
        typeof reply === 'string' ? {content: [{type: 'text', text: reply}], usage: undefined} : reply;
      for (const {type, text} of content) if (type === 'text' && text) onProgress({type: 'text', text});
      return {
        id: randomUUID(),
        content: content as unknown as readonly AssistantBlock[],
        stopReason: content.some(({type}) => type === 'tool_use') ? 'tool_use' : 'end_turn',
        usage: {...NO_USAGE, ...usage},
        model: model.name,
        garbledInputs: new Map(),
      };
    },
  };
}
