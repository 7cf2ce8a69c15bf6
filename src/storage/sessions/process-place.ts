/** Identifies where a process runs. Two processes can know of each other only on one machine and in one container. */
import {readFileSync, readlinkSync} from 'node:fs';
import {hostname} from 'node:os';

export interface ProcessPlace {
  readonly host: string;
  /**
   * Id that changes at each start of the machine. This field and the following ones exist only on Linux, and not in
   * locks of earlier versions.
   */
  readonly boot?: string;
  /** Id of the installed system. */
  readonly machine?: string;
  /** Id of the container's process namespace, since containers on one machine have process ids of their own. */
  readonly pidNamespace?: string;
}

/** The namespace of the machine itself has this number in every Linux. */
const OF_MACHINE = 'pid:[4026531836]';

export function getProcessPlace(): ProcessPlace {
  const boot = tryRead(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  const machine = tryRead(() => readFileSync('/etc/machine-id', 'utf8').trim());
  const pidNamespace = tryRead(() => readlinkSync('/proc/self/ns/pid'));
  return {host: hostname(), ...(boot && {boot}), ...(machine && {machine}), ...(pidNamespace && {pidNamespace})};
}

/**
 * @returns `before restart` for the same machine before it was restarted. Containers of different machines may have
 * equal names and equal system ids (of one image), so this is returned only for processes outside of containers.
 */
export function comparePlaces(
  there: ProcessPlace,
  here: ProcessPlace,
): 'same' | 'before restart' | 'other container' | 'other machine' {
  // One of the two comes from an earlier version, or is not on Linux.
  if (there.boot === undefined || here.boot === undefined) return there.host === here.host ? 'same' : 'other machine';
  if (there.boot === here.boot) return there.pidNamespace === here.pidNamespace ? 'same' : 'other container';
  const isMachine = there.pidNamespace === OF_MACHINE && here.pidNamespace === OF_MACHINE;
  const isSame = isMachine && there.host === here.host && there.machine !== undefined && there.machine === here.machine;
  return isSame ? 'before restart' : 'other machine';
}

function tryRead(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
