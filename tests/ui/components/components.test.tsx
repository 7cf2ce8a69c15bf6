import {render} from 'ink-testing-library';
import {describe, expect, test} from 'vitest';
import {BusyLine} from '../../../src/ui/components/busy-line.tsx';
import {StatusLine} from '../../../src/ui/components/status-line.tsx';
import {LiveSubagents} from '../../../src/ui/components/subagent-lines.tsx';
import {RunningTools, ToolLine} from '../../../src/ui/components/tool-line.tsx';
import {headerText} from '../../../src/ui/first-paint/frame.ts';
import type {FinishedTool} from '../../../src/ui/state/ui-state.ts';
import {createFormatter} from '../../../src/ui/text/format.ts';
import {subagentRun} from '../runs-fixture.ts';

const drawn = (element: React.JSX.Element) => render(element).lastFrame() ?? '';

describe('a tool line', () => {
  const formatter = createFormatter();
  const tool: FinishedTool = {
    ...{call: 'Bash(npm test)', isCommand: true, description: '', isError: false, summary: ''},
    ...{preview: 'ok', isEnd: false, lines: 1, durationMs: 20},
  };
  const line = (change: Partial<FinishedTool>, columns = 60) =>
    drawn(<ToolLine tool={{...tool, ...change}} columns={columns} formatter={formatter} />).split('\n');
  const rows = (count: number) => Array.from({length: count}, (_, index) => `row ${index}`).join('\n');

  test.each([
    [{}, ['✓ Bash(npm test)', '  ok']],
    [{call: 'Read src/a.ts', summary: '120 lines'}, ['✓ Read src/a.ts · 120 lines']],
    [{call: 'Grep "foo" in src', summary: '3 files'}, ['✓ Grep "foo" in src · 3 files']],
    [{call: 'git: log', preview: ''}, ['✓ git: log']],
    [{durationMs: 12_300}, ['✓ Bash(npm test) · 12s', '  ok']],
    [
      {durationMs: 72_000, isError: true, summary: 'exit code 1', preview: ''},
      ['✗ Bash(npm test) · failed: exit code 1 · 1m12s'],
    ],
    [{preview: '(no output)', durationMs: 999}, ['✓ Bash(npm test) · no output']],
    [
      {isError: true, summary: 'refused', preview: 'The user refused this call. It was not run. Do not try it again.'},
      ['✗ Bash(npm test) · refused'],
    ],
    [
      {
        isError: true,
        summary: 'refused',
        preview: 'The user refused this call. It was not run. The user says: use make',
      },
      ['✗ Bash(npm test) · refused', '  you said: use make'],
    ],
    [{outputFile: '/h/call-1.txt'}, ['✓ Bash(npm test)', '  ok', '  whole output: /h/call-1.txt']],
    [{description: 'Run the tests'}, ['✓ Bash(npm test) · Run the tests', '  ok']],
  ])('names the call, what it is for and what came of it', (change, shown) => {
    expect(line(change)).toEqual(shown);
  });

  test('says in words that a call failed, and shows the end of what a command printed', () => {
    const failed = {
      isError: true,
      summary: 'exit code 1',
      preview: `${rows(20)}\nexit code 1`,
      isEnd: true,
      lines: 2994,
    };
    const shown = line(failed);
    expect(shown.slice(0, 3)).toEqual([
      '✗ Bash(npm test) · failed: exit code 1',
      '  … 2,986 earlier lines',
      '  row 13',
    ]);
    expect(shown.at(-1)).toBe('  row 19');
    const missing = {call: 'Read x', isError: true, preview: 'No such file: x'};
    expect(line(missing)).toEqual(['✗ Read x · failed', '  No such file: x']);
  });

  test('counts all lines of the result, also those that no preview has', () => {
    expect(line({preview: rows(30), lines: 2993})).toEqual([
      '✓ Bash(npm test)',
      ...['  row 0', '  row 1', '  row 2', '  row 3'],
      '  … 2,989 more lines',
    ]);
  });

  test('in a narrow window loses what it is for, then the end of the call, never what came of it', () => {
    const long = {
      call: 'Bash(npm run build --production)',
      description: 'Build it',
      isError: true,
      summary: 'exit code 1',
    };
    expect(line(long, 40)[0]).toBe('✗ Bash(npm run b…) · failed: exit code 1');
  });

  const patch = `--- a\n+++ a\n@@ -1,0 +1,90 @@\n${Array.from({length: 90}, (_, at) => `+line ${at}`).join('\n')}\n`;

  test('shows at most 60 lines of a diff and counts the rest', () => {
    const frame = line({call: 'Edit a', display: {type: 'diff', path: 'a', patch}});
    expect(frame[0]).toBe('✓ Edit a · +90 -0');
    expect(frame.at(-1)).toBe('  … 30 more lines');
    expect(frame.join('\n')).not.toContain('+++ a');
  });

  test('shows no diff that was printed with its question', () => {
    const edited = {call: 'Edit a', display: {type: 'diff', path: 'a', patch} as const, isDiffPrinted: true as const};
    expect(line(edited)).toEqual(['✓ Edit a · +90 -0']);
  });

  test('of a running tool loses its output before its name', () => {
    const tools = [1, 2, 3].map((n) => ({
      ...{callId: `c${n}`, call: `Bash(run ${n})`, description: ''},
      ...{progress: 'a\nb\nc\nd\n', since: 0},
    }));
    expect(drawn(<RunningTools tools={tools} rows={12} columns={40} now={0} />).split('\n')).toHaveLength(12);
    expect(drawn(<RunningTools tools={tools} rows={3} columns={40} now={0} />)).toBe(
      '● Bash(run 1)\n● Bash(run 2)\n● Bash(run 3)',
    );
    expect(drawn(<RunningTools tools={tools.slice(0, 1)} rows={1} columns={40} now={65_000} />)).toBe(
      '● Bash(run 1) · 1m05s',
    );
  });
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
    'acceptEdits · Shift+Tab: mode · 3 agents · claude-sonnet-4 · context 12.3k',
  );
  expect(drawn(<StatusLine {...status} context={{tokens: 40_000, limit: 160_000}} columns={80} />)).toContain(
    'context 25 %',
  );
  expect(drawn(<StatusLine {...status} running={0} commands={1} columns={40} />)).toContain('acceptEdits · 1 command');
  expect(drawn(<StatusLine {...status} columns={40} />)).toBe('acceptEdits · 3 agents · claude-sonnet-4');
  expect(drawn(<StatusLine {...status} columns={30} />)).toBe('acceptEdits · 3 agents');
  // At the start, while a question is open, there is no session and so no mode.
  expect(drawn(<StatusLine {...status} mode="" model="" context={{tokens: 0}} columns={80} />)).toBe('3 agents');
});

test('the header says that the offline model is rule-based, and has no escape sequences without colours', () => {
  const header = {version: '1.0.0', cwd: '/x\u001b[2J', offline: true, isFirst: false, columns: 80};
  expect(headerText(header, false)).toBe(
    'mini-cc 1.0.0 · offline model (rule-based)\n/x␛[2J\n/help lists the commands, ? the keys\n',
  );
  const first = headerText({...header, isFirst: true, columns: 40}, false)
    .trimEnd()
    .split('\n');
  expect(first.slice(2).join(' ')).toBe(
    'A coding agent: it reads, changes and runs what is in this folder, and asks first. Say what you want, for example: what does this project do? · ? lists the keys',
  );
  expect(Math.max(...first.map((line) => line.length))).toBeLessThanOrEqual(42);
  expect(headerText(header, true)).toContain('\u001b[1;36mmini-cc');
});

test.each([
  ['/home/ada/work', '~/work'],
  ['/home/ada', '~'],
  ['/home/adam/work', '/home/adam/work'],
])('the header names the folder %s as %s in the home /home/ada', (cwd, shown) => {
  const header = {version: '1.0.0', cwd, userHome: '/home/ada', offline: false, isFirst: false, columns: 80};
  expect(headerText(header, false).split('\n')[1]).toBe(shown);
});

const busy = {work: 'Running Bash(npm test)', since: 0, now: 5000, tokens: 12_345, isStatic: false};

test('the busy line says what is waited for, how long, the tokens, and how to stop it', () => {
  expect(drawn(<BusyLine {...busy} columns={80} />)).toBe(
    '⠴ Running Bash(npm test) · 5s · 12.3k tokens · Esc interrupts',
  );
  expect(drawn(<BusyLine {...busy} isRunOpen columns={80} />)).toBe('⠴ Running Bash(npm test) · 5s · 12.3k tokens');
  expect(drawn(<BusyLine {...busy} canBackground columns={90} />)).toContain(' · Ctrl+B background');
});

test('in a narrow window the busy line leaves out the time before it cuts the work, which Ctrl+B can send away', () => {
  const agents = {...busy, work: 'Waiting for 8 agents', canBackground: true};
  expect(drawn(<BusyLine {...agents} columns={66} />)).toContain('8 agents · 5s · Esc interrupts · Ctrl+B background');
  expect(drawn(<BusyLine {...agents} columns={60} />)).toBe(
    '⠴ Waiting for 8 agents · Esc interrupts · Ctrl+B background',
  );
});

test('in a narrow window the busy line keeps the time and how to stop it', () => {
  const frame = drawn(<BusyLine {...busy} work="Running Bash(npm run build --production)" columns={40} />);
  expect(frame).toBe('⠴ Running Bash(np… · 5s · Esc interrupts');
});

test('a retry ends with the words of the server where there is room for them', () => {
  const retry = {...busy, work: 'sonnet: retrying in 4s (500), attempt 2', isWhole: true, words: 'Disk\nis full today'};
  expect(drawn(<BusyLine {...retry} columns={90} />)).toBe(
    '⠴ sonnet: retrying in 4s (500), attempt 2 · 5s · Esc interrupts · Disk is full today',
  );
  expect(drawn(<BusyLine {...retry} columns={83} />)).toMatch(/Esc interrupts · Disk is ful.*…$/);
  expect(drawn(<BusyLine {...retry} columns={70} />)).not.toContain('Disk');
});

test('a retry says how to stop it before it names the model', () => {
  const work = 'claude-sonnet-5-5: retrying in 3s (cannot reach 127.0.0.1:9 (ECONNREFUSED)), attempt 6';
  const line = (columns: number) => drawn(<BusyLine {...busy} work={work} isWhole columns={columns} />);
  expect(line(120)).toBe(`⠴ ${work} · 5s · Esc interrupts`);
  expect(line(100)).toBe(`⠴ ${work.slice('claude-sonnet-5-5: '.length)} · Esc interrupts`);
  expect(line(80)).toBe(`⠴ ${work.slice('claude-sonnet-5-5: '.length)}`);
});
