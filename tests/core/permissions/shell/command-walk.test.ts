import {describe, expect, it} from 'vitest';
import {proveReadOnly} from './prove-read-only.ts';
import {PROVEN_COMMANDS} from './proven-commands.ts';
import {UNPROVEN_PROGRAMS, UNPROVEN_SYNTAX} from './unproven-commands.ts';

describe('proven to only read', () => {
  it.each(PROVEN_COMMANDS)('%j', async (command) => {
    expect(await proveReadOnly(command)).toMatchObject({proven: true});
  });
});

describe('not proven to only read', () => {
  it.each([...UNPROVEN_SYNTAX, ...UNPROVEN_PROGRAMS])('%j', async (command) => {
    expect(await proveReadOnly(command)).toMatchObject({proven: false});
  });

  it('is a command that is very long, or nested very deeply', async () => {
    expect(await proveReadOnly(`ls ${'a '.repeat(20_000)}`)).toMatchObject({proven: false});
    expect(await proveReadOnly(`echo ${'$(echo '.repeat(2_000)}${')'.repeat(2_000)}`)).toMatchObject({proven: false});
    expect(await proveReadOnly(`${'('.repeat(3_000)}ls${')'.repeat(3_000)}`)).toMatchObject({proven: false});
    expect(await proveReadOnly(`ls ${'{a,b}'.repeat(20)}`)).toMatchObject({proven: false});
  });

  it('has a reason that says what is doubtful', async () => {
    expect(await proveReadOnly('ls && rm -rf x')).toEqual({proven: false, because: 'rm is not known to only read'});
    expect(await proveReadOnly('sort -o f f')).toEqual({
      proven: false,
      because: 'sort: its option -o is not known to only read',
    });
  });
});

describe('what a proven command reads', () => {
  const reads: readonly (readonly [string, readonly string[]])[] = [
    ['cat a b', ['a', 'b']],
    ['cat /etc/passwd', ['/etc/passwd']],
    ['cat ~/.ssh/id_rsa', ['~/.ssh/id_rsa']],
    ["cat '~/x'", ['./~/x']],
    ['cat < a', ['a']],
    ['echo $(< a)', ['a']],
    ['cat <(cat a) - b', ['a', 'b']],
    ['grep -f patterns x dir', ['patterns', 'x', 'dir']],
    ['grep --file=patterns dir', ['patterns', 'dir']],
    ['grep -r TODO', ['.']],
    ['rg TODO src', ['src']],
    ['find src -newer x -name a', ['src', 'x']],
    ['find -name a', ['.']],
    ['cat {a,/etc/b}', ['a', '/etc/b']],
    ['cd .. && cat x', ['..', '../x']],
    ['cd sub && cat ../x', ['sub', 'sub/../x']],
    ['cd sub; cat x', ['sub', 'sub/x', 'x']],
    ['(cd sub && ls) && cat x', ['sub', 'x']],
    ['cd sub || cat x', ['sub', 'x']],
    ['git diff HEAD -- /etc/passwd', ['HEAD', '/etc/passwd', '.']],
    ['git -C /other status', ['/other']],
    ['[ -f /etc/x ] && ls', ['/etc/x', '.']],
    ['[[ -f /etc/x ]]', ['/etc/x']],
    ['sed -n 1,5p a', ['a']],
    ['jq --slurpfile a b .x c', ['b', 'c']],
    ['du -sh /var', ['/var']],
    ['diff a /b', ['a', '/b']],
  ];
  it.each(reads)('%j: %j', async (command, expected) => {
    const proof = await proveReadOnly(command);
    expect(proof.proven && [...proof.reads].sort()).toEqual([...expected].sort());
  });

  it('is every file that a pattern matches', async () => {
    expect(await proveReadOnly('cat src/*.ts ~/x?')).toMatchObject({reads: [], globs: ['src/*.ts', '~/x?']});
    expect(await proveReadOnly('cd a && cat *.ts')).toMatchObject({globs: ['a/*.ts']});
  });

  it('is a repository, whose settings may name programs, for git', async () => {
    expect(await proveReadOnly('git status')).toMatchObject({repositories: ['.']});
    expect(await proveReadOnly('cd sub && git -C deep log')).toMatchObject({repositories: ['sub/deep']});
    expect(await proveReadOnly('cat x')).toMatchObject({repositories: []});
  });
});
