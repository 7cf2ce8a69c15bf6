/** `/subagents diff` and `/subagents undo`: what a run changed, and back again. */
import type {CommandResult} from '../core/contract/command.ts';
import type {RunRecord} from '../core/contract/runs.ts';
import {hasEnded} from '../core/runs/run-record.ts';
import {ofAgent, stretchesOf} from '../storage/checkpoints/changes.ts';
import {putBack} from '../storage/checkpoints/restore.ts';
import {unifiedDiff} from '../storage/checkpoints/unified-diff.ts';
import {type ChangesRoom, commandNotes, files, putBackWords} from './changes.ts';

export async function diffOfRun(record: RunRecord, room: ChangesRoom): Promise<CommandResult> {
  const checkpoints = room.checkpoints();
  await checkpoints.recovered();
  const stretches = stretchesOf(checkpoints.ledger.changes, ofAgent(record.runId));
  const count = new Set(stretches.map(({path}) => path)).size;
  const head = `${titleOf(record)} changed ${count === 0 ? 'no files' : files(count)}${hasEnded(record) ? '' : ' so far'}.`;
  const notes = commandNotes(checkpoints.ledger.lines, ({by}) => by.agentId === record.runId);
  const diff = await unifiedDiff(stretches, checkpoints.contents, room);
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
  const notes = commandNotes(room.checkpoints().ledger.lines, ({by}) => by.agentId === record.runId);
  const text = [`${title}: ${words === '' ? 'nothing to undo.' : words}`, ...notes].join('\n');
  return {ok: done.restored.length > 0 || done.left.length === 0, text};
}

function titleOf({agent, description}: RunRecord): string {
  return `[${agent}] ${description}`;
}
