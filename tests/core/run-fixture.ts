/** A run with everything real but the model, the tools that a test names, and the transcript, which is a list. */

import {z} from 'zod';
import type {AgentRun} from '../../src/core/agent-loop.ts';
import type {AgentEventBody} from '../../src/core/contract/events.ts';
import type {Message, Model, ToolResultBlock} from '../../src/core/contract/model.ts';
import type {Access, AllowedCall} from '../../src/core/contract/permission.ts';
import type {ToolResult} from '../../src/core/contract/results.ts';
import type {Tool, ToolContext} from '../../src/core/contract/tool.ts';
import type {TranscriptEntry} from '../../src/core/contract/transcript.ts';
import {createPermit, type PermitDeps} from '../../src/core/permissions/decision.ts';
import {PermissionPolicy} from '../../src/core/permissions/policy.ts';
import {RuleBook} from '../../src/core/permissions/rules/rule-book.ts';
import {NO_CHECKPOINTS} from '../../src/core/turn/checkpointed-call.ts';
import {createFileLedger, WriteLog} from '../../src/core/turn/file-ledger.ts';
import {History} from '../../src/core/turn/history.ts';
import {Inbox} from '../../src/core/turn/inbox.ts';
import {createTokenBudget, systemClock} from '../../src/core/turn/run-limits.ts';
import {textResult} from '../../src/core/util/tool-output.ts';

export interface Fixture {
  readonly run: AgentRun;
  readonly events: AgentEventBody[];
  readonly lines: TranscriptEntry[];
  readonly kept: Map<string, string>;
  readonly abort: AbortController;
}

export function fixture(model: Model, tools: readonly Tool[] = [], change: Partial<AgentRun> = {}): Fixture {
  const events: AgentEventBody[] = [];
  const lines: TranscriptEntry[] = [];
  const kept = new Map<string, string>();
  const abort = new AbortController();
  const history = new History({append: (entry) => void lines.push(structuredClone(entry))});
  history.append({role: 'user', content: 'the task'});
  const emit = (event: AgentEventBody) => void events.push(event);
  const workspace = change.workspace ?? {root: '/tmp', extraRoots: [], cwd: '/tmp', confinement: 'none', env: {}};
  const run: AgentRun = {
    agentId: 'test',
    label: '[test] the task',
    model,
    tools,
    system: 'You are a test.',
    history,
    inbox: new Inbox(),
    limits: {maxTurns: 20, timeoutSeconds: 0},
    tokens: createTokenBudget(),
    clock: systemClock,
    signal: abort.signal,
    rawStream: false,
    workspace,
    files: createFileLedger(new WriteLog(), 'test'),
    checkpoints: NO_CHECKPOINTS,
    output: {
      open(callId) {
        kept.set(callId, '');
        return {
          path: `/kept/${callId}`,
          write: (chunk) => void kept.set(callId, kept.get(callId) + chunk),
          close: () => undefined,
        };
      },
    },
    emit,
    ...change,
    permit: change.permit ?? createPermit(everythingAllowed(), '[test] the task', workspace, emit),
  };
  return {run, events, lines, kept, abort};
}

/** Decides as in the mode bypassPermissions, where a sandbox works. */
function everythingAllowed(): PermitDeps {
  return {
    policy: new PermissionPolicy('bypassPermissions', new RuleBook([]), {ownFolders: () => [], secretPaths: []}),
    questions: undefined,
    onDenied: () => undefined,
    sandboxAvailable: async () => true,
  };
}

/** An allowed call without a checkpoint. */
export const ALLOWED_CALL: AllowedCall = {
  ...{verdict: 'allow', because: 'a test allows it', places: [], writes: []},
  attempts: [{launch: 'plain', checkpoint: false}],
};

/** A tool whose work is a function of its context and its `value`. */
export function tool(
  name: string,
  work: (context: ToolContext, value: string) => Promise<ToolResult> | ToolResult = () => textResult(`${name} done`),
  access: readonly Access[] = [{kind: 'none'}],
): Tool {
  const made: Tool<{value: string}> = {
    name,
    description: `${name} for tests`,
    input: z.object({value: z.string().default('')}),
    title: (input) => input.value,
    access: () => access,
    run: async (input, context) => work(context, input.value),
  };
  return made as Tool;
}

/** The results of calls in a message. */
export function resultsIn(message: Message | undefined): ToolResultBlock[] {
  if (!message || typeof message.content === 'string') return [];
  return message.content.flatMap((block) => (block.type === 'tool_result' ? [block] : []));
}
