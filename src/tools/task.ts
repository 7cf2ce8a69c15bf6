/** `Task`: the main agent's way to its subagents. */
import {z} from 'zod';
import type {AgentCatalog} from '../core/agent-types.ts';
import {MiniCcError} from '../core/errors.ts';
import type {Model} from '../core/model.ts';
import type {SubagentManager} from '../core/subagent-manager.ts';
import {type Tool, textResult} from '../core/tool.ts';
import prose from './task.md';
import {repairTaskInput} from './task-input.ts';

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
  let schema: {readonly names: string; readonly input: ReturnType<typeof schemaFor>} | undefined;
  return {
    name: 'Task',
    get description() {
      return `${prose.trim()}\n${deps.agents
        .list()
        .map((agent) => `- ${agent.name}: ${agent.description}`)
        .join('\n')}`;
    },
    get input() {
      const names = deps.agents.list().map((agent) => agent.name);
      // The same agents, the same schema: it is turned into JSON Schema once.
      if (schema?.names !== names.join()) schema = {names: names.join(), input: schemaFor(names)};
      return schema.input;
    },
    title: (input) => input.description,
    access: (input) => [{kind: 'dispatch', agent: input.agent_type}],
    repair(input) {
      const repaired = repairTaskInput(
        input,
        deps.agents.list().map((agent) => agent.name),
      );
      const later = LATER.find((key) => ![undefined, false, 'none'].includes(repaired.input[key] as undefined));
      if (later)
        throw new MiniCcError('TASK_INPUT', `${later} is not yet available: leave it out. Nothing was dispatched.`);
      return repaired;
    },
    async run(input, context) {
      const agent = deps.agents.get(input.agent_type);
      if (!agent) throw new MiniCcError('TASK_INPUT', `The agent ${input.agent_type} is gone. Nothing was dispatched.`);
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
