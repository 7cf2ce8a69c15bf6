/** Messages and their text, and sums of token usage. */
import type {Message, PromptContent, ToolResultBlock, Usage} from '../contract/model.ts';

export const NO_USAGE: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cache_read_input_tokens: a.cache_read_input_tokens + b.cache_read_input_tokens,
    cache_creation_input_tokens: a.cache_creation_input_tokens + b.cache_creation_input_tokens,
  };
}

/** Messages by which a transcript says that a reply was cut short. The model reads them too. */
export const INTERRUPTED = '[Interrupted by the user]';
export const CUT_OFF = '[Cut off here: mini-cc ended before this reply did]';

/** The text blocks of a message, joined by blank lines; other blocks are left out. */
export function getText(content: string | readonly {type: string}[]): string {
  if (typeof content === 'string') return content;
  return content
    .filter((block): block is {type: 'text'; text: string} => block.type === 'text')
    .map((block) => block.text)
    .join('\n\n')
    .trim();
}

/** The message of a prompt. Its content is copied. */
export function toUserMessage(content: PromptContent): Message {
  return {role: 'user', content: typeof content === 'string' ? content : [...content]};
}

/** Joins several prompts into one: texts by blank lines; with images, the content is a list of blocks. */
export function joinContents(contents: readonly PromptContent[]): PromptContent {
  if (contents.every((content) => typeof content === 'string')) return contents.join('\n\n');
  return contents.flatMap((content) =>
    typeof content === 'string' ? [{type: 'text' as const, text: content}] : content,
  );
}

/** The message with other texts for some of its tool results. @param texts by the id of the call */
export function withResultTexts(message: Message, texts: ReadonlyMap<string, string>): Message {
  const {content} = message;
  if (message.role !== 'user' || typeof content === 'string') return message;
  const getNew = (block: {readonly type: string}) =>
    block.type === 'tool_result' ? texts.get((block as ToolResultBlock).tool_use_id) : undefined;
  if (!content.some((block) => getNew(block) !== undefined)) return message;
  const blocks = content.map((block) => {
    const text = getNew(block);
    return text === undefined ? block : ({...block, content: text} as ToolResultBlock);
  });
  return {...message, content: blocks};
}
