/** What servers return, as the model reads it: text as text, images as images, everything else in words. */
import type {ToolResult} from '../../core/contract/results.ts';
import {describeOversize, measureImage} from '../../core/util/image.ts';
import {showControls} from '../../core/util/text.ts';
import type {CallToolResult, GetPromptResult, ReadResourceResult} from './connection.ts';

type Blocks = Exclude<NonNullable<ToolResult['content']>, string>;
type Content = CallToolResult['content'][number];

/** The API takes 5 MB of base64. */
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

/** What a prompt of a server says, as one message of the user. */
export function toPromptContent({messages}: GetPromptResult): NonNullable<ToolResult['content']> {
  const isTalk = messages.some(({role}) => role === 'assistant');
  return joinTexts(
    messages.flatMap(({role, content}) => {
      const blocks = toBlocks(content as Content);
      return isTalk ? [{type: 'text' as const, text: `${role}:`}, ...blocks] : blocks;
    }),
  );
}

/** One text where there is nothing else: it is cut like the results of other tools. */
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
    default:
      return text(`(a block of the unknown type ${JSON.stringify((block as {type?: unknown}).type)})`);
  }
}

/** What it is says the image itself: what the server says of it may be wrong. */
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
