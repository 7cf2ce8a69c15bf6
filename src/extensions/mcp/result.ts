/**
 * Converts results of servers for the model: text stays text, images stay images, and everything else is described in
 * words.
 */
import type {ToolResult} from '../../core/contract/results.ts';
import {describeOversize, measureImage} from '../../core/util/image.ts';
import {showControls} from '../../core/util/text.ts';
import type {CallToolResult, GetPromptResult, ReadResourceResult} from './connection.ts';

type Blocks = Exclude<NonNullable<ToolResult['content']>, string>;
type Content = CallToolResult['content'][number];

/** The API accepts 5 MB of base64, which are 3.75 MB of data. */
const MAX_IMAGE_BYTES = 3.75 * 1024 * 1024;

export function toToolResult({content = [], structuredContent, isError = false}: CallToolResult): ToolResult {
  const blocks = content.flatMap(toBlocks);
  const isSilent = blocks.length === 0;
  const data = structuredContent === undefined ? undefined : JSON.stringify(structuredContent, null, 2);
  if (isSilent) return {content: showControls(data ?? '(the tool returned nothing)'), ...(isError && {isError})};
  return {content: joinTexts(blocks), ...(isError && {isError})};
}

export function toResourceContent({contents}: ReadResourceResult): NonNullable<ToolResult['content']> {
  const blocks = contents.flatMap((resource) => toBlocks({type: 'resource', resource}));
  return blocks.length === 0 ? '(it is empty)' : joinTexts(blocks);
}

/** Converts a prompt of a server to one message of the user. */
export function toPromptContent({messages}: GetPromptResult): NonNullable<ToolResult['content']> {
  const isTalk = messages.some(({role}) => role === 'assistant');
  return joinTexts(
    messages.flatMap(({role, content}) => {
      const blocks = toBlocks(content as Content);
      return isTalk ? [{type: 'text' as const, text: `${role}:`}, ...blocks] : blocks;
    }),
  );
}

/** Joins the blocks to one text when there are only texts, so that it is cut like the results of other tools. */
function joinTexts(blocks: Blocks): NonNullable<ToolResult['content']> {
  if (blocks.some(({type}) => type !== 'text')) return blocks;
  return blocks.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}

function toBlocks(block: Content): Blocks {
  switch (block.type) {
    case 'text':
      return text(block.text);
    case 'image':
      return toImage(block.data);
    case 'audio':
      return text(`(audio of ${describeSize(block.data)}, ${block.mimeType}: it cannot be shown)`);
    case 'resource_link':
      return text(`${block.title ?? block.name}: ${block.uri}${block.description ? ` (${block.description})` : ''}`);
    case 'resource': {
      const {resource} = block;
      if ('text' in resource) return text(resource.text);
      if (resource.mimeType?.startsWith('image/')) return toImage(resource.blob);
      return text(`(${resource.uri}: ${describeSize(resource.blob)} of ${resource.mimeType ?? 'data'}, not shown)`);
    }
  }
}

/** Detects the type of an image from its data, because the type that the server names may be wrong. */
function toImage(base64: string): Blocks {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > MAX_IMAGE_BYTES)
    return text(`(an image of ${describeSize(base64)}: at most 3.75 MB can be shown)`);
  const measured = measureImage(bytes);
  if (!measured) return text(`(an image of ${describeSize(base64)} that is damaged or of an unknown kind: not shown)`);
  const oversize = describeOversize(measured);
  if (oversize !== undefined) return text(`(an image of ${oversize}: not shown)`);
  return [{type: 'image', source: {type: 'base64', media_type: measured.type, data: bytes.toString('base64')}}];
}

function describeSize(base64: string): string {
  return `${Math.ceil((base64.length * 3) / 4 / 1024)} KB`;
}

function text(value: string): Blocks {
  return value === '' ? [] : [{type: 'text', text: showControls(value)}];
}
