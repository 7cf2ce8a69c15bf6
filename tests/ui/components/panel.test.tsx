import {render} from 'ink-testing-library';
import {describe, expect, test} from 'vitest';
import {AnnouncementView} from '../../../src/ui/components/finished-item.tsx';
import {RunPanel, RunView, viewRows} from '../../../src/ui/components/subagent-lines.tsx';
import {markedIndex, panelRuns, panelText, panelWindow} from '../../../src/ui/state/panel.ts';
import {INITIAL_STATE} from '../../../src/ui/state/ui-state.ts';
import {createFormatter} from '../../../src/ui/text/format.ts';
import {plainText} from '../../../src/ui/text/styled-text.tsx';
import {textWidth} from '../../../src/ui/text/wrap.ts';
import {subagentRun} from '../runs-fixture.ts';

const drawn = (element: React.JSX.Element) => render(element).lastFrame() ?? '';

const busy = subagentRun({description: 'read the tests', tools: 5, tokens: 1200, lastTool: 'grep "foo"'});

describe('a row of the panel', () => {
  test('shows all its parts in a wide window', () => {
    expect(drawn(<RunPanel runs={[busy]} marked={0} rows={5} columns={100} now={3400} />)).toBe(
      '> [explore] read the tests · running · 5 tools · 1.2k tokens · grep "foo" · idle 3s',
    );
  });

  test('counts no tools of a command', () => {
    expect(panelText({...busy, isCommand: true, tokens: 0, lastTool: '', lastAt: 0}, 80, 0)).toBe(
      'read the tests · running',
    );
  });

  test('says at which worker the run is', () => {
    expect(drawn(<RunPanel runs={[{...busy, worker: 'build-2'}]} marked={0} rows={5} columns={100} now={0} />)).toBe(
      '> [explore @build-2] read the tests · running · 5 tools · 1.2k tokens · grep "foo"',
    );
  });

  test.each([
    [70, 'read the tests · running · 5 tools · 1.2k tokens · grep "foo"'],
    [58, 'read the tests · running · 5 tools · 1.2k tokens'],
    [40, 'read the tests · running · 5 tools'],
    [27, 'read t… · running · 5 tools'],
  ])('at %d columns drops idle time, last tool, tokens, then shortens the label', (columns, text) => {
    const shown = panelText(busy, columns, 3400);
    expect(shown).toBe(text);
    expect(textWidth(shown)).toBeLessThanOrEqual(columns);
  });

  test('says what the run waits for, and how it ended', () => {
    expect(panelText({...busy, note: 'retrying in 4s (429), attempt 2'}, 60, 0)).toContain(
      '· retrying in 4s (429), attempt 2 ·',
    );
    expect(panelText({...busy, state: 'queued', tools: 0, tokens: 0}, 60, 0)).toBe(
      'read the tests · queued · 0 tools · grep "foo"',
    );
    expect(panelText({...busy, state: 'error'}, 60, 90_000)).not.toContain('idle');
  });
});

describe('the panel', () => {
  const runs = Array.from({length: 8}, (_, index) =>
    subagentRun({agentId: `r${index}`, description: `part ${index}`, isBackground: index > 0}),
  );
  const ui = {...INITIAL_STATE, subagents: runs};

  test('lists background runs, newest first; when it is entered, awaited runs too', () => {
    expect(panelRuns(ui, false).map(({agentId}) => agentId)).toEqual(['r7', 'r6', 'r5', 'r4', 'r3', 'r2', 'r1']);
    expect(panelRuns(ui, true).at(-1)?.agentId).toBe('r0');
  });

  test('lists running runs before queued ones, and ended ones last', () => {
    const states = ['queued', 'running', 'success', 'running', 'queued'] as const;
    const mixed = states.map((state, index) => subagentRun({agentId: `${state}${index}`, state, isBackground: true}));
    expect(panelRuns({...ui, subagents: mixed}, false).map(({agentId}) => agentId)).toEqual([
      ...['running3', 'running1', 'queued4', 'queued0', 'success2'],
    ]);
  });

  test('is empty when no background run works', () => {
    const ended = runs.slice(1, 3).map((run) => ({...run, state: 'success' as const}));
    expect(panelRuns({...ui, subagents: ended}, false)).toEqual([]);
    expect(panelRuns({...ui, subagents: [runs[0]!]}, false)).toEqual([]);
  });

  test('has five rows at most and says how many runs are not shown', () => {
    const lines = drawn(<RunPanel runs={runs} marked={undefined} rows={5} columns={60} now={0} />).split('\n');
    expect(lines).toHaveLength(5);
    expect(lines[0]).toBe('  [explore] part 0 · running · 0 tools');
    expect(lines.at(-1)).toBe('  … 4 more');
  });

  test('shows the rows around the mark, which keeps its place when the marked run is removed', () => {
    expect(panelWindow(runs, 6, 5)).toMatchObject({first: 3, more: 4});
    expect(panelWindow(runs, 7, 1)).toMatchObject({first: 7, more: 0});
    expect(markedIndex(runs, {runId: 'r3', index: 1})).toBe(3);
    expect(markedIndex(runs, {runId: 'gone', index: 20})).toBe(7);
  });
});

test('an opened run shows its newest rows below its header', () => {
  const run = subagentRun({
    tail: {
      lines: [
        {kind: 'sent', text: 'look here'},
        {kind: 'tool', text: 'grep "x"', callId: 'c', result: {text: 'a.ts:1', isError: false}},
        {kind: 'text', text: 'I found it in the first file that I read.'},
      ],
      open: 'And',
    },
  });
  const rows = viewRows(run, 30);
  const lines = ['> look here', '● grep "x"', '  a.ts:1', 'I found it in the first file', 'that I read.', 'And'];
  expect(rows.map(plainText)).toEqual(lines);
  const view = (maxRows: number) => drawn(<RunView run={run} rows={rows} maxRows={maxRows} columns={30} />);
  expect(view(10)).toBe(
    ['[explore] … · running · Esc back', ...lines].join('\n').replace('[explore] …', '[explore] loo…'),
  );
  expect(view(3).split('\n').slice(1)).toEqual(lines.slice(-2));
  expect(view(1).split('\n')).toHaveLength(1);
});

test('an announcement shows its header with the receipt that fits, its text, and how much is not shown', () => {
  const announcement = {
    runId: 'r1',
    agent: 'explore',
    color: 0,
    state: 'error',
    header: '[explore] look - failed: 500 (8 tools, 5.1s)',
    receipt: ['UNVERIFIED', 'read 5 files', 'changed none'],
    text: 'Half of it.',
    more: 12,
  } as const;
  expect(drawn(<AnnouncementView announcement={announcement} columns={75} formatter={createFormatter()} />)).toBe(
    '[explore] look - failed: 500 (8 tools, 5.1s) · UNVERIFIED · read 5 files\n' +
      '  Half of it.\n  … 12 more lines: /subagents log r1',
  );
});
