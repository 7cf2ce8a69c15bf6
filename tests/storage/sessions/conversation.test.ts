/** What is read of a transcript that is larger than memory should be. */
import {appendFileSync, mkdtempSync, statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import {expect, it} from 'vitest';
import {Redactor} from '../../../src/core/secrets/redaction.ts';
import {History} from '../../../src/core/turn/history.ts';
import {getRestoredMessages, readMessagesBefore, readRewindPoints} from '../../../src/storage/sessions/conversation.ts';
import {readOpening} from '../../../src/storage/sessions/opening.ts';
import {readTranscript} from '../../../src/storage/sessions/transcript.ts';
import {TranscriptWriter} from '../../../src/storage/sessions/transcript-writer.ts';

const header = {id: 'one', agent: 'main', cwd: '/work'};
const texts = (messages: readonly {message: {content: unknown}}[]) => messages.map(({message}) => message.content);

/** A history of `rounds` prompts; each tenth one is compacted. */
function given(rounds: number, bulk: string) {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'mini-cc-conversation-')), 'session.jsonl');
  const journal = new TranscriptWriter(file, header, new Redactor([]));
  const history = new History(journal);
  const prompts: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    prompts.push(history.appendPrompt(`prompt ${round}`));
    history.append({role: 'assistant', content: [{type: 'text', text: `${round} ${bulk}`}]});
    if (round % 10 !== 9) continue;
    const summary = {message: {role: 'user' as const, content: `summary ${round}`}};
    history.replace(0, history.messages.length - 1, [summary], 'compacted');
  }
  return {file, journal, history, prompts};
}

it('keeps of a long transcript only what the conversation still has', () => {
  const {file, journal} = given(2_005, 'x'.repeat(50_000));
  journal.close();
  expect(statSync(file).size).toBeGreaterThan(100_000_000);
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const {restored} = readOpening(file);
  expect(texts(restored)).toHaveLength(12);
  expect(texts(restored)[0]).toBe('summary 1999');
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(5_000_000);
});

it('goes back to a prompt that a summary took the place of, and opens there again', () => {
  const {file, history, prompts} = given(25, 'answer');
  expect(readRewindPoints(file).map(({text}) => text)).toContain('prompt 3');
  const before = readMessagesBefore(file, prompts[3]!);
  expect(texts(before)).toEqual(
    [0, 1, 2].flatMap((round) => [`prompt ${round}`, [{type: 'text', text: `${round} answer`}]]),
  );
  history.rewind(prompts[3]!, () => before);
  history.appendPrompt('another way');
  expect(texts(readOpening(file).restored).slice(-3)).toEqual([
    'prompt 2',
    [{type: 'text', text: '2 answer'}],
    'another way',
  ]);
});

it('replaces messages behind such a prompt, and keeps those before them, also when it opens', () => {
  const {file, history, prompts} = given(10, 'answer');
  history.rewind(prompts[3]!, () => readMessagesBefore(file, prompts[3]!));
  history.appendPrompt('refused');
  history.setTurnAside('the server refused it');
  const {restored} = readOpening(file);
  expect(texts(restored)).toEqual(history.messages.map(({content}) => content));
  expect(restored).toEqual(getRestoredMessages(readTranscript(file)));
  expect(texts(restored)).toHaveLength(6);
});

it('reads lines that are longer than a block, and a last one without an end', () => {
  const {file, journal} = given(1, 'é'.repeat(3_000_000));
  journal.close();
  appendFileSync(file, '{"type":"message","uuid":"torn');
  expect(texts(readOpening(file).restored)).toEqual(['prompt 0', [{type: 'text', text: `0 ${'é'.repeat(3_000_000)}`}]]);
});
