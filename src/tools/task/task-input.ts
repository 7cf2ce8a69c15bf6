/**
 * Repairs what models get wrong in a Task call, then checks it. Before any model call starts, the input is either valid
 * or answered by an error that says what is valid. Only `MiniCcError` is thrown here.
 */

import {formatUnknownAgent} from '../../core/agent-types.ts';
import {MiniCcError} from '../../core/util/errors.ts';
import {toFields} from '../../core/util/objects.ts';

interface RepairedTaskInput {
  readonly input: Readonly<Record<string, unknown>>;
  /** The repairs, as the first line of the result lists them. */
  readonly notes: readonly string[];
}

/** Accepted names of each field; the first one that is present counts. They are compared without case, `_` and `-`. */
const SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  agent_type: ['agenttype', 'subagenttype', 'agentid', 'agent', 'subagent', 'agentname', 'type'],
  prompt: ['prompt', 'task', 'instruction', 'instructions'],
  description: ['description'],
  background: ['background', 'runinbackground'],
  timeout_seconds: ['timeoutseconds', 'runtimeoutseconds', 'timeout'],
  max_turns: ['maxturns'],
  max_tokens: ['maxtokens'],
  model: ['model'],
  thinking: ['thinking'],
  label: ['label'],
  cleanup: ['cleanup'],
  isolation: ['isolation'],
  where: ['where'],
};

const NUMBERS = ['timeout_seconds', 'max_turns', 'max_tokens'];
const FLAGS = ['background'];
/** Fields whose value is one of some words. */
const CHOICES = ['thinking', 'cleanup', 'isolation', 'where'];

/**
 * @param agents names of the agents that can be dispatched
 * @throws MiniCcError `TASK_INPUT` when the agent type or the prompt is missing or invalid
 */
export function repairTaskInput(raw: unknown, agents: readonly string[]): RepairedTaskInput {
  if (agents.length === 0)
    throw failure('The settings allow no agent (subagents.allowAgents): nothing can be dispatched');
  const notes: string[] = [];
  const fields = collectFields(toRecord(raw), notes);
  const sent = fields.get('agent_type');
  const agentType = sent === undefined ? '' : stripMarkup(sent);
  if (agentType === '') throw failure(`Missing agent_type parameter. Valid types: ${agents.join(', ')}`);
  const agent = agents.includes(agentType) ? agentType : agents.find((name) => name === agentType.toLowerCase());
  if (agent === undefined) throw failure(formatUnknownAgent(String(sent), agentType, agents));
  if (agent !== sent) notes.push(`agent_type from ${JSON.stringify(sent)}`);
  fields.set('agent_type', agent);

  const prompt = fields.get('prompt');
  if (typeof prompt !== 'string' || prompt.trim() === '') throw failure('Missing or empty prompt parameter');
  const description = fields.get('description');
  fields.set(
    'description',
    typeof description === 'string' && description.trim() !== '' ? description : firstWords(prompt),
  );
  for (const name of NUMBERS) repairField(fields, name, toNumber, notes);
  for (const name of FLAGS) repairField(fields, name, toBoolean, notes);
  for (const name of CHOICES) repairField(fields, name, (text) => text.toLowerCase(), notes);
  // An empty optional field counts as absent.
  for (const [name, value] of fields) if (value === null || value === '') fields.delete(name);
  return {input: Object.fromEntries(fields), notes};
}

function collectFields(raw: Readonly<Record<string, unknown>>, notes: string[]): Map<string, unknown> {
  const fields = new Map<string, unknown>();
  const entries = Object.entries(raw).map(([key, value]) => ({key, plain: plainKey(key), value}));
  for (const [name, spellings] of Object.entries(SPELLINGS)) {
    for (const spelling of spellings) {
      const entry = entries.find((candidate) => candidate.plain === spelling && !isEmpty(candidate.value));
      if (!entry) continue;
      if (entry.key !== name) notes.push(`${name} from key ${JSON.stringify(entry.key)}`);
      fields.set(name, entry.value);
      break;
    }
  }
  splitJoinedKeys(entries, fields, notes);
  return fields;
}

/** Splits two parameters in one key: `{"subagent_type=\"code-review</arg_value>": "the prompt"}`. */
function splitJoinedKeys(
  entries: readonly {readonly key: string; readonly value: unknown}[],
  fields: Map<string, unknown>,
  notes: string[],
): void {
  for (const {key, value} of entries) {
    const [, left, right] = /^\W*([A-Za-z_-]+)\s*[=:]\s*(.+)$/s.exec(key) ?? [];
    if (left === undefined || right === undefined) continue;
    const name = Object.keys(SPELLINGS).find((candidate) => SPELLINGS[candidate]!.includes(plainKey(left)));
    if (name === undefined || fields.has(name)) continue;
    fields.set(name, name === 'agent_type' ? stripMarkup(right) : right);
    if (name === 'agent_type' && !fields.has('prompt') && typeof value === 'string') fields.set('prompt', value);
    notes.push(`${name} from key ${JSON.stringify(key)}`);
  }
}

function plainKey(key: string): string {
  return key.toLowerCase().replaceAll(/[^a-z]/g, '');
}

/** Matches quotes of all kinds, and the remains of a cut tag. */
const AROUND = /^["'`<>“”„‘’«»]+|["'`<>“”„‘’«»]+$/g;

/** Removes tags, even unclosed ones, surrounding quotes, even doubled ones, and white space. */
function stripMarkup(value: unknown): string {
  if (typeof value !== 'string') return value === null || value === undefined ? '' : String(value).slice(0, 200);
  let text = value.replaceAll(/<\/?[A-Za-z_][^<>]*>?/g, '');
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.trim().replace(AROUND, '');
  }
  return text;
}

function repairField(
  fields: Map<string, unknown>,
  name: string,
  convert: (text: string) => unknown,
  notes: string[],
): void {
  const value = fields.get(name);
  if (typeof value !== 'string') return;
  const converted = convert(stripMarkup(value));
  if (converted === undefined || converted === value) return;
  fields.set(name, converted);
  notes.push(`${name} from ${JSON.stringify(value)}`);
}

function toNumber(text: string): number | undefined {
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

function toBoolean(text: string): boolean | undefined {
  return {true: true, yes: true, false: false, no: false}[text.toLowerCase()];
}

/** Models also send the whole input as JSON in a string. */
function toRecord(raw: unknown): Readonly<Record<string, unknown>> {
  if (typeof raw === 'string') {
    try {
      return toRecord(JSON.parse(raw) as unknown);
    } catch (error) {
      if (error instanceof SyntaxError) return {};
      throw error;
    }
  }
  return {...toFields(raw)};
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

function firstWords(prompt: string): string {
  const words = prompt.trim().split(/\s+/).slice(0, 5).join(' ');
  return words.length <= 60 ? words : `${words.slice(0, 57)}...`;
}

function failure(text: string): MiniCcError {
  return new MiniCcError('TASK_INPUT', text);
}
