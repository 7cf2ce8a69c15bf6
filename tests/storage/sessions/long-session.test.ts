/** A session of 10,000 messages: how much is read and written of it, and how long it takes to open. */
import {mkdtempSync, statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, it} from 'vitest';
import {openConversation} from '../../../src/compose/sessions.ts';
import type {AssistantBlock} from '../../../src/core/contract/model.ts';
import {Redactor} from '../../../src/core/secrets/redaction.ts';
import {History} from '../../../src/core/turn/history.ts';
import {readOpening} from '../../../src/storage/sessions/opening.ts';
import {SessionStore} from '../../../src/storage/sessions/session-store.ts';
import {measureCpu} from '../../support/cpu-time.ts';

const ROUNDS = 2_500;

it('opens within a second, five times that at most on a slow machine, and writes nothing for it', () => {
  const redactor = new Redactor([{name: 'SOME_KEY', value: 'sk-test-0123456789'}]);
  const store = new SessionStore(mkdtempSync(path.join(tmpdir(), 'mini-cc-long-')), '/project/x', redactor);
  const {journal, transcript, close} = store.openSession('long');
  const history = new History(journal);
  for (let round = 0; round < ROUNDS; round += 1) {
    const call = {type: 'tool_use', id: `t${round}`, name: 'read_file', input: {path: 'a.ts'}};
    history.appendPrompt(`prompt ${round}`);
    history.append({role: 'assistant', content: [{type: 'text', text: 'look'}, call] as AssistantBlock[]});
    const content = 'a line of a file with some code in it\n'.repeat(40);
    history.append({role: 'user', content: [{type: 'tool_result', tool_use_id: `t${round}`, content}]});
    history.append({role: 'assistant', content: [{type: 'text', text: 'answer '.repeat(60)}]});
  }
  close();
  const before = statSync(transcript).size;
  let opened!: ReturnType<typeof openConversation>;
  const ms = measureCpu(() => {
    const id = store.latest().whole!.id;
    opened = openConversation(store, id, {redactor, settings: {}}, () => readOpening(transcript));
  });
  expect(ms).toBeLessThan(5_000);
  expect(opened.history.messages).toHaveLength(4 * ROUNDS);
  expect(opened.restored.length + opened.earlierMessages!).toBe(4 * ROUNDS);
  expect(statSync(transcript).size).toBe(before);
  opened.close();
});
