import {describe, expect, it} from 'vitest';
import type {Message} from '../../../src/core/contract/model.ts';
import type {TranscriptEntry} from '../../../src/core/contract/transcript.ts';
import {History} from '../../../src/core/turn/history.ts';

const ANNOUNCEMENT = {runId: 'r', round: 1, agent: 'explore', outcome: 'success', reason: '', text: 'done'} as const;
const user = (content: string): Message => ({role: 'user', content});

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
});
