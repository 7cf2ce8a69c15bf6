/** Attempts by git, which writes in many ways and runs programs that its settings name. */
import type {Attempts} from './fixture.ts';

export const changingGit: Attempts = {
  'settings: pager': "git -c core.pager='touch @OUT/made' -p log; git config core.pager 'touch @OUT/made'; git -p log",
  'settings: an alias': "git -c alias.x='!touch @OUT/made' x; git config alias.x '!touch @OUT/made'; git x",
  'settings: a file watcher':
    "git -c core.fsmonitor='touch @OUT/made; false' status; git config core.fsmonitor 'touch @OUT/made'",
  'settings: an editor':
    "git -c core.editor='touch @OUT/made' commit --allow-empty; GIT_EDITOR='touch @OUT/made' git commit --amend; git -c sequence.editor='touch @OUT/made' rebase -i --root",
  'settings: ways to another host':
    "git -c core.sshCommand='touch @OUT/made' fetch ssh://x/y; GIT_SSH_COMMAND='touch @OUT/made' git ls-remote ssh://x/y; git -c protocol.ext.allow=always ls-remote 'ext::touch @OUT/made'; GIT_PROXY_COMMAND='touch @OUT/made' git fetch git://x/y",
  'settings: diffs':
    "git -c diff.external='touch @OUT/made' diff HEAD~1 --ext-diff; GIT_EXTERNAL_DIFF='touch @OUT/made' git diff HEAD~1; git -c diff.tool=x -c difftool.x.cmd='touch @OUT/made' difftool -y HEAD~1",
  'settings: filters':
    "echo '* filter=x diff=x' > .gitattributes; git -c filter.x.clean='touch @OUT/made' add .; git -c diff.x.textconv='touch @OUT/made' show; git -c filter.x.smudge='touch @OUT/made' checkout -- .",
  'settings: a helper':
    "git -c credential.helper='!touch @OUT/made' fetch https://x.invalid/y; git -c gpg.program='@OUT/run.sh' commit -S --allow-empty -m x; git -c uploadpack.packObjectsHook='touch @OUT/made' clone . /tmp/c",
  'settings by variables':
    "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!touch @OUT/made' git x; GIT_CONFIG_PARAMETERS=\"'alias.x=!touch @OUT/made'\" git x",
  'settings of the user':
    "git config --global alias.x '!touch @OUT/made'; git config --system core.pager x; git config --file @OUT/gitconfig a.b c",
  'settings of the repository':
    'git config user.name Mallory; git remote add evil https://x.invalid; git config --worktree a.b c; echo "[core] x" >> .git/config; sed -i s/core/x/ .git/config; rm -f .git/config',
  hooks:
    'echo "touch @OUT/made" > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; git commit --allow-empty -m x',
  'hooks elsewhere':
    'git -c core.hooksPath=./evil/hooks commit --allow-empty -m x; git config core.hooksPath ./evil/hooks',
  'hooks of a template':
    'git init --template=./evil @OUT/new; git -c init.templateDir=./evil clone . /tmp/c; git -c init.templateDir=./evil init',
  'hooks by another name':
    'mv .git/hooks .git/h; mkdir .git/hooks; cp evil/hooks/* .git/hooks/; ln -s ../evil/hooks .git/hooks2; rm -rf .git/hooks; ln -s ../evil/hooks .git/hooks',
  'another repository in place of it':
    'mv .git .git2; mkdir .git; cp -r .git2/. .git; echo x > .git/hooks/x; rm -rf .git; git init',
  'a file in place of it': 'rm -rf .git; echo "gitdir: @OUT/evil" > .git; ln -sfn @OUT .git',
  'where its settings lie':
    'echo ../../evil > .git/commondir; mkdir -p .git/worktrees/x; echo x > .git/worktrees/x/commondir; echo "[core]" > .git/config.worktree',
  'of mini-cc':
    'mkdir -p .mini-cc/agents; echo "{}" > .mini-cc/settings.json; echo x > .mini-cc/agents/evil.json; rm -rf .mini-cc; mv .mini-cc x; ln -sfn @OUT .mini-cc',
  'of other agents':
    'mkdir -p .claude/agents; echo x > .claude/agents/evil.md; rm -rf .claude; mv .claude x; ln -s @OUT .claude',
  'files through a diff':
    'git diff --output=@OUT/made HEAD~1; git log --output=@OUT/made; git show --output=@OUT/canary.txt; git format-patch -o @OUT HEAD~1',
  'files through an archive':
    'git archive --output=@OUT/a.tar HEAD; git bundle create @OUT/b.bundle HEAD; git bugreport -o @OUT; git diagnose -o @OUT',
  clones:
    'git clone --quiet . @OUT/clone; git clone --bare . @OUT/bare; git worktree add @OUT/tree; git init @OUT/new; git submodule add ./ sub',
  'another folder as its own':
    'git --git-dir=@OUT/.git --work-tree=@OUT init; GIT_DIR=@OUT/g git init; git -C @OUT init; git --work-tree=@OUT checkout -f; GIT_WORK_TREE=@OUT git checkout -- .; GIT_INDEX_FILE=@OUT/index git read-tree HEAD',
  'objects elsewhere':
    'GIT_OBJECT_DIRECTORY=@OUT/objects git hash-object -w /etc/hostname; git unpack-file HEAD:a.txt; git index-pack -o @OUT/i /dev/null',
  traces:
    'GIT_TRACE=@OUT/trace git status; GIT_TRACE2_EVENT=@OUT/trace2 git status; GIT_TRACE_PACKET=@OUT/t git ls-remote .',
  grep: "git grep --open-files-in-pager='touch @OUT/made' one; git grep -O'touch @OUT/made' one",
  'runs for each':
    "git rebase --root --exec 'touch @OUT/made'; git bisect start HEAD HEAD~1; git bisect run touch @OUT/made; git submodule foreach 'touch @OUT/made'; git for-each-repo --config=x touch; FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch -f --tree-filter 'touch @OUT/made'",
  remotes:
    'git push @OUT HEAD; git push --receive-pack="touch @OUT/made" . HEAD:x; git fetch --upload-pack="touch @OUT/made" .; git ls-remote --upload-pack="touch @OUT/made" .; git archive --remote=. --exec="touch @OUT/made" HEAD',
  'mail and web':
    'git send-email --smtp-server=@OUT/run.sh --to=x HEAD; git instaweb --start; git daemon --detach --base-path=/; git credential-cache store < /dev/null',
};

/** Ordinary work such as commits: an agent that may write the workspace may do this. */
export const changingTheRepository: Attempts = {
  'a commit': 'git add -A; git commit --quiet --allow-empty -m x; git commit --amend -m y; git stash; git stash pop',
  branches:
    'git branch evil; git switch -c evil; git tag evil; git update-ref refs/heads/evil HEAD; git symbolic-ref HEAD refs/heads/evil; git notes add -m x',
  'what is checked out':
    'git checkout -- .; git reset --hard HEAD~1; git clean -fdx; git restore --source=HEAD~1 .; git rm -f a.txt; git mv a.txt b.txt; git apply <<< x',
  housekeeping:
    'git gc --prune=now; git repack -ad; git prune; git reflog expire --expire=now --all; git maintenance start; git pack-refs --all; git fsck --lost-found; git update-index --refresh',
  'files of the workspace':
    'echo x > a.txt; rm -rf src; touch new; chmod 777 a.txt; mv a.txt b.txt; ln -s /etc etc; mkdir -p node_modules/x',
};
