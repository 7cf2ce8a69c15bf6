/** A clone whose git settings, hooks and attributes name programs: opening and using it with mini-cc runs none of them. */
import {execFileSync} from 'node:child_process';
import {chmodSync, readdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {say} from '../support/messages-server.ts';
import {answer} from '../support/questions.ts';
import {countReplies} from '../support/request-facts.ts';
import {runCli} from '../support/run-cli.ts';
import {callTools} from '../support/scripted-replies.ts';
import {PATIENCE_MS} from '../support/wait.ts';
import {emptyFolder} from '../support/workspace.ts';
import {isSubagent, project, serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

/** Every setting by which a repository can make some command of git run a program. `@` is the program. */
const PROGRAMS = [
  ...['core.fsmonitor', 'core.sshCommand', 'core.pager', 'core.editor', 'core.askPass', 'core.gitProxy'],
  ...['core.alternateRefsCommand', 'sequence.editor', 'diff.external', 'diff.evil.textconv', 'diff.evil.command'],
  ...['merge.evil.driver', 'filter.evil.clean', 'filter.evil.smudge', 'filter.other.process', 'gpg.program'],
  ...['gpg.ssh.program', 'gpg.x509.program', 'gpg.ssh.defaultKeyCommand', 'interactive.diffFilter'],
  ...['uploadpack.packObjectsHook', 'remote.origin.uploadpack', 'remote.origin.receivepack', 'gc.recentObjectsHook'],
  ...['trailer.evil.command', 'trailer.evil.cmd', 'difftool.evil.cmd', 'mergetool.evil.cmd', 'browser.evil.cmd'],
  ...['man.evil.cmd', 'instaweb.httpd', 'sendemail.smtpServer', 'hook.evil.command', 'web.browser'],
  ...['pager.status', 'pager.diff', 'pager.log', 'pager.show', 'pager.branch', 'imap.tunnel', 'guitool.evil.cmd'],
];
const SHELL_PROGRAMS = ['credential.helper', 'alias.st', 'alias.status', 'alias.lg', 'submodule.part.update'];
const OTHERS: readonly (readonly [string, string])[] = [
  ...([
    ['filter.evil.required', 'true'],
    ['commit.gpgSign', 'true'],
    ['tag.gpgSign', 'true'],
  ] as const),
  ...([
    ['log.showSignature', 'true'],
    ['merge.default', 'evil'],
    ['diff.tool', 'evil'],
    ['help.browser', 'evil'],
  ] as const),
  ...([
    ['hook.evil.event', 'pre-commit'],
    ['protocol.allow', 'always'],
    ['gc.auto', '1'],
    ['pull.rebase', 'true'],
  ] as const),
  ...([
    ['maintenance.auto', 'true'],
    ['core.hooksPath', '.git/evil'],
    ['fetch.recurseSubmodules', 'true'],
  ] as const),
];
const HOOKS = [
  ...['pre-commit', 'prepare-commit-msg', 'commit-msg', 'post-commit', 'post-checkout', 'post-merge', 'pre-rebase'],
  ...['post-index-change', 'reference-transaction', 'post-rewrite', 'pre-auto-gc', 'pre-push', 'applypatch-msg'],
  ...['pre-applypatch', 'post-applypatch', 'fsmonitor-watchman', 'push-to-checkout', 'pre-merge-commit'],
];

async function hostileClone() {
  const [work, marks] = [await project(), await emptyFolder()];
  onTestFinished(marks.remove);
  const program = (name: string) => {
    const file = path.join(marks.path, name.replaceAll('.', '_'));
    // A filter passes on what it gets; the others fail, so that git waits for none.
    const rest = name.startsWith('filter.') ? 'cat' : 'exit 1';
    writeFileSync(file, `#!/bin/sh\n: >'${marks.path}/ran-${name}'\n${rest}\n`);
    chmodSync(file, 0o755);
    return file;
  };
  await work.write('.gitattributes', '*.ts filter=evil diff=evil merge=evil\n*.md filter=other diff=evil\n');
  await work.git('add', '--all');
  await work.git('commit', '--quiet', '--message', 'Attributes');
  // In a file that is included, as git reads that too.
  const set = (key: string, value: string) =>
    execFileSync('git', ['config', '--file', '.git/more', '--add', key, value], {cwd: work.path});
  for (const key of PROGRAMS) set(key, program(key));
  for (const key of SHELL_PROGRAMS) set(key, `!${program(key)}`);
  for (const [key, value] of OTHERS) set(key, value);
  for (const hook of HOOKS) {
    await work.write(`.git/evil/${hook}`, `#!/bin/sh\n: >'${marks.path}/ran-hook-${hook}'\n`);
    chmodSync(path.join(work.path, '.git/evil', hook), 0o755);
  }
  await work.git('config', 'include.path', 'more');
  // So that git has to read the files.
  await work.write('src/greet.ts', (await work.read('src/greet.ts')).replace('greet', 'GREET'));
  await work.write('README.md', (await work.read('README.md')).replace('Greeter', 'GREETER'));
  await work.write('package.json', `${await work.read('package.json')}\n`);
  const ran = () => readdirSync(marks.path).filter((name) => name.startsWith('ran-'));
  return {work, ran};
}

const write = (file: string) => ({name: 'write_file', input: {path: file, content: 'export {};\n'}});
const bash = (command: string) => ({name: 'bash', input: {command}});
const inWorktree = {
  name: 'Task',
  input: {description: 'work', prompt: 'work', agent_type: 'code', isolation: 'worktree'},
};
const repeated = {name: 'Task', input: {description: 'look', prompt: 'look', agent_type: 'explore'}};

test('plain git runs what such a clone names', async () => {
  const {work, ran} = await hostileClone();
  const who = ['AUTHOR', 'COMMITTER'].flatMap((role) => [
    [`GIT_${role}_NAME`, 'Ada'],
    [`GIT_${role}_EMAIL`, 'ada@example.com'],
  ]);
  const env = {...process.env, ...Object.fromEntries(who)};
  const commands = [
    ...[
      'status',
      'diff HEAD -- package.json',
      'log -p -1',
      'add -A',
      'commit -m x',
      'checkout -b y',
      'stash',
      'gc --auto',
      'st',
      'fetch ssh://x/y',
    ],
    ...['-c commit.gpgSign=false commit --allow-empty -m z', 'reset --hard HEAD'],
  ];
  for (const command of commands) {
    try {
      const options = {cwd: work.path, env, stdio: 'pipe', timeout: PATIENCE_MS} as const;
      execFileSync('bash', ['-c', `git ${command} </dev/null`], options);
    } catch {
      // It fails where the program does.
    }
  }
  expect(ran().length).toBeGreaterThanOrEqual(15);
  expect(ran()).toEqual(
    expect.arrayContaining([
      ...[
        'ran-core.fsmonitor',
        'ran-diff.external',
        'ran-filter.evil.clean',
        'ran-filter.other.process',
        'ran-alias.st',
      ],
      ...['ran-gpg.program', 'ran-core.sshCommand', 'ran-hook-reference-transaction', 'ran-hook-post-index-change'],
    ]),
  );
});

test('mini-cc runs nothing of it: checkpoints, a worktree that comes back, fingerprints, print mode', async () => {
  const {work, ran} = await hostileClone();
  const server = await serve((body) => {
    const count = countReplies(body);
    if (isSubagent(body)) {
      const commit =
        'echo x > made.txt && git add made.txt && git -c user.name=A -c user.email=a@b commit -qm x; git status';
      return count === 0 ? callTools([write('src/from-tree.ts'), bash(commit)]) : say('done in the tree');
    }
    const turns = [[write('src/new.ts'), bash('echo x > other.txt')], [inWorktree], [repeated], [repeated]];
    return turns[count] ? callTools(turns[count]!) : say('all done');
  });
  const options = {server, cwd: work.path};
  const run = await runCli(['-p', 'go', '--permission-mode', 'bypassPermissions'], options);
  expect(run).toMatchObject({code: 0, stdout: 'all done\n'});
  expect(await work.read('src/from-tree.ts')).toBe('export {};\n');
  expect(await work.read('made.txt')).toBe('x\n');
  expect(ran()).toEqual([]);
});

test('mini-cc runs nothing of it: the REPL with its status line, an undo, and doctor', async () => {
  const {work, ran} = await hostileClone();
  const turns = [callTools([write('src/new.ts'), bash('echo x > other.txt')]), say('all done')];
  const server = await serve((body) => turns[countReplies(body)] ?? say('more'));
  const terminal = await repl({server, cwd: work.path, args: ['--permission-mode', 'bypassPermissions']});
  await send(terminal, 'go');
  await terminal.waitFor('all done');
  await idle(terminal);
  for (const command of ['/subagents', '/context']) {
    await send(terminal, command);
    await idle(terminal);
  }
  await send(terminal, '/rewind 1 files');
  await answer(terminal, '1 yes, delete them', '1');
  await idle(terminal);
  expect(ran()).toEqual([]);
  expect(await runCli(['doctor'], {cwd: work.path})).toMatchObject({stderr: ''});
  expect(ran()).toEqual([]);
});
