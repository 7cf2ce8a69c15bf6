/** The filter of system calls, tested by confined commands. */
import {createServer} from 'node:net';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {createSandbox} from '../../src/sandbox/index.ts';
import {ProcessGroups} from '../../src/sandbox/launch/process-groups.ts';
import {seccompFilter} from '../../src/sandbox/seccomp.ts';
import {createBash} from '../../src/tools/bash/bash.ts';
import {hasSandbox} from '../support/sandbox.ts';
import {fixture} from '../tools/fixture.ts';

const sandbox = createSandbox({home: '/nonexistent', miniCcHome: '/nonexistent'});
const usable = (await hasSandbox()) && seccompFilter() !== undefined;

/** Makes system calls by their numbers in Perl, which is installed with git. */
async function perl(program: string, confinement: 'read-only' | 'none' = 'read-only') {
  const {call, workspace, put, root} = fixture();
  put({'try.pl': program});
  const bash = createBash(sandbox, new ProcessGroups());
  const confined = {...workspace, confinement};
  return {root, ...(await call(bash, {command: 'perl try.pl'}, {workspace: confined}))};
}

describe.runIf(usable)('a confined command', () => {
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

  test('can use Unix sockets when the settings allow them, unless its agent is read-only', async () => {
    const {call, workspace, put} = fixture();
    const open = createSandbox({home: '/nonexistent', miniCcHome: '/nonexistent', unixSockets: true});
    await open.status();
    const bash = createBash(open, new ProcessGroups());
    put({
      'try.pl': `use IO::Socket::UNIX;
my $file = "$ENV{TMPDIR}/own.sock";
my $server = IO::Socket::UNIX->new(Local => $file, Listen => 1) or die "refused: $!";
my $client = IO::Socket::UNIX->new(Peer => $file) or die "refused: $!";
print 'connected';`,
    });
    const confined = (confinement: 'read-only' | 'workspace-write') =>
      call(bash, {command: 'perl try.pl'}, {workspace: {...workspace, confinement}});
    expect((await confined('workspace-write')).text).toBe('connected');
    expect((await confined('read-only')).text).toContain('refused: Address family not supported');
  });

  test('gets a line about what to use instead of a socket file', async () => {
    const {text} = await perl(`my $s; socket($s, 1, 1, 0) or die "$!\n"; print 'open';`);
    expect(text).toContain('Unix sockets cannot be used here; ports of 127.0.0.1 can');
    expect(text).toContain('node --import tsx');
  });

  test.each([
    ['sockets of virtual machines', 'socket($s, 40, 1, 0)'],
    ['raw pairs that could be sent elsewhere', 'socketpair($s, $t, 1, 2, 0)'],
  ])('has no %s', async (_name, expression) => {
    const program = `my ($s, $t); print ${expression} ? 'open' : 'refused';`;
    expect((await perl(program)).text).toBe('refused');
  });

  test('can use socket pairs, which connect programs to their children, and sockets of its own network', async () => {
    const program = `my ($s, $t, $u); print socketpair($s, $t, 1, 1, 0) && socket($u, 2, 1, 0) ? 'open' : "refused: $!";`;
    expect((await perl(program)).text).toBe('open');
  });

  test.each([
    ['by chmod', 'open my $f, ">", "/tmp/f"; chmod 04755, "/tmp/f"'],
    ['by fchmod', 'open my $f, ">", "/tmp/f"; chmod 04700, $f'],
    ['at once', 'use Fcntl; sysopen my $f, "/tmp/f", O_CREAT | O_WRONLY, 04755'],
  ])('leaves no set-user-ID file %s', async (_name, expression) => {
    const {text} = await perl(
      `umask 0; print eval {${expression}} ? 'set' : "refused $!", -u '/tmp/f' ? ', set' : '';`,
    );
    expect(text).toMatch(/^refused Operation not permitted(?!, set)/);
  });

  test('can change other modes, and open files that exist', async () => {
    const program = `open my $f, '>', '/tmp/f'; mkdir '/tmp/d';
print chmod(02775, '/tmp/d') && chmod(0755, '/tmp/f') && open(my $g, '+<', '/tmp/f') ? 'open' : "refused $!";`;
    expect((await perl(program)).text).toBe('open');
  });

  test.runIf(process.arch === 'x64').each([
    ['key rings', 250],
    ['calls in rings', 425],
    ['files whose mode a filter cannot see', 437],
    ['calls by another convention', 0x40000000 + 41],
  ])('is refused %s', async (_name, number) => {
    const program = `print syscall(${number}, 1, 1, 0) < 0 ? "refused $!" : 'open';`;
    expect((await perl(program)).text).toMatch(/^refused (?:Operation not permitted|Function not implemented)/);
  });
});

test('the filter exists for x64 and arm64 and consists of whole steps', () => {
  expect(seccompFilter({architecture: 'x64'})!.length % 8).toBe(0);
  expect(seccompFilter({architecture: 'arm64'})).not.toEqual(seccompFilter({architecture: 'x64'}));
  expect(seccompFilter({architecture: 'riscv64'})).toBeUndefined();
});
