/** How large a model's context window is: as the settings say, else its server, else a table, else what most have. */
import type Anthropic from '@anthropic-ai/sdk';

const DEFAULT_WINDOW = 200_000;
/** The offline model reads rules, not tokens. */
export const OFFLINE_WINDOW = 1_000_000;
/** Servers that do not answer for long have no such endpoint. */
const ASK_MS = 2_000;

/** Windows of well-known models by their names, from their makers' pages (November 2026). The first match counts. */
const KNOWN: readonly (readonly [RegExp, number])[] = [
  [/claude/i, 200_000],
  [/gpt-4\.1/i, 1_000_000],
  [/gpt-5|o[134](?:-|$)/i, 200_000],
  [/gpt-4o|gpt-4-turbo/i, 128_000],
  [/glm-4\.[67]/i, 200_000],
  [/glm|deepseek|kimi|moonshot|mistral-large|llama-?(?:3\.[123]|4)|qwen-?(?:2\.5|3)/i, 128_000],
];

/** The fields in which servers of this API and of those like it name the size. */
const FIELDS = [
  'max_input_tokens',
  'context_window',
  'context_length',
  'max_context_length',
  'max_model_len',
  'n_ctx',
] as const;

export class ContextSize {
  #asked: Promise<number | undefined> | undefined;

  /** @param set what the settings say. @param client undefined: no server is asked */
  constructor(
    private readonly model: string,
    private readonly set: number | undefined,
    private readonly client: Anthropic | undefined,
  ) {}

  /** @param mayAsk the server may be asked, once. @returns tokens; undefined when only the server could say it */
  async get(mayAsk: boolean): Promise<number | undefined> {
    if (this.set !== undefined) return this.set;
    if (!this.client) return OFFLINE_WINDOW;
    if (!mayAsk && this.#asked === undefined) return undefined;
    this.#asked ??= askServer(this.client, this.model);
    return (await this.#asked) ?? KNOWN.find(([name]) => name.test(this.model))?.[1] ?? DEFAULT_WINDOW;
  }
}

/** Undefined where the server does not say it. Never rejects: many servers have no such endpoint. */
async function askServer(client: Anthropic, model: string): Promise<number | undefined> {
  try {
    const found: unknown = await client.models.retrieve(model, {}, {timeout: ASK_MS, maxRetries: 0});
    return readSize(found);
  } catch {
    return undefined;
  }
}

function readSize(found: unknown): number | undefined {
  if (typeof found !== 'object' || found === null) return undefined;
  const fields: Record<string, unknown> = {...('meta' in found ? (found.meta as object) : {}), ...found};
  const sizes = FIELDS.map((field) => fields[field]);
  return sizes.find((size): size is number => typeof size === 'number' && Number.isInteger(size) && size > 0);
}
