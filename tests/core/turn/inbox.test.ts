import {expect, it} from 'vitest';
import {Inbox, type QueuedMessage} from '../../../src/core/turn/inbox.ts';

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

const idsOf = (messages: readonly QueuedMessage[]) => messages.map(({id}) => id).join();

/** An inbox with a prompt, an announcement, two commands and a second prompt, and what its watcher was told. */
function filled() {
  const inbox = new Inbox();
  const told: string[] = [];
  inbox.watch({queued: ({id}) => told.push(`queued ${id}`), delivered: ({id}) => told.push(`delivered ${id}`)});
  const kinds = {p1: 'prompt', a: 'announcement', c1: 'command', c2: 'command', p2: 'prompt'} as const;
  for (const [id, kind] of Object.entries(kinds)) inbox.put({id, kind, content: id, startsTurn: true});
  const queued = told.splice(0);
  return {inbox, told, queued};
}

it('the watcher of an inbox is told what is queued and what is delivered, not what is taken back or dropped', () => {
  const {inbox, told, queued} = filled();
  expect(queued).toEqual(['queued p1', 'queued a', 'queued c1', 'queued c2', 'queued p2']);
  expect(inbox.takeBack('p1')?.id).toBe('p1');
  expect(idsOf(inbox.drop('announcement'))).toBe('a');
  expect(told).toEqual([]);
  inbox.deliver();
  inbox.deliverCommand();
  expect(told).toEqual(['delivered p2', 'delivered c1']);
});

it('commands are delivered one by one, oldest first, and with nothing else', () => {
  const {inbox} = filled();
  expect([inbox.size, idsOf(inbox.list('command'))]).toEqual([3, 'c1,c2']);
  expect(idsOf(inbox.deliver())).toBe('p1,a,p2');
  expect([idsOf(inbox.deliverCommand()), idsOf(inbox.list('command'))]).toEqual(['c1', 'c2']);
  expect([inbox.deliverCommand(), inbox.deliverCommand()].map(idsOf)).toEqual(['c2', '']);
});

it('messages of one kind are delivered, listed or dropped without the others', () => {
  const {inbox} = filled();
  expect([idsOf(inbox.list('prompt')), idsOf(inbox.deliver('prompt'))]).toEqual(['p1,p2', 'p1,p2']);
  expect([idsOf(inbox.drop('command')), idsOf(inbox.deliver())]).toEqual(['c1,c2', 'a']);
});

it('a prompt or a command that waits can be taken back once, an announcement cannot', () => {
  const {inbox} = filled();
  expect(['c2', 'c2', 'a', 'p2', 'p2'].map((id) => inbox.takeBack(id)?.id)).toEqual([
    ...['c2', undefined, undefined, 'p2', undefined],
  ]);
  expect([idsOf(inbox.deliver()), idsOf(inbox.deliver('command'))]).toEqual(['p1,a', 'c1']);
});
