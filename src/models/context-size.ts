/** Determines the size of a model's context window: from the settings, or its server, or a table, or the usual size. */

const DEFAULT_WINDOW = 200_000;
/** Milliseconds. A server that does not answer in this time has no such endpoint. */
export const ASK_MS = 2_000;

/** Context windows of well-known models by name, from their makers' pages (November 2026). The first match counts. */
const KNOWN: readonly (readonly [RegExp, number])[] = [
  [/claude/i, 200_000],
  [/gpt-4\.1/i, 1_000_000],
  [/gpt-5|o[134](?:-|$)/i, 200_000],
  [/gpt-4o|gpt-4-turbo/i, 128_000],
  [/glm-4\.[67]/i, 200_000],
  [/glm|deepseek|kimi|moonshot|mistral-large|llama-?(?:3\.[123]|4)|qwen-?(?:2\.5|3)/i, 128_000],
];

/** Fields in which servers name the size. */
const FIELDS = [
  'max_input_tokens',
  'context_window',
  'context_length',
  'max_context_length',
  'max_model_len',
  'n_ctx',
] as const;

/**
 * Determines the size.
 * @param mayAsk true when the server may be asked, once
 * @returns tokens; undefined when only the server knows the size
 */
export type ContextSize = (mayAsk: boolean) => Promise<number | undefined>;

/** @param set size from the settings @param ask asks the server, and never rejects */
export function createContextSize(
  model: string,
  set: number | undefined,
  ask: () => Promise<number | undefined>,
): ContextSize {
  let asked: Promise<number | undefined> | undefined;
  return async (mayAsk) => {
    if (set !== undefined) return set;
    if (!mayAsk && asked === undefined) return undefined;
    asked ??= ask();
    return (await asked) ?? getKnownWindow(model);
  };
}

/** Returns the window in tokens by the name alone, when neither the settings nor the server name it. */
export function getKnownWindow(model: string): number {
  return findKnownWindow(model) ?? DEFAULT_WINDOW;
}

/** @returns undefined when the table does not name the model */
export function findKnownWindow(model: string): number | undefined {
  return KNOWN.find(([name]) => name.test(model))?.[1];
}

interface Client {
  get(path: string, options: {readonly timeout: number}): Promise<unknown>;
}

/** Asks the server for its description of a model. It never rejects. */
export async function askContextSize(client: Client, path: string): Promise<number | undefined> {
  try {
    return readContextSize(await client.get(path, {timeout: ASK_MS}));
  } catch {
    return undefined;
  }
}

/** @param found the server's description of a model */
export function readContextSize(found: unknown): number | undefined {
  if (typeof found !== 'object' || found === null) return undefined;
  const fields: Record<string, unknown> = {...('meta' in found ? (found.meta as object) : {}), ...found};
  const sizes = FIELDS.map((field) => fields[field]);
  return sizes.find((size): size is number => typeof size === 'number' && Number.isInteger(size) && size > 0);
}
