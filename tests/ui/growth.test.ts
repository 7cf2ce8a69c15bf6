/** What a turn costs on the screen does not grow with the conversation. Counts, not times: React tells its developer tools. */
import path from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import {passTime, stopTime} from '../support/fake-time.ts';
import type {FakeSession} from './fake-session.ts';
import type {FakeTerminal} from './fake-terminal.ts';

interface Fiber {
  readonly flags: number;
  readonly alternate: Fiber | null;
  readonly child: Fiber | null;
  readonly sibling: Fiber | null;
}

const PERFORMED_WORK = 1;
const TURNS = 110;

const seen = {nodes: 0, rendered: 0, commits: 0};

/** Nodes of the tree, and the components of it that were rendered for this commit. */
function count(fiber: Fiber | null): void {
  for (let node = fiber; node; node = node.sibling) {
    seen.nodes += 1;
    if ((node.flags & PERFORMED_WORK) !== 0) seen.rendered += 1;
    count(node.child);
  }
}

async function play(turn: number, screen: FakeTerminal, session: FakeSession): Promise<Record<string, number>> {
  Object.assign(seen, {nodes: 0, rendered: 0, commits: 0});
  const {length} = screen.written();
  const callId = `call-${turn}`;
  session.emit({type: 'tool_start', callId, tool: 'bash', title: `call ${turn}.`} as never);
  session.emit({
    ...{type: 'tool_end', callId, tool: 'bash', isError: false, preview: 'one\ntwo', lines: 2, durationMs: 1},
  } as never);
  await screen.until(() => screen.written().includes(`call ${turn}.`), `turn ${turn} is not on the screen`);
  return {...seen, written: screen.written().length - length};
}

test('turn 110 has the nodes, the rendered components and the written characters of turn 20', async () => {
  // The mark of the busy line moves with the time: of ten turns, some have none.
  stopTime();
  onTestFinished(() => void vi.unstubAllGlobals());
  vi.stubGlobal('__REACT_DEVTOOLS_GLOBAL_HOOK__', {
    ...{isDisabled: false, supportsFiber: true, inject: () => 1, checkDCE: () => undefined},
    ...{onCommitFiberUnmount: () => undefined, onPostCommitFiberRoot: () => undefined},
    onCommitFiberRoot: (_id: number, root: {readonly current: Fiber}) => {
      seen.commits += 1;
      count(root.current);
    },
  });
  const {open} = await import('./app-fixture.ts');
  // As Ink does it where DEV is set.
  const ink = path.join(import.meta.dirname, '../../node_modules/ink/build/reconciler.js');
  ((await import(ink)) as {default: {injectIntoDevTools(): void}}).default.injectIntoDevTools();
  const {screen, session} = await open({columns: 100, rows: 30});
  screen.type('go\r');
  await screen.shows('▌ go');
  // A second after the last key, the cursor leaves the prompt.
  await passTime(1100);
  const turns: Record<string, number>[] = [];
  for (let turn = 0; turn < TURNS; turn++) turns.push(await play(turn, screen, session));
  const least = (from: number, key: string) => Math.min(...turns.slice(from, from + 10).map((turn) => turn[key]!));
  for (const key of ['nodes', 'rendered', 'commits']) expect([key, least(100, key)]).toEqual([key, least(20, key)]);
  expect(least(20, 'nodes')).toBeLessThan(200);
  // The numbers of calls have one digit more.
  expect(least(100, 'written')).toBeLessThan(least(20, 'written') + 10);
  session.endTurn();
});
