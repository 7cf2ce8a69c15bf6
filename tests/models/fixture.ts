/** A model behind a scripted server, asked once. */
import {onTestFinished} from 'vitest';
import type {ModelProgress, ModelReply, ModelRequest} from '../../src/core/contract/model.ts';
import {Redactor} from '../../src/core/secrets/redaction.ts';
import {systemClock} from '../../src/core/turn/run-limits.ts';
import {createMessagesProtocol} from '../../src/models/anthropic/protocol.ts';
import {createContextSize} from '../../src/models/context-size.ts';
import {PriceList} from '../../src/models/prices.ts';
import type {ModelServer, Protocol, ServerWords} from '../../src/models/protocol.ts';
import {
  createServerModel,
  type ServerModel,
  type ModelSettings as ServerModelSettings,
} from '../../src/models/server-model.ts';
import {type MessagesServer, type Script, startMessagesServer} from '../support/messages-server.ts';

export interface Asked {
  readonly server: MessagesServer;
  readonly progress: ModelProgress[];
  readonly reply: Promise<ModelReply>;
}

/** `contextWindow` is what the settings say of it. Tokens. */
export type ModelSettings = Omit<ServerModelSettings, 'contextSize'> & {readonly contextWindow?: number | undefined};

const SETTINGS: ModelSettings = {
  name: 'm',
  id: 'm',
  local: true,
  maxOutputTokens: 1000,
  replyLimits: {idleSeconds: 400, thinkingSeconds: 600},
  maxWaitSeconds: 10,
  clock: systemClock,
  prices: new PriceList({}),
};

const redactor = new Redactor([{name: 'SOME_KEY', value: 'sk-1234567890'}]);

export function modelAt(
  server: ModelServer,
  change: Partial<ModelSettings> = {},
  createProtocol: (server: ModelServer, words: ServerWords) => Promise<Protocol> | Protocol = createMessagesProtocol,
): ServerModel {
  const {contextWindow, ...settings} = {...SETTINGS, ...change};
  const words = {host: new URL(server.baseURL).host, key: 'ANTHROPIC_API_KEY', address: 'ANTHROPIC_BASE_URL', redactor};
  const protocol = Promise.resolve(createProtocol(server, words));
  const ask = async () => (await protocol).askContextWindow(settings.id);
  const contextSize = createContextSize(settings.id, contextWindow, ask);
  return createServerModel({...settings, contextSize}, () => protocol);
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
