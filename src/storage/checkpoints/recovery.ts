/** Recovers writes and commands that were in progress when an earlier mini-cc ended. */
import type {Writer} from '../../core/contract/checkpoints.ts';
import {isSameState} from '../trees/file-state.ts';
import {findRemovedContents, getFileOrigin} from './file-origin.ts';
import type {Ledger, LedgerLine} from './ledger.ts';
import type {Snapshots} from './snapshots.ts';

type OpenCommand = Extract<LedgerLine, {type: 'running'}>;
type OpenWrite = Extract<LedgerLine, {type: 'writing'}>;

interface OpenWork {
  readonly running: readonly OpenCommand[];
  readonly writing: readonly OpenWrite[];
}

/** Returns the writes and commands that have a start line and no end line. */
export function findOpenWork(lines: readonly LedgerLine[]): OpenWork {
  const running = new Map<string, OpenCommand>();
  const writing = new Map<string, OpenWrite>();
  for (const line of lines) {
    if (line.type === 'running') running.set(line.id, line);
    else if (line.type === 'ran') running.delete(line.id);
    else if (line.type === 'writing') writing.set(getWriteKey(line.by, line.path), line);
    else if (line.type === 'unchanged') writing.delete(getWriteKey(line.by, line.path));
    else if (line.type === 'change') for (const by of line.by) writing.delete(getWriteKey(by, line.path));
  }
  return {running: [...running.values()], writing: [...writing.values()]};
}

/**
 * Records what interrupted commands changed: everything that differs from the snapshot at their start, except what
 * other changes in the ledger explain. Changes that were made after the crash cannot be distinguished.
 */
export async function recoverCommands(
  running: readonly OpenCommand[],
  ledger: Ledger,
  snapshots: Snapshots,
  root: string,
): Promise<void> {
  const {tree} = await snapshots.take();
  const by = [...new Map(running.map((each) => [each.by.agentId, each.by])).values()];
  for (const command of running) {
    const later = ledger.lines.slice(ledger.lines.indexOf(command));
    const changes = await snapshots.changes(command.tree, tree);
    const [since, removed] = [command.at, findRemovedContents(changes)];
    for (const {path, before, after} of changes) {
      const noted = later.findLast((line) => line.type === 'change' && line.path === path);
      const from = noted?.type === 'change' ? noted.after : before;
      if (isSameState(from, after)) continue;
      const origin = getFileOrigin(path, {before: from, after}, {root, since, removed});
      ledger.append({type: 'change', at: Date.now(), by, path, before: from, after, ...origin, cutOff: true});
    }
    ledger.append({type: 'ran', at: Date.now(), id: command.id});
  }
}

/** Identifies an open write: one agent writes a file only once at a time. */
export function getWriteKey({agentId}: Writer, path: string): string {
  return `${agentId}\0${path}`;
}
