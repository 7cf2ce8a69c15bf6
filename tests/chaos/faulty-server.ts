/** What a bad day's server answers: work of all kinds, and all kinds of failures, as the dice say. */
import {uniqueSleep} from '../e2e/fixture.ts';
import type {MessagesBody, Reply, Script} from '../support/messages-server.ts';
import {
  callTool,
  callTools,
  cut,
  drip,
  emptyStream,
  endEarly,
  errorEvent,
  garbledEvent,
  garbledJson,
  maxTokens,
  resetConnection,
  say,
  slow,
  status,
  thinkingThen,
} from '../support/scripted-replies.ts';

/** It hangs until it is ended: what is left of it is found. */
export const HANG = uniqueSleep();

export interface FaultyServer {
  readonly script: Script;
  /** Requests that kept the rules of the API. */
  readonly answered: () => number;
  /** From now on every answer is whole and ends the turn. */
  calm(): void;
}

export function createFaultyServer(dice: (below: number) => number): FaultyServer {
  let [isCalm, answered] = [false, 0];
  const pick = <T>(list: readonly T[]): T => list[dice(list.length)]!;
  const words = () => `${'Some words of an answer. '.repeat(1 + dice(20))}\n\n`.repeat(1 + dice(4));
  const task = (background: boolean) => ({
    name: 'Task',
    input: {
      description: `part ${answered}`,
      prompt: `part ${answered}`,
      agent_type: pick(['explore', 'code']),
      background,
    },
  });
  const command = () => pick(['echo out', 'seq 2000', `sleep 0.${dice(9)}`, HANG, 'false']);
  const work = (isMain: boolean): Reply => {
    const calls: (() => Reply)[] = [
      () => callTool('bash', {command: command()}),
      () => callTool('bash', {command: HANG, background: true}),
      () => callTools([0, 1, 2].map((n) => ({name: 'bash', input: {command: `echo ${n}`}}))),
      () => callTool('write_file', {path: `made-${dice(5)}.txt`, content: words()}),
      () => callTool('read_file', {path: pick(['package.json', 'missing.txt'])}),
      () => garbledJson('bash'),
      () => thinkingThen('What now?', say(words())),
    ];
    if (isMain)
      calls.push(
        () => callTools([task(true), task(false)]),
        () => callTools([task(true), task(true)]),
      );
    return pick(calls)();
  };
  const fault = (): Reply =>
    pick([
      ...[() => status(529), () => status(500), () => status(429, {retryAfter: dice(2)}), () => status(408)],
      ...[resetConnection, emptyStream, () => cut(dice(6)), () => endEarly(dice(6)), () => garbledEvent(dice(5))],
      ...[() => errorEvent(), () => maxTokens(words()), () => errorEvent('api_error', dice(4))],
    ])();
  /** About 1 KB a second: an event has some hundred bytes. */
  const thinLine = () => drip(100, say('A slow line.'));
  const script = (body: MessagesBody): Reply => {
    answered += 1;
    if (isCalm) return say('All is calm.');
    const isMain = body.tools?.some(({name}) => name === 'Task') === true;
    const roll = dice(20);
    if (roll < 4) return fault();
    if (roll === 4) return thinLine();
    if (roll < 12) return slow(say(words()), dice(10));
    return work(isMain);
  };
  return {
    script,
    answered: () => answered,
    calm: () => {
      isCalm = true;
    },
  };
}
