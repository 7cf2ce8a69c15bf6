/** One question to a model outside any conversation: no tools, no history, an answer by a schema. */
import {textOf} from './messages.ts';
import type {Model} from './model.ts';

const SYSTEM = 'You answer with one JSON object that fits the asked schema, and with nothing else.';

/** @throws ModelError when the call failed; the signal's reason when aborted. */
export async function completeOnce(
  model: Model,
  prompt: string,
  answerSchema: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<string> {
  const reply = await model.reply(
    {system: SYSTEM, tools: [], messages: [{role: 'user', content: prompt}], mayCallTools: false, signal, answerSchema},
    () => undefined,
  );
  return textOf(reply.content);
}
