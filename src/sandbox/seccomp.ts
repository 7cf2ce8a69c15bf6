/**
 * A filter of system calls, for what mounts and namespaces leave open: a socket file on a read-only file system can be
 * connected to (that of a container engine gives the whole machine away), virtual machines are reached past the network
 * namespace, and the kernel's key rings belong to the user, not to a process.
 *
 * The program is classic BPF as the kernel takes it: each step is a code, where to go on, and a number.
 */

/** `struct sock_filter` */
interface Step {
  readonly code: number;
  readonly number: number;
  /** Steps to skip when the comparison does not hold. */
  readonly otherwise?: number;
}

interface Machine {
  /** `AUDIT_ARCH_…` */
  readonly arch: number;
  /** Numbers of system calls. */
  readonly socket: number;
  readonly socketpair: number;
  readonly ioctl: number;
  /** add_key, request_key, keyctl */
  readonly keyrings: readonly number[];
  /** Calls from here on belong to another convention (x32), which would pass by the numbers above. */
  readonly foreignFrom?: number;
}

const MACHINES: Readonly<Partial<Record<NodeJS.Architecture, Machine>>> = {
  x64: {
    ...{arch: 0xc000003e, socket: 41, socketpair: 53, ioctl: 16, keyrings: [248, 249, 250], foreignFrom: 0x40000000},
  },
  arm64: {arch: 0xc00000b7, socket: 198, socketpair: 199, ioctl: 29, keyrings: [217, 218, 219]},
};
/** io_uring_setup, _enter, _register, everywhere the same: it opens sockets without the call of that name. */
const IO_URING = [425, 426, 427];

/** What is left to open: `AF_INET`, `AF_INET6` (within the namespace) and `AF_NETLINK` (its own interfaces). */
const FAMILIES = [2, 10, 16];
/** Left out: a filter sees no path, so whoever may connect to one socket file may to all that it finds. */
const AF_UNIX = 1;
/** `SOCK_DGRAM`, and `SOCK_RAW`, which is the same there: the ends of such a pair may be sent elsewhere. */
const LOOSE_TYPES = [2, 3];
const TYPE_MASK = 0xf;
/** `TIOCSTI`, `TIOCLINUX`: typing into a terminal. */
const TYPING = [0x5412, 0x541c];

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** Offsets in `struct seccomp_data`; of an argument, its lower half: all that the kernel looks at here. */
const NUMBER = 0;
const ARCH = 4;
const argument = (index: number) => 16 + index * 8;

const load = (offset: number): Step => ({code: 0x20, number: offset});
const mask = (bits: number): Step => ({code: 0x54, number: bits});
const give = (number: number): Step => ({code: 0x06, number});
const ALLOW = give(0x7fff0000);
const refuse = (errno: number) => give(0x00050000 | errno);

/** Runs the steps when the value is this one. They must end in a verdict. */
const when = (number: number, steps: readonly Step[]): readonly Step[] => [
  {code: 0x15, number, otherwise: steps.length},
  ...steps,
];
const unlessBelow = (number: number, steps: readonly Step[]): readonly Step[] => [
  {code: 0x35, number, otherwise: steps.length},
  ...steps,
];

/** Undefined on a processor that it is not written for: there the other walls stand alone. */
export function seccompFilter({
  architecture = process.arch,
  unixSockets = false,
}: {
  readonly architecture?: NodeJS.Architecture;
  readonly unixSockets?: boolean;
} = {}): Uint8Array | undefined {
  const machine = MACHINES[architecture];
  if (!machine) return undefined;
  const {arch, socket, socketpair, ioctl, keyrings, foreignFrom} = machine;
  const families = unixSockets ? [AF_UNIX, ...FAMILIES] : FAMILIES;
  const calls: readonly Step[] = [
    load(NUMBER),
    ...(foreignFrom === undefined ? [] : unlessBelow(foreignFrom, [refuse(ENOSYS)])),
    ...when(socket, [load(argument(0)), ...families.flatMap((family) => when(family, [ALLOW])), refuse(EAFNOSUPPORT)]),
    ...when(socketpair, [
      load(argument(1)),
      mask(TYPE_MASK),
      ...LOOSE_TYPES.flatMap((type) => when(type, [refuse(EPERM)])),
      ALLOW,
    ]),
    ...when(ioctl, [load(argument(1)), ...TYPING.flatMap((request) => when(request, [refuse(EPERM)])), ALLOW]),
    ...keyrings.flatMap((number) => when(number, [refuse(EPERM)])),
    ...IO_URING.flatMap((number) => when(number, [refuse(ENOSYS)])),
    ALLOW,
  ];
  // Programs for another processor (32 bit) count their calls otherwise: they cannot run.
  return assemble([load(ARCH), ...when(arch, calls), refuse(EPERM)]);
}

function assemble(steps: readonly Step[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(steps.length * 8));
  steps.forEach(({code, number, otherwise = 0}, index) => {
    bytes.setUint16(index * 8, code, true);
    bytes.setUint8(index * 8 + 3, otherwise);
    bytes.setUint32(index * 8 + 4, number, true);
  });
  return new Uint8Array(bytes.buffer);
}
