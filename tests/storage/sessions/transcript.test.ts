import {execFileSync} from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, it} from 'vitest';
import type {Message, UserBlock} from '../../../src/core/contract/model.ts';
import {Redactor} from '../../../src/core/secrets/redaction.ts';
import {History} from '../../../src/core/turn/history.ts';
import {tryOr} from '../../../src/core/util/errors.ts';
import {getRestoredMessages} from '../../../src/storage/sessions/conversation.ts';
import {readOpening} from '../../../src/storage/sessions/opening.ts';
import {SessionStore} from '../../../src/storage/sessions/session-store.ts';
import {readTranscript, type Transcript} from '../../../src/storage/sessions/transcript.ts';
import {TranscriptWriter} from '../../../src/storage/sessions/transcript-writer.ts';

const home = () => mkdtempSync(path.join(tmpdir(), 'mini-cc-storage-'));
const header = {id: 'one', agent: 'main', cwd: '/work'};
const noSecrets = new Redactor([]);
const getMessages = (transcript: Transcript) => getRestoredMessages(transcript).map(({message}) => message);

describe('a transcript', () => {
  it('contains no key, and no thinking block from which a key was removed', () => {
    const key = 'sk-test-0123456789';
    const file = path.join(home(), 'session.jsonl');
    const writer = new TranscriptWriter(file, header, new Redactor([{name: 'SOME_KEY', value: key}]));
    const history = new History(writer);
    const thought = (thinking: string): UserBlock => ({type: 'thinking', thinking, signature: 'signed'});
    const said: Message = {role: 'assistant', content: [thought(key), thought('plain'), {type: 'text', text: key}]};
    history.append(said);
    expect(getMessages(readTranscript(file)).map(({content}) => content)).toEqual([
      [{type: 'text', text: '[redacted: SOME_KEY]'}],
    ]);
    expect(history.messages[0]).toBe(said);
  });

  it('contains what was appended, in order, after a header with its version', () => {
    const file = path.join(home(), 'deep', 'session.jsonl');
    const history = new History(new TranscriptWriter(file, header, noSecrets));
    history.append({role: 'user', content: 'first'});
    history.append({role: 'assistant', content: 'second'});
    const read = readTranscript(file);
    expect(read.header).toMatchObject({type: 'session', version: 1, id: 'one'});
    expect(getMessages(read)).toEqual([
      {role: 'user', content: 'first'},
      {role: 'assistant', content: 'second'},
    ]);
  });

  it('loses nothing by a rewind: a line says which messages are not part of the conversation any more', () => {
    const file = path.join(home(), 'session.jsonl');
    const history = new History(new TranscriptWriter(file, header, noSecrets));
    history.appendPrompt('first');
    history.append({role: 'assistant', content: 'answer'});
    const second = history.appendPrompt('second');
    history.append({role: 'assistant', content: 'another'});
    history.rewind(second, () => []);
    history.appendPrompt('instead');
    const texts = (messages: readonly {content: unknown}[]) => messages.map(({content}) => content);
    expect(texts(history.messages)).toEqual(['first', 'answer', 'instead']);
    expect(texts(getMessages(readTranscript(file)))).toEqual(['first', 'answer', 'instead']);
  });

  it('holds an announcement as data; a rewind does not make it one that was not heard', () => {
    const file = path.join(home(), 'session.jsonl');
    const history = new History(new TranscriptWriter(file, header, noSecrets));
    const first = history.appendPrompt('first');
    const announcement = {
      runId: 'r1',
      round: 2,
      agent: 'explore',
      outcome: 'limit',
      reason: '5 turns',
      text: 'a',
    } as const;
    history.appendAnnouncement({role: 'user', content: '<task_announcement run="r1#2">'}, announcement);
    expect(getRestoredMessages(readTranscript(file))[1]).toMatchObject({announcement});
    history.rewind(first, () => []);
    expect(getRestoredMessages(readTranscript(file))).toEqual([]);
    expect([...readOpening(file).announced]).toEqual(['r1#2']);
  });

  it('is created with its first line, and only the user can read it', () => {
    const file = path.join(home(), 'deep', 'session.jsonl');
    const writer = new TranscriptWriter(file, header, noSecrets);
    expect(existsSync(file)).toBe(false);
    new History(writer).append({role: 'user', content: 'x'});
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
  });

  it('skips a torn last line on reading, and the next line does not continue it', () => {
    const file = path.join(home(), 'session.jsonl');
    new History(new TranscriptWriter(file, header, noSecrets)).append({role: 'user', content: 'whole'});
    appendFileSync(file, '{"type":"message","message":{"role":"assis');
    expect(getMessages(readTranscript(file))).toHaveLength(1);
    new History(new TranscriptWriter(file, header, noSecrets)).append({role: 'user', content: 'after'});
    expect(getMessages(readTranscript(file)).map((message) => message.content)).toEqual(['whole', 'after']);
  });

  it('has one header, and narrows its folder, when it goes on', () => {
    const file = path.join(home(), 'wide', 'session.jsonl');
    mkdirSync(path.dirname(file), {mode: 0o755});
    for (const content of ['one', 'two']) {
      new History(new TranscriptWriter(file, header, noSecrets)).append({role: 'user', content});
    }
    const types = readFileSync(file, 'utf8').match(/"type":"\w+"/g);
    expect(types).toEqual(['"type":"session"', '"type":"message"', '"type":"message"']);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
  });

  it('is synced to the disk when it is closed, also in the background', async () => {
    // A pipe cannot be synced: the error shows that a sync was requested.
    const writer = () => {
      const file = path.join(home(), 'session.jsonl');
      execFileSync('mkfifo', [file]);
      const made = new TranscriptWriter(file, header, noSecrets);
      new History(made).append({role: 'user', content: 'x'});
      return made;
    };
    expect(() => writer().close()).toThrow(expect.objectContaining({syscall: 'fsync'}));
    await expect(writer().closeInBackground()).rejects.toMatchObject({syscall: 'fsync'});
  });

  it('has its file open only from the first line until it is closed or parked', async () => {
    for (const end of ['close', 'closeInBackground', 'park'] as const) {
      const writer = new TranscriptWriter(path.join(home(), 'session.jsonl'), header, noSecrets);
      const history = new History(writer);
      expect(existsSync(writer.path)).toBe(false);
      history.append({role: 'user', content: 'x'});
      expect(countOpen(writer.path)).toBe(1);
      await writer[end]();
      expect(countOpen(writer.path)).toBe(0);
      // It can be continued.
      history.append({role: 'user', content: 'y'});
      await writer[end]();
      await writer[end]();
      expect(getMessages(readTranscript(writer.path))).toHaveLength(2);
      expect(countOpen(writer.path)).toBe(0);
    }
  });

  it('that is an empty file gets its header with its first line', () => {
    const file = path.join(home(), 'session.jsonl');
    writeFileSync(file, '');
    new History(new TranscriptWriter(file, header, noSecrets)).append({role: 'user', content: 'x'});
    expect(readTranscript(file)).toMatchObject({header: {id: 'one'}, entries: [{type: 'message'}]});
  });

  it('that ends with open tool calls gets a result for each when it is continued', () => {
    const file = path.join(home(), 'session.jsonl');
    const history = new History(new TranscriptWriter(file, header, noSecrets), [
      {message: {role: 'user', content: 'go'}},
      {
        message: {
          role: 'assistant',
          content: [
            {type: 'tool_use', id: 'a', name: 'bash', input: {}},
            {type: 'tool_use', id: 'b', name: 'bash', input: {}},
          ],
        },
      },
    ]);
    history.answerOpenCalls('cut off');
    expect(history.messages.at(-1)).toMatchObject({role: 'user', content: [{tool_use_id: 'a'}, {tool_use_id: 'b'}]});
    expect(readFileSync(file, 'utf8')).toContain('cut off');
  });
});

describe('the session store', () => {
  it('finds a session by its id or the beginning of it', () => {
    const store = new SessionStore(home(), '/project/x');
    for (const id of ['aaa-1', 'aaa-2', 'bbb-1'])
      new History(store.openSession(id).journal).append({role: 'user', content: id});
    expect(store.find('bbb').id).toBe('bbb-1');
    expect(() => store.find('aaa')).toThrow('Ambiguous session id: aaa');
    expect(() => store.find('ccc')).toThrow('No session ccc');
    utimesSync(store.find('aaa-2').transcript, 4_000_000_000, 4_000_000_000);
    expect(store.latest().whole?.id).toBe('aaa-2');
  });

  it.each(['..', '../x', '/etc', 'a/../../b', '.', 'a/b'])('refuses the id %j, which could leave the folder', (id) => {
    const store = new SessionStore(home(), '/project/x');
    expect(() => store.openSession(id)).toThrow('Not a session id');
    expect(() => store.find(id)).toThrow('Not a session id');
  });

  it('refuses an empty name: session directory cannot be empty', () => {
    expect(() => new SessionStore(home(), '/project/x').openSession('')).toThrow('session directory cannot be empty');
  });

  it('puts the runs of subagents and cut outputs into the folder of their session', () => {
    const place = home();
    const store = new SessionStore(place, '/project/x');
    const run = store
      .runStore(() => 's1')
      .create({runId: 'r1', agent: 'explore', description: 'look', model: 'm', background: false, cleanup: 'keep'});
    run.journal.append({type: 'end', at: '', outcome: 'success'});
    expect(run.transcript).toBe(path.join(place, 'projects', '-project-x', 's1', 'subagents', 'r1', 'session.jsonl'));
    expect(readTranscript(run.transcript).header).toMatchObject({agent: 'explore', parent: 's1', description: 'look'});
    const kept = run.output.open('toolu/../1');
    kept.write('long');
    kept.close();
    expect(readFileSync(kept.path, 'utf8')).toBe('long');
    expect(path.dirname(kept.path)).toBe(path.join(path.dirname(run.transcript), 'output'));
  });
});

/** Counts descriptors of this process, in which other tests open and close files of their own. */
function countOpen(file: string): number {
  const {dev, ino} = statSync(file);
  return readdirSync('/dev/fd').filter((fd) => {
    // The descriptor by which the folder was listed is closed by now.
    const found = tryOr(() => fstatSync(Number(fd)), undefined);
    return found?.dev === dev && found.ino === ino;
  }).length;
}
