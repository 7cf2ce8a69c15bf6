/**
 * Mends what models get wrong in a Task call, then checks it: before any model call, a call is either dispatchable
 * or answered by an error that says what is valid. Nothing here throws but `MiniCcError`.
 */
import {unknownAgentWords} from '../../core/agent-types.ts';
import {MiniCcError} from '../../core/util/errors.ts';

export interface RepairedTaskInput {
  readonly input: Readonly<Record<string, unknown>>;
  /** What was mended, as the result's first line tells it. */
  readonly notes: readonly string[];
}

/** Other spellings, in the order in which they are believed. Compared without case, `_` and `-`. */
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
};

const NUMBERS = ['timeout_seconds', 'max_turns', 'max_tokens'];
const FLAGS = ['background'];

/**
 * @param agents the names that can be dispatched now.
 * @throws MiniCcError `TASK_INPUT` with one of the three texts that the contract words.
 */
export function repairTaskInput(raw: unknown, agents: readonly string[]): RepairedTaskInput {
  if (agents.length === 0)
    throw failure('The settings allow no agent (subagents.allowAgents): nothing can be dispatched');
  const notes: string[] = [];
  const fields = collect(asRecord(raw), notes);
  const sent = fields.get('agent_type');
  const agentType = sent === undefined ? '' : clean(sent);
  if (agentType === '') throw failure(`Missing agent_type parameter. Valid types: ${agents.join(', ')}`);
  const agent = agents.includes(agentType) ? agentType : agents.find((name) => name === agentType.toLowerCase());
  if (agent === undefined) throw failure(unknownAgentWords(String(sent), agentType, agents));
  if (agent !== sent) notes.push(`agent_type from ${JSON.stringify(sent)}`);
  fields.set('agent_type', agent);

  const prompt = fields.get('prompt');
  if (typeof prompt !== 'string' || prompt.trim() === '') throw failure('Missing or empty prompt parameter');
  const description = fields.get('description');
  fields.set(
    'description',
    typeof description === 'string' && description.trim() !== '' ? description : firstWords(prompt),
  );
  for (const name of NUMBERS) mend(fields, name, asNumber, notes);
  for (const name of FLAGS) mend(fields, name, asFlag, notes);
  // An optional field with nothing in it is one that was left out.
  for (const [name, value] of fields) if (value === null || value === '') fields.delete(name);
  return {input: Object.fromEntries(fields), notes};
}

/** The fields by their own names, whatever they were called. */
function collect(raw: Readonly<Record<string, unknown>>, notes: string[]): Map<string, unknown> {
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

/** `{"subagent_type=\"code-review</arg_value>": "the prompt"}`: two parameters in one key. */
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
    fields.set(name, name === 'agent_type' ? clean(right) : right);
    if (name === 'agent_type' && !fields.has('prompt') && typeof value === 'string') fields.set('prompt', value);
    notes.push(`${name} from key ${JSON.stringify(key)}`);
  }
}

function plainKey(key: string): string {
  return key.toLowerCase().replaceAll(/[^a-z]/g, '');
}

/** Without tags, also unclosed ones, without quotes around, also doubled, without white space. */
function clean(value: unknown): string {
  if (typeof value !== 'string') return value === null || value === undefined ? '' : String(value).slice(0, 200);
  let text = value.replaceAll(/<\/?[A-Za-z_][^<>]*>?/g, '');
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.trim().replace(/^["'`]+|["'`]+$/g, '');
  }
  return text;
}

function mend(fields: Map<string, unknown>, name: string, convert: (text: string) => unknown, notes: string[]): void {
  const value = fields.get(name);
  if (typeof value !== 'string') return;
  const converted = convert(clean(value));
  if (converted === undefined) return;
  fields.set(name, converted);
  notes.push(`${name} from ${JSON.stringify(value)}`);
}

function asNumber(text: string): number | undefined {
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}

function asFlag(text: string): boolean | undefined {
  return {true: true, yes: true, false: false, no: false}[text.toLowerCase()];
}

/** The whole input may come as JSON in a string. */
function asRecord(raw: unknown): Readonly<Record<string, unknown>> {
  if (typeof raw === 'string') {
    try {
      return asRecord(JSON.parse(raw) as unknown);
    } catch (error) {
      if (error instanceof SyntaxError) return {};
      throw error;
    }
  }
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw) ? {...raw} : {};
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
