/** `/subagents diff` and `/subagents undo`: what a run changed, and back again. */
import type {CommandResult} from '../core/command.ts';
import {hasEnded, type RunRecord} from '../core/run-record.ts';
import {ofAgent, stretchesOf} from '../storage/checkpoints/changes.ts';
import type {LedgerLine} from '../storage/checkpoints/ledger.ts';
import {putBack} from '../storage/checkpoints/put-back.ts';
import {type ChangesRoom, files, putBackWords} from './changes-room.ts';
import {unifiedDiff} from './unified-diff.ts';

export async function diffOfRun(record: RunRecord, room: ChangesRoom): Promise<CommandResult> {
  const checkpoints = room.checkpoints();
  await checkpoints.recovered();
  const stretches = stretchesOf(checkpoints.ledger.changes, ofAgent(record.runId));
  const count = new Set(stretches.map(({path}) => path)).size;
  const head = `${titleOf(record)} changed ${count === 0 ? 'no files' : files(count)}${hasEnded(record) ? '' : ' so far'}.`;
  const notes = notesOf(checkpoints.ledger.lines, record.runId);
  const diff = await unifiedDiff(stretches, checkpoints, room);
  return {ok: true, text: [[head, ...notes].join('\n'), ...diff].join('\n\n'), isDiff: true};
}

export async function undoRun(record: RunRecord, room: ChangesRoom): Promise<CommandResult> {
  const title = titleOf(record);
  if (!hasEnded(record)) {
    return {ok: false, text: `${title} is at work: stop it first, by /subagents stop ${record.runId.slice(0, 8)}`};
  }
  const by = {agentId: 'undo', label: '/subagents undo'};
  const done = await putBack(room.checkpoints(), ofAgent(record.runId), by);
  await room.onPutBack(
    done.restored.map(({path}) => path),
    by.label,
  );
  const words = putBackWords(done, room.root);
  const notes = notesOf(room.checkpoints().ledger.lines, record.runId);
  const text = [`${title}: ${words === '' ? 'nothing to undo.' : words}`, ...notes].join('\n');
  return {ok: done.restored.length > 0 || done.left.length === 0, text};
}

function titleOf({agent, description}: RunRecord): string {
  return `[${agent}] ${description}`;
}

/** What is not known of a run's commands. */
function notesOf(lines: readonly LedgerLine[], runId: string): string[] {
  const ran = new Set(lines.flatMap((line) => (line.type === 'running' && line.by.agentId === runId ? [line.id] : [])));
  const leftOut = lines.flatMap((line) => (line.type === 'ran' && ran.has(line.id) ? (line.leftOut ?? []) : []));
  const reasons = lines.flatMap((line) => (line.type === 'uncounted' && line.by.agentId === runId ? [line.why] : []));
  const named = [...new Set(leftOut)].map((name) => `, ${name}`).join('');
  return [
    ...[...new Set(reasons)].map((why) => `What some of its commands changed is not known: ${why}.`),
    ...(ran.size > 0
      ? [`Not kept around its commands: ignored files, node_modules${named}, and all outside the workspace.`]
      : []),
  ];
}
