/** What mini-cc keeps in its home beside sessions: the log of `--debug`, a file that shows that it can write. */
import {execFileSync} from 'node:child_process';
import {once} from 'node:events';
import {mkdtempSync, readdirSync, readFileSync, statSync, watch} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it, onTestFinished} from 'vitest';
import type {AgentEvent} from '../../src/core/contract/events.ts';
import {Redactor} from '../../src/core/secrets/redaction.ts';
import {DebugLog} from '../../src/storage/debug-log.ts';
import {findHomeFault} from '../../src/storage/home.ts';

const folder = () => mkdtempSync(path.join(tmpdir(), 'mini-cc-home-'));

describe('the check of the home', () => {
  it('writes a file that a later start would remove, and leaves nothing; where there is no home, in a folder above', async () => {
    const place = folder();
    const watcher = watch(place);
    onTestFinished(() => watcher.close());
    const seen = once(watcher, 'change');
    expect(findHomeFault(path.join(place, 'not', 'there'))).toBeUndefined();
    expect(findHomeFault(place)).toBeUndefined();
    expect(String((await seen)[1])).toMatch(new RegExp(`^\\.mini-cc-draft-${process.pid}-[0-9a-f]{12}$`));
    expect(readdirSync(place)).toEqual([]);
  });

  it('names the place that cannot be written', () => {
    expect(findHomeFault('/proc/self/home')).toMatchObject({
      mayPass: false,
      text: expect.stringContaining('othing can be written to /proc/self/home'),
    });
  });
});

it('the debug log is refused where it would be a pipe or a folder', () => {
  const home = folder();
  const pipe = path.join(home, 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const place of [pipe, home]) {
    expect(() => new DebugLog(home, new Redactor([]), place)).toThrow(`--debug-file ${place}: it is no regular file`);
  }
});

it('the debug log has events and texts as lines with their times, without keys and without what the messages repeat', () => {
  const home = folder();
  const log = new DebugLog(home, new Redactor([{name: 'SOME_KEY', value: 'sk-test-0123456789'}]));
  const event = (type: string, more: object = {}) =>
    log.event({type, agentId: 'main', seq: 1, at: 0, ...more} as AgentEvent);
  for (const type of ['text_delta', 'thinking_delta', 'stream']) event(type, {text: 'x'});
  event('run_note', {text: 'with sk-test-0123456789'});
  log.write('and words');
  expect(path.dirname(log.path)).toBe(path.join(home, 'logs'));
  expect(path.basename(log.path)).toMatch(new RegExp(`^[\\dT-]+Z-${process.pid}\\.jsonl$`));
  expect([path.dirname(log.path), log.path].map((each) => statSync(each).mode & 0o777)).toEqual([0o700, 0o600]);
  const lines = readFileSync(log.path, 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    {type: 'run_note', agentId: 'main', seq: 1, at: '1970-01-01T00:00:00.000Z', text: 'with [redacted: SOME_KEY]'},
    {type: 'log', at: expect.stringMatching(/^\d{4}-.*Z$/), text: 'and words'},
  ]);
});
