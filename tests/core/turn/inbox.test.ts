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

it('a companion waits for a prompt, and goes before the model with it', () => {
  const inbox = new Inbox();
  inbox.put({id: '1', content: '$ ls', kind: 'companion', label: '!ls', startsTurn: false});
  inbox.put({id: '2', content: 'a run ended', kind: 'announcement', startsTurn: true});
  expect(inbox.size).toBe(1);
  expect(inbox.deliver().map(({id}) => id)).toEqual(['2']);
  expect(inbox.size).toBe(0);
  inbox.put({id: '3', content: 'look', kind: 'prompt', startsTurn: true});
  expect(inbox.deliver().map(({id}) => id)).toEqual(['1', '3']);
});
