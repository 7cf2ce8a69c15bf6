/** Converts a program's request for the manager, and the manager's result for the program. */
import type {SubagentResult} from '../core/contract/runs.ts';
import {formatReason} from '../core/turn/run-ending.ts';
import {UsageError} from '../core/util/errors.ts';
import {countTokens} from '../core/util/messages.ts';
import {findTool} from '../core/util/tool-names.ts';
import {TOOLS} from '../tools/index.ts';
import type {SubtaskRequest, SubtaskResult} from './public.d.ts';

const TEXTS: ReadonlySet<string> = new Set(['agent_type', 'prompt', 'instruction'] satisfies (keyof SubtaskRequest)[]);
const LISTS: ReadonlySet<string> = new Set(['files', 'tools'] satisfies (keyof SubtaskRequest)[]);

/**
 * Returns the prompt, followed by the files.
 * @throws UsageError when there is no prompt or a field has a wrong type.
 */
export function getPrompt(request: SubtaskRequest): string {
  checkTypes(request);
  const {prompt, instruction, files = []} = request;
  const text = prompt ?? instruction ?? '';
  if (text.trim() === '') {
    throw new UsageError('Missing or empty prompt parameter: a subtask needs a prompt or an instruction');
  }
  return files.length === 0 ? text : `${text}\n\nFiles:\n${files.map((file) => `- ${file}`).join('\n')}`;
}

/** Checks the types of the fields, because a program in JavaScript may pass anything. */
function checkTypes(request: unknown): void {
  if (typeof request !== 'object' || request === null) {
    throw new UsageError(`A subtask is an object with a prompt, not ${JSON.stringify(request)}`);
  }
  for (const [name, value] of Object.entries(request)) {
    if (value === undefined) continue;
    if (TEXTS.has(name) && typeof value !== 'string') {
      throw new UsageError(`${name} must be text, not ${JSON.stringify(value)}`);
    }
    if (LISTS.has(name) && !(Array.isArray(value) && value.every((each) => typeof each === 'string'))) {
      throw new UsageError(`${name} must be a list of texts, not ${JSON.stringify(value)}`);
    }
  }
}

/** Returns the requested agent, or the built-in one that fits the tools. */
export function getAgentName({agent_type, tools}: SubtaskRequest): string {
  const writes =
    tools === undefined || tools.some((tool) => ['edit', 'execute'].includes(findTool(tool, TOOLS)?.kind ?? 'other'));
  return agent_type ?? (writes ? 'code' : 'explore');
}

export function toSubtaskResult({runId, result, receipt}: SubagentResult): SubtaskResult {
  const reason = formatReason(result);
  const error = result.outcome === 'timeout' ? `EXECUTION_TIMEOUT: ${reason}` : reason;
  return {
    runId,
    success: result.outcome === 'success',
    summary: result.text,
    changes: receipt.filesChanged,
    duration: Math.round(result.durationMs),
    ...(error === '' ? {} : {error}),
    metadata: {
      toolsUsed: [...new Set(result.tools.map(({tool}) => tool))],
      tokensUsed: countTokens(result.usage),
      filesRead: receipt.filesRead,
      filesModified: receipt.filesChanged,
    },
  };
}

/** Returns the result for a wrong request, for which no run began. */
export function toRefusal(error: string): SubtaskResult {
  const metadata = {toolsUsed: [], tokensUsed: 0, filesRead: [], filesModified: []};
  return {success: false, summary: '', changes: [], duration: 0, error, metadata};
}
