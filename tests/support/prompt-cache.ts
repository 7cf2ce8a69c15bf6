/**
 * The prompt cache of the scripted server, as the real one works: a request is a row of blocks (tools, system, messages).
 * At each mark the row so far is written to the cache, if it is long enough; and from each mark the server looks back
 * some blocks for the longest row that is in the cache.
 */
import {createHash} from 'node:crypto';
import type {MessagesBody, RequestBlock} from './messages-server.ts';
import {estimateTokens} from './request-rules.ts';

const LOOK_BACK_BLOCKS = 20;
const MIN_PREFIX_TOKENS = 1_024;
const CHARS_PER_TOKEN = 4;

export interface CachedTokens {
  readonly input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
}

export class PromptCache {
  readonly #rows = new Set<string>();

  /** @returns how the tokens of the request are counted. What it marks is in the cache from then on. */
  count(body: MessagesBody): CachedTokens {
    const row = toRow(body);
    const all = row.at(-1)?.tokens ?? 0;
    const marks = row.flatMap(({isMarked}, index) => (isMarked ? [index] : []));
    const read = Math.max(0, ...marks.map((mark) => this.#read(row, mark)));
    let written = 0;
    for (const mark of marks) {
      const {hash, tokens} = row[mark]!;
      if (tokens < MIN_PREFIX_TOKENS) continue;
      this.#rows.add(hash);
      written = Math.max(written, tokens);
    }
    const created = Math.max(0, written - read);
    return {
      input_tokens: all - read - created,
      cache_read_input_tokens: read,
      cache_creation_input_tokens: created,
    };
  }

  #read(row: readonly Position[], mark: number): number {
    for (let at = mark; at >= Math.max(0, mark - LOOK_BACK_BLOCKS); at -= 1) {
      if (this.#rows.has(row[at]!.hash)) return row[at]!.tokens;
    }
    return 0;
  }
}

/** One block, with all before it. */
interface Position {
  readonly hash: string;
  readonly tokens: number;
  readonly isMarked: boolean;
}

function toRow({tools = [], system = [], messages}: MessagesBody): Position[] {
  let hash = '';
  let tokens = 0;
  const step = (place: string, block: object): Position => {
    const {cache_control, ...content} = block as RequestBlock;
    const text = JSON.stringify(content);
    hash = createHash('md5').update(hash).update(place).update(text).digest('base64');
    const isImage = text.includes('"image"') && text.includes('"base64"');
    tokens += isImage
      ? estimateTokens({messages: [{role: 'user', content: [content]}]})
      : Math.ceil(text.length / CHARS_PER_TOKEN);
    return {hash, tokens, isMarked: cache_control != null};
  };
  return [
    ...tools.map((tool) => step('tool', tool)),
    ...toBlocks(system).map((block) => step('system', block)),
    ...messages.flatMap(({role, content}) => toBlocks(content).map((block) => step(role, block))),
  ];
}

function toBlocks(content: string | readonly RequestBlock[]): readonly RequestBlock[] {
  return typeof content === 'string' ? [{type: 'text', text: content}] : content;
}
