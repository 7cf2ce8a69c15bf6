/** Attempts to read a key. */
import type {Attempts} from './fixture.ts';

export const readingKeys: Attempts = {
  'a private key by name': 'cat @HOME/.ssh/id_ed25519',
  'by the tilde': 'cat ~/.ssh/id_ed25519',
  'by HOME': 'cat "$HOME/.ssh/id_ed25519"',
  'by the home of the user': 'cat $(getent passwd $(id -u) | cut -d: -f6)/.ssh/id_ed25519; cat @HOME/.ssh/*',
  'keys of a cloud': 'cat @HOME/.aws/credentials @HOME/.config/gcloud/creds @HOME/.azure/token',
  'passwords of hosts': 'cat @HOME/.netrc',
  'tokens of a registry': 'cat @HOME/.npmrc; npm config list --userconfig @HOME/.npmrc',
  'what git stores':
    'cat @HOME/.git-credentials; printf "protocol=https\\nhost=x\\n" | git credential-store --file @HOME/.git-credentials get',
  'of containers': 'cat @HOME/.docker/config.json @HOME/.kube/config',
  'the keyring of GnuPG': 'cat @HOME/.gnupg/secring; tar c @HOME/.gnupg | strings',
  'a browser': 'cat @HOME/.mozilla/key4.db; strings @HOME/.mozilla/key4.db',
  'settings of mini-cc': 'cat @HOME/.mini-cc/settings.json; cat "$MINI_CC_HOME/settings.json"',
  'a file that the user hides': 'cat @HOME/own-keys/key @HOME/own-file',
  'the whole home': 'grep -rs CANARY @HOME',
  'found by name': 'find @HOME/../.. -name id_ed25519 -exec cat {} + ; locate id_ed25519',
  'found in the home': 'find @HOME -type f -exec cat {} \\;',
  'through an archive': 'tar cf - -C @HOME .ssh .aws .netrc | base64',
  'through ripgrep': 'rg --hidden --no-ignore CANARY @HOME',
  'by its bytes': 'xxd -p @HOME/.ssh/id_ed25519; od -c @HOME/.netrc; base64 @HOME/.netrc',
  'by dd': 'dd if=@HOME/.ssh/id_ed25519 status=none',
  'copied first': 'cp @HOME/.ssh/id_ed25519 /tmp/k; cat /tmp/k',
  'by a here-string': 'read -r line < @HOME/.netrc; echo "$line"; mapfile -t all < @HOME/.ssh/id_ed25519; echo "$all"',
  'by a builtin': 'echo "$(<@HOME/.ssh/id_ed25519)"',
  'by a history': 'history -r @HOME/.netrc; history',
  'by sourcing': '. @HOME/.netrc; source @HOME/.ssh/id_ed25519',
  'in an error': 'bash @HOME/.ssh/id_ed25519; python3 @HOME/.netrc; node @HOME/.netrc',
  'by python': 'python3 -c "print(open(\'@HOME/.ssh/id_ed25519\').read())"',
  'by node': "node -e \"console.log(require('fs').readFileSync('@HOME/.ssh/id_ed25519','utf8'))\"",
  'by perl': "perl -e 'open F, q(@HOME/.ssh/id_ed25519); print <F>'",
  'by awk': "awk '{print}' @HOME/.ssh/id_ed25519; awk 'BEGIN{while((getline l < \"@HOME/.netrc\")>0) print l}'",
  'by sed and diff':
    'sed -n p @HOME/.netrc; diff /dev/null @HOME/.netrc; comm @HOME/.netrc /dev/null; paste @HOME/.netrc',
  'by curl of a file': 'curl -s file://@HOME/.ssh/id_ed25519',
  'by git of files':
    'git diff --no-index /dev/null @HOME/.ssh/id_ed25519; git hash-object @HOME/.netrc; git grep --no-index CANARY @HOME/.ssh',
  'by an include of git': 'git -c include.path=@HOME/.netrc status; git config --file @HOME/.ssh/id_ed25519 --list',
  'through a link in the workspace': 'cat link-to-key; cat link-to-home/.ssh/id_ed25519',
  'through a link of its own': 'ln -s @HOME/.ssh /tmp/l; cat /tmp/l/id_ed25519',
  'through a hard link of its own': 'ln @HOME/.ssh/id_ed25519 /tmp/h; cat /tmp/h; ln @HOME/.netrc @WS/h; cat @WS/h',
  'with dots in the path':
    'cat @WS/../home/.ssh/id_ed25519; cat @HOME/./x/../.ssh/id_ed25519; cat @HOME/.ssh/../.ssh/id_ed25519',
  'after a cd': 'cd @HOME && cat .ssh/id_ed25519; cd .ssh && cat id_ed25519',
  'by a pattern': 'cat @HOME/.s*/id_*; cat @HOME/.[a-z]*/*; cat @HOME/{.ssh,.aws}/*',
  'by words put together': 'p=.s; cat "@HOME/$p"sh/id_ed25519; eval "cat @HOME/.$(echo hss | rev)/id_ed25519"',
  'environment of another process':
    "cat /proc/@PID/environ; tr '\\0' '\\n' < /proc/@PID/environ; strings /proc/*/environ",
  'environment of mini-cc':
    "for p in /proc/[0-9]*; do tr '\\0' '\\n' < $p/environ; done; cat /proc/$PPID/environ; ps eww",
  'its own environment': 'env; export -p; cat /proc/self/environ; set; declare -x',
  'root of another process': 'cat /proc/@PID/root@HOME/.ssh/id_ed25519; cat /proc/1/root@HOME/.ssh/id_ed25519',
  'its own root': 'cat /proc/self/root@HOME/.ssh/id_ed25519; cat /proc/self/cwd/../home/.ssh/id_ed25519',
  'open files of others': 'cat /proc/@PID/fd/*; cat /proc/[0-9]*/fd/3; ls -l /proc/@PID/fd',
  'its own open files': 'for fd in /proc/self/fd/*; do timeout 0.1 cat "$fd"; done',
  'directories left open':
    'for fd in /proc/self/fd/*; do cat "$fd/home/.ssh/id_ed25519" "$fd/.ssh/id_ed25519" "$fd@HOME/.ssh/id_ed25519"; done',
  'memory of another process':
    "cat /proc/@PID/maps; python3 -c \"print(open('/proc/@PID/mem','rb').read(1))\"; gdb -p @PID -batch -ex 'info auxv'",
  'by lifting what hides it': 'umount @HOME/.ssh; umount -l @HOME/.ssh; cat @HOME/.ssh/id_ed25519',
  'by a mount elsewhere':
    'mkdir /tmp/m; mount --bind @HOME /tmp/m; cat /tmp/m/.ssh/id_ed25519; mount --rbind / /tmp/m; cat /tmp/m@HOME/.ssh/id_ed25519',
  'in a namespace of its own':
    "unshare -Urm sh -c 'umount @HOME/.ssh; cat @HOME/.ssh/id_ed25519'; unshare -m cat @HOME/.ssh/id_ed25519",
  'in a sandbox of its own':
    'bwrap --dev-bind / / cat @HOME/.ssh/id_ed25519; bwrap --bind / / --unshare-all umount @HOME/.ssh',
  'from the disk':
    "for d in /dev/sd* /dev/vd* /dev/nvme* /dev/dm-* /dev/mem /dev/kmem; do timeout 1 grep -am1 CANARY-KEY $d; done; debugfs -R 'cat @HOME/.netrc' /dev/vda",
  'as the superuser':
    'sudo -n cat @HOME/.ssh/id_ed25519; su -c "cat @HOME/.ssh/id_ed25519" root; pkexec cat @HOME/.netrc; doas cat @HOME/.netrc',
  'from an agent': 'ssh-add -L; echo "$SSH_AUTH_SOCK"; gpg --export-secret-keys; printenv GITHUB_TOKEN',
  'from a ring of the kernel': 'keyctl show; keyctl list @u; cat /proc/keys',
};
