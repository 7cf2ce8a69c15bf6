/** What the dispatching model reads of a run: findings, the reason if it was cut off, the receipt. */
import type {Outcome} from '../contract/run-result.ts';

/** Of a run that its time limit ended, for programs that look for a code. */
export const EXECUTION_TIMEOUT = 'EXECUTION_TIMEOUT';
const CHARS_PER_TOKEN = 4;

export interface ReportedRun {
  readonly runId: string;
  readonly outcome: Outcome;
  readonly reason: string;
  readonly text: string;
  readonly receipt: string;
  readonly transcript: string;
}

/** @param resultTokens what the prompt asks for; past twice that the text is cut. */
export function reportOf(run: ReportedRun, resultTokens: number): string {
  const code = run.outcome === 'timeout' ? ` (${EXECUTION_TIMEOUT})` : '';
  const reason = run.outcome === 'limit' ? `limit reached: ${run.reason}` : run.reason;
  const head = run.outcome === 'success' ? '' : `The run did not finish: ${reason}${code}.\n`;
  const text = run.text === '' ? '(no answer)' : cutAtParagraph(run.text, 2 * resultTokens, run.transcript);
  const lead = run.outcome !== 'success' && run.text !== '' ? 'What it had by then:\n' : '';
  const receipt = run.receipt === '' ? '' : `${run.receipt}\n`;
  return `${head}${lead}${text}\n\n${receipt}Run: ${run.runId} · transcript ${run.transcript}`;
}

/** What is past `maxTokens` is cut off, at a paragraph or a line where one is near, and the rest's place is told. */
export function cutAtParagraph(text: string, maxTokens: number, transcript: string): string {
  const most = maxTokens * CHARS_PER_TOKEN;
  if (text.length <= most) return text;
  const paragraph = text.lastIndexOf('\n\n', most);
  const line = text.lastIndexOf('\n', most);
  const end = paragraph > most / 2 ? paragraph : line > most / 2 ? line : most;
  return `${text.slice(0, end).toWellFormed()}\n\n[cut here: ${text.length - end} more characters in ${transcript}]`;
}
