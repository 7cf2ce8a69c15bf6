/** Logins to servers at addresses, by the built program: in the browser, again when rights are missing, and forgotten. */
import {once} from 'node:events';
import {readFileSync, statSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, it} from 'vitest';
import {home as createHome, project, serve} from '../../e2e/fixture.ts';
import {runCli, spawnCli} from '../../support/run-cli.ts';
import {callTool, say} from '../../support/scripted-replies.ts';
import {serveWithLogin} from './sign-in-server.ts';

async function setUp() {
  const closed = await serveWithLogin();
  const [{path: cwd}, home] = [await project(), await createHome()];
  writeFileSync(path.join(cwd, '.mcp.json'), JSON.stringify({mcpServers: {closed: {type: 'http', url: closed.url}}}));
  const prompt = async () => {
    const model = await serve([callTool('mcp__closed__say', {}), say('done')]);
    await runCli(['-p', 'go', '--trust', '--allowed-tools', 'mcp__closed'], {server: model, cwd, home});
    return JSON.stringify(model.requests[1]!.body.messages.at(-1));
  };
  /** @param how what the person does with the address */
  const logIn = async (how: (address: string, paste: (text: string) => void) => Promise<unknown>) => {
    const login = await spawnCli(['mcp', 'login', 'closed', '--trust'], {cwd, home});
    const ended = once(login, 'close');
    let told = '';
    for (const stream of [login.stdout, login.stderr]) stream.on('data', (text) => (told += text));
    await expect.poll(() => told).toMatch(/^http:\S+\n/m);
    await how(/^http:\S+/m.exec(told)![0], (text) => login.stdin.write(`${text}\n`));
    return {code: (await ended)[0], told};
  };
  return {closed, cwd, home, prompt, logIn, file: path.join(home.path, '.mini-cc', 'mcp-logins.json')};
}

const browse = (address: string) => fetch(address);
/** A browser that cannot reach this machine: the person copies the address at which it ended. */
const copyEnd = async (address: string, paste: (text: string) => void) =>
  paste((await fetch(address, {redirect: 'manual'})).headers.get('location')!);

it('logs in by a browser; a session uses, refreshes and redacts the tokens, and logout forgets them', async () => {
  const {closed, cwd, home, prompt, logIn, file} = await setUp();
  expect(await prompt()).toContain('it wants a login: /mcp login closed, or mini-cc mcp login closed');
  // Nothing was asked of the sign-in server before the person did.
  expect(closed.seen).toEqual([]);
  expect(await logIn(browse)).toMatchObject({
    code: 0,
    told: expect.stringMatching(/Logged in\. closed: connected, 1 tool/),
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await prompt()).toContain(`it is Bearer ${closed.known.issued[0]}`);
  closed.forgetAccess();
  expect(await prompt()).toContain(`it is Bearer ${closed.known.issued[2]}`);
  expect(closed.seen).toEqual(['authorization_code', 'refresh_token']);
  const stored = await runCli(['sessions', 'list', '--json'], {cwd, home});
  const [{transcript}] = JSON.parse(stored.stdout) as [{transcript: string}];
  expect(readFileSync(transcript, 'utf8')).toContain('it is Bearer [redacted: MCP_LOGIN]');
  closed.forgetAll();
  expect(await prompt()).toContain('it wants a login');
  const out = await runCli(['mcp', 'logout', 'closed', '--trust'], {cwd, home});
  expect(out).toMatchObject({code: 0, stdout: 'There was no login to closed.\n'});
});

it('takes the pasted address, refuses that of another login, and asks for the rights that were missing', async () => {
  const {closed, cwd, home, prompt, logIn, file} = await setUp();
  const forged = await logIn(async (_, paste) => paste('http://localhost:1/callback?code=x&state=y'));
  expect(forged).toMatchObject({code: 1, told: expect.stringContaining('the answer belongs to another login')});
  expect(await logIn(copyEnd)).toMatchObject({code: 0});
  closed.known.wantedScope = 'read write';
  expect(await prompt()).toContain('it wants more rights than the login has (read write)');
  const again = await logIn(async (address) => {
    expect(new URL(address).searchParams.get('scope')).toBe('read write');
    await browse(address);
  });
  expect(again).toMatchObject({code: 0});
  expect(await prompt()).toContain('it is Bearer');
  const out = await runCli(['mcp', 'logout', 'closed', '--trust'], {cwd, home});
  expect(out.stdout).toBe('Logged out of closed: its tokens are erased here.\n');
  expect(readFileSync(file, 'utf8')).not.toContain('access-');
});
