import {render} from 'ink-testing-library';
import {describe, expect, test} from 'vitest';
import {BusyLine} from '../../../src/ui/components/busy-line.tsx';
import {Patch} from '../../../src/ui/components/diff.tsx';
import {StatusLine} from '../../../src/ui/components/status-line.tsx';
import {LiveSubagents} from '../../../src/ui/components/subagent-lines.tsx';
import {RunningTools, ToolLine} from '../../../src/ui/components/tool-line.tsx';
import {headerText} from '../../../src/ui/repl.tsx';
import type {FinishedTool} from '../../../src/ui/state/ui-state.ts';
import {subagentRun} from '../runs-fixture.ts';

const drawn = (element: React.JSX.Element) => render(element).lastFrame() ?? '';

describe('a tool line', () => {
  const tool: FinishedTool = {tool: 'bash', title: 'npm test', isError: false, preview: 'ok'};

  test('names the tool and shows a few rows of the result', () => {
    expect(drawn(<ToolLine tool={tool} columns={60} />)).toBe('● bash npm test\n  ok');
    const long = {...tool, preview: Array.from({length: 30}, (_, index) => `row ${index}`).join('\n')};
    const frame = drawn(<ToolLine tool={long} columns={60} />).split('\n');
    expect(frame).toHaveLength(9);
    expect(frame.at(-1)).toBe('  … 23 more lines');
  });

  test('shows the error of any tool', () => {
    const failed = {...tool, tool: 'read_file', isError: true, preview: 'No such file: x'};
    expect(drawn(<ToolLine tool={failed} columns={60} />)).toContain('No such file: x');
  });

  test('shows at most 60 lines of a diff and counts the rest', () => {
    const patch = `--- a\n+++ a\n@@ -1 +1,90 @@\n${Array.from({length: 90}, (_, index) => `+line ${index}`).join('\n')}\n`;
    const edited: FinishedTool = {...tool, tool: 'edit_file', display: {type: 'diff', path: 'a', patch}};
    const frame = drawn(<ToolLine tool={edited} columns={60} />);
    expect(frame).toContain('  … 31 more lines');
    expect(frame).not.toContain('+++ a');
  });

  test('of a running tool loses its output before its name', () => {
    const tools = [1, 2, 3].map((n) => ({callId: `c${n}`, tool: 'bash', title: `run ${n}`, progress: 'a\nb\nc\nd\n'}));
    expect(drawn(<RunningTools tools={tools} rows={12} columns={40} />).split('\n')).toHaveLength(12);
    expect(drawn(<RunningTools tools={tools} rows={3} columns={40} />)).toBe(
      '● bash run 1\n● bash run 2\n● bash run 3',
    );
  });
});

test('a diff shows all lines of its hunks, also those that look like file names', () => {
  expect(drawn(<Patch patch={'--- a\n+++ b\n@@ -1,2 +1,1 @@\n--- drop table x\n+++ y'} />)).toBe(
    '@@ -1,2 +1,1 @@\n--- drop table x\n+++ y',
  );
  expect(drawn(<Patch patch={'--- only this'} />)).toBe('--- only this');
});

test('in a narrow window the line of a subagent keeps state and counts', () => {
  const run = subagentRun({description: 'read all the tests there are', tools: 5});
  const frame = drawn(<LiveSubagents runs={[run]} rows={3} columns={40} now={3200} />);
  expect(frame.split('\n')[1]).toBe('  [explore] read all … ... 5 tools, 3.2s');
});

test('in a narrow window the status line leaves out its last parts', () => {
  const status = {
    model: 'claude-sonnet-4',
    mode: 'acceptEdits',
    running: 3,
    context: {tokens: 12_345},
    cost: undefined,
    hint: '',
  };
  expect(drawn(<StatusLine {...status} columns={80} />)).toBe(
    'acceptEdits · 3 agents · claude-sonnet-4 · context 12.3k',
  );
  expect(drawn(<StatusLine {...status} context={{tokens: 40_000, limit: 160_000}} columns={80} />)).toContain(
    'context 25 %',
  );
  expect(drawn(<StatusLine {...status} columns={40} />)).toBe('acceptEdits · 3 agents · claude-sonnet-4');
  expect(drawn(<StatusLine {...status} columns={30} />)).toBe('acceptEdits · 3 agents');
});

test('the header says that the offline model is rule-based, and has no escape sequences without colours', () => {
  const header = {version: '1.0.0', cwd: '/x\u001b[2J', offline: true};
  expect(headerText(header, false)).toBe(
    'mini-cc 1.0.0 · offline model (rule-based)\n/x␛[2J\n/help lists commands and keys\n',
  );
  expect(headerText(header, true)).toContain('\u001b[1;36mmini-cc');
});

test('for a screen reader nothing moves', () => {
  expect(drawn(<BusyLine since={0} now={5000} isStatic columns={60} />)).toBe('Working. Esc interrupts.');
  expect(drawn(<BusyLine since={0} now={5000} isStatic={false} columns={60} />)).toBe('/ working 5s · Esc interrupts');
});

test('the busy line names the key that sends awaited agents to the background, in a wide window', () => {
  const busy = {since: 0, now: 5000, isStatic: false, canBackground: true};
  expect(drawn(<BusyLine {...busy} columns={60} />)).toBe('/ working 5s · Esc interrupts · Ctrl+B background');
  expect(drawn(<BusyLine {...busy} isRunOpen columns={60} />)).toBe('/ working 5s · Ctrl+B background');
  expect(drawn(<BusyLine {...busy} columns={40} />)).toBe('/ working 5s · Esc interrupts');
});
