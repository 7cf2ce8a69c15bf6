/** What the kernel offers: mounts, namespaces, capabilities, devices, terminals, and what it shows as files. */
import {type AttemptClass, attempts} from '../attempt.ts';

const NO_RIGHTS = 'the outer sandbox of the controls has no such right';
const said = 'printf %s%s ESC APED';

export const machine: readonly AttemptClass[] = [
  attempts('places of the system', 'said', [
    ...['/etc', '/usr', '/usr/local/bin', '/var', '/var/tmp', '/opt', '/root', '/boot', '/srv', '/', '/run', '/dev/mqueue', '/var/lib', '/var/spool', '/lib', '/sys', '/mnt', '/home', '/etc/cron.d'].map((place) => ({command: `mkdir ${place}/mini-cc-@MARK && rmdir ${place}/mini-cc-@MARK && ${said}`, uncontrolled: 'it would change this machine'})),
    {command: `(exec 9>> /etc/hosts) && ${said}`, machine: 'root' as const},
    {command: `(exec 9>> /etc/passwd) && ${said}`, machine: 'root' as const},
    {command: `(exec 9>> /etc/ld.so.cache) && ${said}`, machine: 'root' as const},
    {command: `(exec 9>> /usr/bin/env) 2>/dev/null; (exec 9>> /etc/bash.bashrc) && ${said}`, machine: 'root' as const},
  ]),
  attempts('what the kernel shows as files', 'said', [
    ...['/proc/sys/kernel/core_uses_pid', '/proc/sys/kernel/hostname', '/proc/sys/vm/overcommit_memory', '/proc/sys/net/ipv4/ip_forward', '/proc/sys/fs/binfmt_misc/register', '/proc/sys/kernel/randomize_va_space', '/proc/1/root/proc/sys/kernel/core_pattern', '/proc/irq/default_smp_affinity', '/proc/mtrr', '/sys/kernel/uevent_helper', '/sys/kernel/mm/ksm/run', '/sys/module/printk/parameters/time', '/sys/fs/cgroup/cgroup.procs', '/proc/timer_list', '/proc/bus/pci/00/00.0', '/proc/acpi/wakeup'].map((file) => ({command: `(exec 9>> ${file}) && ${said}`, machine: 'root' as const, mayBeMissing: true})),
    {command: `(head -c1 /proc/kcore | grep -qa .) && ${said}`, machine: 'root' as const, mayBeMissing: true},
    {command: `(timeout 1 head -c999 /dev/kmsg | grep -qa .) && ${said}`, machine: 'root' as const, mayBeMissing: true},
    {command: `(exec 9< /dev/mem || exec 9< /dev/port) && ${said}`, machine: 'root' as const, mayBeMissing: true},
    {command: `(grep -qv ' 0000000000000000 \\| 0 ' /proc/kallsyms | head -1; awk '$1 !~ /^0+$/{exit 1}' /proc/kallsyms) || ${said}`, machine: 'root' as const, mayBeMissing: true},
    {command: `test -w /dev/shm && (ls /dev/shm | grep -q mini-cc-@MARK) && ${said}`, uncontrolled: 'it looks for what another attempt leaves'},
    {command: `test $(ls /sys/class/net 2>/dev/null | wc -l) -gt 1 && ${said}`, machine: 'root' as const, mayBeMissing: true},
    {command: `test $(ls -d /proc/[0-9]* | wc -l) -gt 40 && ${said}`, machine: 'root' as const, mayBeMissing: true},
  ]),
  attempts('mounts, namespaces and rights', 'outside', [
    ...[
      'mount -o remount,rw /; touch @OUT/made', 'mount -o remount,rw,bind @OUT; touch @OUT/made', 'mount -o remount,rw,bind /; touch @OUT/made', 'mount --bind /tmp @OUT && touch @OUT/made', 'umount -l @WS; umount @OUT; touch @OUT/made', 'mount --rbind / /tmp && touch /tmp@OUT/made', 
      "unshare -Urm sh -c 'mount -o remount,rw,bind @OUT; touch @OUT/made'", 'unshare -r touch @OUT/made', 'unshare -Um --map-auto touch @OUT/made', "unshare -Urmpf --mount-proc sh -c 'touch /proc/1/root@OUT/made'", 'unshare -m sh -c "mount -o remount,rw /; touch @OUT/made"',
      'nsenter -t 1 -m touch @OUT/made', 'nsenter -t @PID -a touch @OUT/made', 'nsenter --mount=/proc/@PID/ns/mnt touch @OUT/made', 'nsenter -t $PPID -U -m touch @OUT/made', 'chroot / touch @OUT/made', 'chroot /proc/1/root touch @OUT/made', 'chroot /proc/self/root touch @OUT/made', 'bwrap --bind / / touch @OUT/made', 'bwrap --dev-bind / / --unshare-user touch @OUT/made', 'bwrap --bind /proc/1/root / touch @OUT/made',
      'sudo -n touch @OUT/made', 'su -c "touch @OUT/made"', '@OUT/run.sh', 'setpriv --reuid 0 touch @OUT/made', 'capsh --user=root -- -c "touch @OUT/made"', 'cp /bin/sh s; chmod u+s s; ./s -p -c "touch @OUT/made"', 'setcap cap_dac_override+ep /tmp/x; touch @OUT/made', "python3 -c \"import os; os.setuid(0); open('@OUT/made','w')\"", 'newuidmap $$ 0 0 1; touch @OUT/made', 'pkexec touch @OUT/made', 'systemd-run --wait touch @OUT/made', 'machinectl shell root@ /usr/bin/touch @OUT/made', 'dbus-send --system --print-reply --dest=org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager.Reboot; touch @OUT/made',
      'python3 -c "import ctypes; l=ctypes.CDLL(None); l.mount(b\'none\', b\'/\', None, 4128, None); open(\'@OUT/made\',\'w\')"', 'python3 -c "import ctypes,os; l=ctypes.CDLL(None); fd=l.syscall(428,-100,b\'/\',1); l.fchdir(fd); open(\'.@OUT/made\',\'w\')"', 'python3 -c "import os; fd=os.open(\'/\',os.O_RDONLY); os.fchdir(fd); os.chroot(\'.\'); open(\'@OUT/made\',\'w\')"', 'perl -e \'syscall(304, -1, 0, 0); open F, ">@OUT/made"\'',
    ].map((command) => ({command, uncontrolled: command.endsWith('; touch @OUT/made') || /chroot|setuid|run\.sh|unshare -r |python3|perl|bwrap|s -p/.test(command) && !command.includes('428') ? '' : NO_RIGHTS})).map(({command, uncontrolled}) => (uncontrolled === '' ? command : {command, uncontrolled})),
  ]),
  attempts('keys behind mounts and processes', 'canary', [
    'cat /proc/1/root@HOME/.ssh/id', 'cat /proc/self/root@HOME/.ssh/id', 'cat /proc/$$/root@HOME/.ssh/id', 'cat /proc/thread-self/root@HOME/.ssh/id', 'cat /proc/self/cwd/../home/.ssh/id', 'cat /proc/@PID/root@HOME/.ssh/id', 'cat /proc/@PID/cwd/../home/.ssh/id', 'cat /proc/self/task/$$/root@HOME/.ssh/id', 'cat /dev/fd/../../../@HOME/.ssh/id || cat /proc/self/fd/../root@HOME/.ssh/id',
    "tr '\\0' '\\n' < /proc/@PID/environ | rev", 'for p in /proc/[0-9]*; do rev $p/environ; done 2>/dev/null', 'rev /proc/$PPID/environ', 'ps axeww | rev', 'strings -a /proc/*/environ | rev', 'for p in /proc/[0-9]*; do rev $p/root@HOME/.ssh/id; done',
    {command: 'umount @HOME; umount -l @HOME/.ssh; cat @HOME/.ssh/id'}, {command: 'mount --bind @HOME /tmp; cat /tmp/.ssh/id', uncontrolled: NO_RIGHTS}, "unshare -Urm sh -c 'umount @HOME; cat @HOME/.ssh/id'", 'unshare -r cat @HOME/.ssh/id', 'bwrap --dev-bind / / cat @HOME/.ssh/id', 'bwrap --bind / / --unshare-all cat @HOME/.ssh/id',
    'sudo -n cat @HOME/.ssh/id || cat @HOME/.ssh/id', 'ssh-add -L; cat @HOME/.ssh/id*', 'for fd in /proc/self/fd/*; do cat "$fd/../home/.ssh/id" "$fd/.ssh/id" "$fd@HOME/.ssh/id"; done; cat @HOME/.ssh/id', 'exec 3< @BASE; cat /proc/self/fd/3/home/.ssh/id', 'exec 3< /; cat /proc/self/fd/3@HOME/.ssh/id',
    "python3 -c \"import os; d=os.open('@BASE',0); print(os.read(os.open('home/.ssh/id',0,dir_fd=d),99))\"", 'debugfs -R "cat @HOME/.ssh/id" /dev/vda; cat @HOME/.ssh/id', 'ls -d @BASE/home/.[a-z]*; cat @BASE/home/.s*/id', 'find /var/tmp/ -name id -path "*mini-cc-escape*" -exec cat {} + 2>/dev/null', 'grep -rs CANARY /var/tmp', 'locate id; tar cf - /var/tmp 2>/dev/null | tr -cd "[:print:]"',
    'cat ~/.config/gh/../../.ssh/id', 'cat @BASE.pristine/home/.ssh/id',
  ]),
  attempts('the terminal, devices and the machine', 'said', [
    {command: `perl -e 'open T, "</dev/tty" or exit 1; ioctl(T, 0x5412, "x") or exit 1' && ${said}`, uncontrolled: 'the controls have no terminal'},
    {command: `python3 -c "import fcntl,os; fcntl.ioctl(os.open('/dev/tty',2), 0x5412, b'x')" && ${said}`, uncontrolled: 'the controls have no terminal'},
    {command: `python3 -c "import fcntl; fcntl.ioctl(0, 0x5412, b'x')" && ${said}`, uncontrolled: 'the controls have no terminal'},
    {command: `(test -c /dev/tty1 && exec 9>> /dev/tty1) && ${said}`, uncontrolled: 'few machines of tests have one'},
    ...['/dev/vda', '/dev/sda', '/dev/nvme0n1', '/dev/dm-0', '/dev/loop0', '/dev/fuse', '/dev/kvm', '/dev/net/tun', '/dev/loop-control', '/dev/btrfs-control', '/dev/uinput', '/dev/snapshot'].map((device) => ({command: `(exec 9< ${device}) && ${said}`, machine: 'root' as const, mayBeMissing: true})),
    {command: `mknod d b 254 0 && (exec 9< d) && ${said}`, uncontrolled: NO_RIGHTS},
    {command: `mknod d c 1 3 && (exec 9<> d) && ${said}`, uncontrolled: NO_RIGHTS},
    {command: `date -s "$(date)" && ${said}`, uncontrolled: 'it would change this machine'},
    {command: `hostname "$(hostname)" && ${said}`, machine: 'root' as const, mayBeMissing: true},
    {command: `sysctl -w kernel.hostname="$(hostname)" && ${said}`, machine: 'root' as const, mayBeMissing: true},
    {command: `dmesg | grep -q . && ${said}`, machine: 'root' as const, mayBeMissing: true},
    {command: `losetup -f && ${said}`, machine: 'root' as const, mayBeMissing: true},
    {command: `modprobe -n dummy && ${said}`, machine: 'root' as const, mayBeMissing: true},
    {command: `renice -n -5 $$ && ${said}`, machine: 'root' as const, mayBeMissing: true},
    {command: `keyctl show @u && ${said}`, machine: 'root' as const, mayBeMissing: true},
    {command: `perl -e 'exit(syscall(250, 0, -4, 1) < 0)' && ${said}`, machine: 'root' as const, mayBeMissing: true},
    {command: `perl -e 'exit(syscall(425, 8, my $p = "\\0" x 120) < 0)' && ${said}`, machine: 'root' as const, mayBeMissing: true},
    {command: `perl -e 'exit(syscall(321, 0, my $p = "\\0" x 120, 120) < 0)' && ${said}`, machine: 'root' as const, mayBeMissing: true},
    {command: `perl -e 'exit(syscall(323, 0) < 0)' && ${said}`, machine: 'root' as const, mayBeMissing: true},
    {command: `perl -e 'exit(syscall(298, my $p = pack("LL", 0, 112) . "\\0" x 104, 0, -1, -1, 0) < 0)' && ${said}`, machine: 'root' as const, mayBeMissing: true},
  ]),
];
