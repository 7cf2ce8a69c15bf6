/** Holds sessions with the built program by the official package's client side, as an editor does. */
import {readFileSync, writeFileSync} from 'node:fs';
import {Readable, Writable} from 'node:stream';
import {
  type ClientCapabilities,
  type ClientContext,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  client,
  methods,
  ndJsonStream,
  type PromptResponse,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk/unstable';
import {expect, onTestFinished} from 'vitest';
import {createHome} from '../support/environment.ts';
import {type CliOptions, spawnCli} from '../support/run-cli.ts';
import {PATIENCE_MS, within} from '../support/wait.ts';
import {createSchemaCheck} from './acp-schema.ts';

type AnyUpdate = SessionUpdate & Readonly<Record<string, unknown>>;
type Answer = (request: RequestPermissionRequest) => Promise<RequestPermissionResponse>;

interface EditorDisk {
  read(path: string): string | Promise<string>;
  write(path: string, text: string): void | Promise<void>;
}

export interface AcpClient {
  readonly agent: ClientContext;
  /** In their order, of all sessions. */
  readonly updates: readonly AnyUpdate[];
  readonly asked: readonly RequestPermissionRequest[];
  readonly stderr: () => string;
  /** How the person answers. Default: the first option. */
  answer: Answer;
  readonly forms: readonly CreateElicitationRequest[];
  /** How the person fills in a form. Default: declines. */
  fill: (form: CreateElicitationRequest) => CreateElicitationResponse;
  /** Reads and writes files of the editor. Default: as they are on disk. */
  files: EditorDisk;
  open(cwd: string): Promise<string>;
  prompt(sessionId: string, text: string): Promise<PromptResponse>;
  /** Of one kind, since `from`. */
  of<K extends SessionUpdate['sessionUpdate']>(kind: K, from?: number): Extract<SessionUpdate, {sessionUpdate: K}>[];
  /** What the agent said, joined. */
  said(from?: number): string;
  /** Waits for an update that is so, since `from`. */
  until(isIt: (update: SessionUpdate) => boolean, from?: number): Promise<void>;
  /** Closes the connection. @returns the exit code */
  end(): Promise<number | null>;
}

export const choose = (optionId: string): RequestPermissionResponse => ({outcome: {outcome: 'selected', optionId}});

export async function startAcp(
  args: readonly string[],
  options: CliOptions = {},
  clientCapabilities: ClientCapabilities = {},
): Promise<AcpClient> {
  const home = options.home ?? (await createHome());
  const child = await spawnCli(['acp', ...args], {...options, home});
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
    if (options.home === undefined) await home.remove();
    expect(schema.problems).toEqual([]);
  });
  const schema = createSchemaCheck();
  const {stdin} = child;
  const write = stdin.write.bind(stdin) as (...args: unknown[]) => boolean;
  stdin.write = (chunk: unknown, ...more: unknown[]) => {
    schema.noteSent(String(Buffer.from(chunk as Uint8Array)));
    return write(chunk, ...more);
  };
  let rest = '';
  child.stdout.on('data', (chunk) => {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      schema.checkReceived(line);
      // The package handles updates later than an answer that comes after them; the lines are in their order.
      const {method, params} = JSON.parse(line);
      if (method === methods.client.session.update) updates.push(params.update);
    }
    for (const look of [...waiters]) look();
  });
  const updates: AnyUpdate[] = [];
  const asked: RequestPermissionRequest[] = [];
  const forms: CreateElicitationRequest[] = [];
  const waiters = new Set<() => void>();
  const acp: AcpClient = {
    ...{updates, asked, forms, stderr: () => stderr},
    agent: undefined as never,
    answer: async ({options: [first]}) => choose(first!.optionId),
    fill: () => ({action: 'decline'}),
    files: {read: (path) => readFileSync(path, 'utf8'), write: (path, text) => writeFileSync(path, text)},
    open: async (cwd) => (await acp.agent.request(methods.agent.session.new, {cwd, mcpServers: []})).sessionId,
    prompt: (sessionId, text) =>
      acp.agent.request(methods.agent.session.prompt, {sessionId, prompt: [{type: 'text', text}]}),
    of: (kind, from = 0) => updates.slice(from).filter(({sessionUpdate}) => sessionUpdate === kind) as never,
    said: (from = 0) =>
      acp
        .of('agent_message_chunk', from)
        .map(({content}) => (content.type === 'text' ? content.text : ''))
        .join(''),
    until(isIt, from = 0) {
      const found = Promise.withResolvers<void>();
      const look = () => {
        if (updates.slice(from).some(isIt)) found.resolve();
      };
      waiters.add(look);
      look();
      const describe = () => `no such update\n${JSON.stringify(updates, null, 1)}\n${stderr}`;
      return within(found.promise, 2 * PATIENCE_MS, describe).finally(() => waiters.delete(look));
    },
    async end() {
      child.stdin.end();
      return exited;
    },
  };
  const stream = ndJsonStream(
    Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
  );
  const connection = client({name: 'tests'})
    .onRequest(methods.client.session.requestPermission, ({params}) => {
      asked.push(params);
      return acp.answer(params);
    })
    .onRequest(methods.client.elicitation.create, ({params}) => {
      forms.push(params);
      return acp.fill(params);
    })
    .onRequest(methods.client.fs.readTextFile, async ({params}) => ({content: await acp.files.read(params.path)}))
    .onRequest(methods.client.fs.writeTextFile, async ({params}) => {
      await acp.files.write(params.path, params.content);
      return {};
    })
    .onNotification(methods.client.session.update, () => undefined)
    .connect(stream);
  Object.assign(acp, {agent: connection.agent});
  await acp.agent.request(methods.agent.initialize, {protocolVersion: 1, clientCapabilities});
  return acp;
}
