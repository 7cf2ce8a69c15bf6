/** Converts the content that a person sends from an editor to the content of a prompt. */
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import type {ContentBlock} from '@agentclientprotocol/sdk/unstable';
import type {PromptContent} from '../../core/contract/model.ts';
import {tryOr, UsageError} from '../../core/util/errors.ts';

type PromptBlock = Exclude<PromptContent, string>[number];
type ImageSource = Extract<PromptBlock, {type: 'image'}>['source'];

/**
 * Joins adjacent texts, e.g. a command and its arguments, or a sentence with files in it. In the place of a block that
 * cannot be read, such as audio, the model reads why.
 * @param warn gets a sentence about each such block
 * @throws UsageError when no block can be read
 */
export function toPromptContent(
  blocks: readonly ContentBlock[],
  cwd: string,
  warn: (warning: string) => void,
): PromptContent {
  const content: PromptBlock[] = [];
  let attached = '';
  const blocksRead = blocks.map((block) => readBlock(block, cwd));
  const [problem] = blocksRead;
  if (problem instanceof UsageError && blocksRead.every((read) => read instanceof UsageError)) throw problem;
  for (const [at, block] of blocks.entries()) {
    const read = blocksRead[at]!;
    if (read instanceof UsageError) {
      warn(read.message);
      attached += `\n\n(${read.message})`;
      continue;
    }
    const last = content.at(-1);
    if (typeof read !== 'string') content.push(read);
    // Texts of files come last, so that the person's words stay together.
    else if (block.type === 'resource') attached += `\n\n${read}`;
    else if (last?.type === 'text') content[content.length - 1] = {type: 'text', text: join(last.text, read)};
    else content.push({type: 'text', text: read});
  }
  if (attached !== '') content.push({type: 'text', text: attached.trim()});
  const [only] = content;
  return content.length === 1 && only?.type === 'text' ? only.text.trim() : content;
}

/** Separates two texts by a space where they would become one word. */
function join(before: string, after: string): string {
  const isApart = /[\s(["'«“‘]$/.test(before) || /^[\s.,;:!?)\]"'»”’…]/.test(after);
  return isApart || before === '' ? before + after : `${before} ${after}`;
}

/** Returns an error for a block that cannot be read. */
function readBlock(block: ContentBlock, cwd: string): string | PromptBlock | UsageError {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
      return toImage(block.data, block.mimeType);
    case 'resource_link':
      return `@${quote(toShortPath(block.uri, cwd))}`;
    case 'resource': {
      const {resource} = block;
      if ('text' in resource) {
        return `<file path=${JSON.stringify(toShortPath(resource.uri, cwd))}>\n${resource.text}\n</file>`;
      }
      if (!resource.mimeType?.startsWith('image/')) {
        return new UsageError(`mini-cc cannot read the attached data ${resource.uri}: attach text or an image`);
      }
      return toImage(resource.blob, resource.mimeType);
    }
    default:
      return new UsageError(`mini-cc cannot read content of the type ${block.type}: send text, images or files`);
  }
}

const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

function toImage(data: string, mimeType: string): PromptBlock | UsageError {
  if (!IMAGE_TYPES.includes(mimeType)) {
    return new UsageError(`mini-cc cannot read an image of the type ${mimeType}: send ${IMAGE_TYPES.join(', ')}`);
  }
  // The session checks the size of the image.
  return {type: 'image', source: {type: 'base64', media_type: mimeType, data} as ImageSource};
}

/**
 * Returns a relative path for a file in the working directory, an absolute path for another file, and any other address
 * unchanged.
 */
function toShortPath(uri: string, cwd: string): string {
  if (!uri.startsWith('file:')) return uri;
  const file = tryOr(() => fileURLToPath(uri.split('#')[0]!), undefined);
  if (file === undefined) return uri;
  const relative = path.relative(cwd, file);
  return relative === '' || relative.startsWith('..') ? file : relative;
}

function quote(name: string): string {
  return /\s/.test(name) ? `"${name}"` : name;
}
