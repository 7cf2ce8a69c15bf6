/** A person who looks elsewhere is called, and only then. */
import {expect, test} from 'vitest';
import type {NotifyKind} from '../../src/core/contract/events.ts';
import {until} from '../support/wait.ts';
import {open} from './app-fixture.ts';
import {createFakeSession, INFO, question} from './fake-session.ts';

const [FOCUS, BLUR, BELL] = ['\x1b[I', '\x1b[O', '\x07'];

async function start(notify?: NotifyKind) {
  const session = createFakeSession({...INFO, ...(notify && {notify})});
  const repl = await open({session: Promise.resolve(session)});
  return {...repl, session};
}

test.each<[NotifyKind | undefined, string]>([
  [undefined, BELL],
  ['bell', BELL],
  ['osc', `\x1b]9;mini-cc: Run this command?${BELL}`],
])('a question rings where the window has no focus: notify %s', async (notify, call) => {
  const {screen, session} = await start(notify);
  await until(() => screen.written().includes('\x1b[?1004h'));
  screen.type(BLUR);
  session.emit({type: 'ask', question: question()});
  await screen.shows('Run this command?');
  await until(() => screen.written().includes(call));
  expect(screen.written().split(BELL)).toHaveLength(2);
  // What the terminal says of its focus is no key.
  expect(screen.window()).not.toMatch(/\[O|> O/);
});

test('nothing rings with the focus, before the terminal has said where it is, for a short turn, or switched off', async () => {
  const {screen, session} = await start();
  session.emit({type: 'ask', question: question()});
  await screen.shows('Run this command?');
  session.answer('ask-1', {choice: 'yes'});
  await screen.lacks('Press 1');
  screen.type(BLUR + FOCUS);
  session.emit({type: 'ask', question: question({id: 'ask-2', title: 'Run that command?'})});
  await screen.shows('Run that command?');
  session.answer('ask-2', {choice: 'yes'});
  await screen.lacks('Press 1');
  screen.type(`${BLUR}go\r`);
  await screen.shows('Esc interrupts');
  screen.pass(9000);
  session.endTurn();
  await screen.lacks('Esc interrupts');
  expect(screen.written()).not.toContain(BELL);

  const off = await start('off');
  off.screen.type(BLUR);
  off.session.emit({type: 'ask', question: question()});
  await off.screen.shows('Run this command?');
  expect(off.screen.written()).not.toContain(BELL);
  expect(off.screen.written()).not.toContain('\x1b[?1004h');
});

test('the end of a turn of more than ten seconds rings', async () => {
  const {screen, session} = await start();
  screen.type(`${BLUR}go\r`);
  await screen.shows(/Waiting for .*Esc interrupts/);
  screen.pass(11_000);
  session.endTurn();
  await until(() => screen.written().includes(BELL));
});

test('the terminal is asked for its focus while the screen is its own, and not after', async () => {
  const {screen, exit} = await start();
  await until(() => screen.written().includes('\x1b[?1004h'));
  screen.type('\x04');
  await exit;
  const modes = [...screen.written().matchAll(/\x1b\[\?1004([hl])/g)].map(([, mode]) => mode);
  expect(modes).toEqual(['h', 'l']);
});
