/**
 * Checks the shapes and sizes of messages from the other side. A signature proves that the writer knows the secret, and
 * not that the message is harmless. Fields that have no use on this side are left out.
 */
import path from 'node:path';
import {z} from 'zod';
import type {RemoteTask} from '../../core/runs/remote-runs.ts';
import {isInside} from '../../core/util/paths.ts';
import {blobSchema, id, type JobEvent, type RemoteOutcome, workerName} from './messages.ts';
import {RefusedMessage} from './signatures.ts';

const MAX_TEXT = 4 * 1024 * 1024;
const MAX_NAME = 200;
const MAX_LINE = 10_000;
const MAX_MESSAGES = 10_000;
const MAX_CALLS = 100_000;
const MAX_PATHS = 10_000;
const MAX_RULES = 2_000;
const MAX_SECONDS = 30 * 24 * 60 * 60;

const name = z.string().min(1).max(MAX_NAME);
const line = z.string().max(MAX_LINE);
const text = z.string().max(MAX_TEXT);
const count = z.number().min(0).max(Number.MAX_SAFE_INTEGER);
const list = <T extends z.ZodType>(item: T, most: number) => z.array(item).max(most);

const thinking = z.enum(['off', 'low', 'medium', 'high']);
const limits = {
  maxTurns: z.int().min(1).max(1_000).optional(),
  timeoutSeconds: z.number().min(0).max(MAX_SECONDS).optional(),
  maxTokens: z.int().min(1).optional(),
  maxBudgetUsd: count.optional(),
  contextTokens: z.int().min(1).optional(),
};

const message = z.object({
  role: z.enum(['user', 'assistant']),
  content: z.union([text, list(z.looseObject({type: name}), MAX_MESSAGES)]),
});

const taskSchema = z.object({
  spec: z.object({
    runId: id,
    agent: name,
    description: line,
    model: name,
    background: z.boolean(),
    cleanup: z.enum(['keep', 'delete']),
    thinking: thinking.optional(),
    limits: z.object(limits).optional(),
    onlyTools: list(name, MAX_RULES).optional(),
    scope: z.object({files: list(line, MAX_PATHS), allowed: list(line, MAX_PATHS)}).optional(),
    isolation: z.literal('worktree').optional(),
  }),
  round: z.int().min(1),
  // Hooks, servers, keys and the permission mode are left out, because this machine would run or use them.
  agent: z.object({
    name: z.string().regex(/^[\w:.-]{1,200}$/),
    description: text,
    tools: z.union([z.literal('*'), list(name, MAX_RULES)]),
    prompt: text,
    readOnly: z.boolean(),
    thinking: thinking.optional(),
    outputSchema: z.record(z.string(), z.unknown()).optional(),
    disallowedMcp: list(name, MAX_RULES).optional(),
    skills: list(name, MAX_RULES).optional(),
    ...limits,
  }),
  prompt: text.min(1),
  limits: z.object({...limits, maxTurns: limits.maxTurns.unwrap(), timeoutSeconds: limits.timeoutSeconds.unwrap()}),
  messages: list(message, MAX_MESSAGES),
  permissions: z.object({
    mode: z.enum(['default', 'acceptEdits', 'plan', 'bypassPermissions']),
    deny: list(line, MAX_RULES),
    edits: list(line, MAX_RULES),
  }),
  isBudgeted: z.boolean(),
});

/** @throws RefusedMessage when it is not the task of this run, or not of its form */
export function checkTask(value: unknown, job: {readonly runId: string; readonly round: number}): RemoteTask {
  const task = check('task', taskSchema, value);
  const {spec, round, agent} = task;
  if (spec.runId !== job.runId || round !== job.round || spec.agent !== agent.name) {
    throw new RefusedMessage('format', 'its task is that of another run');
  }
  return task as RemoteTask;
}

/** @param task its paths are those of this machine @throws RefusedMessage when its scope leaves the tree */
export function checkScope({spec: {scope}}: RemoteTask, root: string): void {
  const isIn = (file: string) => path.resolve(file) === file && isInside(file, [root]);
  if (scope && ![...scope.files, ...scope.allowed].every(isIn)) {
    throw new RefusedMessage('format', 'its scope names a place outside of its tree');
  }
}

const usage = z.object({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  cache_creation_1h_input_tokens: count.optional(),
  web_search_requests: count.optional(),
  cost_usd: count.optional(),
  cost_unknown: z.literal(true).optional(),
  cost_estimated: z.literal(true).optional(),
});
const display = z.discriminatedUnion('type', [
  z.object({type: z.literal('diff'), path: line, patch: text}),
  z.object({
    type: z.literal('todos'),
    todos: list(z.object({content: line, status: z.enum(['pending', 'in_progress', 'completed'])}), MAX_RULES),
  }),
  z.object({type: z.literal('text'), text}),
]);
const shown = {
  previewIsEnd: z.literal(true).optional(),
  summary: line.optional(),
  lines: count.optional(),
  display: display.optional(),
  durationMs: count.optional(),
};

/** The patch shows what a run changed, so the list in its result is left out. */
const toolRecord = z.object({
  tool: name,
  isError: z.boolean(),
  facts: z.object({
    read: list(line, MAX_PATHS).optional(),
    scanned: count.optional(),
    uncounted: line.optional(),
    exitCode: z.int().optional(),
    stoppedBySandbox: line.optional(),
    timedOut: count.optional(),
  }),
});
const totals = {
  text,
  structured: z.unknown().optional(),
  returnedTokens: count.optional(),
  usage,
  usageByModel: z.record(name, usage),
  turns: count,
  tools: list(toolRecord, MAX_CALLS),
  durationMs: count,
  modelMs: count,
  warnings: list(line, MAX_RULES).optional(),
};
const base64 = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/);

const outcomeSchema = z.object({
  result: z.discriminatedUnion('outcome', [
    z.object({...totals, outcome: z.literal('success')}),
    z.object({...totals, outcome: z.literal('limit'), limit: line}),
    z.object({...totals, outcome: z.literal('timeout'), timeout: line}),
    z.object({...totals, outcome: z.literal('stopped')}),
    z.object({...totals, outcome: z.literal('error'), error: text, code: name}),
  ]),
  entries: list(
    z.object({
      type: z.literal('message'),
      uuid: id,
      at: name,
      message,
      calls: z.record(name, z.object({title: line, description: line.optional(), ...shown})).optional(),
      model: name.optional(),
      asked: name.optional(),
      usage: usage.optional(),
      stopReason: name.nullable().optional(),
    }),
    MAX_MESSAGES,
  ),
  notes: list(line, 100),
  patch: base64.optional(),
  commits: base64.optional(),
});

/** @throws RefusedMessage when it is not of its form */
export function checkOutcome(value: unknown): RemoteOutcome {
  return check('result', outcomeSchema, value) as RemoteOutcome;
}

const blocks = list(z.looseObject({type: z.enum(['text', 'thinking', 'redacted_thinking', 'tool_use'])}), MAX_RULES);
const agentEvent = z.discriminatedUnion('type', [
  z.object({type: z.literal('tool_start'), callId: name, tool: name, title: line, description: line.optional()}),
  z.object({
    ...shown,
    type: z.literal('tool_end'),
    callId: name,
    tool: name,
    isError: z.boolean(),
    preview: line,
    durationMs: count,
  }),
  z.object({
    type: z.literal('message'),
    role: z.literal('assistant'),
    id: name,
    content: blocks,
    model: name,
    usage,
    stopReason: name.nullable(),
  }),
  z.object({
    type: z.literal('retry'),
    waitMs: count,
    reason: line,
    attempt: count,
    fallback: z.object({from: name, to: name}).optional(),
  }),
  z.object({type: z.literal('notice'), level: z.enum(['info', 'warning', 'error']), text: line}),
  z.object({type: z.literal('run_note'), text: line}),
]);
const part = z.enum(['patch', 'bundle']);
const callSize = z.object({
  model: z.object({name, inputPrice: count.optional(), outputPrice: count.optional()}),
  inputTokens: count,
  isCounted: z.boolean(),
  kind: line.optional(),
  maxOutputTokens: count,
});
const eventSchema = z.object({
  jobId: id,
  attempt: z.int().min(1),
  worker: workerName,
  what: z.discriminatedUnion('type', [
    z.object({type: z.enum(['begun', 'ended'])}),
    z.object({type: z.literal('needs'), part}),
    z.object({type: z.literal('delivered'), id: name}),
    z.object({type: z.literal('given_back'), why: line}),
    z.object({type: z.literal('reserve'), id: name, call: callSize}),
    z.object({type: z.literal('release'), id: name, used: list(z.object({usage, model: name}), MAX_RULES)}),
    z.object({type: z.literal('event'), event: agentEvent}),
  ]),
});

/** @throws RefusedMessage when it is not of its form */
export function checkEvent(value: unknown): JobEvent {
  return check('event', eventSchema, value) as JobEvent;
}

const controlSchema = z.object({
  jobId: id,
  message: z.discriminatedUnion('type', [
    z.object({type: z.literal('stop')}),
    z.object({type: z.literal('send'), id: name, text}),
    z.object({type: z.literal('part'), part, blob: blobSchema}),
    z.object({
      type: z.literal('reserved'),
      id: name,
      reserved: z.union([z.object({limit: line}), z.object({inputTokens: count, maxOutputTokens: count})]),
    }),
  ]),
});

/** Message of the session to the worker that has the job. */
export type JobControl = z.output<typeof controlSchema>['message'];

/** @throws RefusedMessage when it is not of its form */
export function checkControl(value: unknown): z.output<typeof controlSchema> {
  return check('control', controlSchema, value);
}

/**
 * The error names the place and no value: its words may be shown, and the value is that of the other side.
 * @throws RefusedMessage
 */
export function check<T extends z.ZodType>(what: string, schema: T, value: unknown): z.output<T> {
  const {success, data, error} = schema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  const known = issue?.path.filter((step) => typeof step === 'number' || /^\w{1,40}$/.test(String(step))) ?? [];
  throw new RefusedMessage('format', `its ${what} is not of the form that is read here: ${known.join('.') || what}`);
}
