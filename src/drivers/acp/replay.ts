/**
 * Replays a loaded session's conversation as the events that showed it, so that the translation is the same as for live
 * events.
 */
import type {ContentBlock} from '@agentclientprotocol/sdk/unstable';
import type {AgentEvent, AgentEventBody} from '../../core/contract/events.ts';
import type {AssistantBlock, UserBlock} from '../../core/contract/model.ts';
import type {RestoredMessage} from '../../core/contract/transcript.ts';
import {CUT_OFF, getText, INTERRUPTED, NO_USAGE} from '../../core/util/messages.ts';
import {replayCall} from '../../core/util/tool-output.ts';
import type {Updates} from './updates.ts';

export function replay(messages: readonly RestoredMessage[], updates: Updates): void {
  // Older transcripts mark no prompts, so text of the runtime looks like a prompt there.
  const areMarked = messages.some(({prompt}) => prompt);
  for (const restored of messages) {
    const {message, repeated, summary, announcement, companion} = restored;
    if (repeated || announcement || companion !== undefined) continue;
    if (summary) updates.say('\n\n(The conversation was compacted here.)\n\n');
    else if (message.role === 'assistant') replayReply(message.content, updates);
    else replayUser(restored, areMarked, updates);
    if (restored.subagents) updates.summarize(restored.subagents);
  }
}

function replayReply(content: RestoredMessage['message']['content'], updates: Updates): void {
  const blocks: AssistantBlock[] =
    typeof content === 'string' ? [{type: 'text', text: content, citations: null}] : (content as AssistantBlock[]);
  for (const block of blocks) {
    if (block.type === 'thinking') updates.take(toEvent({type: 'thinking_delta', text: block.thinking}));
  }
  const facts = {id: '', model: '', usage: NO_USAGE, stopReason: null};
  updates.take(toEvent({type: 'message', role: 'assistant', content: blocks, ...facts}));
}

function replayUser({message, prompt, calls = {}}: RestoredMessage, areMarked: boolean, updates: Updates): void {
  const {content} = message;
  const text = getText(content);
  if (text === INTERRUPTED || text === CUT_OFF) return;
  const blocks: readonly UserBlock[] = typeof content === 'string' ? [] : content;
  for (const block of blocks) {
    if (block.type !== 'tool_result') continue;
    const call = updates.findCall(block.tool_use_id);
    if (!call) continue;
    for (const body of replayCall(call.tool, call.input, block, calls[call.callId])) updates.take(toEvent(body));
  }
  if (areMarked && !prompt) return;
  for (const block of typeof content === 'string' ? [{type: 'text' as const, text: content}] : blocks) {
    const shown = toContentBlock(block);
    if (shown) updates.prompt(shown);
  }
}

function toContentBlock(block: UserBlock): ContentBlock | undefined {
  if (block.type === 'text') return {type: 'text', text: block.text};
  if (block.type !== 'image' || block.source.type !== 'base64') return undefined;
  return {type: 'image', data: block.source.data, mimeType: block.source.media_type};
}

function toEvent(body: AgentEventBody): AgentEvent {
  return {...body, agentId: 'main', seq: 0, at: 0};
}
