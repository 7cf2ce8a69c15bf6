/** What a process and its descendants take, from /proc. */
import {readdirSync, readFileSync} from 'node:fs';

export interface Taken {
  readonly residentMb: number;
  /** CPU time so far, in clock ticks (10 ms). */
  readonly ticks: number;
  readonly processes: number;
}

export function takenBy(pid: number): Taken {
  const all = [pid, ...descendants(pid)];
  return {
    residentMb: sum(all.map(residentKb)) / 1024,
    ticks: sum(all.map((each) => sum(readStat(each).slice(11, 13).map(Number)))),
    processes: all.length,
  };
}

function descendants(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number(readStat(Number(name))[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const below = (of: number): number[] => (children.get(of) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(pid);
}

/** The fields of /proc/PID/stat from the third on, since the second may hold spaces; none when the process is gone. */
function readStat(pid: number): string[] {
  const text = readProc(pid, 'stat');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function residentKb(pid: number): number {
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
