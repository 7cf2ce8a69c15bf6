/** Defines the tool `Task`, which dispatches a subagent. */
import {z} from 'zod';
import type {AgentCatalog, AgentDefinition} from '../../core/agent-types.ts';
import type {Model, Thinking} from '../../core/contract/model.ts';
import type {ToolResult} from '../../core/contract/results.ts';
import type {SubagentResult} from '../../core/contract/runs.ts';
import type {Tool, ToolContext} from '../../core/contract/tool.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {WHERE} from '../../core/contract/worktree.ts';
import {formatAccepted} from '../../core/runs/dispatch.ts';
import {describeInBackground} from '../../core/runs/progress-line.ts';
import type {SubagentManager} from '../../core/subagent-manager.ts';
import {formatReason} from '../../core/turn/run-ending.ts';
import {MiniCcError} from '../../core/util/errors.ts';
import {textResult} from '../../core/util/tool-output.ts';
import {describeAgents} from './described-agents.ts';
import prose from './task.md';
import {repairTaskInput} from './task-input.ts';

export interface TaskDeps {
  readonly agents: AgentCatalog;
  readonly manager: () => SubagentManager;
  /** Whether there is a queue of workers, so that the model is offered `where`. */
  readonly hasWorkers: boolean;
  /**
   * Returns the model of a run: the one that the call asks for, otherwise that of the agent or the settings, otherwise
   * the main agent's.
   */
  readonly modelFor: (
    agent: AgentDefinition,
    asked: {readonly model?: string | undefined; readonly thinking?: Thinking | undefined},
  ) => {readonly model: Model; readonly warnings: readonly string[]};
}

type TaskInput = z.output<ReturnType<typeof createInputSchema>>;

export const TASK: ToolFacts = {
  name: 'Task',
  kind: 'think',
  claude: {inputs: {agent_type: 'subagent_type', background: 'run_in_background'}},
  aliases: ['Agent'],
  rulePattern: 'agent',
  dispatches: true,
};

export function createTaskTool(deps: TaskDeps): Tool<TaskInput> {
  const getDescribed = keepForStep(() => describeAgents(deps.agents.list()));
  let schema: {readonly names: string; readonly input: ReturnType<typeof createInputSchema>} | undefined;
  return {
    ...TASK,
    get description() {
      return `${prose.trim()}\n${getDescribed().text}`;
    },
    get input() {
      const {names} = getDescribed();
      // Cache the schema while the agents stay the same, so that it is converted to JSON Schema once.
      if (schema?.names !== names.join())
        schema = {names: names.join(), input: createInputSchema(names, deps.hasWorkers)};
      return schema.input;
    },
    title: (input) => input.description,
    access: (input) => [{kind: 'dispatch', agent: input.agent_type}],
    repair(input) {
      const names = deps.agents.list().map((agent) => agent.name);
      const repaired = repairTaskInput(input, names);
      if (repaired.notes.length > 0) deps.manager().log.count('repaired');
      return repaired;
    },
    run: (input, context) => dispatchTask(input, context, deps),
  };
}

async function dispatchTask(input: TaskInput, context: ToolContext, deps: TaskDeps): Promise<ToolResult> {
  const agent = deps.agents.get(input.agent_type);
  if (!agent)
    throw new MiniCcError('TASK_INPUT', `There is no agent ${input.agent_type} any more. Nothing was dispatched.`);
  const {model, warnings} = deps.modelFor(agent, input);
  const {agent_type: _, model: _m, max_turns, timeout_seconds, max_tokens, ...asked} = input;
  const background = input.background ?? agent.background ?? false;
  const dispatched = await deps.manager().dispatch({
    ...asked,
    agent,
    model,
    warnings,
    background,
    limits: {maxTurns: max_turns, timeoutSeconds: timeout_seconds, maxTokens: max_tokens},
    callId: context.callId,
    signal: context.signal,
  });
  const showRepeated = (ended?: SubagentResult) => {
    const {source} = dispatched;
    if (source === 'run' || background) return;
    const task = {callId: context.callId, agent: agent.name, description: input.description, source};
    const {outcome, tools, durationMs} = ended?.result ?? {outcome: 'running', tools: [], durationMs: 0};
    const end = {state: outcome, tools: tools.length, durationMs, ...(ended && {reason: formatReason(ended.result)})};
    context.emit({type: 'repeated_task', ...task, ...end});
  };
  showRepeated();
  if (dispatched.source === 'cached') {
    showRepeated(dispatched.result);
    return textResult(`[cached]\n${dispatched.result.report}`);
  }
  const {runId, ended, detached} = dispatched.started;
  const result = background ? undefined : await Promise.race([ended, detached]);
  if (result) showRepeated(result);
  else {
    // The event `run_background` shows that a run was sent to the background while it worked.
    const text = describeInBackground({agent: agent.name, description: input.description});
    const display = background ? {display: {type: 'text', text} as const} : {};
    return textResult(formatAccepted(agent.name, runId), {background: 'starts', ...display});
  }
  return textResult(result.report, {
    isError: result.result.outcome !== 'success',
    facts: {changed: result.receipt.filesChanged},
  });
}

/**
 * Caches a value within one synchronous step, so that all callers get the same agents, and their folders are read once.
 */
export function keepForStep<T>(get: () => T): () => T {
  let kept: {readonly value: T} | undefined;
  return () => {
    if (!kept) {
      kept = {value: get()};
      queueMicrotask(() => {
        kept = undefined;
      });
    }
    return kept.value;
  };
}

/** Creates the error for a value of the model's call. */
function must(text: string) {
  return {error: ({input}: {readonly input?: unknown}) => `${text}, not ${JSON.stringify(input)}`};
}

function createInputSchema(names: readonly string[], hasWorkers: boolean) {
  return z.object({
    description: z.string(),
    prompt: z.string(),
    // The schema lists only the agents that the request names. `repair` has checked the name against all agents.
    agent_type: z.string().meta({enum: names}),
    model: z.string().optional(),
    thinking: z.enum(['off', 'low', 'medium', 'high'], must('thinking must be off, low, medium or high')).optional(),
    background: z.boolean().optional(),
    timeout_seconds: z.number().min(0, must('timeout_seconds must be 0 (no limit) or more')).optional(),
    max_turns: z
      .int(must('max_turns must be a whole number from 1 to 400'))
      .min(1, must('max_turns must be 1 or more'))
      .max(400, must('max_turns must be 400 or less'))
      .optional(),
    max_tokens: z
      .int(must('max_tokens must be a whole number'))
      .min(1, must('max_tokens must be 1 or more'))
      .optional(),
    label: z.string().optional(),
    cleanup: z.enum(['keep', 'delete']).optional(),
    isolation: z.enum(['none', 'worktree'], must('isolation must be none or worktree')).optional(),
    where: z.enum(WHERE, must('where must be local, workers or auto')).optional().meta({unsaid: !hasWorkers}),
  });
}
