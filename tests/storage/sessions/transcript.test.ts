import {execFileSync} from 'node:child_process';
import {
  appendFileSync,
  existsSync,
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
import type {Message, UserBlock} from '../../../src/core/contract/messages.ts';
import {Redactor} from '../../../src/core/secrets/redaction.ts';
import {History} from '../../../src/core/turn/history.ts';
import {SessionStore} from '../../../src/storage/sessions/session-store.ts';
import {
  everyMessageOf,
  messagesOf,
  readTranscript,
  TranscriptWriter,
} from '../../../src/storage/sessions/transcript.ts';

const home = () => mkdtempSync(path.join(tmpdir(), 'mini-cc-storage-'));
const header = {id: 'one', agent: 'main', cwd: '/work'};
const noSecrets = new Redactor([]);

describe('a transcript', () => {
  it('holds no key, and no thought that a server would not take back without it', () => {
    const key = 'sk-canary-0123456789';
    const file = path.join(home(), 'session.jsonl');
    const writer = new TranscriptWriter(file, header, new Redactor([{name: 'SOME_KEY', value: key}]));
    const history = new History(writer);
    const thought = (thinking: string): UserBlock => ({type: 'thinking', thinking, signature: 'signed'});
    const said: Message = {role: 'assistant', content: [thought(key), thought('plain'), {type: 'text', text: key}]};
    history.append(said);
    history.append({role: 'assistant', content: [thought(key)]});
    expect(messagesOf(readTranscript(file)).map(({content}) => content)).toEqual([
      [thought('plain'), {type: 'text', text: '[redacted: SOME_KEY]'}],
      [{type: 'text', text: '(a thought that held a key)'}],
    ]);
    expect(history.messages[0]).toBe(said);
  });

  it('holds what was appended, in order, after a header with its version', () => {
    const file = path.join(home(), 'deep', 'session.jsonl');
    const history = new History(new TranscriptWriter(file, header, noSecrets));
    history.append({role: 'user', content: 'first'});
    history.append({role: 'assistant', content: 'second'});
    const read = readTranscript(file);
    expect(read.header).toMatchObject({type: 'session', version: 1, id: 'one'});
    expect(messagesOf(read)).toEqual([
      {role: 'user', content: 'first'},
      {role: 'assistant', content: 'second'},
    ]);
  });

  it('loses nothing by a rewind: a line says from where on messages count no more', () => {
    const file = path.join(home(), 'session.jsonl');
    const history = new History(new TranscriptWriter(file, header, noSecrets));
    history.prompt('first');
    history.append({role: 'assistant', content: 'answer'});
    const second = history.prompt('second');
    history.append({role: 'assistant', content: 'another'});
    history.rewind(second, 2);
    history.prompt('instead');
    const texts = (messages: readonly {content: unknown}[]) => messages.map(({content}) => content);
    expect(texts(history.messages)).toEqual(['first', 'answer', 'instead']);
    expect(texts(messagesOf(readTranscript(file)))).toEqual(['first', 'answer', 'instead']);
    expect(texts(everyMessageOf(readTranscript(file)))).toEqual(['first', 'answer', 'second', 'another', 'instead']);
  });

  it('comes into being with its first line, readable by the user alone', () => {
    const file = path.join(home(), 'deep', 'session.jsonl');
    const writer = new TranscriptWriter(file, header, noSecrets);
    expect(existsSync(file)).toBe(false);
    new History(writer).append({role: 'user', content: 'x'});
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
  });

  it('skips a torn last line on reading, and does not grow onto it', () => {
    const file = path.join(home(), 'session.jsonl');
    new History(new TranscriptWriter(file, header, noSecrets)).append({role: 'user', content: 'whole'});
    appendFileSync(file, '{"type":"message","message":{"role":"assis');
    expect(messagesOf(readTranscript(file))).toHaveLength(1);
    new History(new TranscriptWriter(file, header, noSecrets)).append({role: 'user', content: 'after'});
    expect(messagesOf(readTranscript(file)).map((message) => message.content)).toEqual(['whole', 'after']);
  });

  it('is synced to the disk when it is closed, and when it is closed beside other work', async () => {
    // A pipe cannot be synced: the system's refusal shows that it was asked to.
    const writer = () => {
      const file = path.join(home(), 'session.jsonl');
      execFileSync('mkfifo', [file]);
      const made = new TranscriptWriter(file, header, noSecrets);
      new History(made).append({role: 'user', content: 'x'});
      return made;
    };
    expect(() => writer().close()).toThrow(expect.objectContaining({syscall: 'fsync'}));
    await expect(writer().closeBeside()).rejects.toMatchObject({syscall: 'fsync'});
  });

  it('is open only from its first line to its end, or until it is parked', async () => {
    const openFiles = () => readdirSync('/dev/fd').length;
    const before = openFiles();
    for (const end of ['close', 'closeBeside', 'park'] as const) {
      const writer = new TranscriptWriter(path.join(home(), 'session.jsonl'), header, noSecrets);
      const history = new History(writer);
      expect(openFiles()).toBe(before);
      history.append({role: 'user', content: 'x'});
      expect(openFiles()).toBe(before + 1);
      await writer[end]();
      expect(openFiles()).toBe(before);
      // It may go on.
      history.append({role: 'user', content: 'y'});
      await writer[end]();
      await writer[end]();
      expect(messagesOf(readTranscript(writer.path))).toHaveLength(2);
      expect(openFiles()).toBe(before);
    }
  });

  it('that is there without a byte gets its header with its first line', () => {
    const file = path.join(home(), 'session.jsonl');
    writeFileSync(file, '');
    new History(new TranscriptWriter(file, header, noSecrets)).append({role: 'user', content: 'x'});
    expect(readTranscript(file)).toMatchObject({header: {id: 'one'}, entries: [{type: 'message'}]});
  });

  it('cut off amid tool calls gets a result for each when it goes on', () => {
    const file = path.join(home(), 'session.jsonl');
    const history = new History(new TranscriptWriter(file, header, noSecrets), [
      {role: 'user', content: 'go'},
      {
        role: 'assistant',
        content: [
          {type: 'tool_use', id: 'a', name: 'bash', input: {}},
          {type: 'tool_use', id: 'b', name: 'bash', input: {}},
        ],
      },
    ]);
    history.settleOpenCalls('cut off');
    expect(history.messages.at(-1)).toMatchObject({role: 'user', content: [{tool_use_id: 'a'}, {tool_use_id: 'b'}]});
    expect(readFileSync(file, 'utf8')).toContain('cut off');
  });
});

describe('the session store', () => {
  it('finds a session by its id or the beginning of one', () => {
    const store = new SessionStore(home(), '/project/x');
    for (const id of ['aaa-1', 'aaa-2', 'bbb-1'])
      new History(store.openSession(id).journal).append({role: 'user', content: id});
    expect(store.find('bbb').id).toBe('bbb-1');
    expect(() => store.find('aaa')).toThrow('Ambiguous session id: aaa');
    expect(() => store.find('ccc')).toThrow('No session ccc');
    utimesSync(store.find('aaa-2').transcript, 4_000_000_000, 4_000_000_000);
    expect(store.latest()?.id).toBe('aaa-2');
  });

  it.each(['..', '../x', '/etc', 'a/../../b', '.', 'a/b'])('refuses the id %j, which could leave the folder', (id) => {
    const store = new SessionStore(home(), '/project/x');
    expect(() => store.openSession(id)).toThrow('Not a session id');
    expect(() => store.find(id)).toThrow('Not a session id');
  });

  it('refuses an empty name: session directory cannot be empty', () => {
    expect(() => new SessionStore(home(), '/project/x').openSession('')).toThrow('session directory cannot be empty');
  });

  it('puts the runs of subagents and cut outputs under their session', () => {
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
