/** Decides the next assistant message from the request alone: same request, same bytes. */
import {createHash} from 'node:crypto';
import type {AssistantBlock} from '../core/contract/messages.ts';
import {readConversation} from './conversation.ts';
import {workOn} from './intents.ts';
import type {Job} from './job.ts';
import type {Reply} from './messages-api.ts';
import {replay} from './replay.ts';
import {isCannot, OFFLINE_NOTICE} from './report.ts';
import type {OfflineRequest} from './request.ts';
import {retell} from './skills/delegate.ts';
import {asksForDefinition, draft} from './skills/draft.ts';
import {Toolbox} from './toolbox.ts';
import {plainRequest} from './words.ts';

/** Replies to one request; the last must be an answer. */
const MOST_TURNS = 15;

/** @param body the request as it was sent; ids are made from it, so that they differ within a conversation. */
export function decide(request: OfflineRequest, body: string): Reply {
  const content = blocks(request, idFrom(body));
  const stopReason = content.some((block) => block.type === 'tool_use') ? 'tool_use' : 'end_turn';
  return {
    id: `msg_offline_${idFrom(body)}`,
    model: request.model,
    content,
    stopReason,
    inputTokens: estimateTokens(body),
    outputTokens: estimateTokens(JSON.stringify(content)),
  };
}

/** Four characters a token: an estimate, since no model counts here. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

function blocks(request: OfflineRequest, id: string): readonly AssistantBlock[] {
  const conversation = readConversation(request.messages, request.mayCallTools);
  if (conversation.announcement !== undefined) return [textBlock(retell(conversation.announcement))];
  if (asksForDefinition(request.system, conversation.request, request.answerFields)) {
    return [textBlock(draft(conversation.request))];
  }
  const toolbox = new Toolbox(request.tools);
  const job: Job = {
    text: plainRequest(conversation.request),
    toolbox,
    main: toolbox.has('Task'),
    role: roleIn(request.system),
    earlier: conversation.earlier,
  };
  const next = replay(workOn(job), conversation.seen, request.mayCallTools && conversation.turns < MOST_TURNS);
  if (next.type === 'answer') {
    const stopped = request.mayCallTools
      ? ''
      : '\n\n(Reported before the work was done: what was not looked at is not in this answer.)';
    const text = `${next.text}${conversation.turns > 0 ? stopped : ''}`;
    // Below the answer, so that the first line of a script's `| head -1` is what was asked.
    return [textBlock(job.main && conversation.first && !isCannot(text) ? `${text}\n\n${OFFLINE_NOTICE}` : text)];
  }
  const said = next.say === undefined ? [] : [textBlock(next.say)];
  return [
    ...said,
    ...next.calls.map((call, index) => toolBlock(`toolu_offline_${id}_${index}`, call.name, call.input)),
  ];
}

/** What the agent's own prompt makes of it: the first such word near its head. */
function roleIn(system: string): Job['role'] {
  const word = /\b(plans?|planning|design|review\w*|audit\w*|explor\w*|coding|task)\b/i
    .exec(system.slice(0, 300))?.[1]
    ?.toLowerCase();
  if (word === undefined) return 'other';
  if (/^(plan|design)/.test(word)) return 'plan';
  return /^(review|audit)/.test(word) ? 'review' : 'other';
}

function idFrom(body: string): string {
  return createHash('sha256').update(body).digest('hex').slice(0, 20);
}

function textBlock(text: string): AssistantBlock {
  return {type: 'text', text, citations: null};
}

function toolBlock(id: string, name: string, input: Readonly<Record<string, unknown>>): AssistantBlock {
  return {type: 'tool_use', id, name, input, caller: {type: 'direct'}};
}
