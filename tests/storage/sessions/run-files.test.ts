/** What is known of the runs of a session that goes on, from the lines that they had written when mini-cc ended. */
import {appendFileSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import type {Usage} from '../../../src/core/contract/model.ts';
import {archiveTranscript, findArchived, findTranscript} from '../../../src/storage/sessions/archive.ts';
import {SessionStore} from '../../../src/storage/sessions/session-store.ts';

const usage = (tokens: number): Usage => ({
  ...{input_tokens: tokens, output_tokens: 2 * tokens, cache_read_input_tokens: 0, cache_creation_input_tokens: 0},
});
const at = (second: number) => new Date(Date.UTC(2030, 0, 1, 0, 0, second)).toISOString();
const SPEC = {agent: 'explore', description: 'look', model: 'm', background: false, cleanup: 'keep'} as const;
const said = (text: string, second: number, more: object = {}) => ({
  ...{type: 'message', uuid: text, at: at(second), message: {role: 'assistant', content: [{type: 'text', text}]}},
  ...more,
});
const results = (count: number, second: number) => {
  const blocks = Array.from({length: count}, (_, index) => ({type: 'tool_result', tool_use_id: `t${index}`}));
  const content = [...blocks, {type: 'text', text: 'a reminder'}];
  return {type: 'message', uuid: `r${second}`, at: at(second), message: {role: 'user', content}};
};

function session() {
  const store = new SessionStore(mkdtempSync(path.join(tmpdir(), 'mini-cc-runs-')), '/project/x');
  const files = store.runStore(() => 's1');
  const add = (file: string, lines: readonly object[]) =>
    appendFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const run = (lines: readonly object[], runId = 'r1') => {
    const made = files.create({...SPEC, runId});
    made.journal.append({type: 'began', at: at(0)});
    made.park();
    add(made.transcript, lines);
    return made.transcript;
  };
  const read = (lines: readonly object[]) => {
    run(lines);
    return files.list()[0]!;
  };
  return {files, run, read};
}

describe('a run without an end', () => {
  it('has all its texts, the results of its calls, and the tokens of its replies and of what it asked beside them', () => {
    const {read} = session();
    const {
      lastAt,
      text,
      tools,
      usage: used,
      usageByModel,
      round,
      end,
      ...rest
    } = read([
      {type: 'message', uuid: 'p', at: at(1), message: {role: 'user', content: 'go'}},
      said('first', 2, {usage: usage(1), model: 'a'}),
      results(2, 3),
      said('second', 4, {usage: usage(10), model: 'b'}),
      results(1, 5),
      {type: 'usage', at: at(6), model: 'a', usage: usage(100)},
      {type: 'usage', at: at(7), model: 'c', usage: usage(1000)},
      {...said('', 8), message: {role: 'assistant', content: [{type: 'tool_use', id: 't', name: 'bash', input: {}}]}},
    ]);
    expect({lastAt: new Date(lastAt).toISOString(), text, tools, round, end}).toEqual({
      ...{lastAt: at(8), text: 'first\n\nsecond', tools: 3, round: 1, end: undefined},
    });
    expect(used).toEqual(usage(1111));
    expect(usageByModel).toEqual({a: usage(101), b: usage(10), c: usage(1000)});
    expect(rest).toMatchObject({...SPEC, runId: 'r1', archived: false});
  });

  it.each([
    ['pieces of a reply that came in', ['one ', 'two\n'], 'before\n\none two'],
    ['blank pieces', ['\n', ' '], 'before'],
  ])('that ended in a reply: %s', (_, [first, second], text) => {
    const {read} = session();
    const pieces = [
      {type: 'partial', at: at(2), text: 'given up', start: true},
      {type: 'partial', at: at(3), text: first, start: true},
      {type: 'partial', at: at(4), text: second},
    ];
    expect(read([said('before', 1), ...pieces]).text).toBe(text);
  });

  it('has the text of the whole reply, not the pieces before it', () => {
    const {read} = session();
    expect(read([{type: 'partial', at: at(1), text: 'pie', start: true}, said('pie and more', 2)]).text).toBe(
      'pie and more',
    );
  });

  it('went to the background, or goes on there in a further round, in which its earlier end does not count', () => {
    const {files, run} = session();
    const end = {type: 'end', at: at(2), outcome: 'success', text: 'done'};
    run([said('plain', 1)], 'plain');
    run([said('one', 1), {type: 'background', at: at(2)}], 'sent');
    run([said('one', 1), end, {type: 'resumed', at: at(3), round: 2}], 'again');
    // A crash may come between an end and the line after it.
    run([said('one', 1), end, {type: 'background', at: at(3)}], 'ended');
    const found = files.list().map(({runId, background, round, end: how}) => [runId, background, round, how?.text]);
    expect(found).toEqual([
      ['plain', false, 1, undefined],
      ['sent', true, 1, undefined],
      ['again', true, 2, undefined],
      ['ended', true, 1, 'done'],
    ]);
  });

  it('of a newer format gets an end that says so, with what it did until then', () => {
    const {files, run} = session();
    const file = run([said('so far', 3), results(2, 4)]);
    const header = JSON.parse(readFileSync(file, 'utf8').split('\n')[0]!) as {at: string};
    writeFileSync(file, readFileSync(file, 'utf8').replace('"version":1', '"version":99'));
    const lasted = Date.parse(at(4)) - Date.parse(header.at);
    expect(files.list()[0]!.end).toEqual({
      ...{type: 'end', at: header.at, outcome: 'unknown', reason: 'its transcript was written by a newer mini-cc'},
      ...{text: 'so far', tools: 2, usage: usage(0), usageByModel: {}, round: 1, durationMs: lasted},
      background: false,
    });
  });
});

describe('the runs of a session', () => {
  it('that ended are what their ends say, also archived ones; their defaults are those of a first round without calls', () => {
    const {files, run} = session();
    run([
      said('x', 1),
      {type: 'end', at: at(5), outcome: 'stopped', text: 'so far', tools: 7, round: 3, background: true},
    ]);
    run([{type: 'end', at: at(5), outcome: 'success'}], 'r2');
    const archived = files.archive('r2');
    expect(files.list()).toMatchObject([
      {runId: 'r1', text: 'so far', tools: 7, round: 3, background: true, archived: false, end: {outcome: 'stopped'}},
      {runId: 'r2', text: '', tools: 0, usage: usage(0), usageByModel: {}, background: false, round: 1, archived: true},
    ]);
    expect(files.list().map(({lastAt}) => lastAt)).toEqual([Date.parse(at(5)), Date.parse(at(5))]);
    expect(files.read('r2').map(({type}) => type)).toEqual(['began', 'end']);
    expect(files.read('nowhere')).toEqual([]);
    expect(() => files.reopen('r2')).toThrow(`Run r2 is archived and cannot go on. Its transcript: ${archived}`);
    expect(() => files.reopen('nowhere')).toThrow('Run nowhere has no transcript any more');
    expect(() => files.read('../r1')).toThrow('Not a run id: "../r1"');
  });

  it('of one millisecond keep the order in which they were made', () => {
    const {files, run} = session();
    const ids = Array.from({length: 20}, (_, index) => `r${(index * 7) % 20}`);
    for (const id of ids) run([], id);
    expect(files.list().map(({runId}) => runId)).toEqual(ids);
    expect(Math.abs(files.list()[0]!.createdAt - Date.now())).toBeLessThan(60_000);
  });

  it('go on with what was asked of them, and with their messages', () => {
    const {files, run} = session();
    run([said('so far', 1), {type: 'end', at: at(2), outcome: 'success'}]);
    const {spec, messages} = files.reopen('r1');
    expect(spec).toEqual({...SPEC, runId: 'r1'});
    expect(messages.map(({message}) => message.content)).toEqual([[{type: 'text', text: 'so far'}]]);
  });
});

it('the archived transcript of a run is the newest one; one that is not archived comes first', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'mini-cc-archive-'));
  const place = (name: string) => path.join(folder, name);
  expect([findTranscript(folder), findArchived(folder), findArchived(place('nowhere'))]).toEqual([
    ...[undefined, undefined, undefined],
  ]);
  mkdirSync(place('output'));
  for (const day of ['02', '03', '01']) writeFileSync(place(`session.jsonl.deleted.2026-01-${day}`), '');
  expect(findTranscript(folder)).toBe(place('session.jsonl.deleted.2026-01-03'));
  writeFileSync(place('session.jsonl'), 'x');
  expect(findTranscript(folder)).toBe(place('session.jsonl'));
  const archived = archiveTranscript(folder);
  expect(archived).toMatch(/session\.jsonl\.deleted\.\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d+Z$/);
  expect([findTranscript(folder), readFileSync(archived, 'utf8')]).toEqual([archived, 'x']);
});
