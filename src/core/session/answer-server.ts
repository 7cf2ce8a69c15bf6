/** Answers a question of an MCP server by the session's model: one call without tools, outside the conversation. */
import type {ServerPrompt, ServerReply} from '../contract/mcp.ts';
import {askModel} from '../turn/model-request.ts';
import {MiniCcError} from '../util/errors.ts';
import {getText} from '../util/messages.ts';
import {createCommandAccount} from './commands.ts';
import type {SessionParts} from './parts.ts';

const MAX_MS = 300_000;

const STOPS: Readonly<Record<string, string>> = {end_turn: 'endTurn', max_tokens: 'maxTokens'};

/** @throws MiniCcError when no model can answer, or nothing is left of a budget; ModelError; the signal's reason */
export async function answerServer(
  parts: SessionParts,
  {system, messages, maxOutputTokens}: ServerPrompt,
  signal: AbortSignal,
): Promise<ServerReply> {
  const model = parts.resolveModel(parts.state.model.name, {thinking: 'off'});
  if (model.offline) throw new MiniCcError('OFFLINE', 'The built-in model answers no questions of servers.');
  const limited = AbortSignal.any([signal, AbortSignal.timeout(MAX_MS)]);
  const sent = messages.map(({role, content}) => ({role, content: [...content]}));
  const reply = await askModel(model, {system, prompt: sent, maxOutputTokens}, limited, createCommandAccount(parts));
  const text = parts.redactor.text(getText(reply.content));
  if (text.trim() === '') throw new MiniCcError('NO_ANSWER', `${model.name} gave no answer.`);
  return {text, model: reply.model, stopReason: STOPS[reply.stopReason ?? ''] ?? reply.stopReason ?? 'endTurn'};
}
