/** What comes out of the terminal's input for Ink, in pieces as they are read. */
import {once} from 'node:events';
import {connect, createServer, type Socket} from 'node:net';
import {expect, onTestFinished, test, vi} from 'vitest';
import {terminalInput} from '../../../src/ui/input/terminal-input.ts';
import {stopTimers} from '../../support/fake-time.ts';
import {settle} from '../../support/wait.ts';

/** A stream whose bytes come from the system, as those of a terminal do. */
async function open() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
  const keyboard = connect((server.address() as {port: number}).port, '127.0.0.1').setNoDelay();
  const socket = await accepted;
  onTestFinished(() => {
    keyboard.destroy();
    socket.destroy();
    server.close();
  });
  const input = terminalInput(socket.setEncoding('utf8') as unknown as NodeJS.ReadStream);
  const pieces: string[] = [];
  socket.on('readable', () => {
    for (let piece = input.read(); piece !== null; piece = input.read()) pieces.push(String(piece));
  });
  return {keyboard, pieces, arrival: () => once(socket, 'readable')};
}

/** As a program that draws, or collects garbage. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('Esc alone comes after a moment', async () => {
  const {keyboard, pieces} = await open();
  keyboard.write('a\x1b');
  await expect.poll(() => pieces).toEqual(['a', '\x1b']);
});

test('the rest of a key, or of a paste, that came while the program was busy belongs to it', async () => {
  const {keyboard, pieces, arrival} = await open();
  const lines = 'line\r'.repeat(10);
  for (const [first, rest] of [
    ['\x1b', '[A'],
    [lines, 'and more\rto come'],
  ]) {
    const arrived = arrival();
    keyboard.write(first!);
    await arrived;
    // React draws after what was read: the next step of the loop is that of the timers.
    await new Promise((resolve) => setImmediate(resolve));
    const {length} = pieces;
    keyboard.write(rest!);
    block(300);
    await expect.poll(() => pieces.length).toBeGreaterThan(length);
  }
  expect(pieces).toEqual(['\x1b[A', `\x1b[200~${lines}and more\rto come\x1b[201~`]);
});

test('a reply of the terminal is no text: whole or in pieces', async () => {
  const colours = '\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\';
  // What is left over goes to Ink, which drops replies in the form of keys.
  const replies: [string[], string][] = [
    [[colours], ''],
    [['\x1b]11;rgb:1e1e', '/1e1e/2e2e\x07'], ''],
    [['\x1b]11;rgb:1e1e/1e1e/2e2e\x1b', '\\'], ''],
    [['\x1bP>|xterm(', '390)\x1b\\'], ''],
    [['\x1b[?62;', '22c'], '\x1b[?62;22c'],
    [['\x1b[?', '1', 'u'], '\x1b[?1u'],
    [['\x1b[24;8', '0R'], '\x1b[24;80R'],
    // After Esc, Alt+] or Alt+Shift+P.
    [['\x1b', 'a'], '\x1ba'],
    [['\x1b', 'P1 bug', ' is open'], '\x1bP1 bug is open'],
    [['\x1b', ']1 more', ' of it'], '\x1b]1 more of it'],
    [['\x1b', '[2; 3]'], '\x1b[2; 3]'],
    [['\x1bP0', ' bug'], '\x1bP0 bug'],
    // A paste has what looks so, too.
    [['\x1b', '\x1b[200~]1;', 'and more\x1b[201~'], '\x1b\x1b[200~]1;and more\x1b[201~'],
  ];
  stopTimers();
  for (const [pieces, left] of replies) {
    const {keyboard, pieces: read, arrival} = await open();
    for (const piece of [...pieces, '.']) {
      const arrived = arrival();
      keyboard.write(piece);
      await arrived;
      await vi.advanceTimersByTimeAsync(300);
      await settle();
    }
    expect(read.join(''), JSON.stringify(pieces)).toBe(`${left}.`);
  }
});

test('the beginning of a key or a reply whose rest does not come is dropped', async () => {
  stopTimers();
  for (const [beginning, typed] of [
    ['\x1b[?62;', 'hello'],
    ['\x1b[', 'a'],
    ['\x1b]', 'a'],
    ['\x1b]1', ' more'],
  ]) {
    const {keyboard, pieces, arrival} = await open();
    for (const piece of [beginning!, typed!]) {
      const arrived = arrival();
      keyboard.write(piece);
      await arrived;
      await vi.advanceTimersByTimeAsync(700);
      await settle();
    }
    expect(pieces.join('')).toBe(typed);
  }
});
