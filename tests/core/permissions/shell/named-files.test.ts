import {describe, expect, it} from 'vitest';
import {readCommand} from '../../../../src/core/permissions/shell/command-parser.ts';
import {getVariables} from '../../../../src/core/permissions/shell/guessed-words.ts';
import {findNamedFiles, type NamedFiles} from '../../../../src/core/permissions/shell/named-files.ts';
import {UnclearCommand} from '../../../../src/core/permissions/shell/shell-words.ts';

async function namesOf(command: string): Promise<NamedFiles> {
  const {parsed} = await readCommand(command);
  if (parsed instanceof UnclearCommand) throw parsed;
  return findNamedFiles(parsed, parsed.shape.directories, getVariables([], {env: {}}));
}

describe('the files that a command names', () => {
  it.each([
    ['cat a', ['.', 'a']],
    ['cat --file=x', ['.', 'x']],
    ['cat -ox', ['.', 'x']],
    ['cat -o', ['.']],
    ['dd if=x', ['.', 'if=x', 'x']],
    ['git show HEAD:x', ['.', 'show', 'HEAD:x', 'x']],
    ['cat a,b,', ['.', 'a,b,', 'b,', 'b']],
    ["sed 'w x'", ['.', 'w x', 'x']],
    ['cat < in', ['.', 'in']],
    ['cat "$DIR/.env" ~/x', ['.', '.env', '~/x']],
    ['cat "$DIR/$FILE"', ['.']],
    ['for f in a b; do cat $f; done', ['.', 'a', 'b']],
    ['cd sub', ['.', 'sub']],
    ['cd sub && cat a', ['.', 'sub', 'a', 'sub/a']],
  ])('%j reads %j', async (command, reads) => {
    expect([...new Set((await namesOf(command)).reads)]).toEqual(reads);
  });

  it.each([
    ['rg x', ['x', '.']],
    ['rg -i x src', ['x', 'src', '.']],
    ['/usr/bin/rg x', ['x', '.']],
    ['grep x a', []],
    ['grep -r x', ['x', '.']],
    ['grep -inR x', ['x', '.']],
    ['grep --recursive x', ['x', '.']],
    ['diff -r a b', ['a', 'b', '.']],
    ['diff a b', []],
    ['git grep x', ['grep', 'x', '.']],
    ['git log', []],
    ['ls -r a', []],
    ['$PROGRAM -r a', []],
    ['cd sub && rg x', ['x', '.', 'sub/x', 'sub']],
  ])('%j searches %j', async (command, searches) => {
    expect((await namesOf(command)).searches).toEqual(searches);
  });

  it.each([
    ['rm -f a b', ['a', 'b']],
    ['/bin/rm a', ['a']],
    ['touch ~/x', ['~/x']],
    ['cat a > out', ['out']],
    ['sed s/a/b/ x', []],
    ['sed -i s/a/b/ x', ['s/a/b/', 'x']],
    ['sed --in-place=.bak s/a/b/ x', ['s/a/b/', 'x']],
    ['perl -pi x', ['x']],
    ['grep -i x', []],
    ['dd if=a of=b', ['b']],
    ['cp a b', ['b', 'b/a', 'b/b']],
    ['cp a/x y b', ['b', 'b/x', 'b/y', 'b/b']],
    ['cp -t b a', ['b', 'a', 'b/b', 'b/a', 'a/b', 'a/a']],
    ['cp --target-directory=b a', ['b', 'a', 'b/a', 'a/a']],
    ['mv a b', ['b', 'b/a', 'b/b', 'a']],
    ['timeout 5 rm a', ['a']],
    ['xargs -n 1 /bin/tee a', ['a']],
    ['env X=1 cat a', []],
    ['$PROGRAM a', []],
    ['cat a', []],
  ])('%j writes %j', async (command, writes) => {
    expect((await namesOf(command)).writes).toEqual(writes);
  });

  it.each([
    ['node x', ['x']],
    ['node --out=x', ['x']],
    ['node *.ts', ['*.ts']],
    ['node "$X"', []],
    ['cat a', []],
    ['cat --out=x', ['x']],
    ['dd if=a of=b', ['b', 'a']],
    ['git add a', []],
    ['git add --pathspec-from-file=a', ['a']],
    ['git log a', []],
    ['git --git-dir x log', ['x', 'log']],
    ['git -C x log', ['x']],
    ['cat -n a', []],
    ['git push a', ['push', 'a']],
  ])('%j may write %j', async (command, mayWrite) => {
    expect([...new Set((await namesOf(command)).mayWrite)]).toEqual(mayWrite);
  });

  it('are patterns, too', async () => {
    expect((await namesOf('cat *.ts ~/?')).globs).toEqual(['*.ts', '~/?']);
    expect((await namesOf('cat a')).globs).toEqual([]);
  });
});
