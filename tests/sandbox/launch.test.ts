/** What the end of a confined command says about its confinement. */
import {describe, expect, it} from 'vitest';
import {isConfinementHit, type LaunchPlan} from '../../src/sandbox/launch/launch.ts';

const plan: LaunchPlan = {
  ...{file: 'bwrap', args: [], env: {}, launch: 'read-only', confinement: 'none', reaches: [], release: () => []},
  hidden: ['/home/me/.ssh'],
};
const isHit = (output: string, exitCode = 1, command = 'git log', more: Partial<LaunchPlan> = {}) =>
  isConfinementHit(command, output, {exitCode, plan: {...plan, ...more}});

describe('confinement got in the way', () => {
  it.each([
    ['touch: cannot touch a: Read-only file system', 0],
    ['cat: /home/me/.ssh/config: No such file or directory', 1],
    ['bash: line 1: rg: command not found', 127],
    ["bwrap: Can't chdir to /tmp/x: No such file or directory", 1],
  ])('when the output says: %s', (output, exitCode) => expect(isHit(output, exitCode)).toBe(true));

  it('when a command that needs the network failed without a word', () => {
    expect(isHit('', 6, 'curl -s example.com')).toBe(true);
    expect(isHit('', 0, 'curl --version')).toBe(false);
  });

  it('not when the command failed for another reason, or was not confined', () => {
    expect(isHit('fatal: ambiguous argument x')).toBe(false);
    expect(isHit('Permission denied', 1, 'ls', {launch: 'plain'})).toBe(false);
  });
});
