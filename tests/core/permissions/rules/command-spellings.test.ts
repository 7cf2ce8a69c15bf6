import {describe, expect, it} from 'vitest';
import {spellOut} from '../../../../src/core/permissions/rules/command-rules.ts';
import {readCommand} from '../../../../src/core/permissions/shell/command-parser.ts';

const spell = async (command: string) => spellOut(await readCommand(command));

describe('a command is spelled', () => {
  it.each([
    ['git -C sub -v push x', ['git sub -v push x', 'git -v push x', 'git push x', 'git x']],
    ['sudo -u me /bin/rm x', ['sudo me /bin/rm x', 'sudo /bin/rm x', 'me /bin/rm x', '/bin/rm x', 'rm x']],
    ['nice -n 5 rm x', ['nice 5 rm x', 'nice rm x', '5 rm x', 'rm x']],
    ['chroot /a rm x', ['/a rm x', 'a rm x', 'rm x', 'x']],
    ['env A=1 rm', ['A=1 rm', 'rm']],
    ['fd x -x rm', ['rm']],
    ['watch rm x', ['rm x', 'x']],
    ['trap "rm x" EXIT', ['trap rm x EXIT', 'rm x']],
    ['trap - EXIT', ['trap EXIT']],
    ['trap rm', []],
    ["alias a='rm x' b", ['alias a=rm x b', 'rm x']],
    ['eval rm "x y"', ['eval rm x y', 'rm x y']],
    ['bash -ec rm', ['bash rm', 'rm']],
    ['bash <<< "rm x"', ['rm x']],
    ['bash <<< "rm x" > y', ['rm x']],
    ['. - <<< rm', ['rm']],
    ['git config alias.q "push x"', ['git config alias.q push x', 'git push x']],
    ["git -c alias.q='!rm' q", ['git -c alias.q=!rm q', "git alias.q='!rm' q", 'git alias.q=!rm q', 'git q', 'rm']],
  ])('%j also as %j, and all of it is known', async (command, expected) => {
    const {texts, starts} = await spell(command);
    const asWritten = command.replace(/ <<<.*/, '');
    expect([...texts].filter((text) => text !== asWritten)).toEqual(expected);
    expect([...starts]).toEqual([]);
  });

  it('without its quotes also where a part of it is not known', async () => {
    expect((await spell('git "a b" $X')).texts).toEqual(new Set(['git "a b" $X', 'git a b $X']));
  });

  it.each([
    ['git $X', ['git ']],
    ['git pu$X', ['git pu']],
    ['/usr/bin/gi$X push', ['/usr/bin/gi', 'gi']],
    ['$X a', ['']],
    ['ls "', ['']],
    ['eval $X', ['eval ', '']],
    ['echo rm | xargs -n 1 git', ['1 git ', 'git ']],
    ['xargs -I % git %', ['', 'git ']],
    ['xargs --replace=% git a%', ['git ', '']],
    ['find . -exec git {} +', ['git ']],
    ['bash -', ['']],
    ['bash -s < a', ['']],
    ['bash <<< ls < a', ['']],
    ['bash -c "$X"', ['bash -c ', 'bash ', '']],
    ['git -c include.path=x q', ['']],
    ['git --config-env=a=b', ['']],
    ['git config alias.q', ['']],
    ['PATH=. ls', ['ls ']],
    ['GIT_DIR=x git log', ['git ']],
    ['BASH_ENV=x ls', ['']],
    ['export IFS=x; ls', ['export ', 'ls ']],
    [`${'eval '.repeat(6)}ls`, ['']],
  ])('%j with beginnings behind which anything may follow: %j', async (command, expected) => {
    expect([...(await spell(command)).starts]).toEqual(expected);
  });

  it.each([
    'bash x',
    'bash --help',
    'bash --version',
    'source x',
    'GIT_DIR=x ls',
    'trap rm',
    'ls < a',
    'ls -',
    `${'eval '.repeat(5)}ls`,
  ])('%j without any', async (command) => {
    expect([...(await spell(command)).starts]).toEqual([]);
  });
});
