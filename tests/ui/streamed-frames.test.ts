/** What is written while an answer streams: characters, not time. */
import {expect, test} from 'vitest';
import {stopTime} from '../support/fake-time.ts';
import {open} from './app-fixture.ts';

const BLOCKS = [
  '## Part **one**',
  'The **store** `s` keeps *what* it has read, and says so to those who ask, at length, in one paragraph of plain words.',
  '1. **First** reads\n2. `second` writes',
  `\`\`\`ts\n${Array.from({length: 24}, (_, n) => `let n${n} = call(1);`).join('\n')}\n\`\`\``,
  '| Name | Lines |\n|---|--:|\n| a | 12 |\n| b | 12 |',
];
const ANSWER = Array.from({length: 25}, () => BLOCKS.join('\n\n'))
  .join('\n\n')
  .concat('\n\nThe end.');

test('an answer that streams writes the live part once for each frame, and a key a part of its row', async () => {
  stopTime();
  const {screen, session} = await open({columns: 100, rows: 30});
  screen.type('go\r');
  await screen.shows('▌ go');
  const before = screen.written().length;
  let frames = 0;
  for (let at = 0; at < ANSWER.length; at += 500) {
    const {length} = screen.written();
    session.emit({type: 'text_delta', text: ANSWER.slice(at, at + 500)});
    await screen.until(() => screen.written().length > length, 'no frame was drawn');
    frames += 1;
  }
  await screen.shows('The end.');
  const written = screen.written().length - before;
  // The answer, and for each frame the live part: 17 rows, of which two are as wide as the window. In this emulator the
  // rows are joined, which takes a few bytes each.
  expect(written).toBeLessThan(ANSWER.length + 640 * frames);
  const {length} = screen.written();
  screen.type('x');
  await screen.shows('> x');
  // Its row from there on, and the mark of the busy line where its time has come.
  expect(screen.written().length - length).toBeLessThan(150);
  session.endTurn();
});
