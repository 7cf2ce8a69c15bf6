/** The arguments of a run: everything is real except the model, the test's tools, and the transcript, which is a list. */

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
import {createBudget} from '../../src/core/turn/budget.ts';
import {NO_CHECKPOINTS} from '../../src/core/turn/checkpointed-call.ts';
import {createFileLedger, WriteLog} from '../../src/core/turn/file-ledger.ts';
import {History} from '../../src/core/turn/history.ts';
import {Inbox} from '../../src/core/turn/inbox.ts';
import {systemClock} from '../../src/core/turn/run-limits.ts';
import {textResult} from '../../src/core/util/tool-output.ts';
import {permissionSandbox} from '../support/sandbox.ts';

interface RunFixture {
  readonly run: AgentRun;
  readonly events: AgentEventBody[];
  /** The transcript. */
  readonly lines: TranscriptEntry[];
  /** Whole outputs by call id. */
  readonly savedOutputs: Map<string, string>;
  readonly abort: AbortController;
}

export function runFixture(model: Model, tools: readonly Tool[] = [], change: Partial<AgentRun> = {}): RunFixture {
  const events: AgentEventBody[] = [];
  const lines: TranscriptEntry[] = [];
  const savedOutputs = new Map<string, string>();
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
    budget: createBudget(),
    clock: systemClock,
    signal: abort.signal,
    rawStream: false,
    summaryModel: undefined,
    workspace,
    files: createFileLedger(new WriteLog(), 'test'),
    checkpoints: NO_CHECKPOINTS,
    output: {
      open(callId) {
        savedOutputs.set(callId, '');
        return {
          path: `/outputs/${callId}`,
          write: (chunk) => void savedOutputs.set(callId, savedOutputs.get(callId) + chunk),
          close: () => undefined,
        };
      },
    },
    emit,
    ...change,
    permit: change.permit ?? createPermit(createBypassDeps(), '[test] the task', workspace, emit),
  };
  return {run, events, lines, savedOutputs, abort};
}

/** Allows every call, as the mode bypassPermissions does. */
function createBypassDeps(): PermitDeps {
  return {
    policy: new PermissionPolicy('bypassPermissions', new RuleBook([], []), {ownFolders: () => [], secretPaths: []}),
    questions: undefined,
    onDenied: () => undefined,
    sandbox: permissionSandbox(),
  };
}

/** An allowed call without a checkpoint. */
export const ALLOWED_CALL: AllowedCall = {
  ...{verdict: 'allow', because: 'a test allows it', places: [], writes: []},
  attempts: [{launch: 'plain', checkpoint: false}],
};

/** A tool with one input, `value`. */
export function tool(
  name: string,
  work: (context: ToolContext, value: string) => Promise<ToolResult> | ToolResult = () => textResult(`${name} done`),
  access: readonly Access[] = [{kind: 'none'}],
): Tool {
  const created: Tool<{value: string}> = {
    name,
    description: `${name} for tests`,
    input: z.object({value: z.string().default('')}),
    title: (input) => input.value,
    access: () => access,
    run: async (input, context) => work(context, input.value),
  };
  return created as Tool;
}

/** The tool results in a message. */
export function resultsIn(message: Message | undefined): ToolResultBlock[] {
  if (!message || typeof message.content === 'string') return [];
  return message.content.flatMap((block) => (block.type === 'tool_result' ? [block] : []));
}
