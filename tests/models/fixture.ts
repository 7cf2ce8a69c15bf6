/** A model behind a scripted server, asked once. */
import {onTestFinished} from 'vitest';
import type {ModelProgress, ModelReply, ModelRequest} from '../../src/core/contract/model.ts';
import {Redactor} from '../../src/core/secrets/redaction.ts';
import {systemClock} from '../../src/core/turn/run-limits.ts';
import {AnthropicModel, type ModelServer, type ModelSettings} from '../../src/models/anthropic-model.ts';
import {type MessagesServer, type Script, startMessagesServer} from '../support/messages-server.ts';

export interface Asked {
  readonly server: MessagesServer;
  readonly progress: ModelProgress[];
  readonly reply: Promise<ModelReply>;
}

const SETTINGS: ModelSettings = {
  name: 'm',
  id: 'm',
  offline: false,
  local: true,
  maxOutputTokens: 1000,
  contextWindow: undefined,
  replyLimits: {idleSeconds: 5, thinkingSeconds: 600},
  retry: {maxWaitSeconds: 10},
  clock: systemClock,
  redactor: new Redactor([{name: 'SOME_KEY', value: 'sk-1234567890'}]),
};

export function modelAt(server: ModelServer, change: Partial<ModelSettings> = {}): AnthropicModel {
  return new AnthropicModel(server, {...SETTINGS, ...change});
}

export function hello(change: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: 'system',
    tools: [],
    messages: [{role: 'user', content: 'hello'}],
    mayCallTools: true,
    signal: new AbortController().signal,
    ...change,
  };
}

export async function serve(script: Script): Promise<MessagesServer> {
  const server = await startMessagesServer(script);
  onTestFinished(() => server.close());
  return server;
}

export async function ask(
  script: Script,
  change: Partial<ModelSettings> = {},
  request: Partial<ModelRequest> = {},
): Promise<Asked> {
  const server = await serve(script);
  const progress: ModelProgress[] = [];
  const reply = modelAt({baseURL: server.url, apiKey: 'key'}, change).reply(
    hello(request),
    (step) => void progress.push(step),
  );
  reply.catch(() => undefined);
  return {server, progress, reply};
}

export const text = (words: string) => ({type: 'text' as const, text: words});
export const texts = (progress: readonly ModelProgress[]) =>
  progress.flatMap((step) => (step.type === 'text' ? [step.text] : [])).join('');
export const thoughts = (progress: readonly ModelProgress[]) =>
  progress.flatMap((step) => (step.type === 'thinking' ? [step.text] : [])).join('');
export const retries = (progress: readonly ModelProgress[]) => progress.filter((step) => step.type === 'retry').length;
