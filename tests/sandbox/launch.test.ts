/** The line that names the limit of the sandbox which got in a command's way. */
import {describe, expect, it} from 'vitest';
import {explainConfinement, type LaunchPlan} from '../../src/sandbox/launch/launch.ts';

const plan: LaunchPlan = {
  ...{file: 'bwrap', args: [], env: {}, launch: 'read-only', confinement: 'none', reaches: [], release: () => []},
  findHidden: (named) => (named.includes('.ssh') ? '/home/me/.ssh' : undefined),
};
const explain = (output: string, exitCode = 1, command = 'git log', more: Partial<LaunchPlan> = {}) =>
  explainConfinement({command, output, exitCode, plan: {...plan, ...more}});
const WRITING = '(the sandbox confined this command: the file system cannot be written and there is no network';

describe('the result of a confined command ends with a line that names the limit', () => {
  it.each([
    ['touch: cannot touch a: Read-only file system', 0, WRITING],
    ["x\ntouch: cannot touch 'a': Permission denied\ny", 0, WRITING],
    ['x: EROFS', 1, WRITING],
    ['[Errno 101] Network is unreachable', 0, WRITING],
    ["OSError: [Errno 30] Read-only file system: 'q'", 0, WRITING],
    ['<urlopen error [Errno -3] Temporary failure in name resolution>', 0, WRITING],
    [
      `requests.exceptions.ConnectionError: HTTPSConnectionPool(host='x.y', port=443): Max retries exceeded (Caused by NameResolutionError("<urllib3 at 0x1>: Failed to resolve 'x.y' ([Errno -3] Temporary failure in name resolution)"))`,
      0,
      WRITING,
    ],
    ["EROFS: read-only file system, open 'q'", 0, WRITING],
    ["node:fs:1\nError: EROFS: read-only file system, open 'q'\n    at open", 0, WRITING],
    ['  [cause]: Error: getaddrinfo ENOTFOUND example.com', 0, WRITING],
    ['getaddrinfo EAI_AGAIN example.com', 0, WRITING],
    ['connect ENETUNREACH 1.1.1.1:443 - Local (0.0.0.0:0)', 0, WRITING],
    ['npm error code EAI_AGAIN', 0, WRITING],
    [
      'npm error request to https://registry.npmjs.org/x failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org',
      0,
      WRITING,
    ],
    ['wget: unable to resolve host address \u2018example.com\u2019', 0, WRITING],
    ['go: x: Get "https://x": dial tcp: lookup x: Temporary failure in name resolution', 0, WRITING],
    ['Caused by:\n  Read-only file system (os error 30)', 0, WRITING],
    ["-e:1:in 'initialize': Read-only file system @ rb_sysopen - q (Errno::EROFS)", 0, WRITING],
    ["Error: ENOENT: no such file or directory, open '/home/me/.ssh/id'", 0, ': /home/me/.ssh is hidden'],
    ["FileNotFoundError: [Errno 2] No such file or directory: '/home/me/.ssh/id'", 0, ': /home/me/.ssh is hidden'],
    ['curl: (6) Could not resolve host: example.com', 6, WRITING],
    ['cat: /home/me/.ssh/config: No such file or directory', 0, ': /home/me/.ssh is hidden'],
    ["ls: cannot access '/home/me/.ssh': No such file or directory", 2, ': /home/me/.ssh is hidden'],
    ["Error: ENOENT: no such file or directory, open '/home/me/.ssh/id'", 1, ': /home/me/.ssh is hidden'],
    ['bash: line 1: rg: command not found', 127, 'of PATH it sees'],
    ['bash: line 1: rg: command not found\n0', 0, 'of PATH it sees'],
    ["bwrap: Can't chdir to /tmp/x: No such file or directory", 1, 'of PATH it sees'],
  ])('%j, exit code %i', (output, exitCode, limit) => {
    const line = explain(output, exitCode);
    expect(line).toContain(limit);
    expect(line).toMatch(/unconfined: true asks the user to run it outside\)$/);
    expect(line).not.toContain('\n');
  });

  it('when a command that needs the network failed without a word', () => {
    expect(explain('', 6, 'curl -s example.com')).toContain('there is no network');
    expect(explain('', 0, 'curl --version')).toBeUndefined();
  });

  it('for its profile, with unconfined only for agents that may leave the sandbox', () => {
    const output = 'touch: cannot touch a: Read-only file system';
    expect(explain(output, 1, 'x', {confinement: 'read-only'})).toBe(
      '(this agent is read-only: the file system cannot be written and there is no network)',
    );
    const writing = explain(output, 1, 'x', {
      launch: 'workspace-write',
      confinement: 'workspace-write',
      reaches: ['a.b'],
    });
    expect(writing).toMatch(
      /only the workspace can be written.*of the network only a\.b; keys are hidden\. unconfined/,
    );
    const worktree = explain(output, 1, 'x', {launch: 'workspace-write', confinement: 'worktree'});
    expect(worktree).toMatch(/only your worktree can be written.*keys are hidden\)$/);
  });

  it('not when it failed for another reason, was not confined, or printed such words from a file', () => {
    expect(explain('fatal: ambiguous argument x')).toBeUndefined();
    expect(explain('cat: nofile: No such file or directory')).toBeUndefined();
    expect(explain('Permission denied', 1, 'ls', {launch: 'plain'})).toBeUndefined();
    for (const prose of [
      'src/a.ts:1: if (permission denied) return;',
      'note: Read-only file system is a word',
      'EROFS: read-only file system, which means that nothing can be written.',
      '- EROFS means a read-only file system, ENOTFOUND an unknown host.',
      'It prints `OSError: [Errno 30] Read-only file system` then.',
      'note: after [Errno 101] Network is unreachable, try again.',
      'note: this fails on a read-only file system (see below), or with getaddrinfo ENOTFOUND host names.',
      "const codes = ['EROFS', 'EAI_AGAIN'];",
    ])
      expect(explain(prose, 0), prose).toBeUndefined();
  });
});
