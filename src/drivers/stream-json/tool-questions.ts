/**
 * Puts questions about calls to the driver as `can_use_tool`. The driver gives one of the answers that a person can
 * give.
 */
import {z} from 'zod';
import type {Answer, Question} from '../../core/contract/events.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {ANY_MODES} from '../../core/permissions/foreign-modes.ts';
import {RULE_KINDS} from '../../core/permissions/rules/rule.ts';
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
    display_name: toClaudeToolName(call.tool, tools),
    description: agent === 'main' ? title : `${agent}: ${title}`,
    decision_reason: detail,
    ...(agentId !== undefined && {agent_id: agentId}),
    permission_suggestions: suggest(call, tools),
  };
}

/** Suggests what lets the next call of the kind pass: a mode for edits in the workspace, else the rules of the question. */
function suggest({rules, isEdit}: CallQuestion['call'], tools: readonly ToolFacts[]): readonly object[] {
  if (isEdit) return [{type: 'setMode', mode: 'acceptEdits', destination: 'session'}];
  if (rules === undefined) return [];
  const shown = rules.map((rule) => toClaudeRule(rule, tools));
  return [{type: 'addRules', rules: shown, behavior: 'allow', destination: 'localSettings'}];
}

const destination = z.string().optional();
const ruleValue = z.looseObject({toolName: z.string(), ruleContent: z.string().nullish()});
/** Changes of permissions that an answer brings, in Claude Code's shapes. */
const updateSchema = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.enum(['addRules', 'replaceRules', 'removeRules']),
    rules: z.array(ruleValue),
    behavior: z.enum(RULE_KINDS),
    destination,
  }),
  z.looseObject({type: z.literal('addDirectories'), directories: z.array(z.string()), destination}),
  z.looseObject({type: z.literal('setMode'), mode: z.enum(ANY_MODES), destination}),
]);
export type PermissionUpdate = z.infer<typeof updateSchema>;

const answerSchema = z.discriminatedUnion('behavior', [
  z.looseObject({
    behavior: z.literal('allow'),
    updatedInput: z.record(z.string(), z.unknown()).nullish(),
    updatedPermissions: z.array(z.looseObject({type: z.string()})).nullish(),
  }),
  z.looseObject({behavior: z.literal('deny'), message: z.string().optional(), interrupt: z.boolean().optional()}),
]);

interface ToolAnswer {
  readonly answer: Answer;
  /** True when the driver stops the turn, too. */
  readonly interrupts: boolean;
  readonly updates?: readonly PermissionUpdate[];
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
  const isChanged = data.updatedInput && JSON.stringify(data.updatedInput) !== sent;
  const input = isChanged ? {input: fromClaudeInput(call.tool, data.updatedInput, tools)} : {};
  const given = data.updatedPermissions ?? [];
  const updates = given.flatMap((update) => updateSchema.safeParse(update).data ?? []);
  const ignored = given.length - updates.length;
  return {
    answer: {...chooseHowLong(updates, options, tools), ...input},
    interrupts: false,
    updates,
    ...(ignored > 0 && {ignored: `${ignored} of the permission updates are not supported, and were left out`}),
  };
}

/**
 * Chooses the answer for rules of the driver that are for more than the session: they are saved for this project. The
 * answer allows no more than the options that were offered.
 */
function chooseHowLong(
  updates: readonly PermissionUpdate[],
  offered: Question['options'],
  tools: readonly ToolFacts[],
): Answer {
  const rules = updates.flatMap((update) =>
    update.type === 'addRules' && update.behavior === 'allow' && update.destination !== 'session'
      ? (update.rules as readonly z.infer<typeof ruleValue>[])
      : [],
  );
  if (rules.length === 0 || !offered.some(({choice}) => choice === 'always')) return {choice: 'yes'};
  return {choice: 'always', rules: rules.map((rule) => toRuleText(rule, tools))};
}

/** Returns a rule of Claude Code in the words of mini-cc. */
export function toRuleText(
  {toolName, ruleContent}: {toolName: string; ruleContent?: string | null | undefined},
  tools: readonly ToolFacts[],
): string {
  return fromClaudeRule({toolName, ruleContent: ruleContent ?? undefined}, tools);
}

function refuse(note: string): ToolAnswer {
  return {answer: {choice: 'no', ...(note !== '' && {note})}, interrupts: false};
}
