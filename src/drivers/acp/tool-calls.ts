/** Describes tool calls in the terms of ACP: their kind, their locations, and changes of files as old and new text. */
import path from 'node:path';
import type {Diff, ToolCallContent, ToolCallLocation} from '@agentclientprotocol/sdk/unstable';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {findTool, isCommand, toClaudeInput, toClaudeToolName} from '../../core/util/tool-names.ts';

/** A call as the model wrote it, before it ran. */
export interface AnnouncedCall {
  readonly callId: string;
  readonly tool: string;
  readonly input: unknown;
}

/**
 * Returns the fields that stay the same while the call runs. Names and inputs are Claude Code's, as in the other
 * protocol.
 */
export function describeCall({callId, tool, input}: AnnouncedCall, cwd: string, tools: readonly ToolFacts[]) {
  const place = getPlace(input, cwd);
  return {
    toolCallId: callId,
    name: toClaudeToolName(tool, tools),
    kind: findTool(tool, tools)?.kind ?? ('other' as const),
    rawInput: toClaudeInput(tool, input, tools),
    ...(place && {locations: [place]}),
  };
}

/**
 * Formats the title, e.g. `Read src/a.ts`. The title of a command is the command alone, which an editor shows as code.
 */
export function formatTitle(tool: string, title: string, tools: readonly ToolFacts[]): string {
  if (isCommand(tool, tools) && title !== '') return `\`${title.replaceAll('`', "'")}\``;
  const name = toClaudeToolName(tool, tools);
  return title === '' ? name : `${name} ${title}`;
}

/** Returns the file or folder that the input names. */
function getPlace(input: unknown, cwd: string): ToolCallLocation | undefined {
  if (typeof input !== 'object' || input === null) return undefined;
  const {path: named, offset} = input as {readonly path?: unknown; readonly offset?: unknown};
  if (typeof named !== 'string' || named === '') return undefined;
  return {path: path.resolve(cwd, named), ...(typeof offset === 'number' && offset > 0 && {line: offset})};
}

export function textContent(text: string): ToolCallContent {
  return {type: 'content', content: {type: 'text', text}};
}

/** Wraps the output of a command, so that an editor does not render it as Markdown. */
export function outputContent(text: string): ToolCallContent {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return textContent(`${fence}\n${text.replace(/\n$/, '')}\n${fence}`);
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,\d+)? @@/;

interface FileChange {
  readonly content: readonly (Diff & {readonly type: 'diff'})[];
  /** The first line of each hunk. */
  readonly locations: readonly ToolCallLocation[];
}

/** Converts each hunk of the patch to a change, with the lines around it. @param file absolute path */
export function readPatch(file: string, patch: string): FileChange {
  const content: (Diff & {readonly type: 'diff'})[] = [];
  const locations: ToolCallLocation[] = [];
  let old: string[] = [];
  let now: string[] = [];
  let isNew = false;
  const end = () => {
    if (old.length + now.length === 0) return;
    content.push({type: 'diff', path: file, oldText: isNew ? null : old.join('\n'), newText: now.join('\n')});
    [old, now] = [[], []];
  };
  for (const line of patch.split('\n')) {
    const [hunk, from = '', count = '1', start = '1'] = HUNK.exec(line) ?? [];
    if (hunk !== undefined) {
      end();
      isNew = from === '0' && count === '0';
      locations.push({path: file, line: Math.max(1, Number(start))});
    } else if (locations.length > 0) {
      const text = line.slice(1);
      if (line.startsWith(' ') || line.startsWith('-')) old.push(text);
      if (line.startsWith(' ') || line.startsWith('+')) now.push(text);
    }
  }
  end();
  return {content, locations};
}
