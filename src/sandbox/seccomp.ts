/**
 * Builds a filter of system calls against what mounts and namespaces leave open. Without it programs could connect to a
 * socket file on a read-only file system (a container engine's socket gives control of the machine), reach virtual
 * machines outside the network namespace, use the kernel's key rings, which belong to the user and not to a process,
 * and leave a set-user-ID file, by which other users of the machine act as this one.
 *
 * The program is classic BPF: each step is a code, a jump and a number.
 */

/** `struct sock_filter` */
interface FilterStep {
  readonly code: number;
  readonly number: number;
  /** Number of steps to skip when the comparison does not hold. */
  readonly otherwise?: number;
}

interface Machine {
  /** `AUDIT_ARCH_…` */
  readonly arch: number;
  /** Numbers of system calls. */
  readonly socket: number;
  readonly socketpair: number;
  readonly ioctl: number;
  /** System calls that give a file its mode, with the index of the argument that is the mode. */
  readonly modes: readonly (readonly [call: number, argument: number])[];
  /** System calls that open a file, with the index of the flags argument. The mode is the argument after it. */
  readonly opens: readonly (readonly [call: number, argument: number])[];
  /** add_key, request_key, keyctl */
  readonly keyrings: readonly number[];
  /** Calls from this number on belong to another convention (x32), which numbers its calls differently. */
  readonly foreignFrom?: number;
}

const MACHINES: Readonly<Partial<Record<NodeJS.Architecture, Machine>>> = {
  x64: {
    arch: 0xc000003e,
    socket: 41,
    socketpair: 53,
    ioctl: 16,
    keyrings: [248, 249, 250],
    foreignFrom: 0x40000000,
    // creat, chmod, fchmod, mknod, mknodat, fchmodat, fchmodat2; open, openat
    modes: [
      ...[85, 90, 91, 133].map((call) => [call, 1] as const),
      ...[259, 268, 452].map((call) => [call, 2] as const),
    ],
    opens: [
      [2, 1],
      [257, 2],
    ],
  },
  arm64: {
    arch: 0xc00000b7,
    socket: 198,
    socketpair: 199,
    ioctl: 29,
    keyrings: [217, 218, 219],
    // fchmod; mknodat, fchmodat, fchmodat2; openat
    modes: [[52, 1], ...[33, 53, 452].map((call) => [call, 2] as const)],
    opens: [[56, 2]],
  },
};
/**
 * openat2 has the same number on every machine. Its mode lies in memory, which a filter does not see, so the call is
 * refused and programs use openat.
 */
const OPENAT2 = 437;
/** The set-user-ID bit. A user who runs such a file acts as its owner, even after the sandbox has ended. */
const S_ISUID = 0o4000;
const O_CREAT = 0o100;
/**
 * io_uring_setup, _enter and _register have the same numbers on every machine. io_uring opens sockets without the
 * socket call.
 */
const IO_URING = [425, 426, 427];

/** Socket families that stay allowed: `AF_INET`, `AF_INET6` (in the namespace) and `AF_NETLINK` (its own interfaces). */
const FAMILIES = [2, 10, 16];
/**
 * This family is refused by default: a filter sees no paths, so a program could connect to every socket file that it
 * finds.
 */
const AF_UNIX = 1;
/** `SOCK_DGRAM`, and `SOCK_RAW`, which means the same here. The ends of such a pair may send to other sockets. */
const LOOSE_TYPES = [2, 3];
const TYPE_MASK = 0xf;
/** `TIOCSTI` and `TIOCLINUX` put input into a terminal. */
const TYPING = [0x5412, 0x541c];

const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/**
 * Offsets in `struct seccomp_data`. The offset of an argument is that of its lower half, which is all that the kernel
 * uses here.
 */
const NUMBER = 0;
const ARCH = 4;
const argument = (index: number) => 16 + index * 8;

const load = (offset: number): FilterStep => ({code: 0x20, number: offset});
const mask = (bits: number): FilterStep => ({code: 0x54, number: bits});
const give = (number: number): FilterStep => ({code: 0x06, number});
const ALLOW = give(0x7fff0000);
const refuse = (errno: number) => give(0x00050000 | errno);

/** Creates a comparison with the loaded value that runs its steps when it holds, and skips them otherwise. */
const compare =
  (code: number) =>
  (number: number, steps: readonly FilterStep[]): readonly FilterStep[] => [
    {code, number, otherwise: steps.length},
    ...steps,
  ];
/** Runs the steps when the value equals the number. The steps must end with a result. */
const when = compare(0x15);
const unlessBelow = compare(0x35);
/** Runs the steps when the value has one of the bits. */
const whenSet = compare(0x45);

/** @returns undefined on other processors, where only mounts and namespaces confine the command */
export function seccompFilter({
  architecture = process.arch,
  unixSockets = false,
}: {
  readonly architecture?: NodeJS.Architecture;
  readonly unixSockets?: boolean;
} = {}): Uint8Array | undefined {
  const machine = MACHINES[architecture];
  if (!machine) return undefined;
  const {arch, socket, socketpair, ioctl, keyrings, foreignFrom, modes, opens} = machine;
  const families = unixSockets ? [AF_UNIX, ...FAMILIES] : FAMILIES;
  const calls: readonly FilterStep[] = [
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
    ...[...IO_URING, OPENAT2].flatMap((number) => when(number, [refuse(ENOSYS)])),
    ...modes.flatMap(([call, at]) => when(call, [load(argument(at)), ...whenSet(S_ISUID, [refuse(EPERM)]), ALLOW])),
    // Where no file is created, the kernel ignores the mode, and it may have any value.
    ...opens.flatMap(([call, at]) =>
      when(call, [
        load(argument(at)),
        ...whenSet(O_CREAT, [load(argument(at + 1)), ...whenSet(S_ISUID, [refuse(EPERM)])]),
        ALLOW,
      ]),
    ),
    ALLOW,
  ];
  // Programs of another architecture (32 bit) number their calls differently, so they cannot run.
  return assemble([load(ARCH), ...when(arch, calls), refuse(EPERM)]);
}

function assemble(steps: readonly FilterStep[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(steps.length * 8));
  steps.forEach(({code, number, otherwise = 0}, index) => {
    bytes.setUint16(index * 8, code, true);
    bytes.setUint8(index * 8 + 3, otherwise);
    bytes.setUint32(index * 8 + 4, number, true);
  });
  return new Uint8Array(bytes.buffer);
}
