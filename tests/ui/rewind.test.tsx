/** Going back to an earlier prompt by two presses of Esc. */
import {render} from 'ink-testing-library';
import {describe, expect, test} from 'vitest';
import {DiffText} from '../../src/ui/components/tool-line.tsx';
import {createFormatter} from '../../src/ui/text/format.ts';
import {CTRL_C, ESC, open} from './app-fixture.ts';

describe('Esc Esc', () => {
  test('sends /rewind when no turn runs and nothing is typed', async () => {
    const {screen, session} = await open();
    screen.type(ESC);
    await screen.shows('press Esc again to go back to an earlier prompt');
    screen.type(ESC);
    await screen.shows('▌ /rewind');
    expect(session.submitted).toEqual(['/rewind']);
  });

  test('works also when both presses come in one chunk of input', async () => {
    const {screen, session} = await open();
    screen.type(ESC + ESC);
    await screen.shows('▌ /rewind');
    expect(session.submitted).toEqual(['/rewind']);
  });

  test('does not rewind while text is typed, nor with another key in between', async () => {
    const {screen, session} = await open();
    screen.type('x');
    await screen.shows('> x');
    screen.type(ESC + ESC);
    screen.type(CTRL_C);
    await screen.shows('> Ask about');
    screen.type(ESC);
    await screen.shows('press Esc again');
    screen.type('y');
    await screen.shows('> y');
    screen.type('\x7f');
    await screen.shows('> Ask about');
    screen.type(ESC);
    await screen.shows('press Esc again');
    expect(session.submitted).toEqual([]);
  });

  test('interrupts a turn and does not rewind', async () => {
    const {screen, session} = await open();
    screen.type('work\r');
    await screen.shows('▌ work');
    screen.type(ESC);
    await expect.poll(() => session.aborts()).toBe(1);
    session.endTurn('stopped');
    await screen.shows('interrupted');
    expect(session.submitted).toEqual(['work']);
  });
});

describe('a diff in a notice', () => {
  const diff = 'it changed 1 file.\n\ndiff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n same\n-old\n+new';

  test('shows all its lines, and long ones are wrapped', () => {
    const formatter = createFormatter();
    const drawn = (text: string, columns: number) =>
      render(<DiffText text={text} columns={columns} formatter={formatter} />).lastFrame() ?? '';
    expect(drawn(diff, 40)).toBe(
      'it changed 1 file.\n\ndiff --git a/a b/a\n--- a/a\n+++ b/a\n 1   same\n 2 - old\n 2 + new',
    );
    const long = drawn(`@@ -1,0 +1,1 @@\n+${'x'.repeat(30)}`, 20);
    expect(long.split('\n')).toEqual([` 1 + ${'x'.repeat(15)}`, `     ${'x'.repeat(15)}`]);
  });
});
