/**
 * Sessions of the built program that the official Agent SDK drives. The SDK is installed from npm, by its checksum, and is
 * never a dependency: its licence is not open.
 *
 * `MINI_CC_SDK_PROGRAM=FILE` lets another program answer, to compare; `MINI_CC_SDK_VERSION=0.2.0` takes an older SDK.
 */
import {mkdtempSync, realpathSync, rmSync} from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {afterAll, beforeAll} from 'vitest';
import {home as makeHome, project, serve} from '../../e2e/fixture.ts';
import type {Home} from '../../support/environment.ts';
import {type Reply, type RequestBlock, type Script, say} from '../../support/messages-server.ts';
import {buildOnce, cliEnvironment, cliPath} from '../../support/run-cli.ts';
import {installPackages} from '../downloads.ts';

const NEWEST = '0.3.330';
const INTEGRITY: Readonly<Record<string, string>> = {
  [NEWEST]: 'sha512-7om9Xus6tfkeCUCfzg6ilJuN6Z7okkEvJ0mx+ukXa/Id5U/6BGtPkOYni+3ebedwa3b9SVF7A05+ln+/9EoU/w==',
  '0.3.300': 'sha512-3NGPEUj+VTMQAQ0vaUUQtrce6rNb9a4XhY8QKIOLUp9mDkdbwrrjjD9oMKcDpcLhFKqZdTc02RBUo55GrbY9CA==',
  '0.2.0': 'sha512-7ywAH1/yclqR4y1hQ1RZbYvqpP5paFpWK77rjE+il/HCzLZGCWCelob8S7PEBju++ad6uSiZzMLkF+oPnZoDiQ==',
};
const {MINI_CC_SDK_VERSION: VERSION = NEWEST} = process.env;
const MINUTES = 60_000;

// biome-ignore lint/suspicious/noExplicitAny: another program's messages
export type Any = any;

/** The SDK and zod, once `loadSdk` has loaded them. */
export const loaded: {sdk: Any; zod: Any} = {sdk: undefined, zod: undefined};

/** The SDK sets them in its own process. */
const SET_BY_SDK = ['CLAUDE_AGENT_SDK_VERSION', 'NoDefaultCurrentDirectoryInExePath'];

/** Call it once in each file. */
export function loadSdk(): void {
  const folder = realpathSync(mkdtempSync('/var/tmp/mini-cc-agent-sdk-'));
  beforeAll(async () => {
    await buildOnce();
    installPackages({[`@anthropic-ai/claude-agent-sdk@${VERSION}`]: INTEGRITY[VERSION]!}, folder);
    const load = (file: string) => import(pathToFileURL(path.join(folder, 'node_modules', file)).href);
    [loaded.sdk, {z: loaded.zod}] = await Promise.all([
      load('@anthropic-ai/claude-agent-sdk/sdk.mjs'),
      load('zod/index.js'),
    ]);
  }, 5 * MINUTES);
  afterAll(() => {
    for (const name of SET_BY_SDK) delete process.env[name];
    rmSync(folder, {recursive: true, force: true});
  });
}

export interface Place {
  readonly cwd: string;
  readonly home: Home;
}

export const makePlace = async (): Promise<Place> => ({cwd: (await project()).path, home: await makeHome()});

/**
 * Lets the SDK ask, and reads all messages of the session in order.
 * @param onMessage gets each message, with the session whose methods it may call
 */
export async function drive(
  script: Script,
  prompt: unknown = 'go',
  {env: more, ...options}: Any = {},
  onMessage: (message: Any, session: Any) => unknown = () => undefined,
  place?: Place,
) {
  const server = await serve(script);
  const {cwd, home} = place ?? (await makePlace());
  const env = {...cliEnvironment(home, {server}), ...more};
  const session = loaded.sdk.query({
    prompt,
    options: {
      pathToClaudeCodeExecutable: process.env.MINI_CC_SDK_PROGRAM ?? cliPath,
      ...(!process.env.MINI_CC_SDK_PROGRAM && {executable: process.execPath}),
      cwd,
      env,
      ...options,
    },
  });
  const messages: Any[] = [];
  // After a result that is an error the SDK throws: that is then the last thing it does.
  let failure: Any;
  try {
    for await (const message of session) {
      messages.push(message);
      await onMessage(message, session);
    }
  } catch (error) {
    failure = error;
  }
  const result = messages.findLast(isResult);
  if (failure && !result?.is_error) throw failure;
  return {
    messages,
    server,
    result,
    failure,
    cwd,
    home,
    init: messages.find(({subtype}) => subtype === 'init'),
    bodies: server.requests.map(({body}) => body),
  };
}

export const isResult = ({type}: Any) => type === 'result';

export const user = (content: Any, more: object = {}) => ({
  type: 'user',
  message: {role: 'user', content},
  parent_tool_use_id: null,
  session_id: '',
  ...more,
});

/** Calls methods of a session between its first answer and a second prompt. */
export async function between(
  act: (session: Any, place: Place) => unknown,
  script: Script = [say('a'), say('b')],
  options: Any = {},
) {
  const place = await makePlace();
  const answered = Promise.withResolvers<void>();
  async function* prompts() {
    yield user('one');
    await answered.promise;
    yield user('two');
  }
  let value: Any;
  let hasActed = false;
  const driven = await drive(
    script,
    prompts(),
    options,
    async (message, session) => {
      if (!isResult(message) || hasActed) return;
      hasActed = true;
      try {
        value = await act(session, place);
      } finally {
        answered.resolve();
      }
    },
    place,
  );
  return {...driven, value};
}

/** The text of a request's messages, with results of tools. */
export const told = (body: Any): string => JSON.stringify(body?.messages);

/** The results of tools that the request brings back. */
export const results = (body: Any): RequestBlock[] =>
  (body?.messages ?? []).flatMap(({content}: Any) =>
    Array.isArray(content) ? content.filter(({type}: Any) => type === 'tool_result') : [],
  );

/** Names of the tools that the model is offered. */
export const offered = (body: Any): string[] => (body?.tools ?? []).map(({name}: Any) => name);

/**
 * A main agent that makes one call of Task and then answers, and a subagent that plays these replies.
 * @param task fields of the call beside the agent
 */
export function withTask(agent: string, replies: readonly Reply[] = [say('found')], task: object = {}): Script {
  let main = 0;
  let sub = 0;
  return (body) => {
    const isMain = body.tools?.some(({name}) => name === 'Task' || name === 'Agent');
    if (!isMain) return replies[Math.min(sub++, replies.length - 1)]!;
    main += 1;
    if (main > 1) return say('done');
    const input = {description: 'look', prompt: 'look around', agent_type: agent, subagent_type: agent, ...task};
    return {
      type: 'message',
      blocks: [{type: 'tool_use', id: 'toolu_task_1', name: 'Task', input}],
      stopReason: 'tool_use',
    };
  };
}

/** The first request of a subagent. */
export const subagentBody = (bodies: readonly Any[]) => bodies.find((body) => !offered(body).includes('Task'));
