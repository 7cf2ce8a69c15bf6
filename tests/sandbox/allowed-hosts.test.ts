/** Which hosts confined commands reach, by real connections to servers on this machine. */
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import type {Workspace} from '../../src/core/contract/permission.ts';
import {isAllowed} from '../../src/sandbox/allowed-hosts.ts';
import {createSandbox} from '../../src/sandbox/index.ts';
import {ProcessGroups} from '../../src/sandbox/launch/process-groups.ts';
import {createBash} from '../../src/tools/bash/bash.ts';
import {hasSandbox} from '../support/sandbox.ts';
import {fixture} from '../tools/fixture.ts';

const usable = await hasSandbox();

async function reaching(
  names: readonly string[],
  mayResolveTo: (host: string, address: string) => boolean = () => true,
) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    request.pipe(response);
    if (request.method === 'GET') response.end(`served ${request.url}`);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  const {port} = server.address() as AddressInfo;
  const {call, workspace, root} = fixture();
  const home = join(root, '../home');
  const sandbox = createSandbox({home, miniCcHome: join(home, '.mini-cc'), hosts: {names, mayResolveTo}});
  const bash = createBash(sandbox, new ProcessGroups());
  const confined = {...workspace, confinement: 'workspace-write' as const};
  const run = (command: string, more: Partial<Workspace> = {}, mayBegin?: Promise<boolean>) =>
    call(
      bash,
      {command: command.replaceAll('@PORT', String(port)), timeout_seconds: 20},
      {
        workspace: Object.keys(more).length === 0 ? confined : {...confined, ...more},
        ...(mayBegin && {mayBegin}),
      },
    );
  return {run, asked, confined, root};
}

describe.runIf(usable)('a confined command', () => {
  test('reaches an allowed host, by plain requests and through a tunnel', async () => {
    const {run, asked} = await reaching(['localhost']);
    expect((await run('curl -sS http://localhost:@PORT/a')).text).toBe('served /a');
    expect((await run('curl -sS --proxytunnel http://localhost:@PORT/b')).text).toBe('served /b');
    expect((await run('seq 1 50000 | curl -sS --data-binary @- http://localhost:@PORT/c | tail -1')).text).toBe(
      '50000',
    );
    expect(asked).toEqual(['GET /a', 'GET /b', 'POST /c']);
  });

  test('reaches no other host, and its result names the allowed ones', async () => {
    const {run, asked} = await reaching(['example.org']);
    const {text} = await run('curl -sSf http://localhost:@PORT/a; curl -sS --proxytunnel http://127.0.0.1:@PORT/b');
    expect(text).toContain('of the network only example.org; keys are hidden');
    await run(
      'curl -sS --noproxy "*" http://127.0.0.1:@PORT/c; echo x > /dev/tcp/127.0.0.1/@PORT; unset http_proxy; curl -s http://localhost:@PORT/d',
    );
    expect(asked).toEqual([]);
  });

  test('reaches an allowed name only when it resolves to a public address', async () => {
    const {run, asked} = await reaching(['localhost'], () => false);
    expect((await run('curl -sS http://localhost:@PORT/a')).text).toContain('this host was not reached');
    expect(asked).toEqual([]);
  });

  test('of a read-only agent reaches nothing', async () => {
    const {run, asked} = await reaching(['localhost']);
    await run('curl -sS http://localhost:@PORT/a', {confinement: 'read-only'});
    expect(asked).toEqual([]);
  });

  test('that may not begin yet waits in the sandbox, and its output is its own alone', async () => {
    const {run} = await reaching(['localhost']);
    const {promise, resolve} = Promise.withResolvers<boolean>();
    const ended = run('curl -sS http://localhost:@PORT/late; [ -e /proc/self/fd/6 ] || echo closed', {}, promise);
    resolve(true);
    expect((await ended).text).toBe('served /lateclosed');
  });

  test('has its exit code, working directory and time limit as usual', async () => {
    const {run, confined, root} = await reaching(['localhost']);
    expect((await run('mkdir sub; cd sub; exit 3')).text).toBe('exit code 3');
    expect(confined.cwd).toBe(join(root, 'sub'));
    expect((await run('kill -KILL $$')).text).toBe('ended by SIGKILL (exit code 137)');
    expect((await run('echo out; echo err >&2; cat; [ -e /proc/self/fd/5 ] || echo closed')).text).toBe(
      'out\nerr\nclosed',
    );
  });
});

test('a name with a star allows all subdomains but not the name itself', () => {
  const hosts = {names: ['example.com', '*.npmjs.org', '192.0.2.1'], mayResolveTo: () => true};
  const allowed = ['example.com', 'EXAMPLE.com', 'example.com.', 'registry.npmjs.org', 'a.b.npmjs.org', '192.0.2.1'];
  expect(allowed.filter((host) => !isAllowed(host, hosts))).toEqual([]);
  const refused = ['www.example.com', 'npmjs.org', 'evilnpmjs.org', 'example.com.evil.org', '192.0.2.10', ''];
  expect(refused.filter((host) => isAllowed(host, hosts))).toEqual([]);
});
