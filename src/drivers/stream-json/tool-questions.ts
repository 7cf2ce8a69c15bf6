/**
 * Puts questions about calls to the driver as `can_use_tool`. The driver gives one of the answers that a person can
 * give.
 */
import {z} from 'zod';
import {type Answer, PERMISSION_MODES, type PermissionMode, type Question} from '../../core/contract/events.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {formatIssues} from '../../core/util/problem.ts';
import {
  fromClaudeInput,
  fromClaudeRule,
  toClaudeInput,
  toClaudeRule,
  toClaudeToolName,
} from '../../core/util/tool-names.ts';

export type CallQuestion = Question & {readonly call: NonNullable<Question['call']>};

export function isCallQuestion(question: Question): question is CallQuestion {
  return question.call !== undefined;
}

export function createToolQuestion(
  {call, agent, title, detail}: CallQuestion,
  agentId: string | undefined,
  tools: readonly ToolFacts[],
) {
  return {
    subtype: 'can_use_tool',
    tool_name: toClaudeToolName(call.tool, tools),
    input: toClaudeInput(call.tool, call.input, tools),
    tool_use_id: call.callId,
    display_name: call.tool,
    description: agent === 'main' ? title : `${agent}: ${title}`,
    decision_reason: detail,
    ...(agentId !== undefined && {agent_id: agentId}),
    ...(call.rules !== undefined && {permission_suggestions: [createSuggestion(call.rules, tools)]}),
  };
}

function createSuggestion(rules: readonly string[], tools: readonly ToolFacts[]) {
  const shown = rules.map((rule) => toClaudeRule(rule, tools));
  return {type: 'addRules', rules: shown, behavior: 'allow', destination: 'localSettings'};
}

const ruleUpdate = z.looseObject({
  type: z.literal('addRules'),
  rules: z.array(z.object({toolName: z.string(), ruleContent: z.string().optional()})).min(1),
  behavior: z.literal('allow'),
  destination: z.string(),
});
const modeUpdate = z.looseObject({type: z.literal('setMode'), mode: z.enum(PERMISSION_MODES)});

const answerSchema = z.discriminatedUnion('behavior', [
  z.looseObject({
    behavior: z.literal('allow'),
    updatedInput: z
      .record(z.string(), z.unknown())
      .nullish()
      .transform((value) => value ?? undefined)
      .optional(),
    updatedPermissions: z.array(z.looseObject({type: z.string()})).nullish(),
  }),
  z.looseObject({behavior: z.literal('deny'), message: z.string().optional(), interrupt: z.boolean().optional()}),
]);

interface ToolAnswer {
  readonly answer: Answer;
  /** True when the driver stops the turn, too. */
  readonly interrupts: boolean;
  readonly mode?: PermissionMode;
  /** Describes the permission updates that are not supported and were left out. */
  readonly ignored?: string;
}

/** @param response the response of the driver @returns a refusal when the response cannot be parsed */
export function readToolAnswer(
  {call, options}: CallQuestion,
  response: unknown,
  tools: readonly ToolFacts[],
): ToolAnswer {
  const parsed = answerSchema.safeParse(response);
  if (!parsed.success) return refuse(`the driver's answer cannot be read: ${formatIssues(parsed.error)}`);
  const {data} = parsed;
  if (data.behavior === 'deny') return {...refuse(data.message ?? ''), interrupts: data.interrupt ?? false};
  const sent = JSON.stringify(toClaudeInput(call.tool, call.input, tools));
  const isChanged = data.updatedInput !== undefined && JSON.stringify(data.updatedInput) !== sent;
  const input = isChanged ? {input: fromClaudeInput(call.tool, data.updatedInput, tools)} : {};
  const updates = data.updatedPermissions ?? [];
  const mode = updates.map((update) => modeUpdate.safeParse(update).data?.mode).find((each) => each !== undefined);
  const rules = updates.flatMap((update) => ruleUpdate.safeParse(update).data ?? []);
  const ignored = updates.length - rules.length - (mode === undefined ? 0 : 1);
  return {
    answer: {...chooseHowLong(rules, options, tools), ...input},
    interrupts: false,
    ...(mode !== undefined && {mode}),
    ...(ignored > 0 && {ignored: `${ignored} of the permission updates are not supported, and were left out`}),
  };
}

/**
 * Chooses the answer for the rules of the driver: a rule for the session is a grant, and any other is saved for this
 * project. The answer allows no more than the options that were offered.
 */
function chooseHowLong(
  updates: readonly z.infer<typeof ruleUpdate>[],
  offered: Question['options'],
  tools: readonly ToolFacts[],
): Answer {
  const saved = updates.find(({destination}) => destination !== 'session');
  const choice = saved ? 'always' : updates.length > 0 ? 'session' : 'yes';
  if (!offered.some((option) => option.choice === choice)) return {choice: 'yes'};
  return {choice, ...(saved && {rules: saved.rules.map((rule) => fromClaudeRule(rule, tools))})};
}

function refuse(note: string): ToolAnswer {
  return {answer: {choice: 'no', ...(note !== '' && {note})}, interrupts: false};
}
