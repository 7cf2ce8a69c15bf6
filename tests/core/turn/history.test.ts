import {describe, expect, it} from 'vitest';
import type {Message} from '../../../src/core/contract/model.ts';
import type {TranscriptEntry} from '../../../src/core/contract/transcript.ts';
import {History} from '../../../src/core/turn/history.ts';

const ANNOUNCEMENT = {runId: 'r', round: 1, agent: 'explore', outcome: 'success', reason: '', text: 'done'} as const;
const user = (content: Message['content']): Message => ({role: 'user', content});
const use = (id: string) => ({type: 'tool_use' as const, id, name: 'look', input: {}});
const result = (id: string, content: string) => ({type: 'tool_result' as const, tool_use_id: id, content});

function recorded(messages: readonly Message[] = []) {
  const lines: TranscriptEntry[] = [];
  return {
    lines,
    history: new History(
      {append: (line) => void lines.push(line)},
      messages.map((message) => ({message})),
    ),
  };
}

describe('the history of a run', () => {
  it('does not change when the transcript cannot be written', () => {
    const history = new History(
      {
        append: () => {
          throw new Error('no space left on device');
        },
      },
      [{message: user('restored')}],
    );
    expect(() => history.append(user('x'))).toThrow('no space');
    expect(() => history.appendPrompt('x')).toThrow('no space');
    expect(() => history.rewind('id', () => [])).toThrow('no space');
    expect(() => history.appendAnnouncement(user('x'), ANNOUNCEMENT)).toThrow('no space');
    expect(history.messages).toEqual([user('restored')]);
  });

  it('begins with the restored messages, and does not change their list', () => {
    const restored = [user('before')];
    const {history, lines} = recorded(restored);
    history.append(user('after'));
    expect(history.messages).toEqual([user('before'), user('after')]);
    expect(restored).toEqual([user('before')]);
    expect(lines).toHaveLength(1);
  });

  it('marks what a person wrote, and no other message', () => {
    const {history, lines} = recorded();
    const id = history.appendPrompt('mine');
    history.append(user('not mine'));
    expect(lines[0]).toMatchObject({type: 'message', uuid: id, message: user('mine'), prompt: true});
    expect(lines[1]).not.toHaveProperty('prompt');
  });

  it('keeps an announcement as data in its line', () => {
    const {history, lines} = recorded();
    history.appendAnnouncement(user('<announcement>'), ANNOUNCEMENT);
    expect(history.messages).toEqual([user('<announcement>')]);
    expect(lines).toMatchObject([{type: 'message', message: user('<announcement>'), announcement: ANNOUNCEMENT}]);
  });

  it('is taken back to before a message, in the transcript too', () => {
    const {history, lines} = recorded();
    history.append(user('one'));
    const second = history.append(user('two'));
    history.rewind(second!, () => []);
    expect(history.messages).toEqual([user('one')]);
    expect(lines.at(-1)).toMatchObject({type: 'rewind', to: second});
  });

  it('answers every open call by an error, once', () => {
    const {history} = recorded();
    const call = (id: string) => ({type: 'tool_use' as const, id, name: 'look', input: {}});
    history.append({role: 'assistant', content: [call('a'), call('b')]} as Message);
    history.answerOpenCalls('Cut off.');
    history.answerOpenCalls('Cut off.');
    expect(history.messages).toHaveLength(2);
    expect(history.messages[1]).toEqual({
      role: 'user',
      content: ['a', 'b'].map((id) => ({type: 'tool_result', tool_use_id: id, content: 'Cut off.', is_error: true})),
    });
  });

  it('is taken back to a message that was replaced by what was before it', () => {
    const {history} = recorded([user('summary')]);
    history.append(user('later'));
    history.rewind('gone', () => [{uuid: 'old', message: user('before')}]);
    expect(history.messages).toEqual([user('before')]);
  });

  it('has other messages in the place of some, and says in the transcript which', () => {
    const {history, lines} = recorded();
    const [, second, third] = ['one', 'two', 'three', 'four'].map((text) => history.append(user(text)));
    history.replace(1, 3, [{message: user('summary')}], 'compacted');
    expect(history.messages).toEqual([user('one'), user('summary'), user('four')]);
    expect(lines.at(-1)).toMatchObject({
      ...{type: 'replace', from: second, to: third, because: 'compacted', by: [{message: user('summary')}]},
    });
    // What was repaired in memory has no line.
    const restored = recorded([{role: 'assistant', content: 'cut off'} as unknown as Message]);
    restored.history.replace(0, 1, [], 'nothing of it is in the transcript');
    expect(restored.lines).toEqual([]);
  });

  it('has shorter results, in the transcript too', () => {
    const {history, lines} = recorded();
    history.append({role: 'assistant', content: [use('a')]} as Message);
    history.append({role: 'user', content: [result('a', 'long')]});
    const count = lines.length;
    history.shorten(new Map());
    expect(lines).toHaveLength(count);
    history.shorten(new Map([['a', 'short']]));
    expect(history.messages.at(-1)?.content).toEqual([result('a', 'short')]);
    expect(lines.at(-1)).toMatchObject({type: 'shorten', results: [{id: 'a', text: 'short'}]});
  });

  it.each<[string, Message[], string[]]>([
    ['a turn without tools', [], []],
    [
      'a turn that did something',
      [{role: 'assistant', content: [use('a')]} as Message, user([result('a', 'done')])],
      ['(mini-cc left out a turn here that was refused. What its tools did stays done: look.)'],
    ],
  ])('sets %s aside, and leaves a note where tools did something', (_, work, note) => {
    const {history} = recorded();
    history.appendPrompt('before');
    history.append({role: 'assistant', content: [{type: 'text', text: 'yes', citations: null}]});
    const before = history.messages;
    history.appendPrompt('the refused one');
    for (const message of work) history.append(message);
    expect(history.setTurnAside('refused')).toContain('/rewind');
    expect(history.messages).toEqual([...before, ...note.map((text) => user(text))]);
    expect(recorded().history.setTurnAside('refused')).toBeUndefined();
  });

  it('joins the ends of runs that stand side by side, for a request alone', () => {
    const {history} = recorded();
    history.append(user('plain'));
    expect(history.joinAnnouncements(history.messages)).toBe(history.messages);
    for (const text of ['one', 'two', 'three']) history.appendAnnouncement(user(text), ANNOUNCEMENT);
    history.append(user('next'));
    expect(history.joinAnnouncements(history.messages)).toEqual([
      ...[user('plain'), user('one\n\ntwo\n\nthree'), user('next')],
    ]);
    expect(history.messages).toHaveLength(5);
  });

  it('tells each kind of repair once', () => {
    const {history} = recorded();
    expect(history.takeRepairs()).toBeUndefined();
    const cutOff = () => {
      history.append({role: 'assistant', content: [use('a')]} as Message);
      history.append(user('on'));
      return history.takeRepairs();
    };
    expect([cutOff(), cutOff()]).toEqual([expect.stringContaining('result'), expect.stringMatching(/^(?!.*result)/)]);
    expect(cutOff()).toBeUndefined();
  });

  it('knows which model wrote a thought: the one that was asked', () => {
    const {history} = recorded();
    const thought = (signature: string) => ({type: 'thinking' as const, thinking: 'hm', signature});
    const said = {type: 'text' as const, text: 'yes', citations: null};
    const usage = {input_tokens: 0, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0};
    const facts = {usage, stopReason: 'end_turn' as const};
    history.append(user('go'));
    history.appendReply([thought('a'), said], {...facts, model: 'm-2026', asked: 'm'});
    history.append(user('on'));
    history.appendReply([thought('b'), said], {...facts, model: 'n'});
    expect(['a', 'b', 'c'].map(history.thinkerOf)).toEqual(['m', 'n', undefined]);
    history.dropThoughts();
    expect(history.messages[1]?.content).toEqual([said]);
  });
});
