/** Attempts to reach a network or other processes, or to run on after the call. `@PORT` and the like are real listeners. */
import type {Attempts} from './fixture.ts';

export const reachingOut: Attempts = {
  'a shell’s own socket':
    'exec 5<>/dev/tcp/127.0.0.1/@PORT && echo x >&5; echo x > /dev/tcp/127.0.0.1/@PORT; echo x > /dev/tcp/localhost/@PORT',
  'datagrams of a shell': 'echo x > /dev/udp/127.0.0.1/@UDP; exec 6<>/dev/udp/127.0.0.1/@UDP && echo x >&6',
  curl: 'curl -s -m 2 http://127.0.0.1:@PORT/; curl -s -m 2 http://localhost:@PORT/; curl -s -m 2 -g http://[::1]:@PORT/',
  wget: 'wget -q -T 2 -t 1 -O - http://127.0.0.1:@PORT/',
  netcat:
    'echo x | nc -w 1 127.0.0.1 @PORT; echo x | ncat -w 1 127.0.0.1 @PORT; echo x | socat -t1 - TCP:127.0.0.1:@PORT; telnet 127.0.0.1 @PORT < /dev/null',
  python:
    "python3 -c \"import socket; socket.create_connection(('127.0.0.1',@PORT),1).send(b'x')\"; python3 -c \"import urllib.request as u; u.urlopen('http://127.0.0.1:@PORT/',timeout=1)\"",
  node: "node -e \"fetch('http://127.0.0.1:@PORT/').catch(()=>{})\"; node -e \"require('net').connect(@PORT,'127.0.0.1').on('error',()=>{})\"",
  perl: "perl -MIO::Socket::INET -e 'IO::Socket::INET->new(PeerAddr=>q(127.0.0.1:@PORT))'; perl -MIO::Socket::INET -e 'IO::Socket::INET->new(PeerAddr=>q(127.0.0.1:@UDP),Proxy=>1,Proto=>q(udp))->send(q(x))'",
  'openssl and ssh':
    'echo x | timeout 2 openssl s_client -connect 127.0.0.1:@PORT; ssh -o BatchMode=yes -o ConnectTimeout=1 -p @PORT 127.0.0.1 true; ssh -o ProxyCommand="touch @OUT/made" x',
  'other addresses of this machine':
    'for a in $(hostname -I) 0.0.0.0 127.1 ::ffff:127.0.0.1; do curl -s -m 1 -g "http://$a:@PORT/"; done; for a in $(hostname -I); do echo x > /dev/tcp/$a/@PORT; done',
  'names, by datagrams':
    "dig +time=1 +tries=1 -p @UDP @127.0.0.1 x.example; python3 -c \"import socket; socket.socket(socket.AF_INET,socket.SOCK_DGRAM).sendto(b'x',('127.0.0.1',@UDP))\"",
  'names of the world':
    'getent hosts example.com; ping -c 1 -W 1 127.0.0.1; ping -c 1 -W 1 1.1.1.1; host x.example; nslookup -timeout=1 x.example',
  'its own interface':
    'ip link set lo up; ip link add d type dummy; ip netns add x; ip route add default dev lo; curl -s -m 1 http://127.0.0.1:@PORT/',
  'a network namespace of another':
    'nsenter -t 1 -n curl -s -m 1 http://127.0.0.1:@PORT/; nsenter --net=/proc/@PID/ns/net curl -s -m 1 http://127.0.0.1:@PORT/; ip netns exec x true',
  'a socket file':
    "python3 -c \"import socket; s=socket.socket(socket.AF_UNIX); s.connect('@SOCK'); s.send(b'x')\"; curl -s -m 1 --unix-socket @SOCK http://x/; node -e \"require('net').connect('@SOCK').on('error',()=>{})\"",
  'a socket file by a link':
    "ln -s @SOCK /tmp/s; curl -s -m 1 --unix-socket /tmp/s http://x/; echo x | nc -U -w 1 @SOCK; echo x | socat -t1 - UNIX-CONNECT:@SOCK; perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Peer=>q(@SOCK))'",
  'a socket without a file':
    "python3 -c \"import socket; s=socket.socket(socket.AF_UNIX); s.connect('\\0@ABSTRACT'); s.send(b'x')\"; perl -MSocket -e 'socket(S,1,1,0); connect(S, pack_sockaddr_un(qq(\\0@ABSTRACT)))'",
  'a socket of datagrams, from a pair':
    "perl -MSocket -e 'socketpair(A,B,1,2,0) and connect(A, pack_sockaddr_un(q(@SOCK)))'; python3 -c \"import socket; a,b=socket.socketpair(socket.AF_UNIX,socket.SOCK_DGRAM); a.sendto(b'x','@SOCK')\"",
  'sockets of the system':
    'docker ps; curl -s -m 1 --unix-socket /var/run/docker.sock http://x/info; dbus-send --system --dest=org.freedesktop.DBus / x.y; systemctl --user status; busctl --user list; podman ps; logger @MARK; xdg-open http://x',
  'calls in rings':
    'python3 -c "import ctypes; print(ctypes.CDLL(None).syscall(425, 8, 0))"; perl -e \'syscall(425, 8, 0)\'',
  'a fetch of git':
    'git fetch http://127.0.0.1:@PORT/x; git clone http://127.0.0.1:@PORT/x /tmp/x; git ls-remote git://127.0.0.1:@PORT/x; git push http://127.0.0.1:@PORT/x HEAD',
  'a registry':
    'npm view x --registry http://127.0.0.1:@PORT/ --fetch-retries 0 --fetch-timeout 500; timeout 2 pip download x -i http://127.0.0.1:@PORT/ --retries 0 --timeout 1',
  'a proxy':
    'http_proxy=http://127.0.0.1:@PORT curl -s -m 1 http://example.com/; curl -s -m 1 -x socks5h://127.0.0.1:@PORT http://example.com/; ALL_PROXY=http://127.0.0.1:@PORT wget -q -T 1 -t 1 http://example.com',
  'a server of its own':
    'timeout 0.3 python3 -m http.server 0 --bind 0.0.0.0; timeout 0.3 nc -l -p 0; (timeout 0.3 node -e "require(\'net\').createServer().listen(0)")',

  'killing a process': 'kill -9 @PID; kill @PID; pkill -9 -f @MARK; kill -STOP @PID; renice 19 @PID',
  'killing all': 'test "$(ls /proc | grep -c "^[0-9]")" -lt 30 && { kill -9 -1; kill -TERM -- -1; }',
  'killing its parents': 'test "$(ls /proc | grep -c "^[0-9]")" -lt 30 && { kill -9 1; kill -9 $PPID; kill -9 0; }',
  'tracing another process':
    'gdb -p @PID -batch -ex \'call (int)kill(@PID,9)\'; strace -p @PID -o /tmp/s & sleep 0.1; kill %1; python3 -c "import ctypes; ctypes.CDLL(None).ptrace(16,@PID,0,0)"',
  'its limits and its place':
    'prlimit --pid @PID --nproc=0; taskset -p 1 @PID; ionice -c3 -p @PID; chrt -p -f 1 @PID; echo -1000 > /proc/@PID/oom_score_adj; echo x > /proc/@PID/comm',
  'left in the background': 'sleep @MARK & sleep @MARK >/dev/null 2>&1 & disown -a; echo left',
  nohup: 'nohup sleep @MARK >/dev/null 2>&1 & nohup bash -c "sleep 0.3; touch @OUT/late" >/dev/null 2>&1 & echo left',
  setsid:
    'setsid -f sleep @MARK; setsid nohup sleep @MARK >/dev/null 2>&1 < /dev/null & (setsid sleep @MARK &) ; setsid -f bash -c "sleep 0.3; touch @OUT/late"',
  'forked twice':
    'perl -e \'use POSIX; fork and exit; POSIX::setsid(); fork and exit; $SIG{TERM}=q(IGNORE); sleep 1000; #@MARK\'; python3 -c "import os,time; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); time.sleep(1000) #@MARK"',
  'deaf to signals': "(trap '' TERM INT HUP; exec sleep @MARK) & coproc sleep @MARK; echo left",
  'later, by a clock':
    'echo "touch @OUT/made" | at now + 1 minute; (crontab -l; echo "* * * * * touch @OUT/made") | crontab -; echo "* * * * * root touch @OUT/made" > /etc/cron.d/@MARK; systemd-run --on-active=1 touch @OUT/made; batch <<< "touch @OUT/made"',
  'later, by another shell':
    'tmux new-session -d "touch @OUT/made; sleep @MARK"; screen -dm touch @OUT/made; tmux -S /tmp/t new -d "sleep @MARK"; dtach -n /tmp/d sleep @MARK',
  'many processes': 'for i in $(seq 60); do sleep @MARK & done; echo left',
  'a fork in a fork': 'f() { [ "$1" -gt 5 ] && exec sleep @MARK; f $(($1+1)) & f $(($1+1)) & }; f 0; echo left',

  'typing into the terminal':
    "perl -e 'open T, q(</dev/tty) or open T, q(</dev/pts/0); ioctl(T, 0x5412, q(x)) for 1; ioctl(STDIN, 0x5412, q(x))'; printf 'x' > /dev/tty; printf x > /dev/pts/0; echo x > /dev/tty1; echo x > /dev/console",
  'words for the terminal':
    "printf '\\033]0;%s\\007\\033[2J\\033]52;c;eA==\\007\\033P+q\\033\\\\' owned; printf '\\x9b2J\\r\\b\\b'; tput reset; clear; stty -a; reset",
  'words to other users':
    'echo x | wall; echo x | write root; echo x > /proc/@PID/fd/1; echo x > /dev/kmsg; logger -s @MARK',
  devices:
    'dd if=/dev/vda of=/dev/null bs=512 count=1; for d in /dev/sda /dev/vda /dev/nvme0n1; do test -w $d && touch @OUT/made; done; mknod /tmp/d b 254 0; echo x > /tmp/d; losetup -f; fdisk -l; insmod /tmp/x.ko; modprobe dummy; dmesg',
  'the clock and the machine':
    'date -s "$(date)" && touch @OUT/made; sysctl -w kernel.hostname="$(hostname)" && touch @OUT/made; hostname "$(hostname)" && touch @OUT/made',
};
