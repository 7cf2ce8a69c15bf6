/**
 * A run with a worktree tries to change the main checkout by all means of git, links and the shell, in the mode that
 * asks nothing. Files, index, refs, stash, configuration, hooks and objects of the main checkout must stay unchanged.
 */
import {chmodSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync} from 'node:fs';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {git, put} from '../storage/worktrees/fixture.ts';
import {say} from '../support/messages-server.ts';
import {countReplies, getSystem, getToolResults} from '../support/request-facts.ts';
import {runCli} from '../support/run-cli.ts';
import {hasSandbox} from '../support/sandbox.ts';
import {callTools, type ScriptedCall} from '../support/scripted-replies.ts';
import {home, isSubagent, searchPathWithout, serve} from './fixture.ts';

const usable = await hasSandbox();

/** Outside of /tmp, since confined commands have a /tmp of their own. */
function mainCheckout(): string {
  const root = realpathSync(mkdtempSync('/var/tmp/mini-cc-main-'));
  onTestFinished(() => rmSync(root, {recursive: true, force: true}));
  git(root, 'init', '--quiet', '--initial-branch=trunk');
  git(root, 'config', 'user.name', 'Ann');
  git(root, 'config', 'user.email', 'ann@example.com');
  put(root, {'a.ts': 'one\n', 'src/b.ts': 'b\n'});
  git(root, 'add', '.');
  git(root, 'commit', '--quiet', '--message=first');
  put(root, {'a.ts': 'stashed\n'});
  git(root, 'stash', '--quiet');
  put(root, {'a.ts': 'uncommitted\n', 'new.ts': 'untracked\n'});
  put(root, {'.git/hooks/pre-commit': '#!/bin/sh\n'});
  chmodSync(path.join(root, '.git/hooks/pre-commit'), 0o755);
  git(root, 'add', 'new.ts');
  return root;
}

/** The content of all files by name, also those in `.git`. */
function readContents(root: string): Record<string, string> {
  const files = readdirSync(root, {recursive: true, withFileTypes: true}).filter((entry) => !entry.isDirectory());
  return Object.fromEntries(
    files.map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return [path.relative(root, file), entry.isFile() ? readFileSync(file, 'latin1') : 'no file'];
    }),
  );
}

/** `M` is the main checkout, `T` the worktree. Those that break the worktree's own git come last. */
const COMMANDS = [
  'git -C "$M" commit --allow-empty -m x',
  'cd "$M" && git commit --allow-empty -m x',
  'cd "$OLDPWD" 2>/dev/null || cd "$T"',
  'git -C "$M" branch evil',
  'git -C "$M" stash drop',
  'git -C "$M" stash',
  'git -C "$M" reset --hard',
  'git -C "$M" checkout -f -b evil',
  'git -C "$M" config core.pager evil',
  'git -C "$M" gc --prune=now',
  'git -C "$M" add -A',
  'git -C "$M" update-index --refresh',
  'git -C "$M" worktree add /tmp/evil',
  'git --git-dir="$M/.git" branch evil',
  'git --git-dir="$M/.git" --work-tree=. add -A',
  'git --git-dir="$M/.git" --work-tree=. commit -am x',
  'git --work-tree="$M" checkout -f HEAD -- .',
  'git --work-tree="$M" clean -fdx',
  'GIT_DIR="$M/.git" git update-ref refs/heads/evil HEAD',
  'GIT_DIR="$M/.git" GIT_WORK_TREE="$M" git checkout -f HEAD -- .',
  'GIT_WORK_TREE="$M" git reset --hard',
  'GIT_INDEX_FILE="$M/.git/index" git add -A',
  'GIT_COMMON_DIR="$M/.git" git branch evil',
  'GIT_OBJECT_DIRECTORY="$M/.git/objects" sh -c "echo x | git hash-object -w --stdin"',
  'git push "$M" HEAD:refs/heads/evil',
  'git push "file://$M" HEAD:evil',
  'git remote add main "$M" && git push main HEAD:evil; git remote remove main',
  'git send-pack "$M" HEAD:refs/heads/evil',
  'git bundle create "$M/x.bundle" HEAD',
  'git format-patch -o "$M" -1',
  'git archive -o "$M/x.tar" HEAD',
  'git init --separate-git-dir="$M/.git/evil" /tmp/x',
  'git clone . "$M/clone"',
  'git submodule add "$M" sub; rm -rf sub .gitmodules',
  'o=$(cat .git/objects/info/alternates); chmod -R u+w "$o"; rm -rf "$o"/*',
  'o=$(cat .git/objects/info/alternates); echo x > "$o/info/packs"',
  'git prune; git repack -ad; git gc --prune=now --quiet',
  'echo x > "$M/a.ts"',
  'echo x | tee -a "$M/.git/hooks/pre-commit"',
  'cp src/b.ts "$M/a.ts"',
  'sed -i s/un/x/ "$M/a.ts"',
  'mv "$M/a.ts" "$M/b.ts"',
  'rm -rf "$M"/* "$M/.git"',
  'chmod 000 "$M/a.ts"',
  'touch "$M/made"',
  'ln -s "$M" way; echo x > way/a.ts; git add way/a.ts; rm -f way',
  'ln "$M/a.ts" hard && echo x >> hard; rm -f hard',
  'ln -s "$M/.git" gitway; git --git-dir=gitway branch evil; rm -f gitway',
  "python3 -c \"import os; open(os.environ['M']+'/a.ts', 'w').write('x')\"",
  'perl -e \'open F, ">", "$ENV{M}/a.ts"; print F 1\'',
  'exec 7<"$M/a.ts"; echo x > /proc/self/fd/7',
  'echo x > "/proc/1/root$M/a.ts"',
  'mount -o remount,rw,bind "$M"; echo x > "$M/a.ts"',
  'unshare -Urm sh -c \'mount -o remount,rw,bind "$M"; echo x > "$M/a.ts"\'',
  'nohup sh -c \'sleep 0.2; echo x > "$M/a.ts"\' >/dev/null 2>&1 &',
  'printf \'#!/bin/sh\\ntouch "%s/made"\\n\' "$M" > .git/hooks/post-commit; chmod +x .git/hooks/post-commit; git commit --quiet --allow-empty -m x',
  'git config core.fsmonitor "touch $M/made"; git status',
  'ls "$T/../.." "$T/../../state.git"; echo x > "$T/../../state.git/HEAD"; echo x > "$T/../../start.json"',
  'rm -rf .git; printf "gitdir: %s/.git" "$M" > .git; git commit --allow-empty -m x; git branch evil; git config a.b c; rm -f .git',
  'rm -rf .git; ln -s "$M/.git" .git; git commit --allow-empty -m x; git branch evil; rm -f .git',
  'rm -rf .git; git init -q .; git config core.worktree "$M"; git checkout -f; git add -A; git config core.fsmonitor "touch $M/made"; git config filter.x.clean "touch $M/made"; git config core.hooksPath "$T"',
];

/** @param calls the tool calls of the run, for its working directory */
async function attempt(
  main: string,
  calls: (tree: string) => readonly ScriptedCall[],
  {mode = 'bypassPermissions', env = {}} = {},
) {
  const server = await serve((body) => {
    const task = {description: 'try', prompt: 'try', agent_type: 'code', isolation: 'worktree'};
    if (!isSubagent(body)) return countReplies(body) === 0 ? callTools([{name: 'Task', input: task}]) : say('done');
    if (countReplies(body) > 0) return say('tried');
    return callTools(calls(/^Working directory: (.*)$/m.exec(getSystem(body))![1]!));
  });
  const args = ['-p', 'go', '--permission-mode', mode];
  const run = await runCli(args, {server, cwd: main, home: await home(), env});
  const bodies = server.requests.map(({body}) => body);
  return {run, results: getToolResults(bodies.filter(isSubagent)[1]!), report: getToolResults(bodies.at(-1)!)[0]!.text};
}

const bash = (command: string, more: Record<string, unknown> = {}) => ({name: 'bash', input: {command, ...more}});

test.runIf(usable)('no command of a run with a worktree changes the main checkout', async () => {
  const main = mainCheckout();
  const before = readContents(main);
  const {results, report} = await attempt(main, (tree) =>
    COMMANDS.map((command) => bash(`export M='${main}' T='${tree}'; cd "$T"; ${command}`)),
  );
  expect(results).toHaveLength(COMMANDS.length);
  expect(readContents(main)).toEqual(before);
  expect(report).toContain('changed none');
  expect(git(main, 'status', '--porcelain')).toBe(' M a.ts\nA  new.ts\n');
});

test('without a sandbox, only literal commands that read run, and none changes the main checkout', async () => {
  const main = mainCheckout();
  const before = readContents(main);
  const {results} = await attempt(
    main,
    (tree) => [
      ...COMMANDS.map((command) => bash(command.replaceAll('$M', main).replaceAll('$T', tree))),
      ...[`git -C ${main} status`, `git -C ${main} diff`, `cat ${main}/a.ts`].map((command) => bash(command)),
      bash('git status --short'),
    ],
    {env: {PATH: searchPathWithout('bwrap')}},
  );
  expect(readContents(main)).toEqual(before);
  expect(results.at(-1)!.text).toBe(' M a.ts\n?? new.ts');
});

test.runIf(usable)('a command that asks to run unconfined does not change the main checkout', async () => {
  const main = mainCheckout();
  const before = readContents(main);
  const {results} = await attempt(main, () => [bash(`echo x > ${main}/a.ts`, {unconfined: true})]);
  expect(results[0]!.isError).toBe(true);
  expect(readContents(main)).toEqual(before);
});

test('no writing tool changes the main checkout, by its path or through a link', async () => {
  const main = mainCheckout();
  const before = readContents(main);
  const {results} = await attempt(main, (tree) => [
    // The path means the same one of the worktree, whose git directory does not come back.
    {name: 'write_file', input: {path: `${main}/.git/hooks/post-commit`, content: 'x'}},
    {name: 'write_file', input: {path: `${path.relative(tree, main)}/made`, content: 'x'}},
    {name: 'write_file', input: {path: `${main}/../made`, content: 'x'}},
    bash(`ln -s ${main} way && ln -s ${main}/made made`),
    {name: 'write_file', input: {path: 'way/made', content: 'x'}},
    {name: 'write_file', input: {path: 'made', content: 'x'}},
    {name: 'write_file', input: {path: '../../start.json', content: '{}'}},
    bash('rm -f way made'),
  ]);
  const denied = results.filter(({text}) => /^Permission denied: .*worktree/.test(text));
  expect(denied.length).toBe(usable ? 5 : 3);
  expect(readContents(main)).toEqual(before);
});

test('in acceptEdits mode, edits inside the worktree are allowed, and files around it cannot be read', async () => {
  const main = mainCheckout();
  const {results, report} = await attempt(
    main,
    () => [
      {name: 'read_file', input: {path: 'a.ts'}},
      {name: 'edit_file', input: {path: 'a.ts', old_string: 'uncommitted', new_string: 'edited'}},
      {name: 'write_file', input: {path: 'deep/new.ts', content: 'x\n'}},
      {name: 'write_file', input: {path: '.claude/settings.json', content: '{}'}},
      {name: 'write_file', input: {path: '.git/hooks/pre-commit', content: 'x'}},
      {name: 'write_file', input: {path: `${main}/a.ts`, content: 'edited again\n'}},
      {name: 'read_file', input: {path: '../../start.json'}},
      {name: 'read_file', input: {path: '../../state.git/config'}},
      {name: 'glob', input: {pattern: '**/*.json', path: '../../..'}},
    ],
    {mode: 'acceptEdits'},
  );
  expect(results.map(({isError}) => isError)).toEqual([false, false, false, true, true, false, true, true, true]);
  expect(report).toContain('changed 2 files: a.ts, deep/new.ts');
  expect(readFileSync(path.join(main, 'a.ts'), 'utf8')).toBe('edited again\n');
});
