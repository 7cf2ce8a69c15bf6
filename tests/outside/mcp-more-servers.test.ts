/**
 * More servers that people have, one of the newest revision alone, and a real sign-in server (oidc-provider): installed
 * from npm into a scratch folder, by their checksums. `npm run test:outside`; it needs the network.
 */
import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {copyFileSync, mkdtempSync, realpathSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';

import {home as createHome, project} from '../e2e/fixture.ts';
import {call, openServers} from '../extensions/mcp/fixture.ts';
import {runCli, spawnCli} from '../support/run-cli.ts';
import {installPackages} from './downloads.ts';

const PACKAGES = {
  '@cyanheads/git-mcp-server@2.15.3':
    'sha512-+Bj0UvHAOCidGX7We1FYPXs/S751jOz6+aH44nR05BUEG4+Zu0hLLj7AjUKepqN99qHvXgqEzeSW+5utoYBQgA==',
  '@eslint/mcp@0.3.13':
    'sha512-pPdUOCoW9c1BJ13lFWvn9P7fHyPf5vd7wKUvPAQQenvkznuk2u62knGeK2+y7wE3t9KAJ9ExrmPZg5yj7+aDzQ==',
  '@hubspot/mcp-server@0.4.0':
    'sha512-nNNrqysJrCkPb8XWl3wd2d61nTLf8IAnfWOHag4FCSRKRjSXuIE/2h4GVUcPmVhJVaN7RsIq8C43BMFV+EI9GA==',
  '@modelcontextprotocol/server@2.4.0':
    'sha512-rgR9yxSaAJ+bcsi/XroT/S2AfPiIWloXAnrdfYSCms9ivVju0ishu/wW0J21Ho6+ZOR1r7RyeRbjiRuF87ix5Q==',
  '@modelcontextprotocol/server-sequential-thinking@2026.8.31':
    'sha512-/EMH++1j2e+VmHwpibw1IUPHxA0tcQY09Yo5/OIPwW/8irEKLAufJNGSZQhCK18n8TUvV6WwZyQOuaDKxe/CeQ==',
  '@notionhq/notion-mcp-server@2.5.2':
    'sha512-5nPSwHMnugSGAhSJS5vVIlMao+iTJO9HoWGpCnT8lJNrPy3rZMqs1V/CPiN4MuxF+5EBgRE/f/Tirl6Wfi75Mg==',
  '@upstash/context7-mcp@4.1.1':
    'sha512-fUARTIZGVKzlzQKDhKUg4aIQ3yEU/12STdfxJDDnLMSN7yyHiPvNHI05iFwxkv3vC8G76Wp27MwK6Jucl/C5pA==',
  'chrome-devtools-mcp@1.11.0':
    'sha512-CytJ/5tnzrS+J/74be2P5aCOsS/mmGRHys/Si+IYC4ucrbnWAmES/dYdxGJjeUCECRcoFUilZAysdjlwqUjXIA==',
  'oidc-provider@9.13.3':
    'sha512-WmNDX9dLeItBmIqGqspmX5u6Cc7VVMrKUw2InX2T16+bwUJ8m/N5rJ3Ed+YKxE5aZqLp4YqwEi6kMJx4Ui5ffw==',
};
const MINUTES = 60_000;
const folder = realpathSync(mkdtempSync('/var/tmp/mini-cc-mcp-more-'));
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, {recursive: true, force: true});
});
beforeAll(() => {
  installPackages(PACKAGES, folder);
  for (const name of ['newer-server.mjs', 'sign-in-server.mjs']) {
    copyFileSync(path.join(import.meta.dirname, name), path.join(folder, name));
  }
}, 8 * MINUTES);

const entry = (file: string, ...args: string[]) => ({
  command: process.execPath,
  args: [path.join(folder, 'node_modules', file), ...args],
});
const patient = {env: {MCP_TIMEOUT: '60000', MCP_TOOL_TIMEOUT: '30000'}};

test(
  'seven more servers start and list their tools; the one of the newest revision is used, too',
  async () => {
    const {mcp} = openServers(
      {
        git: entry('@cyanheads/git-mcp-server/dist/index.js'),
        eslint: entry('@eslint/mcp/src/mcp-cli.js'),
        hubspot: {...entry('@hubspot/mcp-server/dist/index.js'), env: {PRIVATE_APP_ACCESS_TOKEN: 'none'}},
        thinking: entry('@modelcontextprotocol/server-sequential-thinking/dist/index.js'),
        notion: entry('@notionhq/notion-mcp-server/bin/cli.mjs'),
        context7: entry('@upstash/context7-mcp/dist/index.js'),
        devtools: entry('chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js', '--no-usage-statistics'),
        newer: {command: process.execPath, args: [path.join(folder, 'newer-server.mjs')]},
      },
      patient,
    );
    await mcp.startAll();
    const found = mcp.list().map(({name, status, tools, problem}) => [name, status, tools.length > 0, problem]);
    expect(found.filter(([, status, hasTools]) => status !== 'connected' || !hasTools)).toEqual([]);
    expect(found).toHaveLength(8);
    const source = mcp.forMain();
    expect((await call(source, 'mcp__newer__double', {n: 21})).text).toBe('42');
    const thought = {thought: 'one', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1};
    expect((await call(source, 'mcp__thinking__sequentialthinking', thought)).isError ?? false).toBe(false);
  },
  3 * MINUTES,
);

/** A browser: it follows redirects and keeps cookies. */
async function browse(address: string): Promise<void> {
  const cookies = new Map<string, string>();
  let next: string | null = address;
  for (let step = 0; next !== null && step < 12; step += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response: Response = await fetch(next, {redirect: 'manual', headers: {cookie}});
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = line.split(';')[0]!.split(/=(.*)/s);
      cookies.set(name, value);
    }
    const to: string | null = response.headers.get('location');
    next = to === null ? null : new URL(to, next).href;
  }
}

test(
  'a login by oidc-provider: found, registered, consented, used',
  async () => {
    const server = spawn(process.execPath, ['sign-in-server.mjs', '0'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    children.push(server);
    let printed = '';
    server.stdout.on('data', (text) => (printed += text));
    await expect.poll(() => printed, {timeout: MINUTES}).toMatch(/^http:\S+$/m);
    const [base] = /^http:\S+$/m.exec(printed)!;
    const [{path: cwd}, home] = [await project(), await createHome()];
    writeFileSync(
      path.join(cwd, '.mcp.json'),
      JSON.stringify({mcpServers: {closed: {type: 'http', url: `${base}/mcp`}}}),
    );
    const login = await spawnCli(['mcp', 'login', 'closed', '--trust'], {cwd, home});
    const ended = once(login, 'close');
    let told = '';
    for (const stream of [login.stdout, login.stderr]) stream.on('data', (text) => (told += text));
    await expect.poll(() => told, {timeout: MINUTES}).toMatch(/^http:\S+\n/m);
    await browse(/^http:\S+/m.exec(told)![0]);
    expect([(await ended)[0], told]).toEqual([0, expect.stringMatching(/Logged in\. closed: connected, 1 tool/)]);
    const listed = await runCli(['mcp', 'list'], {cwd, home});
    expect(listed.stdout).toContain('closed: connected, 1 tool');
  },
  3 * MINUTES,
);
