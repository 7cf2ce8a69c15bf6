/** `Task`: the main agent's way to its subagents. */
import leven from 'leven';
import {z} from 'zod';
import type {AgentCatalog} from '../core/agent-types.ts';
import {MiniCcError} from '../core/errors.ts';
import type {Model} from '../core/model.ts';
import type {SubagentManager} from '../core/subagent-manager.ts';
import {type Tool, textResult} from '../core/tool.ts';
import prose from './task.md';

export interface TaskDeps {
  readonly agents: AgentCatalog;
  readonly manager: () => SubagentManager;
  /** The model of a run: what the call names, else the agent's, else the main agent's. */
  readonly modelFor: (agent: string, asked: string | undefined) => {readonly model: Model; readonly warning?: string};
}

interface TaskInput {
  readonly description: string;
  readonly prompt: string;
  readonly agent_type: string;
  readonly model?: string | undefined;
  readonly timeout_seconds?: number | undefined;
  readonly max_turns?: number | undefined;
}

/** In the contract, with an engine that comes later. */
const LATER = ['background', 'thinking', 'label', 'cleanup', 'isolation'];

export function createTaskTool(deps: TaskDeps): Tool<TaskInput> {
  return {
    name: 'Task',
    get description() {
      return `${prose.trim()}\n${deps.agents
        .list()
        .map((agent) => `- ${agent.name}: ${agent.description}`)
        .join('\n')}`;
    },
    get input() {
      return schemaFor(deps.agents.list().map((agent) => agent.name));
    },
    title: (input) => input.description,
    access: (input) => [{kind: 'dispatch', agent: input.agent_type}],
    repair(input) {
      assertDispatchable(input, deps.agents);
      return {input, notes: []};
    },
    async run(input, context) {
      const agent = deps.agents.get(input.agent_type);
      if (!agent) throw invalidType(input.agent_type, deps.agents);
      const {model, warning} = deps.modelFor(agent.name, input.model);
      const ended = await deps.manager().spawn({
        agent,
        description: input.description,
        prompt: input.prompt,
        model,
        callId: context.callId,
        signal: context.signal,
        ...(input.max_turns === undefined ? {} : {maxTurns: input.max_turns}),
        ...(input.timeout_seconds === undefined ? {} : {timeoutSeconds: input.timeout_seconds}),
      });
      const text = warning ? `Warning: ${warning}\n${ended.report}` : ended.report;
      return textResult(text, {
        isError: ended.result.outcome !== 'success',
        facts: {changed: ended.receipt.filesChanged},
      });
    },
  };
}

function schemaFor(names: readonly string[]) {
  return z.object({
    description: z.string(),
    prompt: z.string(),
    agent_type: z.enum(names as [string, ...string[]]),
    model: z.string().optional(),
    timeout_seconds: z.int().min(0).optional(),
    max_turns: z.int().min(1).max(400).optional(),
  });
}

/** The errors that SPEC words, before any model call. @throws MiniCcError `TASK_INPUT`. */
function assertDispatchable(input: unknown, agents: AgentCatalog): void {
  const fields: Record<string, unknown> = typeof input === 'object' && input !== null ? {...input} : {};
  const type = fields.agent_type;
  if (type === undefined || type === null || type === '') {
    throw new MiniCcError('TASK_INPUT', `Missing agent_type parameter. Valid types: ${validTypes(agents)}`);
  }
  if (typeof type !== 'string' || !agents.get(type)) throw invalidType(String(type), agents);
  if (typeof fields.prompt !== 'string' || fields.prompt.trim() === '') {
    throw new MiniCcError('TASK_INPUT', 'Missing or empty prompt parameter');
  }
  const later = LATER.find((key) => fields[key] !== undefined && fields[key] !== false && fields[key] !== 'none');
  if (later)
    throw new MiniCcError('TASK_INPUT', `${later} is not yet available: leave it out. Nothing was dispatched.`);
}

function invalidType(type: string, agents: AgentCatalog): MiniCcError {
  const [nearest] = agents
    .list()
    .map((agent) => agent.name)
    .sort((a, b) => leven(type, a) - leven(type, b));
  const meant = nearest && leven(type.toLowerCase(), nearest) <= 2 ? ` Did you mean "${nearest}"?` : '';
  return new MiniCcError('TASK_INPUT', `Invalid agent_type: "${type}".${meant} Valid types: ${validTypes(agents)}`);
}

function validTypes(agents: AgentCatalog): string {
  return agents
    .list()
    .map((agent) => agent.name)
    .join(', ');
}
