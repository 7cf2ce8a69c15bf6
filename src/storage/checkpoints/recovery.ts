/** What an earlier mini-cc was at when it was ended amid the work. */
import type {Writer} from '../../core/contract/checkpoints.ts';
import {arrivalOf, goneIn} from './file-origin.ts';
import {isSame} from './file-state.ts';
import type {Ledger, LedgerLine} from './ledger.ts';
import type {ShadowGit} from './shadow-git.ts';

type Running = Extract<LedgerLine, {type: 'running'}>;
type Writing = Extract<LedgerLine, {type: 'writing'}>;

export interface CutOff {
  readonly running: readonly Running[];
  readonly writing: readonly Writing[];
}

/** What was begun and not ended. */
export function cutOffIn(lines: readonly LedgerLine[]): CutOff {
  const running = new Map<string, Running>();
  const writing = new Map<string, Writing>();
  for (const line of lines) {
    if (line.type === 'running') running.set(line.id, line);
    else if (line.type === 'ran') running.delete(line.id);
    else if (line.type === 'writing') writing.set(keyOf(line.by, line.path), line);
    else if (line.type === 'unchanged') writing.delete(keyOf(line.by, line.path));
    else if (line.type === 'change') for (const by of line.by) writing.delete(keyOf(by, line.path));
  }
  return {running: [...running.values()], writing: [...writing.values()]};
}

/** What differs from how a command found the workspace was changed by it, or by those who came after the crash. */
export async function recoverCommands(
  running: readonly Running[],
  ledger: Ledger,
  shadow: ShadowGit,
  root: string,
): Promise<void> {
  const {tree} = await shadow.snapshot();
  const by = [...new Map(running.map((each) => [each.by.agentId, each.by])).values()];
  for (const cut of running) {
    const later = ledger.lines.slice(ledger.lines.indexOf(cut));
    const changes = await shadow.changes(cut.tree, tree);
    const [since, gone] = [cut.at, goneIn(changes)];
    for (const {path, before, after} of changes) {
      const told = later.findLast((line) => line.type === 'change' && line.path === path);
      const from = told?.type === 'change' ? told.after : before;
      if (isSame(from, after)) continue;
      const arrival = arrivalOf(path, {before: from, after}, {root, since, gone});
      ledger.append({type: 'change', at: Date.now(), by, path, before: from, after, ...arrival, cutOff: true});
    }
    ledger.append({type: 'ran', at: Date.now(), id: cut.id});
  }
}

function keyOf({agentId}: Writer, path: string): string {
  return `${agentId}\0${path}`;
}
