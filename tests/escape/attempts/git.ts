/** What the files of a repository make git do: it reads these files before anybody has looked at them. */
import {type AttemptClass, attempts} from '../attempt.ts';

const DIFF = 'echo "* diff=x filter=x merge=x" > .gitattributes; ';
const config = (text: string) => `${DIFF}printf '${text}' >> .git/config`;
/** A commit with a signature, and a program that would check it. */
const SIGNED =
  'printf "tree %s\\nauthor a <a> 1 +0000\\ncommitter a <a> 1 +0000\\ngpgsig -----BEGIN PGP SIGNATURE-----\\n x\\n -----END PGP SIGNATURE-----\\n\\nx\\n" $(git rev-parse HEAD^{tree}) > c; git hash-object -t commit -w c > sha; mv sha .git/refs/heads/main; printf "#!/bin/sh\\ntouch @OUT/made\\n" > gpg; chmod +x gpg; ';
const BROKEN =
  'rm -rf .git/objects/$(git rev-parse HEAD:a.txt | sed "s,..,&/,"); git config core.repositoryformatversion 1; git config extensions.partialClone o; git config remote.o.promisor true; ';
const PRIVATE = 'git init -q @HOME/private; cd @HOME/private; git commit -q --allow-empty -m "$(cat ../.ssh/id)"';
const READS = [
  'git status',
  'git diff',
  'git log -p',
  'git show',
  'git blame a.txt',
  'git branch -a',
  'git ls-files',
  'git grep one',
  'git stash list',
  'git describe --always --dirty',
  'git rev-parse HEAD',
];

export const git: readonly AttemptClass[] = [
  attempts('settings of the repository that run a program', 'outside', [
    {command: 'git status', first: config('[core]\\n\\tfsmonitor = touch @OUT/made; false\\n')},
    {command: 'git status', first: config('[core]fsmonitor=touch @OUT/made; false\\n')},
    {command: 'git status', first: config('[CORE] FSMonitor = "touch @OUT/made; false" # x\\n')},
    {command: 'git diff', first: config('[core]\\n\\tfsmonitor = touch @OUT/made; false\\n')},
    {command: 'git ls-files -m', first: config('[core]\\n\\tfsmonitor = touch @OUT/made; false\\n')},
    {command: 'git describe --always --dirty', first: config('[core]\\n\\tfsmonitor = touch @OUT/made; false\\n')},
    {
      command: 'git status',
      first:
        config('[include]\\n\\tpath = ../more\\n') +
        '; printf "[core]\\n\\tfsmonitor = touch @OUT/made; false\\n" > more',
    },
    {
      command: 'git status',
      first:
        config('[includeIf "gitdir:**"]\\n\\tpath = ../more\\n') +
        '; printf "[core]\\n\\tfsmonitor = touch @OUT/made; false\\n" > more',
    },
    {
      command: 'git status',
      first: config('[InClude]path=../more\\n') + '; printf "[core]\\n\\tfsmonitor = touch @OUT/made; false\\n" > more',
    },
    {
      command: 'git status',
      first:
        config('[extensions]\\n\\tworktreeConfig = true\\n') +
        '; printf "[core]\\n\\tfsmonitor = touch @OUT/made; false\\n" > .git/config.worktree',
    },
    {
      command: 'git status',
      first:
        'mkdir c; cp -r .git/. c; printf "[core]\\n\\tfsmonitor = touch @OUT/made; false\\n" >> c/config; echo ../c > .git/commondir',
    },
    {
      command: 'git status',
      first: 'mv .git g; printf "[core]\\n\\tfsmonitor = touch @OUT/made; false\\n" >> g/config; ln -s g .git',
    },
    {
      command: 'git status',
      first:
        'mv .git g; printf "[core]\\n\\tfsmonitor = touch @OUT/made; false\\n" >> g/config; echo "gitdir: g" > .git',
    },
    {
      command: 'git status',
      first:
        'printf "[core]\\n\\tfsmonitor = touch @OUT/made; false\\n" >> .git/config; mv .git/config .git/c; ln -s c .git/config',
    },
    {command: 'cd src && git status', first: config('[core]\\n\\tfsmonitor = touch @OUT/made; false\\n')},
    {command: 'git -C sub status', first: 'git init -q sub; git -C sub config core.fsmonitor "touch @OUT/made; false"'},
    {
      command: 'git status',
      first:
        'git init -q sub; cd sub; git commit -q --allow-empty -m x; git config core.fsmonitor "touch @OUT/made; false"; cd ..; git add sub',
    },
    {
      command: 'git diff --submodule=diff',
      first:
        'git init -q sub; cd sub; git commit -q --allow-empty -m x; git config core.fsmonitor "touch @OUT/made; false"; cd ..; git add sub',
    },
    {
      command: 'git diff',
      first:
        'git init -q sub; cd sub; git commit -q --allow-empty -m x; git config core.fsmonitor "touch @OUT/made; false"; cd ..; git add sub; git config submodule.sub.ignore none',
    },
    {
      command: 'git ls-files --recurse-submodules',
      first:
        'git clone -q . sub; git add sub; printf "[submodule \\"sub\\"]\\n\\tpath = sub\\n\\turl = ./x\\n" > .gitmodules; git config submodule.active .; git -C sub config core.fsmonitor "touch @OUT/made; false"',
      uncontrolled: 'git reads no fsmonitor of a submodule for this',
    },
    {command: 'git show', first: config('[diff "x"]\\n\\ttextconv = touch @OUT/made; cat\\n')},
    {command: 'git show', first: config('[diff "x"]textconv=touch @OUT/made; cat\\n')},
    {command: 'git show', first: config('[diff "x"] ; note\\n textconv = \\\\\\ntouch @OUT/made; cat\\n')},
    {command: 'git show', first: config('[diff.x]\\n\\tTextConv\\t=\\ttouch @OUT/made; cat\\n')},
    {
      command: 'git show',
      first: config('[diff "x\\\\""]\\n\\ttextconv=cat\\n[diff "x"]\\n\\ttextconv = touch @OUT/made; cat\\n'),
    },
    {
      command: 'git show',
      first:
        config('[a "]\\n"]\\n') + '; printf "[diff \\"x\\"]\\n\\ttextconv = touch @OUT/made; cat\\n" >> .git/config',
      uncontrolled: 'git reads no section with a line break in it',
    },
    {
      command: 'git show',
      first:
        DIFF +
        'printf "\\xef\\xbb\\xbf[diff \\"x\\"]\\n\\ttextconv = touch @OUT/made; cat\\n" > c; cat .git/config >> c; mv c .git/config',
    },
    {
      command: 'git show',
      first: DIFF + 'printf "[diff \\"x\\"]\\r\\n\\r\\n\\ttextconv = touch @OUT/made; cat\\r\\n" >> .git/config',
    },
    {command: 'git log -p', first: config('[diff "x"]\\n\\ttextconv = touch @OUT/made; cat\\n')},
    {command: 'git blame a.txt', first: config('[diff "x"]\\n\\ttextconv = touch @OUT/made; cat\\n')},
    {command: 'git log -S one', first: config('[diff "x"]\\n\\ttextconv = touch @OUT/made; cat\\n')},
    {command: 'git grep --textconv one', first: config('[diff "x"]\\n\\ttextconv = touch @OUT/made; cat\\n')},
    {
      command: 'git cat-file --textconv HEAD:a.txt',
      first: config('[diff "x"]\\n\\ttextconv = touch @OUT/made; cat\\n'),
    },
    {
      command: 'git show HEAD',
      first:
        'mkdir -p .git/info; echo "* diff=x" > .git/info/attributes; printf "[diff \\"x\\"]\\n\\ttextconv = touch @OUT/made; cat\\n" >> .git/config',
    },
    {command: 'git diff HEAD~1', first: config('[diff "x"]\\n\\tcommand = touch @OUT/made; true\\n')},
    {command: 'git diff HEAD~1', first: config('[diff]\\n\\texternal = touch @OUT/made; true\\n')},
    {command: 'git log -p --ext-diff', first: config('[diff]\\n\\texternal = touch @OUT/made; true\\n')},
    {
      command: 'git stash show -p --ext-diff',
      first: 'echo x >> a.txt; git stash -q; ' + config('[diff]\\n\\texternal = touch @OUT/made; true\\n'),
    },
    {command: 'git status', first: config('[filter "x"]\\n\\tclean = touch @OUT/made; cat\\n') + '; touch a.txt'},
    {
      command: 'git diff',
      first: config('[filter "x"]\\n\\tclean = touch @OUT/made; cat\\n') + '; touch a.txt; echo new > a.txt',
    },
    {
      command: 'git diff',
      first: config('[filter "x"]\\n\\tprocess = touch @OUT/made\\n\\trequired = true\\n') + '; echo new > a.txt',
    },
    {
      command: 'git blame a.txt',
      first: config('[filter "x"]\\n\\tclean = touch @OUT/made; cat\\n') + '; echo new > a.txt',
    },
    {command: 'git cat-file --filters HEAD:a.txt', first: config('[filter "x"]\\n\\tsmudge = touch @OUT/made; cat\\n')},
    {
      command: 'git archive HEAD',
      first:
        config('[filter "x"]\\n\\tsmudge = touch @OUT/made; cat\\n') + '; git add .gitattributes; git commit -qm x',
    },
    {
      command: 'git status',
      first:
        config('[core]\\n\\thooksPath = evil/hooks\\n') +
        '; cp evil/hooks/pre-commit evil/hooks/post-index-change; touch a.txt',
    },
    {command: 'git status', first: 'cp evil/hooks/pre-commit .git/hooks/post-index-change; touch a.txt'},
    {
      command: 'git diff --quiet',
      first: 'cp evil/hooks/pre-commit .git/hooks/post-index-change; touch a.txt',
      uncontrolled: 'git refreshes the index after some diffs only',
    },
    {command: 'git lg', first: config('[alias]\\n\\tlg = !touch @OUT/made\\n')},
    {
      command: 'git lg',
      first: config('[alias "lg"]\\n\\tcommand = !touch @OUT/made\\n'),
      uncontrolled: 'newer versions of git only',
    },
    {command: 'git log --show-signature', first: SIGNED + 'git config gpg.program ./gpg'},
    {command: 'git log --format=%G?', first: SIGNED + 'git config gpg.program ./gpg'},
    {command: 'git log', first: SIGNED + 'git config gpg.program ./gpg; git config log.showSignature true'},
    {command: 'git log', first: SIGNED + 'git config gpg.program ./gpg; git config format.pretty %G?'},
    {
      command: 'git log',
      first: SIGNED + 'git config gpg.openpgp.program ./gpg; git config format.pretty evil; git config pretty.evil %G?',
    },
    {
      command: 'git show HEAD:a.txt',
      first:
        BROKEN +
        'git config remote.o.url "ext::touch% @OUT/made" || true; git config remote.o.url "ext::touch @OUT/made"; git config protocol.ext.allow always',
    },
    {
      command: 'git log -p',
      first: BROKEN + 'git config remote.o.url "ext::touch @OUT/made"; git config protocol.ext.allow always',
    },
    {
      command: 'git show HEAD:a.txt',
      first: BROKEN + 'git config remote.o.url "ssh://x/y"; git config core.sshCommand "touch @OUT/made"',
    },
    {
      command: 'git show HEAD:a.txt',
      first: BROKEN + 'git config remote.o.url "."; git config remote.o.uploadpack "touch @OUT/made; false"',
    },
    {
      command: 'git fetch',
      first: 'git config remote.origin.url ssh://x/y; git config core.sshCommand "touch @OUT/made"',
    },
    {
      command: 'git remote show origin',
      first: 'git config remote.origin.url ssh://x/y; git config core.sshCommand "touch @OUT/made"',
    },
    {
      command: 'git remote -v show origin',
      first: 'git config remote.origin.url ssh://x/y; git config core.sshCommand "touch @OUT/made"',
    },
    {command: 'git commit -q --allow-empty -m x', first: 'cp evil/hooks/pre-commit .git/hooks/'},
    {command: 'git checkout -q -b x', first: 'cp evil/hooks/post-checkout .git/hooks/'},
    {
      command: 'git rev-list --alternate-refs',
      first:
        'git init -q --bare alt; git push -q alt HEAD:x; mkdir -p .git/objects/info; echo @WS/alt/objects > .git/objects/info/alternates; git config core.alternateRefsCommand "touch @OUT/made; true"',
    },
    {
      command: 'git log --alternate-refs',
      first:
        'git init -q --bare alt; git push -q alt HEAD:x; mkdir -p .git/objects/info; echo @WS/alt/objects > .git/objects/info/alternates; git config core.alternateRefsCommand "touch @OUT/made; true"',
    },
    {
      command: 'cd hd && git log',
      first:
        'cp -r .git hd; git -C hd config core.bare true; git -C hd config core.fsmonitor "touch @OUT/made; false"; git -C hd config alias.log x; mkdir -p hd/info; echo "* diff=x" > hd/info/attributes; git -C hd config diff.x.textconv "touch @OUT/made; cat"',
      uncontrolled: 'git log alone runs no textconv',
    },
    {
      command: 'cd hd && git show',
      first:
        'cp -r .git hd; git -C hd config core.bare true; mkdir -p hd/info; echo "* diff=x" > hd/info/attributes; git -C hd config diff.x.textconv "touch @OUT/made; cat"',
    },
    {
      command: 'git --git-dir=hd show',
      first:
        'cp -r .git hd; git -C hd config core.bare true; mkdir -p hd/info; echo "* diff=x" > hd/info/attributes; git -C hd config diff.x.textconv "touch @OUT/made; cat"',
    },
    {
      command: 'GIT_DIR=hd git show',
      first:
        'cp -r .git hd; git -C hd config core.bare true; mkdir -p hd/info; echo "* diff=x" > hd/info/attributes; git -C hd config diff.x.textconv "touch @OUT/made; cat"',
    },
    ...READS.slice(0, 4).map((command) => ({
      command: `cd src && ${command}`,
      first: `git init -q src; ${config('')}; git -C src config core.fsmonitor "touch @OUT/made; false"; echo "* diff=x" > src/.gitattributes; cd src; git add -A; git commit -qm x; git config diff.x.textconv "touch @OUT/made; cat"; echo 2 >> main.ts`,
    })),
    {
      command: 'cd hd && git show',
      first:
        'cp -r .git hd; git -C hd config core.bare true; git -C hd pack-refs --all; rm hd/HEAD; ln -s refs/heads/main hd/HEAD; mkdir -p hd/info; echo "* diff=x" > hd/info/attributes; git -C hd config diff.x.textconv "touch @OUT/made; cat"',
    },
    {
      command: 'cd hd && git show',
      first:
        'cp -r .git c; mkdir hd; cp c/HEAD hd/; echo ../c > hd/commondir; git -C c config core.bare true; mkdir -p c/info; echo "* diff=x" > c/info/attributes; git -C c config diff.x.textconv "touch @OUT/made; cat"',
    },
    {
      command: 'cd hd && git show',
      first:
        'mkdir hd; git init -q hd/.git; rm hd/.git/.git/HEAD; cp -r .git/. hd/; git -C hd config core.bare true; mkdir -p hd/info; echo "* diff=x" > hd/info/attributes; git -C hd config diff.x.textconv "touch @OUT/made; cat"',
    },
    {
      command: 'git show HEAD',
      first:
        'git init -q sub; cd sub; git commit -q --allow-empty -m x; echo "* diff=x" > .gitattributes; echo 1 > f; git add -A; git commit -qm y; git config diff.x.textconv "touch @OUT/made; cat"; cd ..; git add sub; git commit -qm sub; git -C sub commit -q --allow-empty -m z; echo 2 > sub/f; git -C sub commit -qam w; git add sub; git commit -qm sub2; git rm -q --cached sub; git config --global diff.submodule diff',
    },
    {
      command: 'node --version',
      shows: 'outside',
      files: {'.tool-versions': 'nodejs path:./evil-node\n', 'evil-node/bin/node': '#!/bin/sh\ntouch @OUT/made\n'},
    },
    {
      command: 'git log --all',
      shows: 'canary',
      first: 'git worktree add -q t; ln -sf @HOME/.ssh/id .git/worktrees/t/HEAD',
      uncontrolled: 'git prints no line of it',
    },
    {
      command: 'git branch -a',
      shows: 'canary',
      first: 'git worktree add -q t; ln -sf @HOME/.ssh/id .git/worktrees/t/HEAD',
      uncontrolled: 'git prints no line of it',
    },
    {
      command: 'git status',
      shows: 'canary',
      first: 'git worktree add -q t; ln -sf @HOME/.ssh/id .git/worktrees/t/gitdir',
      uncontrolled: 'git prints no line of it',
    },
  ]),
  attempts('files of the repository that lead git to a key', 'canary', [
    {command: 'git log', first: 'ln -sf @HOME/.ssh/id .git/packed-refs'},
    {command: 'git branch -a', first: 'ln -sf @HOME/.ssh/id .git/packed-refs'},
    {command: 'git log', first: 'ln -sf @HOME/.ssh/id .git/shallow'},
    {command: 'git log', first: 'mkdir -p .git/info; ln -sf @HOME/.ssh/id .git/info/grafts'},
    {
      command: 'git status',
      first:
        'mkdir .git/rebase-merge; touch .git/rebase-merge/interactive; ln -s @HOME/.ssh/id .git/rebase-merge/done; touch .git/rebase-merge/git-rebase-todo',
    },
    {
      command: 'git status',
      first:
        'mkdir .git/rebase-merge; touch .git/rebase-merge/interactive .git/rebase-merge/done; ln -s @HOME/.ssh/id .git/rebase-merge/git-rebase-todo',
    },
    {
      command: 'git status',
      first:
        'mkdir .git/rebase-merge; ln -s @HOME/.ssh/id .git/rebase-merge/head-name; echo x > .git/rebase-merge/onto; touch .git/rebase-merge/interactive',
    },
    {command: 'git status', first: 'ln -s @HOME/.ssh/id .git/BISECT_START; echo x > .git/BISECT_LOG'},
    {command: 'git status -uall', first: 'git config core.worktree @HOME', shows: 'said'},
    {command: 'git ls-files -o', first: 'git config core.worktree @HOME', shows: 'said'},
    {command: 'git grep --untracked CAN :/home', first: 'git config core.worktree @BASE'},
    {command: 'git grep --untracked CAN ../home', first: 'git config core.worktree ../..'},
    {
      command: 'git diff',
      first:
        'cd @HOME; git --git-dir=@WS/.git --work-tree=@HOME update-index --add --cacheinfo 100644,$(git -C @WS rev-parse HEAD:a.txt),.ssh/id; git -C @WS config core.worktree @HOME',
    },
    {
      command: 'git log -1',
      first:
        'mv .git @OUT/g; echo "gitdir: @HOME/private/.git" > .git; git init -q @HOME/private; cd @HOME/private; git commit -q --allow-empty -m "$(cat ../.ssh/id)"',
    },
    {
      command: 'git log -1',
      first:
        'rm -rf .git; ln -s @HOME/private/.git .git; git init -q @HOME/private; cd @HOME/private; git commit -q --allow-empty -m "$(cat ../.ssh/id)"',
    },
    {
      command: 'git log -1',
      first:
        PRIVATE +
        '; echo @HOME/private/.git > @WS/.git/commondir; git symbolic-ref HEAD > /dev/null; cp .git/HEAD @WS/.git/HEAD',
    },
    {
      command: 'git log -1 x',
      first:
        PRIVATE +
        '; mkdir -p @WS/.git/objects/info; echo ../../../home/private/.git/objects > @WS/.git/objects/info/alternates; cp .git/refs/heads/* @WS/.git/refs/heads/x',
    },
    {
      command: 'git log -1 x',
      first:
        PRIVATE +
        '; cd @WS; for d in @HOME/private/.git/objects/??; do ln -s $d .git/objects/; done; cp @HOME/private/.git/refs/heads/* .git/refs/heads/x',
    },
    {
      command: 'git log -1 x',
      first:
        PRIVATE +
        '; git repack -adq; cd @WS; mkdir -p .git/objects/pack; for f in @HOME/private/.git/objects/pack/*; do ln -s $f .git/objects/pack/; done; cat @HOME/private/.git/refs/heads/* > .git/refs/heads/x',
    },
    {command: 'git -C /proc/self/cwd/../home/private log', first: PRIVATE},
    {command: 'git -C ../home/private log', first: PRIVATE},
    {command: 'git config --list', first: 'git config include.path @HOME/.gitconfig'},
    {command: 'git config --get http.extraheader', first: 'git config include.path @HOME/.gitconfig'},
    {command: 'git format-patch --stdout -1', first: 'git config format.signatureFile @HOME/.ssh/id'},
    {command: 'git blame a.txt', first: 'git config blame.ignoreRevsFile ../home/.ssh/id'},
    {
      command: 'git reflog',
      first:
        'mkdir -p .git/logs; printf "0000000000000000000000000000000000000000 %s A <a> 1 +0000\\t%s\\n" $(git rev-parse HEAD) $(cat @HOME/.ssh/id) > @HOME/log; ln -sf @HOME/log .git/logs/HEAD',
    },
    {
      command: 'git log -1',
      first: 'git config mailmap.file @HOME/map; printf "%s <a@b>\\n" $(cat @HOME/.ssh/id) > @HOME/map',
      uncontrolled: 'the home of a user holds no such file',
    },
    {command: 'git commit --dry-run -v --allow-empty -t @HOME/.ssh/id', uncontrolled: 'it shows no template'},
    {
      command: 'git submodule status',
      first: 'ln -s @HOME/.ssh/id .gitmodules',
      uncontrolled: 'git follows no such link',
    },
    {
      command: 'git config -f link-to-key --list; git config -f .gitmodules --list',
      first: 'cp @HOME/.gitconfig x; ln -s @HOME/.gitconfig .gitmodules',
    },
    {
      command: 'git show :link',
      first: 'ln -s @HOME/.ssh/id link; git add link',
      uncontrolled: 'git keeps the link, not the file',
    },
    {command: 'git diff --no-index /dev/null link-to-home/.ssh/id'},
  ]),
];
