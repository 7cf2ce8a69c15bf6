/**
 * Creates the receipt of a run from what the runtime saw, never from the model's text, and the report that contains it.
 */
import path from 'node:path';
import type {Outcome, RunResult, ToolFacts} from '../contract/results.ts';
import type {Receipt} from '../contract/runs.ts';
import type {KeptChanges} from '../contract/worktree.ts';
import {countInputTokens, formatCost} from '../util/messages.ts';
import {formatFileName} from '../util/paths.ts';
import {formatCount, formatLimit, formatTokens} from '../util/text.ts';
import {findCitations} from './citations.ts';
import {formatDuration} from './progress-line.ts';

/** Additional facts of a run that worked in a worktree or at a worker. */
interface Elsewhere {
  /** Folder to which the paths that the text cites are relative. */
  readonly citedIn: string;
  /** Files of the workspace that the end of the run changed. */
  readonly changed?: readonly string[];
  /** Changes that could not be applied. */
  readonly saved?: KeptChanges | undefined;
}

export function makeReceipt(result: RunResult, root: string, elsewhere?: Elsewhere): Receipt {
  const facts = result.tools.map((record) => record.facts);
  const filesRead = [...new Set(facts.flatMap((fact) => fact.read ?? []))];
  const filesChanged = [...new Set([...facts.flatMap((fact) => fact.changed ?? []), ...(elsewhere?.changed ?? [])])];
  const saved = elsewhere?.saved;
  const exits = facts.flatMap((fact) => (fact.exitCode === undefined ? [] : [fact.exitCode]));
  const parts = [
    formatCount(result.tools.length, 'tool'),
    `read ${formatCount(filesRead.length, 'file')}`,
    filesChanged.length === 0 ? 'changed none' : `changed ${names(filesChanged, root)}${sharedNote(facts)}`,
    ...(saved ? [`changes kept in ${saved.patch} (${saved.why})`] : []),
    exits.length === 0 ? 'commands 0' : `commands ${exits.length} (exit ${exits.join(', ')})`,
    // The text of a run in a worktree may also name paths of the workspace.
    elsewhere
      ? formatCitations(result.text.replaceAll(`${root}${path.sep}`, ''), elsewhere.citedIn)
      : formatCitations(result.text, root),
    formatDuration(result.durationMs),
    `tokens in ${formatTokens(countInputTokens(result.usage))} out ${formatTokens(result.usage.output_tokens)}`,
    `est ${formatCost(result.usage)}`,
  ];
  const uncounted = facts.find((fact) => fact.uncounted !== undefined)?.uncounted;
  if (uncounted !== undefined) parts.push(`what commands changed is not counted (${uncounted})`);
  parts.push(...(result.warnings ?? []).map((text) => `WARNING: ${text}`));
  // A call that was refused has read nothing, so it verifies nothing.
  const unverified = !result.tools.some(({isError, facts: fact}) => !isError || Object.keys(fact).length > 0);
  return {
    line: `Receipt: ${parts.join(' · ')}${unverified ? ' · UNVERIFIED' : ''}`,
    filesRead,
    filesChanged,
    unverified,
  };
}

/** Counts the files that a run read, and those that it scanned, which include the files that its searches listed. */
export function countFiles(tools: RunResult['tools']): {readonly filesRead: number; readonly filesScanned: number} {
  const filesRead = new Set(tools.flatMap(({facts}) => facts.read ?? [])).size;
  return {filesRead, filesScanned: filesRead + tools.reduce((sum, {facts}) => sum + (facts.scanned ?? 0), 0)};
}

/** A file that the run also changed by one of its calls does not count as shared. */
function sharedNote(facts: readonly ToolFacts[]): string {
  const own = new Set(facts.flatMap(({changed = [], shared = []}) => changed.filter((file) => !shared.includes(file))));
  const shared = new Set(facts.flatMap((fact) => fact.shared ?? []).filter((file) => !own.has(file)));
  return shared.size === 0 ? '' : ` (${shared.size} shared: commands of other runs were at work too)`;
}

function names(files: readonly string[], root: string): string {
  const shown = files.slice(0, 5).map((file) => formatFileName(path.relative(root, file)));
  const more = files.length > shown.length ? `, and ${files.length - shown.length} more` : '';
  return `${formatCount(files.length, 'file')}: ${shown.join(', ')}${more}`;
}

/** Formats how many of the cited places exist, and names the first ones that do not. */
function formatCitations(text: string, root: string): string {
  const cited = findCitations(text, root);
  const missing = cited.filter(({exists}) => !exists);
  if (cited.length === 0) return 'citations 0';
  const names = missing.slice(0, 3).map((one) => one.text);
  const named = names.length > 0 ? ` (missing: ${names.join(', ')})` : '';
  return `citations ${cited.length - missing.length}/${cited.length} exist${named}`;
}

/** Code for programs that read the report of a run that its time limit ended. */
const EXECUTION_TIMEOUT = 'EXECUTION_TIMEOUT';
const CHARS_PER_TOKEN = 4;
/** Tokens that a result should keep within, unless the settings say so. */
export const RESULT_TOKENS = 500;

/** The tag around what the runtime says of a run. Texts cannot contain it. */
const TAG = 'task_receipt';
/**
 * Matches the word that opens a receipt at the start of a line, also behind invisible characters and marks of markdown.
 */
const FORGED = /(^|[\n\r\v\f\u0085\u2028\u2029])([\p{Zs}\t\p{Cf}\p{M}\\>*_#`~|+-]*)(receipt\s*[:：])/giu;

/** Escapes what looks like a receipt, so that only what the runtime says is one. */
export function escapeReceipts(text: string): string {
  return text
    .replaceAll(FORGED, String.raw`$1$2\$3`)
    .replaceAll(new RegExp(`<(?=[\\s\\p{Cf}/]*${TAG})`, 'giu'), '&lt;');
}

/** Escapes the beginnings of tags. The `<` of an amount such as `<$0.0001` begins none. */
const escapeTags = (text: string) => text.replaceAll(/<(?!\$\d)/g, '&lt;');

interface ReportedRun {
  readonly runId: string;
  /** Name of the tool when the run is a call of that tool and not an agent. */
  readonly tool?: string | undefined;
  readonly outcome: Outcome;
  readonly reason: string;
  readonly text: string;
  /** Number of model calls, absent where it is not known. */
  readonly turns?: number;
  /** Model that answered last. */
  readonly model?: string | undefined;
  readonly receipt: string;
  readonly transcript: string;
}

/**
 * Formats what the dispatching model reads of a run: its findings, the reason if it did not finish, and the receipt.
 * @param resultTokens length that the prompt asks for. Text beyond twice that length is cut
 */
export function formatReport(run: ReportedRun, resultTokens: number): string {
  const code = run.outcome === 'timeout' ? ` (${EXECUTION_TIMEOUT})` : '';
  const reason = run.outcome === 'limit' ? formatLimit(run.reason) : run.reason;
  const failed = run.tool !== undefined && run.outcome === 'error' ? 'The command failed' : 'The run did not finish';
  const head = run.outcome === 'success' ? '' : `${failed}: ${reason}${code}.\n`;
  const isCut = run.tool === undefined && run.outcome !== 'success';
  const text = run.text === '' ? '(no answer)' : cutAtParagraph(run.text, 2 * resultTokens, run.transcript);
  const lead = isCut && run.text !== '' ? 'What it had by then:\n' : '';
  const receipt = run.receipt === '' ? '' : `${escapeTags(run.receipt)}\n`;
  const model = run.model === undefined ? '' : ` of ${escapeTags(run.model)}`;
  const turns = isCut && run.turns ? `Cut off after ${formatCount(run.turns, 'turn')}${model}\n` : '';
  const facts = `${receipt}${turns}Run: ${run.runId} · transcript ${run.transcript}`;
  return `${escapeReceipts(`${head}${lead}${text}`)}\n\n<${TAG}>\n${facts}\n</${TAG}>`;
}

/**
 * Limit for structured data, which would be invalid if it were cut at a paragraph. It is the size that any result may
 * have.
 */
const MAX_DATA_TOKENS = 3_500;

/** Returns the length that a result is asked to keep, in tokens. @param resultTokens length for a text */
export function getMaxTokens({structured}: Pick<RunResult, 'structured'>, resultTokens: number): number {
  return structured === undefined ? resultTokens : Math.max(resultTokens, MAX_DATA_TOKENS);
}

/** Cuts the text after `maxTokens`, at a paragraph or a line if one is near, and says where the rest is. */
export function cutAtParagraph(text: string, maxTokens: number, transcript: string): string {
  const max = maxTokens * CHARS_PER_TOKEN;
  if (text.length <= max) return text;
  const paragraph = text.lastIndexOf('\n\n', max);
  const line = text.lastIndexOf('\n', max);
  const end = paragraph > max / 2 ? paragraph : line > max / 2 ? line : max;
  return `${text.slice(0, end).toWellFormed()}\n\n[cut here: ${text.length - end} more characters in ${transcript}]`;
}
