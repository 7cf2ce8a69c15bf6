/** An agent that changes code: the checks before and after it, and what fails by it goes back to it. */
import {expect, test} from 'vitest';
import type {ToolResult} from '../../../src/core/contract/results.ts';
import {textResult} from '../../../src/core/util/tool-output.ts';
import type {VerifySettings} from '../../../src/core/verification/find-checks.ts';
import {runVerified, Verifier} from '../../../src/core/verification/verifier.ts';
import {emptyFolder} from '../../support/workspace.ts';
import {runFixture, tool} from '../run-fixture.ts';
import {call, calls, ScriptedModel, type ScriptedReply, say} from '../scripted-model.ts';

const PASSES = textResult('ok', {facts: {exitCode: 0}});
const FAILS = textResult('an error', {isError: true, facts: {exitCode: 1}});
const REFUSED = textResult('refused', {isError: true});
const editing = calls(call('edit', {}));

/** @param checks what the check says, one time after another */
function open(script: readonly ScriptedReply[], checks: readonly ToolResult[], settings: Partial<VerifySettings> = {}) {
  const world = {workspace: 0, checked: 0};
  const bash = tool('bash', () => checks[world.checked++] ?? expect.fail('one check too many'));
  const edit = tool('edit', () => {
    world.workspace += 1;
    return textResult('changed', {facts: {changed: ['/tmp/a.ts']}});
  });
  const model = new ScriptedModel(script);
  const {run, abort, events} = runFixture(model, [edit]);
  const verifier = new Verifier({
    settings: {level: 'fast', rounds: 2, fast: ['lint'], thorough: [], ...settings},
    fingerprint: async () => String(world.workspace),
  });
  return {world, model, abort, events, verifier, run, verify: () => runVerified(run, verifier, bash)};
}

test('a change after which the checks pass is said to pass', async () => {
  const {verify, world} = open([editing, say('done')], [PASSES, PASSES]);
  expect(await verify()).toMatchObject({outcome: 'success', text: 'done\n\nverification: `lint` passes'});
  expect(world.checked).toBe(2);
});

test('what fails by the change goes back to the agent, until it passes', async () => {
  const {verify, model, events} = open([editing, say('done'), editing, say('mended')], [PASSES, FAILS, PASSES]);
  expect(await verify()).toMatchObject({outcome: 'success', turns: 4, text: 'mended\n\nverification: `lint` passes'});
  const sent = expect.stringMatching(/\n\$ lint\n(?:.*\n)*an error$/);
  expect(model.requests[2]?.messages.at(-1)).toEqual({role: 'user', content: sent});
  expect(events).toContainEqual({type: 'message', role: 'user', content: sent});
});

test.each([0, 1, 2])('it goes back %i times at most', async (rounds) => {
  const again = Array.from({length: rounds}, () => [editing, say('mended')]).flat();
  const checks = [PASSES, FAILS, ...Array.from({length: rounds}, () => FAILS)];
  const {verify, model} = open([editing, say('done'), ...again], checks, {rounds});
  expect((await verify()).text).toMatch(/verification: `lint` FAILS: an error$/);
  expect(model.requests.length).toBe(2 + 2 * rounds);
});

test('what failed before does not go back', async () => {
  const {verify} = open([editing, say('done')], [FAILS, FAILS]);
  expect((await verify()).text).toBe('done\n\nverification: `lint` fails as it did before');
});

test('an agent that failed is not asked again', async () => {
  const {verify, model} = open([editing], [PASSES, FAILS]);
  expect(await verify()).toMatchObject({outcome: 'error', text: 'verification: `lint` FAILS: an error'});
  expect(model.requests.length).toBe(2);
});

test('nothing is verified after an agent that changed nothing, or was stopped, and where verification is off', async () => {
  const unchanged = open([say('done')], [PASSES]);
  expect((await unchanged.verify()).text).toBe('done');
  const off = open([editing, say('done')], [], {level: 'off'});
  expect((await off.verify()).text).toBe('done');
  const stopped = open([editing, {hang: true}], [PASSES]);
  const result = stopped.verify();
  await stopped.model.asked(2);
  stopped.abort.abort();
  expect((await result).text).toBe('');
});

test('where a project has no checks that are known, this is said', async () => {
  const {verify} = open([editing, say('done')], [], {fast: []});
  expect((await verify()).text).toContain('done\n\nverification: nothing was run');
});

test('checks that have run are not run again while nothing has changed; those that were not run are', async () => {
  const {world, verifier, run} = open([], []);
  const begin = async (checks: readonly ToolResult[], root = '/tmp') => {
    const left = [...checks];
    const bash = tool('bash', () => left.shift() ?? expect.fail('one check too many'));
    const caller = {...run, tools: [bash], workspace: {...run.workspace, root}};
    await verifier.begin(caller, run.signal);
    return left.length;
  };
  const other = await emptyFolder();
  expect(await begin([PASSES])).toBe(0);
  expect(await begin([PASSES])).toBe(1);
  expect(await begin([PASSES], other.path)).toBe(0);
  await other.remove();
  expect(await begin([REFUSED])).toBe(0);
  expect(await begin([REFUSED])).toBe(0);
  world.workspace += 1;
  expect(await begin([FAILS])).toBe(0);
  expect(await begin([FAILS])).toBe(1);
});

test('all checks are run again where one of them was not run', async () => {
  const {verifier, run} = open([], [], {fast: ['lint', 'types']});
  const checks = [PASSES, REFUSED, PASSES, PASSES];
  const caller = {...run, tools: [tool('bash', () => checks.shift() ?? expect.fail('one check too many'))]};
  const left: number[] = [];
  for (let time = 0; time < 3; time += 1) {
    await verifier.begin(caller, run.signal);
    left.push(checks.length);
  }
  expect(left).toEqual([2, 0, 0]);
});
