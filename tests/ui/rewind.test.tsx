/** Back to an earlier prompt: Esc Esc, and what the screen does then. */
import {render} from 'ink-testing-library';
import {describe, expect, test} from 'vitest';
import {Notice} from '../../src/ui/components/finished-item.tsx';
import {CTRL_C, ESC, open} from './app-fixture.ts';

describe('Esc Esc', () => {
  test('opens /rewind when nothing is at work and nothing is typed', async () => {
    const {screen, session} = await open();
    screen.type(ESC);
    await screen.shows('press Esc again to go back to an earlier prompt');
    screen.type(ESC);
    await screen.shows('> /rewind');
    expect(session.submitted).toEqual(['/rewind']);
  });

  test('counts as two also when both come at once', async () => {
    const {screen, session} = await open();
    screen.type(ESC + ESC);
    await screen.shows('> /rewind');
    expect(session.submitted).toEqual(['/rewind']);
  });

  test('is no rewind while something is typed, nor with another key in between', async () => {
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

  test('interrupts a turn, and does not rewind it', async () => {
    const {screen, session} = await open();
    screen.type('work\r');
    await screen.shows('> work');
    screen.type(ESC);
    await expect.poll(() => session.aborts()).toBe(1);
    session.endTurn('stopped');
    await screen.shows('interrupted');
    expect(session.submitted).toEqual(['work']);
  });
});

describe('a diff in a notice', () => {
  const diff = 'it changed 1 file.\n\ndiff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n same\n-old\n+new';

  test('has all its lines, wrapped where they are long', () => {
    const frame = render(<Notice level="info" text={diff} isDiff columns={40} />).lastFrame() ?? '';
    expect(frame).toBe(diff);
    const long = render(<Notice level="info" text={`@@\n+${'x'.repeat(30)}`} isDiff columns={20} />).lastFrame() ?? '';
    expect(long.split('\n')).toEqual(['@@', `+${'x'.repeat(19)}`, 'x'.repeat(11)]);
  });
});
