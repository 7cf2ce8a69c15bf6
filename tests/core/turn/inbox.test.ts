import {expect, it} from 'vitest';
import {Inbox} from '../../../src/core/turn/inbox.ts';

it('an inbox starts a turn only for a message that asks for one', () => {
  const inbox = new Inbox();
  inbox.put({id: '1', content: 'stopped by the user', kind: 'announcement', startsTurn: false});
  expect(inbox.startsTurn).toBe(false);
  inbox.put({id: '2', content: 'go on', kind: 'prompt', startsTurn: true});
  expect(inbox.startsTurn).toBe(true);
  inbox.deliver('prompt');
  expect(inbox.startsTurn).toBe(false);
});
