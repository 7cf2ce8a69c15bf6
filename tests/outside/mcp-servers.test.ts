/**
 * The servers that people have: `everything`, `filesystem` and `memory` of the makers of the protocol, over pipes and over
 * HTTP. Installed from npm into a scratch folder, by their checksums. `npm run test:outside`; it needs the network.
 */
import {type ChildProcess, spawn} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import path from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';

import {home as createHome, project, serve} from '../e2e/fixture.ts';
import {call, openServers} from '../extensions/mcp/fixture.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool, say} from '../support/scripted-replies.ts';
import {installPackages} from './downloads.ts';

const SERVERS = {
  '@modelcontextprotocol/server-everything@2026.8.31':
    'sha512-5U3OZh8Xq0Li4nA26l6uNvV9/1suMDuWSn+NjLZIhzinhMY6N3A4DCrxVecBGPf2PsNFKTEv5krxGPRwzxc7jQ==',
  '@modelcontextprotocol/server-filesystem@2026.8.31':
    'sha512-kKaFkyAh6oipvc9+EAbJ552JafnMnOq5nzmzWkp1jJdBhTAAGpmIpWihUG1+rfNhmEFM98gUZDdCHCDD4v6a7Q==',
  '@modelcontextprotocol/server-memory@2026.8.31':
    'sha512-ljj/3S4aGjxdNSQWw6gucKKGnTLdBPWxzapyY/MT2tOVyZwvxChvevXSLPwx59nKJAlVpUVW+cOlnVRXRwiqMQ==',
};
const MINUTES = 60_000;

const folder = realpathSync(mkdtempSync('/var/tmp/mini-cc-mcp-servers-'));
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, {recursive: true, force: true});
});
beforeAll(() => installPackages(SERVERS, folder), 5 * MINUTES);

const server = (name: string) =>
  path.join(folder, 'node_modules/@modelcontextprotocol', `server-${name}`, 'dist/index.js');
const entry = (name: string, ...args: string[]) => ({command: process.execPath, args: [server(name), ...args]});
const patient = {env: {MCP_TIMEOUT: '30000', MCP_TOOL_TIMEOUT: '30000'}};
const {signal} = new AbortController();

test(
  'everything: tools, images, progress, structured content, resources and prompts',
  async () => {
    const {mcp} = openServers({everything: entry('everything')}, patient);
    const source = mcp.forMain();
    const everything = (name: string, input: object = {}) => call(source, `mcp__everything__${name}`, input);
    expect((await everything('echo', {message: 'hi'})).text).toBe('Echo: hi');
    expect((await everything('get-sum', {a: 2, b: 3})).text).toMatch(/5/);
    expect((await everything('get-sum', {a: 'two'})).isError).toBe(true);
    const image = await everything('get-tiny-image');
    expect(image.content).toContainEqual(expect.objectContaining({type: 'image'}));
    expect((await everything('get-structured-content', {location: 'New York'})).text).toMatch(/temperature/);
    expect((await everything('trigger-long-running-operation', {duration: 1, steps: 2})).text).toMatch(/completed/i);
    expect((await everything('get-resource-reference', {resourceType: 'Text', resourceId: 1})).text).toMatch(
      /resource/i,
    );
    // Its environment has no key of mini-cc: it gets what programs of the session get.
    expect((await everything('get-env')).text).not.toMatch(/ANTHROPIC/);
    expect(await source.readMention('everything:demo://resource/dynamic/text/1', signal)).toMatch(/plaintext|text/i);
    expect(mcp.commands().length).toBeGreaterThan(1);
    const prompt = await mcp
      .findCommand('mcp__everything__simple-prompt')!
      .run({args: '', say: () => undefined, signal} as never);
    expect(prompt).toMatchObject({ok: true, prompt: {content: expect.stringMatching(/prompt/i)}});
  },
  2 * MINUTES,
);

test(
  'filesystem and memory: side by side, within what their entries name, and what memory knows outlives its process',
  async () => {
    const work = path.join(folder, 'work');
    mkdirSync(work);
    writeFileSync(path.join(work, 'a.txt'), 'alpha\n');
    const env = {MEMORY_FILE_PATH: path.join(folder, 'memory.jsonl')};
    const servers = {files: entry('filesystem', work), memory: {...entry('memory'), env}};
    const first = openServers(servers, patient).mcp;
    const source = first.forMain();
    const {text} = await call(source, 'tool_search', {query: 'read a text file'});
    expect(text).toMatch(/mcp__files__read_text_file/);
    // What a search brings of more tools is tried with a played server: these are few enough.
    expect(source.list().map(({name}) => name)).toContain('mcp__memory__create_entities');
    expect((await call(source, 'mcp__files__read_text_file', {path: path.join(work, 'a.txt')})).text).toMatch(/alpha/);
    expect(await call(source, 'mcp__files__read_text_file', {path: '/etc/passwd'})).toMatchObject({
      isError: true,
      text: expect.stringMatching(/Access denied/),
    });
    const ada = {name: 'Ada', entityType: 'person', observations: ['likes engines']};
    await call(source, 'mcp__memory__create_entities', {entities: [ada]});
    await first.reconnect('memory');
    expect((await call(source, 'mcp__memory__search_nodes', {query: 'engines'})).text).toMatch(/Ada/);
  },
  2 * MINUTES,
);

test(
  'everything over HTTP',
  async () => {
    const port = await findPort();
    children.push(
      spawn(process.execPath, [server('everything'), 'streamableHttp'], {
        env: {...process.env, PORT: String(port)},
        stdio: 'ignore',
      }),
    );
    const url = `http://127.0.0.1:${port}/mcp`;
    await expect
      .poll(
        () =>
          fetch(url).then(
            ({status}) => status,
            () => 0,
          ),
        {timeout: 30_000},
      )
      .toBeGreaterThan(0);
    const source = openServers({far: {type: 'http', url}}, patient).mcp.forMain();
    expect((await call(source, 'mcp__far__echo', {message: 'hi'})).text).toBe('Echo: hi');
    expect((await call(source, 'mcp__far__get-tiny-image')).content).toContainEqual(
      expect.objectContaining({type: 'image'}),
    );
  },
  2 * MINUTES,
);

test(
  'a session of the built program uses what .mcp.json names',
  async () => {
    const [{path: cwd}, home] = [await project(), await createHome()];
    const mcpServers = {
      files: entry('filesystem', '${HERE:-.}'),
      everything: entry('everything'),
      memory: entry('memory'),
    };
    writeFileSync(path.join(cwd, '.mcp.json'), JSON.stringify({mcpServers}));
    const model = await serve([
      callTool('tool_search', {query: 'write a file', server: 'files'}),
      callTool('mcp__files__write_file', {path: path.join(cwd, 'made.txt'), content: 'by a server'}),
      say('done'),
    ]);
    const run = await runCli(['-p', 'go', '--trust', '--allowed-tools', 'mcp__files'], {server: model, cwd, home});
    expect(run).toMatchObject({code: 0, stdout: 'done\n'});
    expect(readFileSync(path.join(cwd, 'made.txt'), 'utf8')).toBe('by a server');
    // The three of them together are 36 tools; until one was needed their names were all that was told.
    expect(model.requests[0]!.body.tools!.filter(({name}) => name.startsWith('mcp__'))).toEqual([]);
  },
  2 * MINUTES,
);

function findPort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
