/** Memory and CPU time of a process and its descendants, from /proc. */
import {readdirSync, readFileSync} from 'node:fs';

interface ProcessUsage {
  readonly residentMb: number;
  /** CPU time so far, in clock ticks (10 ms). */
  readonly ticks: number;
  readonly processes: number;
}

export function readUsage(pid: number): ProcessUsage {
  const pids = [pid, ...findDescendants(pid)];
  return {
    residentMb: sum(pids.map(readResidentKb)) / 1024,
    ticks: sum(pids.map((each) => sum(readStat(each).slice(11, 13).map(Number)))),
    processes: pids.length,
  };
}

/** CPU time of the process alone so far, in clock ticks (10 ms). */
export function readOwnTicks(pid: number): number {
  return sum(readStat(pid).slice(11, 13).map(Number));
}

function findDescendants(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number(readStat(Number(name))[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const collect = (parent: number): number[] =>
    (children.get(parent) ?? []).flatMap((child) => [child, ...collect(child)]);
  return collect(pid);
}

/** The fields of /proc/PID/stat from the third on, since the second may contain spaces; empty when the process has ended. */
function readStat(pid: number): string[] {
  const text = readProc(pid, 'stat');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function readResidentKb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readProc(pid, 'status'))?.[1] ?? 0);
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return '';
    throw error;
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
