/** What the writer does when its file cannot be written, synced or closed. Faults are real: pipes, and files in place of folders. */
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import type {TranscriptEntry} from '../../../src/core/contract/transcript.ts';
import {Redactor} from '../../../src/core/secrets/redaction.ts';
import {History} from '../../../src/core/turn/history.ts';
import {StreamedReply} from '../../../src/core/turn/transcript-writing.ts';
import {getRestoredMessages} from '../../../src/storage/sessions/conversation.ts';
import {readTranscript} from '../../../src/storage/sessions/transcript.ts';
import {TranscriptWriter} from '../../../src/storage/sessions/transcript-writer.ts';
import {FakeClock} from '../../core/fake-clock.ts';

const header = {id: 'one', agent: 'main', cwd: '/work'};
const noSecrets = new Redactor([]);
const folder = () => mkdtempSync(path.join(tmpdir(), 'mini-cc-writer-'));
const message = (content: string): TranscriptEntry => ({
  ...{type: 'message', uuid: content, at: '2026-01-01T00:00:00Z'},
  message: {role: 'user', content},
});
const isOpen = (file: string) =>
  readdirSync('/proc/self/fd').some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === file;
    } catch {
      return false;
    }
  });

describe('a transcript that cannot be synced', () => {
  function onPipe() {
    const file = path.join(folder(), 'session.jsonl');
    execFileSync('mkfifo', [file]);
    const writer = new TranscriptWriter(file, header, noSecrets);
    writer.append(message('x'));
    expect(isOpen(file)).toBe(true);
    return {file, writer};
  }

  it('is closed all the same, and says so', () => {
    const {file, writer} = onPipe();
    expect(() => writer.close()).toThrow('EINVAL');
    expect(isOpen(file)).toBe(false);
  });

  it('is closed in the background too, once for all who ask', async () => {
    const {file, writer} = onPipe();
    const results = await Promise.allSettled([writer.closeInBackground(), writer.closeInBackground()]);
    expect(results.map(({status}) => status)).toEqual(['rejected', 'rejected']);
    expect(isOpen(file)).toBe(false);
    await writer.closeInBackground();
  });
});

describe('a transcript that cannot be written', () => {
  it('keeps its lines, names the fault once for all transcripts of the disk, and writes the lines later in their order', () => {
    const place = path.join(folder(), 'session');
    writeFileSync(place, 'a file where the folder should be');
    const disk = {isReported: false};
    const create = (name: string) => new TranscriptWriter(path.join(place, name), header, noSecrets, {disk});
    const [one, two] = [create('one.jsonl'), create('two.jsonl')];
    one.append(message('first'));
    one.append(message('second'));
    two.append(message('other'));
    expect([one.flush(), two.flush(), one.flush()].map((fault) => fault?.isNew)).toEqual([true, false, false]);
    expect(one.flush()).toMatchObject({mayPass: false, text: expect.stringContaining(place)});
    expect(() => one.close()).toThrow(/^The last 2 lines of \S+one\.jsonl are not written\. Nothing can be written to/);
    rmSync(place);
    expect([one.flush(), two.flush()]).toEqual([undefined, undefined]);
    const said = (name: string) =>
      readTranscript(path.join(place, name)).entries.map((entry) => 'uuid' in entry && entry.uuid);
    expect([said('one.jsonl'), said('two.jsonl')]).toEqual([['first', 'second'], ['other']]);
  });
});

describe('the text of a reply that streams', () => {
  function streaming(redactor = noSecrets) {
    const file = path.join(folder(), 'session.jsonl');
    const clock = new FakeClock();
    const history = new History(new TranscriptWriter(file, header, redactor));
    history.appendPrompt('go');
    const restored = () => getRestoredMessages(readTranscript(file)).map(({message: {content}}) => content);
    return {file, clock, history, restored, streamed: new StreamedReply(history, clock)};
  }
  const cutOff = (text: string) => [
    'go',
    [{type: 'text', text}],
    '[Cut off here: mini-cc ended before this reply did]',
  ];

  it('costs little more than its characters, is written within half a second, and is replaced by the whole reply', () => {
    const {file, clock, history, restored, streamed} = streaming();
    const before = statSync(file).size;
    let text = '';
    for (let piece = 0; piece < 5_000; piece += 1) {
      text += `a piece of ${piece + 10_000}...`;
      streamed.add(`a piece of ${piece + 10_000}...`);
      clock.advance(5);
    }
    expect(text).toHaveLength(95_000);
    clock.advance(500);
    expect(statSync(file).size - before).toBeLessThan(1.1 * text.length);
    expect(restored()).toEqual(cutOff(text));
    streamed.end();
    history.append({role: 'assistant', content: [{type: 'text', text}]});
    expect(restored()).toEqual(['go', [{type: 'text', text}]]);
    expect(clock.timers).toBe(0);
  });

  it('of an attempt that is given up does not count, and that of the next one does', () => {
    const {clock, restored, streamed} = streaming();
    streamed.add('first attempt');
    clock.advance(500);
    streamed.restart();
    expect(restored()).toEqual(['go']);
    streamed.add('second ');
    clock.advance(500);
    streamed.add('attempt');
    clock.advance(500);
    expect(restored()).toEqual(cutOff('second attempt'));
  });

  it('contains no key, also when it comes in pieces', () => {
    const key = 'sk-test-0123456789';
    const {file, clock, restored, streamed} = streaming(new Redactor([{name: 'SOME_KEY', value: key}]));
    for (const piece of ['it is ', key.slice(0, 5), key.slice(5, 12), `${key.slice(12)}, not`, ' more.']) {
      streamed.add(piece);
      clock.advance(500);
    }
    expect(restored()).toEqual(cutOff('it is [redacted: SOME_KEY], not more.'));
    expect(readFileSync(file, 'utf8')).not.toContain(key.slice(0, 8));
  });
});
