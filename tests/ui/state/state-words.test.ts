/** How a run ended has the same word on the screen, in lists, in the transcript and in exports. */
import {expect, test} from 'vitest';
import {formatMarkdown} from '../../../src/commands/export/markdown.ts';
import type {Outcome} from '../../../src/core/contract/results.ts';
import type {RunRecord} from '../../../src/core/contract/runs.ts';
import type {RestoredMessage} from '../../../src/core/contract/transcript.ts';
import {formatState as formatRecordState} from '../../../src/core/runs/run-table.ts';
import {formatState} from '../../../src/ui/state/panel.ts';
import type {SubagentRun} from '../../../src/ui/state/ui-state.ts';
import {createFormatter} from '../../../src/ui/text/format.ts';
import {plainText} from '../../../src/ui/text/styled-text.tsx';
import {messageRows} from '../../../src/ui/transcript/message-rows.ts';

test.each<[Outcome, string]>([
  ['success', 'done'],
  ['error', 'failed'],
  ['timeout', 'timed out'],
  ['limit', 'limit reached'],
  ['stopped', 'stopped'],
  ['unknown', 'unknown'],
])('%s is said as %s', (outcome, word) => {
  const announcement = {runId: 'r', agent: 'explore', description: 'look', outcome, reason: '', text: 'found'};
  const message = {message: {role: 'user', content: 'x'}, announcement} as unknown as RestoredMessage;
  const rows = messageRows(message, {columns: 80, formatter: createFormatter(), tools: []});
  expect({
    panel: formatState({state: outcome, note: ''} as SubagentRun),
    list: formatRecordState({state: 'completed', outcome, reason: ''} as unknown as RunRecord),
    transcript: rows.map(plainText).join('\n'),
    markdown: formatMarkdown([message]),
  }).toEqual({
    panel: word,
    list: word,
    transcript: expect.stringContaining(`[explore] look - ${word}\n`),
    markdown: expect.stringContaining(`[explore] ${word}: `),
  });
});
