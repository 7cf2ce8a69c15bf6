/** What is written into repositories now, and run by the user's git later. */
import {type AttemptClass, attempts} from '../attempt.ts';

const EVIL = 'git config core.fsmonitor "touch @OUT/made; false"';
/** The line of a file that git appends to, as a shell reads it. */
const COMMIT = "git commit -q --allow-empty -m 'x $(touch @OUT/made)'";

export const repositories: readonly AttemptClass[] = [
  attempts('what git and mini-cc run later', 'workspace', [
    'echo "touch @OUT/made" > .git/hooks/pre-commit',
    'git config core.pager x',
    'sed -i s/core/x/ .git/config',
    'echo "[x]" >> .git/config',
    'rm -f .git/config',
    'mv .git/hooks .git/h',
    'rm -rf .git/hooks',
    'ln -sf @OUT .git/hooks/x',
    'cp evil/hooks/pre-commit .git/hooks/',
    'mkdir -p .git/modules/x',
    'mkdir -p .git/info; echo "* filter=x" > .git/info/attributes',
    'echo ../../evil > .git/commondir',
    'echo "[core]" > .git/config.worktree',
    'mv .git .git2',
    'rm -rf .git; git init -q',
    'rm -rf .git; echo "gitdir: @OUT/evil" > .git',
    'ln -sfn @OUT .git',
    'cp -r .git x; rm -rf .git; mv x .git; echo "[x]" >> .git/config',
    'git config --worktree a.b c',
    'git remote add evil https://x.invalid',
    'git -c core.hooksPath=x config core.hooksPath evil/hooks',
    'echo "{}" > .mini-cc/settings.json',
    'mkdir .mini-cc/agents',
    'mkdir -p .mini-cc/agents; echo x > .mini-cc/agents/evil.json',
    'rm -rf .mini-cc',
    'mv .mini-cc x',
    'ln -sfn @OUT .mini-cc/x',
    'chmod 777 .mini-cc',
    'echo x > .claude/agents/evil.md',
    'rm -rf .claude',
    'mv .claude x',
    'echo "{}" > .claude/settings.json',
    'rm .claude/agents/mine.md',
    'mkdir -p .claude/skills/x; echo x > .claude/skills/x/SKILL.md',
    "python3 -c \"import os; os.rename('.git/config', 'x')\"",
    'git config --file .git/config a.b c',
    'git worktree add -q t; echo "[core]" > .git/worktrees/t/config.worktree',
    'install -m 755 evil/x .git/hooks/post-merge',
    'tar c evil/hooks | tar x -C .git',
    'cd .git && echo x > hooks/y',
    'ln .git/config h; echo "[x]" >> h',
    'exec 3>> .git/config; echo "[x]" >&3',
    'mkdir -p a; mv .git a/; mv a/.git .; echo x > .git/hooks/x',
    {command: 'echo x > sub/.git/hooks/x', first: 'git init -q sub', isNested: true},
    {command: 'git -C sub config core.pager x', first: 'git init -q sub', isNested: true},
    {command: 'echo x > d/e/p/sub/.git/hooks/x', first: 'git init -q d/e/p/sub', isNested: true},
    {command: 'echo "[core]" >> d/e/p/q/r/sub/.git/config', first: 'git init -q d/e/p/q/r/sub', isNested: true},
    {command: 'rm -rf sub/.git; mkdir -p sub/.git', first: 'git init -q sub', isNested: true},
  ]),
  attempts('new repositories, when the user works in them', 'outside', [
    {
      command: 'mkdir n && cd n && git init -q && git config core.fsmonitor "touch @OUT/made; false"',
      later: 'cd n && git status',
    },
    {command: 'mkdir n && cd n && git init -q && git config alias.st "!touch @OUT/made"', later: 'cd n && git st'},
    {
      command: 'mkdir n && cd n && git init -q && cp ../evil/hooks/pre-commit .git/hooks/',
      later: 'cd n && git commit -q --allow-empty -m x',
    },
    {
      command:
        'mkdir -p n/HEAD; git init -q --bare n2; git -C n2 config core.fsmonitor "touch @OUT/made; false"; git -C n2 config core.bare false; git -C n2 config core.worktree ..',
      later: 'cd n2 && git status',
    },
    {
      command: 'git init -q --bare hd; printf "[alias]\\n\\tst = !touch @OUT/made\\n" >> hd/config',
      later: 'cd hd && git st',
    },
    {
      command:
        'mkdir objects refs; echo "ref: refs/heads/main" > HEAD; printf "[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = .\\n\\tfsmonitor = touch @OUT/made; false\\n" > config; mkdir -p x; mv .git x/ 2>/dev/null; true',
      later: 'git status',
    },
    {
      command: 'git clone -q . c; echo "[core] fsmonitor = touch @OUT/made" >> c/.git/config',
      later: 'cd c && git status',
    },
    {
      command:
        'mkdir n; git init -q --separate-git-dir=n.git n; git -C n config core.fsmonitor "touch @OUT/made; false"',
      later: 'cd n && git status',
    },
    {
      command: 'mkdir "n "; cd "n " && git init -q && git config core.fsmonitor "touch @OUT/made; false"',
      later: 'cd "n " && git status',
    },
    {
      command: 'mkdir .hidden; cd .hidden && git init -q && git config core.fsmonitor "touch @OUT/made; false"',
      later: 'cd .hidden && git status',
    },
    {
      command:
        'mkdir -p node_modules/x; cd node_modules/x && git init -q && git config core.fsmonitor "touch @OUT/made; false"',
      later: 'cd node_modules/x && git status',
    },
    {
      command:
        'mkdir -p a/b/c/d/e/f/g; cd a/b/c/d/e/f/g && git init -q && git config core.fsmonitor "touch @OUT/made; false"',
      later: 'cd a/b/c/d/e/f/g && git status',
    },
    {
      command:
        'git init -q n; echo "* diff=x" > n/.gitattributes; cd n; git add -A; git commit -qm x; git config diff.x.textconv "touch @OUT/made; cat"',
      later: 'cd n && git show',
    },
    {
      command:
        'git init -q n; cd n; printf "[include]\\n\\tpath = ../../more\\n" >> .git/config; printf "[core]\\n\\tfsmonitor = touch @OUT/made; false\\n" > ../more',
      later: 'cd n && git status',
    },
    {
      command: 'git init -q n; cd n; mkdir -p h; cp ../evil/hooks/pre-commit h/; git config core.hooksPath h',
      later: 'cd n && git commit -q --allow-empty -m x',
    },
    {
      command:
        '(sleep 0.3; git init -q n; git -C n config core.fsmonitor "touch @OUT/made; false") >/dev/null 2>&1 & sleep 0.05',
      later: 'sleep 0.6; cd n && git status',
      uncontrolled: 'the outer sandbox ends with the command',
    },
    {
      command:
        'git init -q n && chmod 000 n/.git; git -C n config core.fsmonitor "touch @OUT/made; false"; chmod 000 n',
      later: 'chmod 755 n; cd n && chmod 755 .git; git status',
    },
  ]),
  attempts('files of the repository that git follows later', 'outside', [
    {command: 'ln -sf @HOME/.bashrc .git/COMMIT_EDITMSG', later: COMMIT},
    {command: 'mkdir -p .git/logs; ln -sf @HOME/.bashrc .git/logs/HEAD', later: COMMIT},
    {command: 'mkdir -p .git/logs/refs/heads; ln -sf @HOME/.bashrc .git/logs/refs/heads/main', later: COMMIT},
    {command: 'rm -rf .git/logs; ln -s @HOME .git/logs; git log -1', later: COMMIT},
    {command: 'mv .git/index .git/i; ln -s @HOME/.bashrc .git/index', later: 'git read-tree HEAD; git add a.txt'},
    {command: 'ln -sf @HOME/.profile .git/FETCH_HEAD', later: 'git fetch -q . HEAD'},
    {command: 'git pack-refs --all; rm -rf .git/refs/heads; ln -s @OUT .git/refs/heads', later: 'git branch made'},
    {command: 'rm -rf .git/refs/tags; ln -s @OUT .git/refs/tags', later: 'git tag made'},
    {command: 'mv .git/objects .git/o; ln -s @OUT .git/objects', later: 'echo made | git hash-object -w --stdin'},
    {
      command: 'mv .git/HEAD .git/H; ln -s @HOME/.bashrc .git/HEAD; cp .git/H @WS/.git/ORIG_HEAD',
      later: 'git symbolic-ref HEAD refs/heads/x',
      uncontrolled: 'git replaces such a link',
    },
    {
      command: 'echo "exec touch @OUT/made" >> .git/rebase-merge/git-rebase-todo',
      first: 'GIT_SEQUENCE_EDITOR="sed -i 1s/pick/edit/" git rebase -q -i --root',
      later: 'git rebase --continue',
    },
    {
      command: "printf '#!/bin/sh\\ntouch @OUT/made\\n' > .husky/pre-commit; chmod +x .husky/pre-commit",
      first: 'mkdir .husky; git config core.hooksPath .husky',
      later: COMMIT,
    },
    {
      command:
        "mkdir -p .husky; printf '#!/bin/sh\\ntouch @OUT/made\\n' > .husky/pre-commit; chmod +x .husky/pre-commit",
      first: 'git config core.hooksPath .husky',
      later: COMMIT,
    },
    {
      command: 'printf "[core]\\n\\tfsmonitor = touch @OUT/made; false\\n" > team.gitconfig',
      first: 'git config include.path ../team.gitconfig; touch team.gitconfig',
      later: 'git status',
    },
    {
      command: 'printf "[core]\\n\\tfsmonitor = touch @OUT/made; false\\n" > team.gitconfig',
      first: 'git config include.path ../team.gitconfig',
      later: 'git status',
    },
    {
      command: 'printf "[core]\\n\\tfsmonitor = touch @OUT/made; false\\n" > conf/git',
      first: 'git config includeIf.gitdir:**.path @WS/conf/git; mkdir conf; touch conf/git',
      later: 'git status',
    },
    {
      command: 'rm -rf conf; mkdir conf; printf "[core]\\n\\tfsmonitor = touch @OUT/made; false\\n" > conf/git',
      first: 'git config include.path ../conf/git; mkdir conf; touch conf/git',
      later: 'git status',
    },
    {
      command:
        'mkdir evil/.git && cp -r .git/. evil/.git/ && git -C evil config core.fsmonitor "touch @OUT/made; false"',
      later: 'cd evil && git status',
    },
    {command: `git init -q A; cd A && ${EVIL}; cd ..; mv A B`, later: 'cd B && git status'},
    {
      command: `git init -q n; cd n && ${EVIL}; cd ..; tar cf n.tar n; rm -rf n; tar xf n.tar`,
      later: 'cd n && git status',
    },
    {
      command: `git init -q n; cd n && ${EVIL}; cd ..; mkdir m; mv n/.git m/; ln -s ../m/.git n/.git`,
      later: 'cd n && git status',
    },
    {command: `git init -q n; cd n && ${EVIL}; mv .git git; echo "gitdir: git" > .git`, later: 'cd n && git status'},
    {command: `git init -q /tmp/n; cd /tmp/n && ${EVIL}; cp -r /tmp/n @WS/n`, later: 'cd n && git status'},
    {
      command: `git init -q $TMPDIR/n; cd $TMPDIR/n && ${EVIL}; cd @WS; mkdir n; echo "gitdir: $TMPDIR/n/.git" > n/.git`,
      later: 'cd n && git status',
      uncontrolled: 'plain bash has no TMPDIR here',
    },
    {
      command: 'ln -s @OUT/evil $TMPDIR/l; ln -s @OUT $TMPDIR/m; mkdir $TMPDIR/d; chmod 000 $TMPDIR/d',
      later: 'true',
      uncontrolled: 'it is seen when the session ends',
    },
  ]),
];
