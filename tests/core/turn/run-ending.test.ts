/** How runs end that were cut off or failed, and what the result of two turns is. */
import {describe, expect, it} from 'vitest';
import type {AgentEventBody} from '../../../src/core/contract/events.ts';
import type {RunResult} from '../../../src/core/contract/results.ts';
import type {TranscriptEntry} from '../../../src/core/contract/transcript.ts';
import {History} from '../../../src/core/turn/history.ts';
import {
  createInternalError,
  endFailedRun,
  formatEnding,
  getTotals,
  joinTurns,
  NO_TOTALS,
  RunAborted,
  withWarnings,
} from '../../../src/core/turn/run-ending.ts';
import {type Ending, Tally} from '../../../src/core/turn/tally.ts';
import {MiniCcError, ModelError} from '../../../src/core/util/errors.ts';
import {NO_USAGE} from '../../../src/core/util/messages.ts';
import {FakeClock} from '../fake-clock.ts';
import {call} from '../scripted-model.ts';

const usage = (input_tokens: number) => ({...NO_USAGE, input_tokens});
const result = (ending: Ending, change: Partial<RunResult> = {}) => ({...ending, ...NO_TOTALS, ...change}) as RunResult;

/** Ends a run that has one open call. @param streamed what its last model call sent before the run was cut off */
function endRun(error: unknown, {reason, streamed = '', isFull = false}: Cut = {}) {
  const events: AgentEventBody[] = [];
  const lines: TranscriptEntry[] = [];
  const abort = new AbortController();
  if (reason) abort.abort(reason);
  let isWriting = true;
  const append = (entry: TranscriptEntry) => {
    if (!isWriting) throw new Error('the disk is full');
    lines.push(entry);
  };
  const history = new History({append});
  history.append({role: 'user', content: 'the task'});
  history.appendReply([call('look', {}, 'open')], {model: 'm', usage: NO_USAGE, stopReason: 'tool_use'}, new Map());
  isWriting = !isFull;
  const tally = new Tally(new FakeClock());
  tally.addStreamedText(streamed);
  const run = {history, emit: (event: AgentEventBody) => void events.push(event), signal: abort.signal};
  return {ended: endFailedRun(error, run, tally), added: history.messages.slice(2), events, lines};
}

interface Cut {
  readonly reason?: unknown;
  readonly streamed?: string;
  readonly isFull?: boolean;
}

describe('a run that was cut off', () => {
  it.each([
    ['timeout', new RunAborted('timeout', 'timed out after 3 s'), {outcome: 'timeout', timeout: 'timed out after 3 s'}],
    ['limit', new RunAborted('budget', '$1.00'), {outcome: 'limit', limit: '$1.00'}],
    ['error', new RunAborted('hook', 'not on Sundays'), {outcome: 'error', code: 'HOOK', error: 'not on Sundays'}],
    ['stopped', new RunAborted('stop'), {outcome: 'stopped'}],
    ['stopped', new Error('of another'), {outcome: 'stopped'}],
  ])('ends with the outcome %s after %s', (_, reason, ending) => {
    const {ended, added} = endRun(new Error('aborted'), {reason});
    expect(ended).toEqual(result(ending as Ending));
    expect(added).toMatchObject([{content: [{tool_use_id: 'open', content: 'Cut off before it ended.'}]}]);
  });

  it('keeps what it had said', () => {
    const {ended, added} = endRun(new ModelError('stream', 'it broke', {retryable: true}), {
      streamed: '\n so far \n',
    });
    expect(ended).toMatchObject({outcome: 'error', code: 'MODEL_STREAM', error: 'it broke', text: 'so far'});
    expect(added.slice(1)).toMatchObject([{role: 'assistant', content: [{text: '\n so far'}]}]);
  });

  it('says nothing of a reply that was blank', () => {
    expect(endRun(new Error('x'), {streamed: ' \n'}).added).toHaveLength(1);
    expect(endRun(new Error('x')).lines).toHaveLength(3);
  });

  it('tells the person what is missing in the transcript when the disk is full, and has its text all the same', () => {
    const {ended, events} = endRun(new Error('x'), {streamed: 'so far', isFull: true});
    expect(ended.text).toBe('so far');
    const text = 'What the run had is not in the transcript: the disk is full';
    expect(events).toEqual([{type: 'notice', level: 'error', text}]);
  });

  it.each([
    [new ModelError('idle', 'no data for 90 s', {retryable: true}), {timeout: 'timed out: no data for 90 s'}],
    [new MiniCcError('WORKTREE', 'no tree'), {code: 'WORKTREE', error: 'no tree'}],
    [new Error('a defect'), {code: 'INTERNAL', error: 'a defect'}],
  ])('without an abort ends with the error: %s', (error, ending) => {
    expect(endRun(error).ended).toMatchObject(ending);
  });
});

it.each([
  [{outcome: 'success'}, ''],
  [{outcome: 'limit', limit: '50 turns'}, 'limit reached: 50 turns'],
  [{outcome: 'timeout', timeout: 'timed out after 3 s'}, 'timed out after 3 s'],
  [{outcome: 'stopped'}, 'stopped'],
  [{outcome: 'error', code: 'X', error: 'it broke'}, 'it broke'],
] as const)('the ending %j reads %j', (ending, text) => {
  expect(formatEnding(result(ending))).toBe(text);
});

it('an abort names its reason', () => {
  const texts = [new RunAborted('user'), new RunAborted('stop'), new RunAborted('budget', '$1.00')].map(String);
  expect(texts).toEqual(['RunAborted: interrupted by the user', 'RunAborted: stopped', 'RunAborted: $1.00']);
});

it('a failure outside of the loop has its own code, and used nothing', () => {
  const nothing = {text: '', usage: NO_USAGE, usageByModel: {}, turns: 0, tools: [], durationMs: 0, modelMs: 0};
  const refused = createInternalError(new MiniCcError('WORKTREE', 'no tree'));
  expect(refused).toEqual({outcome: 'error', code: 'WORKTREE', error: 'no tree', ...nothing});
  expect(createInternalError(new Error('a defect'))).toMatchObject({code: 'INTERNAL', error: 'a defect'});
});

it('the totals of a result are all but how it ended', () => {
  const totals = {...NO_TOTALS, structured: null, warnings: ['w']};
  expect(getTotals({outcome: 'success', ...totals})).toEqual(totals);
  expect(Object.keys(getTotals({outcome: 'stopped', ...NO_TOTALS}))).toEqual(Object.keys(NO_TOTALS));
});

it('further warnings come first, each once', () => {
  expect(withWarnings(NO_TOTALS, ['a'])).toEqual({...NO_TOTALS, warnings: ['a']});
  expect(withWarnings({...NO_TOTALS, warnings: ['b', 'a']}, ['a']).warnings).toEqual(['a', 'b']);
  expect(withWarnings(NO_TOTALS)).toBe(NO_TOTALS);
});

it('two turns are joined: the sums of both, the ending and the text of the last', () => {
  const record = {tool: 'look', isError: false, facts: {}};
  const one = {...{turns: 1, durationMs: 30, modelMs: 20}, tools: [record]};
  const first = result({outcome: 'stopped'}, {...one, text: 'a', usage: usage(1), usageByModel: {m: usage(1)}});
  const byModel = {m: usage(2), other: usage(3)};
  const next = result({outcome: 'success'}, {...one, text: 'b', usage: usage(5), usageByModel: byModel});
  expect(joinTurns({...first, warnings: ['w']}, next)).toEqual({
    ...{outcome: 'success', text: 'b', usage: usage(6), usageByModel: {m: usage(3), other: usage(3)}},
    ...{turns: 2, durationMs: 60, modelMs: 40, tools: [record, record], warnings: ['w']},
  });
  expect(joinTurns(first, {...next, text: ''}).text).toBe('a');
});
