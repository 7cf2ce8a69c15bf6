/** The filter of system calls, as held commands meet it. */
import {createServer} from 'node:net';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {createSandbox} from '../../src/sandbox/index.ts';
import {seccompFilter} from '../../src/sandbox/seccomp.ts';
import {createBash} from '../../src/tools/bash.ts';
import {ProcessGroups} from '../../src/tools/process-groups.ts';
import {fixture} from '../tools/fixture.ts';

const sandbox = createSandbox({home: '/nonexistent', miniCcHome: '/nonexistent'});
const usable = (await sandbox.status()).available && seccompFilter() !== undefined;

/** Runs Perl, which every git brings along, by numbers of system calls. */
async function perl(program: string, confinement: 'read-only' | 'none' = 'read-only') {
  const {call, workspace, put, root} = fixture();
  put({'try.pl': program});
  const bash = createBash(sandbox, new ProcessGroups());
  const held = {...workspace, confinement};
  return {root, ...(await call(bash, {command: 'perl try.pl'}, {workspace: held}))};
}

describe.runIf(usable)('a held command', () => {
  test('cannot connect to a socket file, also in its own workspace', async () => {
    const {call, workspace, root} = fixture();
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.end('reached');
    });
    const file = join(root, 'engine.sock');
    await new Promise<void>((listening) => server.listen(file, listening));
    onTestFinished(() => void server.close());
    const command = `perl -MIO::Socket::UNIX -e 'my $s = IO::Socket::UNIX->new(Peer => "${file}") or die "no: $!"; print <$s>'`;
    const bash = createBash(sandbox, new ProcessGroups());
    expect((await call(bash, {command})).text).toBe('reached');
    const {text} = await call(bash, {command}, {workspace: {...workspace, confinement: 'read-only'}});
    expect(text).toContain('Address family not supported');
    expect(text).toContain('(this agent is read-only');
    expect(connections).toBe(1);
  });

  test.each([
    ['sockets of virtual machines', 'socket($s, 40, 1, 0)'],
    ['raw pairs that could be sent elsewhere', 'socketpair($s, $t, 1, 2, 0)'],
  ])('has no %s', async (_name, expression) => {
    const program = `my ($s, $t); print ${expression} ? 'open' : 'refused';`;
    expect((await perl(program)).text).toBe('refused');
  });

  test('keeps pairs of sockets, which programs speak to their children by, and sockets of its own network', async () => {
    const program = `my ($s, $t, $u); print socketpair($s, $t, 1, 1, 0) && socket($u, 2, 1, 0) ? 'open' : "refused: $!";`;
    expect((await perl(program)).text).toBe('open');
  });

  test.runIf(process.arch === 'x64').each([
    ['key rings', 250],
    ['calls in rings', 425],
    ['calls by another convention', 0x40000000 + 41],
  ])('is refused %s', async (_name, number) => {
    const program = `print syscall(${number}, 1, 1, 0) < 0 ? "refused $!" : 'open';`;
    expect((await perl(program)).text).toMatch(/^refused (?:Operation not permitted|Function not implemented)/);
  });
});

test('the filter is written for the processors that there are, and is whole steps', () => {
  expect(seccompFilter('x64')!.length % 8).toBe(0);
  expect(seccompFilter('arm64')).not.toEqual(seccompFilter('x64'));
  expect(seccompFilter('riscv64')).toBeUndefined();
});
