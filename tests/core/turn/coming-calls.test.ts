/** While the model writes a call, its tool and the checkpoint get ready, as the call would run if it came now. */
import {performance} from 'node:perf_hooks';
import {expect, it, onTestFinished, vi} from 'vitest';
import type {StreamEvent} from '../../../src/core/contract/model.ts';
import type {Access, Attempt, Permit, Workspace} from '../../../src/core/contract/permission.ts';
import type {Tool} from '../../../src/core/contract/tool.ts';
import {NO_CHECKPOINTS} from '../../../src/core/turn/checkpointed-call.ts';
import {ComingCalls} from '../../../src/core/turn/coming-calls.ts';
import {createSandbox} from '../../../src/sandbox/index.ts';
import {ProcessGroups} from '../../../src/sandbox/launch/process-groups.ts';
import {createBash} from '../../../src/tools/bash/bash.ts';
import {stopTimers} from '../../support/fake-time.ts';
import {settle} from '../../support/wait.ts';

const start = (name: string, index = 0) =>
  ({type: 'content_block_start', index, content_block: {type: 'tool_use', id: 'a', name, input: {}}}) as StreamEvent;
const piece = (partial_json: string, index = 0) =>
  ({type: 'content_block_delta', index, delta: {type: 'input_json_delta', partial_json}}) as StreamEvent;

/** @param foreseen how a call would run, by its command */
function given(
  foreseen: (command: string) => Attempt | undefined,
  {offline = false, unasked = true}: {readonly offline?: boolean; readonly unasked?: boolean} = {},
) {
  const log: string[] = [];
  const bash = createBash(createSandbox({home: '/tmp', miniCcHome: '/tmp/none'}), new ProcessGroups());
  const tool = {
    ...bash,
    prepare: () => void log.push('begins'),
    expect: (_: Workspace, {launch}: Attempt) => void log.push(`expects ${launch}`),
  } as unknown as Tool;
  const foresee = async (_: string, accesses: readonly Access[]) => {
    const [access] = accesses;
    return access?.kind === 'run' ? foreseen(access.command) : undefined;
  };
  const permit = Object.assign((async () => undefined) as unknown as Permit, {
    foresee,
    launchUnasked: () => (unasked ? 'workspace-write' : undefined),
  });
  const checkpoints = {...NO_CHECKPOINTS, prepare: (isNext?: boolean) => void log.push(`snapshot ${isNext ?? ''}`)};
  const caller = {tools: [tool], workspace: {cwd: '/tmp'} as Workspace, permit, checkpoints, model: {offline}};
  const calls = new ComingCalls(caller);
  onTestFinished(() => calls.end());
  const take = async (...events: readonly StreamEvent[]) => {
    for (const event of events) calls.take(event);
    await settle();
    return log.splice(0);
  };
  return {take, log, calls};
}

const WRITES: Attempt = {launch: 'workspace-write', checkpoint: true};
const READS: Attempt = {launch: 'read-only', checkpoint: false};

it('gets ready as soon as the command is complete, and once', async () => {
  const {take} = given((command) => (command === 'touch "a\\' ? WRITES : undefined));
  expect(await take(start('bash'))).toEqual(['begins']);
  expect(await take(piece(''), piece('{"comma'), piece('nd": "touch \\"a'), piece('\\\\"'))).toEqual([]);
  expect(await take(piece(', "descr'))).toEqual(['snapshot true', 'expects workspace-write']);
  expect(await take(piece('iption": "x"}'))).toEqual([]);
});

it('takes no snapshot for a command that reads, and gets nothing ready for a call after the first one', async () => {
  const {take} = given((command) => (command === 'ls' ? READS : WRITES));
  expect(await take(start('bash'), piece('{"command":"ls"}'))).toEqual(['begins', 'expects read-only']);
  expect(await take(start('bash', 1), piece('{"command":"make"}', 1))).toEqual(['begins']);
});

it('gets nothing ready that is known only when the reply has ended, and begins anew with a reply that is repeated', async () => {
  const {take} = given(() => WRITES);
  const [first, stop] = [piece('{"command":"make"}'), {type: 'message_stop'} as StreamEvent];
  expect(await take(start('bash'), first, stop)).toEqual(['begins']);
  const again = await take({type: 'message_start'} as StreamEvent, start('bash'), first);
  expect(again).toEqual(['begins', 'snapshot true', 'expects workspace-write']);
});

it.each([
  ['is asked about or refused', [piece('{"command":"make"}')], () => undefined],
  ['has another input first', [piece('{"unconfined":true,"command":"make"}')], () => WRITES],
  ['has a command that is no text', [piece('{"command":["make"]}')], () => WRITES],
  ['has a broken text', [piece('{"command":"\\x"}')], () => WRITES],
  ['is very long', [piece(`{"command":"${'x'.repeat(9000)}`), piece('"}')], () => WRITES],
  [
    'cannot be judged',
    [piece('{"command":"make"}')],
    (): undefined => {
      throw new Error('too many links');
    },
  ],
] satisfies [string, StreamEvent[], () => Attempt | undefined][])(
  'gets nothing ready for a call that %s',
  async (_, pieces, foreseen) => {
    const {take} = given(foreseen);
    expect(await take(start('bash'), ...pieces)).toEqual(['begins']);
  },
);

it.each([
  ['gets ready once the model has thought for some time', [14, 1, 14], ['', 'begins', '']],
  ['gets nothing ready before a model that answers at once', [14, 'event', 1000], ['', '', '']],
  ['waits while mini-cc itself is busy', ['busy', 15, 'idle', 14, 1], ['', '', '', '', 'begins']],
  [
    'takes the first snapshot once it is idle again',
    ['busy', 15, 'idle', 15, 'busy', 15, 'idle', 14, 1, 1000],
    ['', '', '', 'begins', '', '', '', '', 'snapshot ', ''],
  ],
  ['takes no snapshot once the reply has begun', [15, 'event', 1000], ['begins', '', '']],
  ['gets nothing ready after a reply that failed', [14, 'end', 1000], ['', '', '']],
] as const)('%s', (_, steps, expected) => {
  stopTimers();
  let utilization = 0.1;
  const busy = vi
    .spyOn(performance, 'eventLoopUtilization')
    .mockImplementation(() => ({idle: 0, active: 0, utilization}));
  onTestFinished(() => busy.mockRestore());
  const {log, calls} = given(() => WRITES);
  const {log: offline, calls: offlineCalls} = given(() => WRITES, {offline: true});
  const {log: asking, calls: askingCalls} = given(() => WRITES, {unasked: false});
  for (const each of [calls, offlineCalls, askingCalls]) each.wait();
  const got = steps.map((step) => {
    if (step === 'busy' || step === 'idle') utilization = step === 'busy' ? 0.9 : 0.1;
    else if (step === 'end') calls.end();
    else if (step === 'event') calls.take({type: 'message_start'} as StreamEvent);
    else vi.advanceTimersByTime(step);
    return log.splice(0).join();
  });
  expect(got).toEqual(expected);
  expect(offline).toEqual([]);
  vi.advanceTimersByTime(1000);
  expect(asking.filter((each) => each !== 'begins')).toEqual([]);
});
