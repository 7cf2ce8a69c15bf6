/** How events come from the core to those who listen. */
import {expect, test} from 'vitest';
import type {AgentEvent} from '../../../src/core/contract/events.ts';
import {Redactor} from '../../../src/core/secrets/redaction.ts';
import {EventBus} from '../../../src/core/session/event-bus.ts';

function open(redactor?: Redactor) {
  const errors: string[] = [];
  const bus = new EventBus((message) => void errors.push(message), redactor);
  const listen = (then: (event: AgentEvent) => void = () => undefined) => {
    const events: AgentEvent[] = [];
    const stop = bus.subscribe((event) => {
      events.push(event);
      then(event);
    });
    return {events, stop};
  };
  return {bus, errors, listen};
}

const notice = (text: string) => ({type: 'notice', level: 'info', text}) as const;

test('each listener gets every event at once and in order, with its agent, its parent and its number', () => {
  const {bus, listen} = open();
  const [first, second] = [listen(), listen()];
  bus.emitFor('main')(notice('a'));
  bus.emitFor('run', 'main')(notice('b'));
  expect(first.events).toEqual([
    {type: 'notice', level: 'info', text: 'a', agentId: 'main', seq: 1, at: expect.any(Number)},
    {type: 'notice', level: 'info', text: 'b', agentId: 'run', parent: 'main', seq: 2, at: expect.any(Number)},
  ]);
  expect(first.events[0]).not.toHaveProperty('parent');
  expect(second.events).toEqual(first.events);
});

test('who stops listening, or begins while an event is given out, does not get it', () => {
  const {bus, listen} = open();
  const late: ReturnType<typeof listen>[] = [];
  const first = listen(() => late.push(listen()));
  bus.emitFor('main')(notice('a'));
  first.stop();
  bus.emitFor('main')(notice('b'));
  expect(first.events.length).toBe(1);
  expect(late.map(({events}) => events.length)).toEqual([1]);
});

test('a listener that throws is reported and gets no more events, and the others get all', () => {
  const {bus, errors, listen} = open();
  const broken = listen(() => expect.fail('cannot draw'));
  const other = listen();
  for (const text of ['a', 'b']) bus.emitFor('main')(notice(text));
  expect(errors).toEqual(['cannot draw']);
  expect([broken.events.length, other.events.length]).toEqual([1, 2]);
});

test('no event has a known key in it', () => {
  const {bus, listen} = open(new Redactor([{name: 'MY_KEY', value: 'sk-ant-0123456789abcdef'}]));
  const {events} = listen();
  bus.emitFor('main')(notice('it is sk-ant-0123456789abcdef'));
  expect(events).toMatchObject([{text: 'it is [redacted: MY_KEY]'}]);
});
