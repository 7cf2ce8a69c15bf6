/**
 * Normalizes answers of servers that violate the protocol in a part. The MCP client refuses such an answer as a whole, so
 * one malformed tool would cost all tools of its server.
 */
import {specTypeSchemas, type Transport} from '@modelcontextprotocol/client';
import {isObject} from '../../core/util/objects.ts';
import {describeUnknownBlock, showControls, toShortLine} from '../../core/util/text.ts';

/** The lists whose malformed entries are reported. */
export type ListName = 'tools' | 'prompts';

const MAX_NAME_CHARS = 80;

const ENTRY = {
  tools: {type: 'Tool', noun: 'tool'},
  prompts: {type: 'Prompt', noun: 'prompt'},
} as const;
/** Fields that an entry needs. When one of them is malformed, the entry is left out. */
const NEEDED = ['name', 'inputSchema', 'arguments'];

type SpecType =
  | 'InitializeResult'
  | 'Tool'
  | 'Prompt'
  | 'ContentBlock'
  | 'TextResourceContents'
  | 'BlobResourceContents';

/**
 * Normalizes each answer before the client reads it. Call it before the client connects: the client calls a listener that
 * the transport already has before its own.
 * @param report gets one sentence for each entry that is left out or used in part
 */
export function normalizeMessages(transport: Transport, report: (list: ListName, problem: string) => void): void {
  transport.onmessage = (message) => {
    if ('result' in message && isObject(message.result)) normalizeResult(message.result, report);
  };
}

function normalizeResult(result: Record<string, unknown>, report: (list: ListName, problem: string) => void): void {
  for (const list of ['tools', 'prompts'] as const) {
    const entries = result[list];
    if (!Array.isArray(entries)) continue;
    result[list] = entries.flatMap((entry) => normalizeEntry(entry, list, (problem) => report(list, problem)));
  }
  if (result.nextCursor === null) delete result.nextCursor;
  if ('protocolVersion' in result) normalizeInitialization(result);
  const {content, messages, contents} = result;
  if (Array.isArray(content)) result.content = content.map(normalizeBlock);
  if (Array.isArray(messages)) {
    result.messages = messages.map((each) =>
      isObject(each) ? {...each, content: normalizeBlock(each.content)} : each,
    );
  }
  if (Array.isArray(contents)) result.contents = contents.map(normalizeContents);
}

/**
 * Completes the answer to `initialize`, without which the client gives the whole server up: a server that does not say
 * its version, or that says `true` for a capability, is used.
 */
function normalizeInitialization(result: Record<string, unknown>): void {
  if (findIssues('InitializeResult', result).length === 0) return;
  const {name, version} = isObject(result.serverInfo) ? result.serverInfo : {};
  const toText = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');
  result.serverInfo = {name: toText(name), version: toText(version)};
  if (typeof result.instructions !== 'string') delete result.instructions;
  const capabilities = isObject(result.capabilities) ? result.capabilities : {};
  result.capabilities = Object.fromEntries(
    Object.entries(capabilities).flatMap(([capability, value]) => {
      if (value === null || value === false) return [];
      const isValid = findIssues('InitializeResult', {...result, capabilities: {[capability]: value}}).length === 0;
      return [[capability, isValid ? value : {}]];
    }),
  );
}

function findIssues(type: SpecType, value: unknown) {
  const issues = specTypeSchemas[type]['~standard'].validate(value).issues ?? [];
  return issues.map(({path = [], message}) => ({path: path.map(String), message}));
}

/** Returns the entry, without optional fields that are malformed, or nothing when it cannot be used. */
function normalizeEntry(entry: unknown, list: ListName, report: (problem: string) => void): unknown[] {
  const {type, noun} = ENTRY[list];
  const issues = findIssues(type, entry);
  if (issues.length === 0) return [entry];
  const reason = issues
    .map(({path, message}) => (path.length === 0 ? message : `${path.join('.')}: ${message}`))
    .join('; ');
  if (!isObject(entry)) {
    report(`a ${noun} is left out: ${reason}`);
    return [];
  }
  const title = `the ${noun} ${typeof entry.name === 'string' ? toShortLine(showControls(entry.name), MAX_NAME_CHARS) : 'without a name'}`;
  const isNull = (field: string) => entry[field] === null;
  const wrong = [...new Set(issues.map(({path: [field = '']}) => field))].filter(
    (field) => isNull(field) || !NEEDED.includes(field),
  );
  const rest = Object.fromEntries(Object.entries(entry).filter(([field]) => !wrong.includes(field)));
  if (findIssues(type, rest).length > 0) {
    report(`${title} is left out: ${reason}`);
    return [];
  }
  // Many servers write null for a field that they do not have.
  if (!wrong.every(isNull)) report(`${title} is used without what is malformed in it: ${reason}`);
  return [rest];
}

function normalizeBlock(block: unknown): unknown {
  return findIssues('ContentBlock', block).length === 0 ? block : {type: 'text', text: describeUnknownBlock(block)};
}

function normalizeContents(contents: unknown): unknown {
  const isKnown = (['TextResourceContents', 'BlobResourceContents'] as const).some(
    (type) => findIssues(type, contents).length === 0,
  );
  return isKnown ? contents : {uri: '', text: describeUnknownBlock(contents)};
}
