/** How large a model's context window is: as the settings say, else its server, else a table, else what most have. */

const DEFAULT_WINDOW = 200_000;
/** Servers that do not answer for long have no such endpoint. Milliseconds. */
export const ASK_MS = 2_000;

/** Windows of well-known models by their names, from their makers' pages (November 2026). The first match counts. */
const KNOWN: readonly (readonly [RegExp, number])[] = [
  [/claude/i, 200_000],
  [/gpt-4\.1/i, 1_000_000],
  [/gpt-5|o[134](?:-|$)/i, 200_000],
  [/gpt-4o|gpt-4-turbo/i, 128_000],
  [/glm-4\.[67]/i, 200_000],
  [/glm|deepseek|kimi|moonshot|mistral-large|llama-?(?:3\.[123]|4)|qwen-?(?:2\.5|3)/i, 128_000],
];

/** The fields in which servers name the size. */
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

  /** @param set what the settings say. @param ask asks the server, and never rejects */
  constructor(
    private readonly model: string,
    private readonly set: number | undefined,
    private readonly ask: () => Promise<number | undefined>,
  ) {}

  /** @param mayAsk the server may be asked, once. @returns tokens; undefined when only the server could say it */
  async get(mayAsk: boolean): Promise<number | undefined> {
    if (this.set !== undefined) return this.set;
    if (!mayAsk && this.#asked === undefined) return undefined;
    this.#asked ??= this.ask();
    return (await this.#asked) ?? getKnownWindow(this.model);
  }
}

/** Tokens, by the name alone: where neither the settings nor the server say it. */
export function getKnownWindow(model: string): number {
  return KNOWN.find(([name]) => name.test(model))?.[1] ?? DEFAULT_WINDOW;
}

/** @param found what a server says of a model */
export function readContextSize(found: unknown): number | undefined {
  if (typeof found !== 'object' || found === null) return undefined;
  const fields: Record<string, unknown> = {...('meta' in found ? (found.meta as object) : {}), ...found};
  const sizes = FIELDS.map((field) => fields[field]);
  return sizes.find((size): size is number => typeof size === 'number' && Number.isInteger(size) && size > 0);
}
