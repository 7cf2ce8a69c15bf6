/** Formats a session as one HTML page without scripts, external resources or links to other pages. */

import {formatHtmlPage, html} from '../../core/util/html.ts';
import {addUsage, countInputTokens, formatCost, getText, NO_USAGE} from '../../core/util/messages.ts';
import {formatTokens, toShortLine} from '../../core/util/text.ts';
import {formatMessages} from './exported-messages.ts';
import type {StoredConversation} from './stored-session.ts';
import {formatTimeline} from './timeline.ts';

export function formatPage({header, entries, messages, runs}: StoredConversation): string {
  const first = messages.find(({prompt}) => prompt) ?? messages[0];
  const title = toShortLine(getText(first?.message.content ?? ''), 100) || 'A session of mini-cc';
  const lines = entries.filter((entry) => entry.type === 'message');
  const times = new Map(lines.map(({uuid, at}) => [uuid, at]));
  const usage = lines.reduce((sum, line) => addUsage(sum, line.usage ?? NO_USAGE), NO_USAGE);
  const models = [...new Set(lines.flatMap(({model}) => model ?? []))];
  const said = messages.map((message) => {
    const at = message.uuid === undefined ? undefined : times.get(message.uuid);
    return at === undefined ? message : {...message, at};
  });
  const dispatched = new Map(
    runs.flatMap(({callId, runId}) => (callId === undefined ? [] : [[callId, runId] as const])),
  );
  const body = html`<h1>${title}</h1>
<dl class="facts"><dt>Session</dt><dd>${header.id}</dd><dt>Begun</dt><dd>${formatDate(header.at)}</dd><dt>Folder</dt><dd>${header.cwd}${header.branch === undefined ? '' : ` (${header.branch})`}</dd>
<dt>Model</dt><dd>${models.join(', ') || '–'}</dd><dt>Main agent</dt><dd>${messages.length} messages · tokens in ${formatTokens(countInputTokens(usage))} out ${formatTokens(usage.output_tokens)} · cost ${formatCost(usage)}</dd><dt>Subagents</dt><dd>${runs.length}</dd></dl>
<h2>Conversation</h2>
${formatMessages(said, dispatched)}
<h2>Subagents</h2>
${formatTimeline(runs)}`;
  return formatHtmlPage(title, body);
}

function formatDate(at: string): string {
  return new Date(at).toLocaleString('en-GB', {dateStyle: 'medium', timeStyle: 'short'});
}
