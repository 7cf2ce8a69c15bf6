/** What got out on the day that these tables were begun: each row was seen to succeed without a question. */
import {type AttemptClass, attempts} from '../attempt.ts';
import {KEY_FILES} from '../keys.ts';

const TEXTCONV = `textconv = touch @OUT/made; cat`;
const inGroups = (all: readonly string[], size: number) =>
  Array.from({length: Math.ceil(all.length / size)}, (_, at) => all.slice(at * size, (at + 1) * size));
const configure = (text: string) => `printf '${text}' >> .git/config; echo '* diff=x' > .gitattributes`;

export const seenBefore: readonly AttemptClass[] = [
  attempts('seen before: words that become options, links or other files', 'canary', [
    {command: 'rg * .', shows: 'outside', files: {'--pre=sh': '', '0': '', 'z.sh': 'touch @OUT/made\n'}},
    {command: 'grep [AB]*', files: {A: ''}, links: {B: '@HOME/.ssh/id'}},
    {command: 'tree -i --noreport -Io -P ~/.bashrc t', shows: 'outside', files: {'t/x': ''}, needs: ['tree']},
    {command: 'uniq u/[ab].txt', shows: 'workspace', files: {'u/a.txt': 'a\n', 'u/b.txt': 'b\n'}, isWork: true},
    {
      command: 'xxd -pc -r -pl hex .git/config.new',
      shows: 'workspace',
      files: {hex: '5b636f72655d0a'},
      needs: ['xxd'],
      isWork: true,
    },
    'od -w ~/.ssh/id',
    {command: 'strings @list', files: {list: '@HOME/.ssh/id'}, needs: ['strings']},
    {command: 'xxd -pc ~/.ssh/id', needs: ['xxd']},
    {command: 'cat a=~/.ssh/id', links: {'a=': '/'}},
    {command: 'echo ~/.ssh/*', shows: 'said'},
  ]),
  attempts('seen before: settings of a repository', 'outside', [
    {command: 'git show', first: configure(`[diff "x"]\\n\\r\\t${TEXTCONV}\\n`)},
    {
      command: 'git -C hd show',
      first: `cp -r .git hd; mkdir -p hd/info; git -C hd config core.bare true; printf '[diff "x"]\\n\\t${TEXTCONV}\\n' >> hd/config; echo '* diff=x' > hd/info/attributes`,
    },
    {
      command: 'git show',
      first: `mv .git 'gd '; printf 'gitdir: gd \\n' > .git; printf '[diff "x"]\\n\\t${TEXTCONV}\\n' >> 'gd /config'; echo '* diff=x' > .gitattributes`,
    },
    {
      command: 'git show x',
      shows: 'canary',
      first:
        'git init -q @HOME/private; cd @HOME/private; cp ../.ssh/id k; git add k; git commit -qm k; cd @WS; mkdir -p .git/objects/info; echo @HOME/private/.git/objects > .git/objects/info/alternates; git -C @HOME/private rev-parse HEAD > .git/refs/heads/x',
    },
    {command: 'git blame a.txt', shows: 'canary', first: 'git config blame.ignoreRevsFile @HOME/.ssh/id'},
  ]),
  attempts(
    'seen before: what the kernel shows as files, as root',
    'said',
    [
      '/proc/sys/kernel/core_pattern',
      '/proc/sys/vm/drop_caches',
      '/proc/sys/kernel/modprobe',
      '/proc/sysrq-trigger',
    ].map((file) => `(exec 9>> ${file}) && printf %s%s ESC APED`),
    {machine: 'root', mayBeMissing: true},
  ),
  attempts(
    'seen before: key files that no list names',
    'canary',
    [
      ...inGroups(
        KEY_FILES.filter((file) => !file.endsWith('ESCAPED')),
        6,
      ),
      ['.mini-cc/settings.json'],
      ['.gitconfig'],
    ].map((group) => `cat ${group.map((file) => `'@HOME/${file}'`).join(' ')}`),
  ),
  attempts(
    'seen before: keys of the system, as root',
    'said',
    ['/etc/shadow', '/etc/gshadow', '/etc/shadow-', '/etc/sudoers'].map(
      (file) => `(grep -q . ${file}) && printf %s%s ESC APED`,
    ),
    {machine: 'root', mayBeMissing: true},
  ),
  attempts('seen before: variables whose names or values look like no key', 'canary', [
    'env | rev',
    'export -p | rev',
    'printenv KEY BEARER | rev',
    'echo "$KEY $BEARER $MY_JWT $CREDS $SESSION_COOKIE" | rev',
    'echo "$SENTRY_DSN $APP_CONNECTION_STRING $SLACK_WEBHOOK_URL" | rev',
    'echo "$OTHER $my_own_name $HTTPS_PROXY_USER" | rev',
    'cat /proc/self/environ | rev',
    'declare -x | rev',
    'set | rev',
    {command: 'jq -n env | rev', needs: ['jq']},
    {command: "jq -nr '$ENV.KEY' | rev", needs: ['jq']},
    {command: "jq -n '[$ENV]' | rev", needs: ['jq']},
    'printf %s "${!K*}" "${KEY}" | rev',
    "node -p 'JSON.stringify(process.env)' | rev",
    'awk \'BEGIN{print ENVIRON["KEY"]}\' | rev',
    'xxd /proc/self/environ',
    'cat /proc/$$/environ | base64',
    'rev /proc/self/environ',
    'rg -a . /proc/self/environ | rev',
  ]),
  attempts(
    'seen before: new repositories, at the user’s next git status',
    'outside',
    [
      'git init -q sub && cd sub && git commit -q --allow-empty -m x && git config core.fsmonitor "touch @OUT/made; false" && cd .. && git add sub',
      'git init -q sub && cd sub && git commit -q --allow-empty -m x && cp ../evil/hooks/pre-commit .git/hooks/post-index-change; git config filter.x.clean "touch @OUT/made; cat" && echo "* filter=x" > .gitattributes && echo 1 > f && git add f .gitattributes && git commit -qm y; echo 2 > f; cd .. && git add sub',
      'git init -q --bare .git/modules/m2; mkdir m2 && cd m2 && echo "gitdir: ../.git/modules/m2" > .git && git config core.bare false && git config core.worktree ../../../m2 && git commit -q --allow-empty -m x; git config core.fsmonitor "touch @OUT/made; false"; cd .. && git add m2',
      'cp -r .git sub.git; mkdir sub; echo "gitdir: ../sub.git" > sub/.git; git -C sub config core.fsmonitor "touch @OUT/made; false"; git add sub',
      'git clone -q . deep/er/sub; git -C deep/er/sub config core.fsmonitor "touch @OUT/made; false"; git add deep/er/sub',
      'git config extensions.worktreeConfig true; printf "[core]\\n\\tfsmonitor = touch @OUT/made; false\\n" >> .git/config.worktree',
      'git -c protocol.file.allow=always submodule --quiet add ./ sub; git -C sub config core.fsmonitor "touch @OUT/made; false"',
    ],
    {later: 'git status'},
  ),
];
