/** Implements `/status`, which shows the facts of this session on one screen. */
import type {SandboxState} from '../../core/contract/permission.ts';
import type {Command, ContextUse} from '../../core/contract/session-requests.ts';
import {tokens} from '../../core/runs/receipt.ts';
import {hasEnded} from '../../core/runs/run-record.ts';
import {addUsage, NO_USAGE} from '../../core/util/messages.ts';
import {formatCost} from '../../core/util/money.ts';

export function createStatusCommand(version: string): Command {
  return {
    name: 'status',
    description: 'what this session is, and what it works with',
    async run({info, request}) {
      const [sandbox, context] = await Promise.all([request({type: 'sandbox'}), request({type: 'context'})]);
      const running = request({type: 'runs'}).filter((run) => !hasEnded(run)).length;
      const used = request({type: 'usage'})
        .entries.map(({usage}) => usage)
        .reduce(addUsage, NO_USAGE);
      const rows: [string, string][] = [
        ['mini-cc', version],
        ['session', info.sessionId],
        ['folders', [info.cwd, ...request({type: 'folders'})].join(', ')],
        ['model', `${info.model}${info.offline ? ' (offline, rule-based: no key and no server is set)' : ''}`],
        ['window', formatWindow(context)],
        ['cost', used === NO_USAGE ? 'none yet' : formatCost(used)],
        ['mode', info.permissionMode],
        ['sandbox', formatSandbox(sandbox)],
        ['agents', `${info.agents.length} that can be dispatched, ${running} at work`],
        ['theme', info.theme ?? 'terminal'],
        ['transcript', info.transcript],
      ];
      const width = Math.max(...rows.map(([name]) => name.length));
      const lines = rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
      return {ok: true, text: [...lines, ...info.warnings.map((warning) => `note: ${warning}`)].join('\n')};
    },
  };
}

function formatSandbox({mode, kind, problem}: SandboxState): string {
  if (kind === undefined) return `none works here: ${problem}`;
  return mode === 'off' ? `off; ${kind} confines commands that only read` : `${mode}, by ${kind}`;
}

function formatWindow({window, parts}: ContextUse): string {
  const used = parts.reduce((sum, part) => sum + part.tokens, 0);
  return `${tokens(used)} of ${tokens(window)} tokens used (${Math.round((100 * used) / window)} %)`;
}
