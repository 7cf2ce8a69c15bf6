/** All that is known of a run, a line each. */

import type {RunRecord} from '../core/contract/runs.ts';
import {sessionKeyOf} from '../core/runs/announcement.ts';
import {formatDuration} from '../core/runs/progress-line.ts';
import {hasEnded} from '../core/runs/run-record.ts';
import {stateWords} from '../core/runs/run-table.ts';
import type {SubagentManager} from '../core/subagent-manager.ts';

export function subagentInfo(manager: SubagentManager, record: RunRecord): string {
  const {runId, agent, description, label, model, createdAt, startedAt, endedAt, outcome, reason, receipt} = record;
  const archiveTime = manager.archiveTime(record);
  const facts: [string, string][] = [
    ['status', stateWords(record)],
    ['label', label ?? '-'],
    ['task', `[${agent}] ${description}`],
    ['run', runId],
    ['session', `${record.sessionId} (${sessionKeyOf(agent, runId)})`],
    ['transcript', record.transcript],
    ['model', model],
    ['where', record.background ? 'background' : 'foreground'],
    ['runtime', formatDuration(runtimeOf(record))],
    ['created', time(createdAt)],
    ['started', time(startedAt)],
    ['ended', time(endedAt)],
    ['cleanup', record.cleanup],
    ['archive', record.state === 'removed' ? 'archived' : archiveTime ? time(archiveTime.getTime()) : '-'],
    ['outcome', outcome === undefined ? '-' : reason ? `${outcome}: ${reason}` : outcome],
    ['receipt', receipt?.replace(/^Receipt: /, '') ?? '-'],
  ];
  return facts.map(([name, value]) => `${`${name}:`.padEnd(12)}${value}`).join('\n');
}

/** Without the time in the queue; of a run at work, up to now. */
function runtimeOf(record: RunRecord): number {
  if (hasEnded(record)) return record.result?.durationMs ?? 0;
  return record.startedAt === undefined ? 0 : Date.now() - record.startedAt;
}

function time(at: number | undefined): string {
  return at === undefined ? '-' : new Date(at).toISOString();
}
