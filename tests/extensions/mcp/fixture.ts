/** The MCP servers of a session, with played servers, and calls of their tools without a model. */
import {mkdtempSync, readFileSync, realpathSync, rmSync} from 'node:fs';
import path from 'node:path';
import {onTestFinished} from 'vitest';
import type {Access} from '../../../src/core/contract/permission.ts';
import type {ToolResult} from '../../../src/core/contract/results.ts';
import type {ToolContext, ToolSource} from '../../../src/core/contract/tool.ts';
import {joinEntries} from '../../../src/extensions/mcp/entry-files.ts';
import {LoginStore} from '../../../src/extensions/mcp/login-store.ts';
import {type McpOptions, McpServers} from '../../../src/extensions/mcp/servers.ts';
import {ProcessGroups} from '../../../src/sandbox/launch/process-groups.ts';

export const PLAYED = path.join(import.meta.dirname, 'played-server.mjs');

export function workFolder(): string {
  const folder = realpathSync(mkdtempSync('/var/tmp/mini-cc-mcp-'));
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}));
  return folder;
}

/** @param words how the server behaves */
export const played = (log: string, ...words: string[]) => ({
  command: process.execPath,
  args: [PLAYED, ...words],
  env: {LOG: log},
});

export function openServers(servers: Record<string, unknown>, options: Partial<McpOptions> = {}) {
  const warnings: string[] = [];
  const mcp = new McpServers({
    entries: joinEntries([{from: 'a test', servers}], () => true),
    env: {MCP_TIMEOUT: '60000', MCP_TOOL_TIMEOUT: '30000'},
    program: {cwd: '/var/tmp', env: {PATH: process.env.PATH!}, processes: new ProcessGroups()},
    getConfine: () => Promise.reject(new Error('no sandbox')),
    isForbidden: () => false,
    logins: new LoginStore(workFolder()),
    questions: {getRoots: () => ['/var/tmp']},
    warn: (text) => warnings.push(text),
    ...options,
  });
  onTestFinished(() => mcp.close());
  return {mcp, warnings};
}

/** Calls a tool as `runToolCalls` does. An error is a text, too. */
export async function call(
  source: ToolSource,
  name: string,
  input: object = {},
  signal = new AbortController().signal,
): Promise<ToolResult & {readonly text: string}> {
  const tool = source.find(name);
  if (!tool) return {content: '', isError: true, text: `no tool ${name}`};
  const context = {signal, callId: 'c1', emit: () => undefined} as unknown as ToolContext;
  const result = await tool.run(input, context).catch((error: Error) => ({content: error.message, isError: true}));
  const {content} = result;
  return {...result, text: typeof content === 'string' ? content : JSON.stringify(content)};
}

export const accesses = (source: ToolSource, name: string, input: object = {}): readonly Access[] =>
  source.find(name)!.access(input, {} as never);

export const readLog = (file: string): string[] => {
  try {
    return readFileSync(file, 'utf8').trim().split('\n');
  } catch {
    return [];
  }
};
