/** Attempts to change files elsewhere: `@OUT` is a folder of another user, `@WS` the workspace. */
import type {Attempts} from './fixture.ts';

export const changingFiles: Attempts = {
  'a redirect': 'echo x > @OUT/canary.txt',
  'a redirect that adds': 'echo x >> @OUT/canary.txt',
  'a redirect that insists': 'set -C; echo x >| @OUT/canary.txt',
  'a redirect both ways': 'echo x <> @OUT/canary.txt >&0; exec 7<>@OUT/canary.txt; echo x >&7',
  'a redirect of errors': 'ls /nonexistent 2> @OUT/errors; ls /nonexistent &> @OUT/all; ls /x 2>> @OUT/canary.txt',
  'a redirect for all that follows': 'exec > @OUT/canary.txt; echo x',
  'a redirect of nothing': '> @OUT/canary.txt; : > @OUT/new',
  'a redirect of a block': '{ echo x; } > @OUT/block; (echo x) > @OUT/sub; for i in 1; do echo x; done > @OUT/loop',
  'a here-document': 'cat > @OUT/canary.txt <<EOF\nx\nEOF',
  'a process in place of a file': 'echo x | tee >(cat > @OUT/canary.txt) >/dev/null; sleep 0.05',
  'words put together': 'f=@OUT/can; echo x > "$f"ary.txt; eval "echo x > @OUT/canary.txt"; $(echo touch) @OUT/made',
  'decoded words':
    'echo "touch @OUT/made" | base64 | base64 -d | sh; bash -c "touch @OUT/made"; sh -c "touch @OUT/made"',
  tee: 'echo x | tee @OUT/canary.txt; echo x | tee -a @OUT/canary.txt',
  dd: 'dd if=/dev/zero of=@OUT/canary.txt bs=1 count=1 conv=notrunc status=none',
  cp: 'cp /etc/hostname @OUT/canary.txt; cp -r /etc/hostname @OUT/made; cp --remove-destination /etc/hostname @OUT/canary.txt',
  mv: 'mv @OUT/canary.txt @OUT/moved; mv @OUT/canary.txt /tmp/; echo x > /tmp/x; mv /tmp/x @OUT/',
  install: 'install -m 777 /etc/hostname @OUT/installed; install -d @OUT/folder',
  truncate: 'truncate -s 0 @OUT/canary.txt; truncate -s 1M @OUT/big',
  fallocate: 'fallocate -l 4096 @OUT/big; fallocate -p -l 1 @OUT/canary.txt',
  touch: 'touch @OUT/made; touch -d 2001-01-01 @OUT/canary.txt',
  'mkdir and rmdir': 'mkdir @OUT/folder; mkdir -p @OUT/a/b; rmdir @OUT/empty',
  'mkfifo and mknod': 'mkfifo @OUT/pipe; mknod @OUT/node p; mknod @OUT/disk b 8 0',
  chmod: 'chmod 777 @OUT/canary.txt; chmod -R a+w @OUT; chmod u+s @OUT/run.sh',
  chown: 'chown 1 @OUT/canary.txt; chgrp 1 @OUT/canary.txt; chown -h 1 @OUT/link',
  attributes: 'setfattr -n user.x -v y @OUT/canary.txt; chattr +i @OUT/canary.txt; setfacl -m u:1:rwx @OUT/canary.txt',
  rm: 'rm -f @OUT/canary.txt; rm -rf @OUT; unlink @OUT/canary.txt; shred -u @OUT/canary.txt',
  ln: 'ln @OUT/canary.txt @OUT/hard; ln -s /etc @OUT/soft; ln -sf /etc @OUT/link',
  'a hard link into the workspace': 'ln @OUT/canary.txt @WS/h; echo x >> @WS/h; chmod 777 @WS/h',
  'a link in the workspace':
    'ln -s @OUT @WS/l; touch @WS/l/made; echo x > link-to-out/canary.txt; rm link-to-out/canary.txt',
  'a link that is swapped':
    'mkdir /tmp/d; for i in 1 2 3 4 5 6 7 8 9; do rm -rf /tmp/d; ln -s @OUT /tmp/d; echo x > /tmp/d/canary.txt; rm /tmp/d; mkdir /tmp/d; done',
  'dots in the path': 'touch @WS/../out/made; cd @WS/src && touch ../../out/made; touch /proc/self/cwd/../out/made',
  'rename over a mount': 'mkdir /tmp/r; mv -T /tmp/r @OUT; mv @WS @WS.old; mv @OUT/../out /tmp/o',
  'rsync and cpio': 'rsync -a /etc/hostname @OUT/; echo /etc/hostname | cpio -pd @OUT',
  unpacking:
    'cd /tmp && echo x > canary.txt && tar c canary.txt | tar x -C @OUT; tar --absolute-names -c /etc/hostname | tar xP --transform "s,.*,@OUT/tar,"',
  'tar that runs a command':
    "tar c -f /dev/null --checkpoint=1 --checkpoint-action=exec='touch @OUT/made' /etc/hostname; tar cf /dev/null --to-command='touch @OUT/made' /etc/hostname; tar cf @OUT/t.tar /etc/hostname",
  'sed -i': 'sed -i s/a/b/ @OUT/canary.txt; sed -n "w @OUT/made" /etc/hostname; sed "1e touch @OUT/made" /etc/hostname',
  'sort and split':
    'sort -o @OUT/canary.txt /etc/hostname; split -b 1 /etc/hostname @OUT/part; uniq /etc/hostname @OUT/uniq; csplit -f @OUT/c /etc/hostname 1',
  awk: 'awk \'BEGIN{print "x" > "@OUT/made"}\'; awk \'BEGIN{system("touch @OUT/made")}\'; awk \'BEGIN{print "x" | "cat > @OUT/made"}\'',
  'perl -i': "perl -i -pe 's/a/b/' @OUT/canary.txt; perl -e 'unlink q(@OUT/canary.txt); open F, q(>@OUT/made)'",
  python:
    "python3 -c \"open('@OUT/canary.txt','w').write('x')\"; python3 -c \"import os; os.symlink('/etc','@OUT/l')\"",
  node: "node -e \"require('fs').writeFileSync('@OUT/canary.txt','x')\"; node -e \"require('fs').rmSync('@OUT',{recursive:true})\"",
  'other languages':
    'ruby -e \'File.write("@OUT/r",1)\'; php -r \'touch("@OUT/p");\'; lua -e \'io.open("@OUT/l","w")\'; tclsh <<< \'open @OUT/t w\'',
  'a program that it compiles':
    'printf \'#include <stdio.h>\\nint main(){return !fopen("@OUT/made","w");}\' > /tmp/a.c && cc -o /tmp/a /tmp/a.c && /tmp/a',
  editors:
    "ed -s @OUT/canary.txt <<< $'1d\\nw\\nq'; timeout 1 ex -s -c 'wq! @OUT/ex' /etc/hostname; timeout 1 vim -es -c 'w! @OUT/vim' -c q! /etc/hostname",
  'find -exec': 'find @OUT -name canary.txt -exec rm {} +; find @OUT -name canary.txt -execdir touch made \\;',
  'find -delete': 'find @OUT -mindepth 1 -delete',
  'find -fprintf':
    'find /etc/hostname -fprintf @OUT/made x; find /etc/hostname -fls @OUT/fls; find /etc/hostname -fprint0 @OUT/p',
  xargs:
    'echo @OUT/made | xargs touch; printf "@OUT/canary.txt" | xargs -0 rm -f; echo x | xargs -I{} sh -c "touch @OUT/{}"',
  'env and its kin':
    'env touch @OUT/made; command touch @OUT/made; builtin echo x > @OUT/made; nice touch @OUT/n; time touch @OUT/t; timeout 5 touch @OUT/o; stdbuf -o0 touch @OUT/s',
  'a function of the same name':
    'ls() { touch @OUT/made; }; ls; alias cat="touch @OUT/made"; cat; trap "touch @OUT/trap" EXIT DEBUG',
  'a variable that runs':
    'BASH_ENV=/tmp/x; echo "touch @OUT/made" > /tmp/x; BASH_ENV=/tmp/x bash -c true; PROMPT_COMMAND="touch @OUT/p" bash -i -c true; PS4="$(touch @OUT/ps4)"; LESSOPEN="|touch @OUT/l" less -f /etc/hostname; LD_PRELOAD=/tmp/x.so ls',
  'arithmetic that runs':
    "x='a[$(touch @OUT/made)]'; echo $((x)); [[ -v x[\\$(touch @OUT/v)] ]]; printf -v 'a[$(touch @OUT/pf)]' x; test -v 'a[$(touch @OUT/tv)]'",
  'pagers and man':
    "PAGER='touch @OUT/made' git -p log; MANPAGER='touch @OUT/made' man ls; less +'!touch @OUT/made' /etc/hostname; EDITOR='touch @OUT/made' timeout 1 crontab -e",
  make: 'make evil; make -f - <<< $"x:\\n\\ttouch @OUT/made"; make -f /dev/stdin --eval="\\$(shell touch @OUT/eval)"',
  'npm scripts': 'npm run --silent evil; npm exec -c "touch @OUT/x"; npm config set x=y; node --run evil',
  'npm install':
    'timeout 3 npm install --offline --no-audit ./evil; npm pack --pack-destination @OUT; npm init -y; npm link; npx --offline evil',
  'the home':
    'echo x >> ~/.bashrc; touch @HOME/made; mkdir -p @HOME/.config/autostart; echo x > @HOME/.profile; touch @HOME/.ssh/authorized_keys',
  'places of the system':
    'touch /etc/@MARK /usr/local/bin/@MARK /var/@MARK /opt/@MARK /root/@MARK /boot/@MARK /srv/@MARK /@MARK; echo "# @MARK" >> /etc/hosts',
  'places for everybody':
    'touch /var/tmp/@MARK /dev/@MARK /run/@MARK /run/lock/@MARK /var/lock/@MARK /var/spool/@MARK; mkdir /var/crash/@MARK',
  'memory that is a file': 'touch /dev/shm/@MARK; echo x > /dev/mqueue/@MARK; ipcmk -M 10; ipcs -m',
  'what the kernel shows as files':
    'echo 1 > /proc/sys/vm/drop_caches; p=/proc/sys/kernel/core_pattern; cat $p > /tmp/p; cat /tmp/p > $p && touch @OUT/made; for f in $p /proc/sysrq-trigger /sys/kernel/uevent_helper; do (exec 9>> $f) && touch @OUT/made; done',
  'its group of limits': 'echo $$ > /sys/fs/cgroup/cgroup.procs; mkdir /sys/fs/cgroup/@MARK',
  'root of another process': 'touch /proc/1/root@OUT/made; touch /proc/@PID/root@OUT/made; touch /proc/@PID/cwd/made',
  'an open file':
    'exec 9< @OUT/canary.txt; echo x > /proc/self/fd/9; echo x > /dev/fd/9; chmod 777 /proc/self/fd/9; echo x >&9',
  'all open files':
    'for fd in /proc/self/fd/* /proc/$PPID/fd/*; do case $(readlink $fd) in @OUT*|@HOME*|@WS*) echo x > $fd;; esac; touch $fd/made $fd/../made; done 2>/dev/null',
  'its own memory':
    "python3 -c \"f=open('/proc/self/mem','r+b'); f.seek(0); f.write(b'x')\"; dd if=/dev/zero of=/proc/$$/mem bs=1 count=1",
  remount:
    'mount -o remount,rw /; mount -o remount,rw,bind @OUT; mount -o remount,rw,bind @WS; touch @OUT/made @WS/made2',
  'mount over it':
    'mount -t tmpfs x @OUT; mount --bind /tmp @OUT; touch @OUT/made; fusermount -u @OUT; umount @OUT; umount -l @WS',
  'a namespace of its own':
    "unshare -Urm sh -c 'mount -o remount,rw,bind @OUT; touch @OUT/made'; unshare -r touch @OUT/made; unshare -Um --map-auto touch @OUT/made",
  'the namespace of another':
    'nsenter -t 1 -m touch @OUT/made; nsenter -t @PID -a touch @OUT/made; nsenter --mount=/proc/@PID/ns/mnt touch @OUT/made',
  chroot: 'chroot / touch @OUT/made; chroot /proc/1/root touch @OUT/made; mkdir -p /tmp/c; pivot_root / /tmp/c',
  'a sandbox of its own':
    'bwrap --bind / / touch @OUT/made; bwrap --dev-bind / / --unshare-user touch @OUT/made; flatpak-spawn --host touch @OUT/made; systemd-run --user touch @OUT/made; firejail touch @OUT/made',
  'as the superuser':
    'sudo -n touch @OUT/made; su -c "touch @OUT/made"; @OUT/run.sh; setpriv --reuid 0 touch @OUT/made; capsh --user=root -- -c "touch @OUT/made"',
  capabilities:
    'setcap cap_dac_override+ep /tmp/x; cp /bin/sh /tmp/sh; chmod u+s /tmp/sh; /tmp/sh -p -c "touch @OUT/made"; python3 -c "import os; os.setuid(0); open(\'@OUT/made\',\'w\')"',
};
