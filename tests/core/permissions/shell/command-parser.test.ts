// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are commands of a shell.
import {describe, expect, it} from 'vitest';
import {formatWords, type ParsedCommand, readCommand} from '../../../../src/core/permissions/shell/command-parser.ts';
import {type CommandShape, isHarmlessAssignment} from '../../../../src/core/permissions/shell/command-shape.ts';
import {type ShellWord, UnclearCommand} from '../../../../src/core/permissions/shell/shell-words.ts';

async function parse(command: string): Promise<ParsedCommand> {
  const {parsed} = await readCommand(command);
  if (parsed instanceof UnclearCommand) throw parsed;
  return parsed;
}

/** `?`: known only when it runs. `*a*`: a pattern. `~:a`: begins with the home directory. */
function show(word: ShellWord): string {
  if (word.kind === 'unknown') return '?';
  return `${word.home ? '~:' : ''}${word.kind === 'glob' ? '*' : ''}${word.text}`;
}

describe('the words of a command', () => {
  it.each([
    ["'a b' \"c d\" e\\ f $'a\\tb' 'r'm \"\"", ['a b', 'c d', 'e f', 'a\tb', 'rm', '']],
    ['~ ~/a "~" a~', ['~:~', '~:~/a', '~', 'a~']],
    ['*.ts a? [a-c]x [!a] \'a\'* a[1] "[" [', ['**.ts', '*a?', '*[a-c]x', '*[!a]', '*a*', '*a[1]', '[', '[']],
    ['~/*.ts', ['~:*~/*.ts']],
    ['{a,b}{c,d/e} a{b a,b $ a$ a\\*b', ['ac', 'ad/e', 'bc', 'bd/e', 'a{b', 'a,b', '$', 'a$', 'a*b']],
    ['{a,b}$X', ['?', '?']],
    ['$X "${X}" $? "a$@" $((1+(2*-3))) $(rm x) `ls` <(ls a)', ['?', '?', '?', '?', '?', '?', '?', '?']],
    ['A=1', ['A=1']],
    ['{a,b}'.repeat(6), Array.from({length: 64}, () => expect.stringMatching(/^[ab]{6}$/))],
  ] as [string, string[]][])('%j are %j after bash has expanded them', async (words, expected) => {
    const {parts, shape} = await parse(`ls ${words}`);
    expect(parts[0]!.expanded.slice(1).map(show)).toEqual(expected);
    expect(shape.doubt).toBeUndefined();
  });

  it.each([
    ...[
      '$"x"',
      'a@(b|c)',
      '{a..c}',
      '{a,$X}',
      'x{a,b',
      '{{a,b},c}',
      '${X:-a}',
      '${!X}',
      '${x@P}',
      '"${a[0]}"',
      '~root',
    ],
    ...['~+', '~\\/a', '$((x))', '$((x=1))', '$((1+x))', '$((-x))', '$(((x)))', '"$((a[0]))"', "$'\\xff'", "$'a\\0b'"],
    ...["$'\\cx'", "$'\\x00'", '"*"*', 'a\\*b*', '[[:alpha:]]', '[a,b]c', '>(tee x)', '{a,b}'.repeat(7)],
  ])('%j may be more than they show', async (words) => {
    const {parts, shape} = await parse(`ls ${words}`);
    expect(parts[0]!.expanded.slice(1).map(show)).toEqual(['?']);
    expect(shape.doubt).toBeDefined();
  });

  it.each([
    ['r\'m\' -x "$X"', 'rm -x "$X"'],
    ['git  commit -m "a b"', 'git commit -m "a b"'],
    ['export A=\'1\' B="x y" C=$X D', 'export A=1 B="x y" C=$X D'],
    ['ls "~" {a,b} \'a*\'', "ls ~ {a,b} 'a*'"],
  ])('%j are written as %j in rules', async (command, text) => {
    expect(formatWords((await parse(command)).parts[0]!.words)).toBe(text);
  });
});

it.each([
  ['ls "', /^it cannot be read as a command: /],
  ['echo $(ls ")', /cannot be read/],
  [`ls ${'x'.repeat(20_000)}`, /very long/],
  ['ls\u00a0x', /invisible/],
  ['ls \u200b', /invisible/],
  ['ls\rx', /invisible/],
  // The parser skips these characters without an error.
  ['ls (', /a part of it was not understood/],
  ['rm ${ ~x=(then<>= {1..3} ', /a part of it was not understood/],
])('%# is not understood: %s', async (command, message) => {
  await expect(parse(command)).rejects.toThrow(message);
});

it('all commands in it are its parts, in the order of the text, also those inside of others', async () => {
  const {parts} = await parse('a; f() { b; }; if c; then d $(e "`g`"); fi | h <(i) && (j) <<EOF # k\n$(l)\nEOF\n');
  expect(parts.map(({words}) => words[0]!.text)).toEqual([...'abcdeghijl']);
  expect((await parse('a \\\n b;# c\n\n d &')).parts.map(({words}) => formatWords(words))).toEqual(['a b', 'd']);
  expect((await parse('a `b  \\`c   d\\`; e`')).parts.map(({words}) => words[0]!.text)).toEqual([...'abce']);
});

describe('the shape of a command', () => {
  const PLAIN = {directories: ['.'], writes: [], inputs: [], words: [], variables: [], isDetached: false};
  const REDIRECTED = 'where it is redirected to is not plain';
  const OWN = 'it uses a descriptor of its own';
  const CD = 'cd: where it leads is not plain';
  const SETS = 'it sets a variable';
  type Shown = Partial<Record<keyof CommandShape, unknown>>;

  it.each<[string, Shown]>([
    ...['ls', 'ls 2>&1 >/dev/null 2>&-', 'if ls; then ls; fi', '(ls)', '{ ls; }', '! ls', 'time ls'].map(
      (each): [string, Shown] => [each, {}],
    ),
    ['ls > a 2>> b', {writes: ['a', 'b']}],
    ['ls &> a; ls >| b; ls &>> c', {writes: ['a', 'b', 'c']}],
    ["ls > ~/a > '~/a' > ~", {writes: ['~/a', './~/a', '~']}],
    ['ls > 1 < 2 2<&1', {writes: ['1'], inputs: ['2']}],
    ['ls <> a', {writes: ['a'], inputs: ['a'], doubt: REDIRECTED}],
    ['ls >& a', {writes: ['a'], doubt: REDIRECTED}],
    ['ls 3>&1', {writes: ['1'], doubt: OWN}],
    ['ls 3>/dev/null', {writes: ['/dev/null'], doubt: OWN}],
    ['ls > $X', {writes: ['.'], doubt: REDIRECTED}],
    ['ls > {a,b}', {writes: ['.'], doubt: REDIRECTED}],
    ['ls {fd}> a', {doubt: SETS}],
    ['ls < a', {inputs: ['a']}],
    ['ls 2< a', {inputs: ['a']}],
    ['ls 3< a', {inputs: ['a'], doubt: OWN}],
    ['ls < $X', {doubt: REDIRECTED}],
    ['cat < /dev/tcp/a/1', {doubt: 'it reaches the network'}],
    ['ls > /dev//udp/a/1', {doubt: 'it reaches the network'}],
    ['cat <<EOF\na $X\nEOF', {}],
    ['cat <<EOF\n${X:=a}\nEOF', {doubt: '${X:=a} may run code'}],
    ['cat <<EOF\na', {doubt: 'its text does not end'}],
    ['cat 3<<EOF\na\nEOF', {doubt: OWN}],
    ['cat <<< a', {}],
    ['cat 3<<< a', {doubt: OWN}],
    ['cat <<< ${X@P}', {doubt: '${X@P} may run code'}],
    ['ls &', {isDetached: true, doubt: 'it goes on in the background'}],
    ['f() { ls; }', {isDetached: true, doubt: 'a Function is not understood'}],
    ['coproc ls', {isDetached: true, doubt: 'a Coproc is not understood'}],
    ...['while ls; do ls; done', 'case a in a) ls;; esac', 'for ((;;)); do ls; done', '((1))', '[[ a = b ]]'].map(
      (each): [string, Shown] => [each, {doubt: expect.stringContaining('is not understood')}],
    ),
    ['for f in a b*; do ls $f; done', {words: ['a', '*b*'], variables: ['f']}],
    ['for aB_1; do ls; done', {variables: ['aB_1']}],
    ['for PATH in a; do ls; done', {words: ['a'], variables: ['PATH'], doubt: SETS}],
    [`for ${'x'.repeat(17)} in; do ls; done`, {variables: ['x'.repeat(17)], doubt: SETS}],
    [`for ${'x'.repeat(16)} in; do ls; done`, {variables: ['x'.repeat(16)]}],
    ['A=1 B=$X ls', {words: ['1', '?'], variables: ['A', 'B']}],
    ['A=1', {words: ['1'], variables: ['A'], doubt: 'it contains no command'}],
    ['> a', {writes: ['a'], doubt: 'it contains no command'}],
    ['cd a && cd b; cd .', {directories: ['.', 'a', 'b', 'a/b', '.', 'a', 'b', 'a/b']}],
    ["cd /a | cd '~'", {directories: ['.', '/a', './~', '/a/./~']}],
    ['cd ~/c; cd /b', {directories: ['.', '~/c', '/b', '/b']}],
    ['cd ./../..', {directories: ['.', './../..']}],
    ['cd a/../b', {directories: ['.', 'a/../b'], doubt: CD}],
    ['cd a && cd ..', {directories: ['.', 'a', '..', 'a/..'], doubt: CD}],
    ...['cd', 'cd -', 'cd -P a', 'cd ""', 'cd a b', 'cd $X', 'cd a*'].map((each): [string, Shown] => [
      each,
      {doubt: CD},
    ]),
    ['for d in; do cd b; done', {directories: ['.', 'b'], variables: ['d'], doubt: CD}],
    ['cd a; for d in; do ls; done; cd .', {directories: ['.', 'a', '.', 'a'], variables: ['d']}],
    ['cd 1;cd 2;cd 3;cd 4', {directories: expect.objectContaining({length: 16})}],
    ['cd 1;cd 2;cd 3;cd 4;cd 5', {directories: expect.objectContaining({length: 16}), doubt: CD}],
  ])('%j shows what it does: %j', async (command, expected) => {
    const {directories, writes, inputs, words, variables, isDetached, doubt} = (await parse(command)).shape;
    const shown = {directories, writes, inputs, words: words.map(show), variables: [...variables], isDetached};
    expect({...shown, ...(doubt !== undefined && {doubt})}).toEqual({...PLAIN, ...expected});
  });
});

it.each([
  ['CI=1 LANG=C.UTF-8', [true, true]],
  ['CI= NODE_ENV=test', [true, true]],
  ['PATH=x CI+=1 CI[0]=1 CI=$X CI="1" CI=(1)', [false, false, false, false, false, false]],
])('whether variables before a command are harmless: %j %j', async (variables, expected) => {
  const {node} = (await parse(`${variables} ls`)).parts[0]!;
  expect(node.prefix.map((each) => each.type === 'Assignment' && isHarmlessAssignment(each))).toEqual(expected);
});
