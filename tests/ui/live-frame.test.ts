/** The live part after the window has changed its size: nothing of it stays above, and nothing above it is erased. */
import {expect, test} from 'vitest';
import {passTime, stopTime} from '../support/fake-time.ts';
import {open} from './app-fixture.ts';
import {question} from './fake-session.ts';

const WORDS = 'a sentence that is as wide as the whole window and a little more than that, so that it is wrapped';
const ANSWER = Array.from({length: 80}, (_, n) =>
  n % 8 === 7
    ? `\`\`\`ts\n${Array.from({length: 12}, (__, line) => `let m${n}x${line} = call(1);`).join('\n')}\n\`\`\``
    : `- m${n}y ${WORDS}`,
).join('\n\n');
const MARKS = [...ANSWER.matchAll(/m\d+[xy]\d*/g)].map(([mark]) => mark);
/** Not below 72 columns: there the rule under the prompt is as wide as the window, and this emulator loses the cursor. */
const SIZES = [
  [75, 30],
  [100, 31],
  [72, 30],
  [90, 32],
  [110, 32],
  [80, 31],
  [100, 30],
  [85, 30],
] as const;

/** Longer than the pause between two frames: all that was written is drawn. What is on its way when the size changes is drawn at the new one. */
const QUIET_MS = 250;

/** Characters of the answer between two sizes. */
const STEP = 200;
/** `npm run soak`: 40. */
const CHANGES = Number(process.env.MINI_CC_SIZES ?? 16);

test(`every line of an answer is there once, through ${CHANGES} sizes of the window`, async () => {
  stopTime();
  const {screen, session} = await open({columns: 100, rows: 30});
  screen.type('go\r');
  await screen.shows('▌ go');
  for (let n = 0; n < 4; n++) {
    session.emit(
      {type: 'run_start', agent: 'explore', description: `part ${n}`, model: 'm', queued: false, background: true},
      `s${n}`,
    );
  }
  let at = 0;
  for (let size = 0; size < CHANGES; size++) {
    session.emit({type: 'text_delta', text: ANSWER.slice(at, at + STEP)});
    at += STEP;
    if (size === 4) session.emit({type: 'ask', question: question({detail: `npm test -- ${WORDS}`})});
    if (size === 10) session.answer('ask-1', {choice: 'yes'});
    const [columns, rows] = SIZES[size % SIZES.length]!;
    await passTime(QUIET_MS);
    screen.resize(columns, rows);
    await passTime(QUIET_MS);
  }
  session.emit({type: 'text_delta', text: ANSWER.slice(at)});
  session.endTurn();
  await screen.shows(MARKS.at(-1)!);
  await passTime(QUIET_MS);
  const found = [...screen.scrollback().matchAll(/m\d+[xy]\d*(?= )/g)].map(([mark]) => mark);
  expect(found).toEqual(MARKS);
  expect(screen.written()).not.toMatch(/\x1b\[[23]J/);
});
