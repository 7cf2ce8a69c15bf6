/** Creates the parameters of a request for the chat completions protocol. */
import type OpenAI from 'openai';
import type {Message, ModelRequest, UserBlock} from '../../core/contract/model.ts';
import {isPrompt} from '../../core/turn/valid-messages.ts';
import type {CallOptions} from '../protocol.ts';

type Params = OpenAI.ChatCompletionCreateParamsStreaming;
type ChatMessage = OpenAI.ChatCompletionMessageParam;
type Part = OpenAI.ChatCompletionContentPart;
type Block = Exclude<Message['content'], string>[number];

/** Marks thinking blocks that were made from a reply's reasoning, because these servers sign nothing. */
export const REASONING_SEAL = 'reasoning-';

/** Parameters that servers refused. With `max_tokens`, the newer name `max_completion_tokens` is used instead. */
export type Quirk = 'stream_options' | 'max_tokens' | 'max_completion_tokens' | 'reasoning_effort' | 'response_format';

export function toChatParams(request: ModelRequest, options: CallOptions, quirks: ReadonlySet<Quirk>): Params {
  const {tools, mayCallTools, answerSchema} = request;
  const limit = quirks.has('max_tokens') ? 'max_completion_tokens' : 'max_tokens';
  const functions = tools.filter(({name}) => name !== 'web_search');
  const effort = quirks.has('reasoning_effort') ? undefined : getEffort(options);
  return {
    model: options.id,
    stream: true,
    messages: toChatMessages(request),
    ...(quirks.has('stream_options') ? {} : {stream_options: {include_usage: true}}),
    ...(quirks.has('max_tokens') && quirks.has('max_completion_tokens') ? {} : {[limit]: options.maxTokens}),
    ...(functions.length === 0
      ? {}
      : {
          tools: functions.map(({name, description = '', input_schema: parameters}) => ({
            type: 'function' as const,
            function: {name, description, parameters: parameters as Record<string, unknown>},
          })),
          ...(mayCallTools ? {} : {tool_choice: 'none' as const}),
        }),
    ...(answerSchema && !quirks.has('response_format')
      ? {
          response_format: {
            type: 'json_schema' as const,
            json_schema: {name: 'answer', schema: answerSchema as Record<string, unknown>},
          },
        }
      : {}),
    ...(effort && {reasoning_effort: effort}),
  };
}

function getEffort({thinking, thinkingTokens}: CallOptions): Params['reasoning_effort'] {
  if (thinkingTokens === undefined) return thinking === 'off' ? 'none' : thinking;
  if (thinkingTokens === 0) return 'none';
  return thinkingTokens < 4096 ? 'low' : thinkingTokens < 16_384 ? 'medium' : 'high';
}

function toChatMessages({system, messages}: Pick<ModelRequest, 'system' | 'messages'>): ChatMessage[] {
  const prompt = messages.findLastIndex(isPrompt);
  return [
    ...(system.trim() === '' ? [] : [{role: 'system' as const, content: system}]),
    ...messages.flatMap((message, index) =>
      message.role === 'assistant' ? toReply(message, index > prompt) : toUserMessages(message),
    ),
  ];
}

/** @param isOfThisTurn true to send the reasoning back, which models need between calls until they answer */
function toReply({content}: Message, isOfThisTurn: boolean): ChatMessage[] {
  const blocks: readonly Block[] = typeof content === 'string' ? [{type: 'text', text: content}] : content;
  const text = joinTexts(blocks);
  const calls = blocks.flatMap((block) =>
    block.type === 'tool_use'
      ? [
          {
            id: block.id,
            type: 'function' as const,
            function: {name: block.name, arguments: JSON.stringify(block.input)},
          },
        ]
      : [],
  );
  const reasoning = blocks.flatMap((block) =>
    block.type === 'thinking' && block.signature.startsWith(REASONING_SEAL) ? [block.thinking] : [],
  );
  if (text === '' && calls.length === 0) return [];
  return [
    {
      role: 'assistant',
      content: text === '' ? null : text,
      ...(calls.length > 0 && {tool_calls: calls}),
      ...(isOfThisTurn && reasoning.length > 0 && {reasoning_content: reasoning.join('\n')}),
    },
  ];
}

/**
 * Converts a message of the user. Results become separate messages right after the calls. They contain only text, and
 * their images follow.
 */
function toUserMessages({content}: Message): ChatMessage[] {
  if (typeof content === 'string') return [{role: 'user', content}];
  const results = content.flatMap((block): ChatMessage[] =>
    block.type === 'tool_result'
      ? [{role: 'tool', tool_call_id: block.tool_use_id, content: getResultText(block.content)}]
      : [],
  );
  const parts = content.flatMap((block) => {
    if (block.type !== 'tool_result') return toParts(block);
    return Array.isArray(block.content)
      ? block.content.flatMap((each) => (each.type === 'image' ? toParts(each) : []))
      : [];
  });
  if (parts.length === 0) return results;
  const isText = parts.every((part) => part.type === 'text');
  const text = isText ? parts.map((part) => (part as {text: string}).text).join('\n\n') : undefined;
  return [...results, {role: 'user', content: text ?? parts}];
}

function getResultText(content: Extract<UserBlock, {type: 'tool_result'}>['content']): string {
  if (typeof content === 'string') return content;
  const texts = (content ?? []).map((block) => (block.type === 'text' ? block.text : '(see the image below)'));
  return texts.join('\n\n') || '(no output)';
}

function toParts(block: Block): Part[] {
  if (block.type === 'text') return [{type: 'text', text: block.text}];
  if (block.type !== 'image')
    return [{type: 'text', text: `(A ${block.type} was left out: this model cannot read it.)`}];
  const {source} = block;
  const url =
    source.type === 'base64' ? `data:${source.media_type};base64,${source.data}` : 'url' in source ? source.url : '';
  return [{type: 'image_url', image_url: {url}}];
}

function joinTexts(blocks: readonly Block[]): string {
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');
}
