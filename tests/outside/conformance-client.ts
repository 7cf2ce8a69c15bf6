/**
 * The client that the conformance suite of the protocol starts: mini-cc's own servers, with a person who logs in by a browser
 * that follows redirects and keeps what a form offers. The suite gives the address as the last argument.
 */
import {tmpdir} from 'node:os';
import type {ToolContext} from '../../src/core/contract/tool.ts';
import {joinEntries} from '../../src/extensions/mcp/entry-files.ts';
import {LoginStore} from '../../src/extensions/mcp/login-store.ts';
import {McpServers} from '../../src/extensions/mcp/servers.ts';
import {ProcessGroups} from '../../src/sandbox/launch/process-groups.ts';

interface Context {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly toolCalls?: readonly {readonly name: string; readonly arguments: object}[];
}

const url = process.argv.at(-1)!;
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
const {
  client_id: clientId,
  client_secret: secret,
  toolCalls,
} = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}') as Context;
const {signal} = new AbortController();
const oauth = {...(clientId && {clientId}), ...(secret && {clientSecretEnv: 'CONFORMANCE_SECRET'})};
const home = process.env.CONFORMANCE_HOME ?? tmpdir();

const mcp = new McpServers({
  entries: joinEntries(
    [{from: 'the suite', servers: {suite: {type: 'http', url, ...(clientId && {oauth})}}}],
    () => true,
  ),
  env: {...(secret && {CONFORMANCE_SECRET: secret}), MCP_TIMEOUT: '20000', MCP_TOOL_TIMEOUT: '20000'},
  program: {cwd: home, env: {PATH: process.env.PATH!}, processes: new ProcessGroups()},
  getConfine: () => Promise.reject(new Error('no sandbox')),
  isForbidden: () => false,
  logins: new LoginStore(home),
  questions: {
    getRoots: () => [home],
    ask: async (question) => ({choice: question.enter ?? question.options?.[0]?.choice ?? question.escape}),
  },
  warn: (text) => console.error(text),
});

async function browse(address: string): Promise<string | undefined> {
  const {headers} = await fetch(address, {redirect: 'manual'});
  const to = headers.get('location');
  if (to === null) return undefined;
  return new URL(to, address).href;
}

const logIn = () => mcp.logIn('suite', signal, browse);
const source = mcp.forMain();

async function call(name: string, input: object): Promise<string> {
  const tool = source.find(`mcp__suite__${name.replace(/[^\w-]/g, '_')}`);
  if (!tool) return `no tool ${name}`;
  const context = {signal, callId: 'c1', emit: () => undefined} as unknown as ToolContext;
  const {content} = await tool.run(input, context).catch((error: Error) => ({content: error.message}));
  return typeof content === 'string' ? content : JSON.stringify(content);
}

/**
 * An example of an input that the schema allows. A tool of the suite takes the schema of its first tool, as the client has
 * it, to see that nothing of it was lost.
 */
function fillIn(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const properties = (schema.properties ?? {}) as Readonly<Record<string, {readonly type?: string}>>;
  const [object = {}] = schemas.values();
  const values: Readonly<Record<string, unknown>> = {number: 2, integer: 2, boolean: true, object, array: []};
  return Object.fromEntries(Object.entries(properties).map(([key, {type = ''}]) => [key, values[type] ?? 'text']));
}

await mcp.startAll();
console.error(JSON.stringify(mcp.list()));
if (mcp.get('suite').status === 'needs-auth') await logIn().catch((error: Error) => console.error(error.message));
const offered = source.list().filter(({name}) => name.startsWith('mcp__suite__'));
const schemas = new Map(offered.map(({name, inputSchema = {}}) => [name.slice('mcp__suite__'.length), inputSchema]));
const calls = toolCalls ?? [...schemas].map(([name, schema]) => ({name, arguments: fillIn(schema)}));
for (const {name, arguments: input} of calls) {
  let said = await call(name, input);
  console.error(name, said);
  for (let count = 0; count < 2 && /mcp login/.test(said); count += 1) {
    await logIn().catch((error: Error) => console.error(error.message));
    said = await call(name, input);
    console.error(name, said);
  }
}
await mcp.close();
console.error(`${scenario} ended`);
process.exit(0);
