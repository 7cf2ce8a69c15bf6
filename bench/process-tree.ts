/** Memory and CPU time of processes, from /proc. */
import {readdirSync, readFileSync} from 'node:fs';

/** What several living processes use. */
export interface ProcessUsage {
  readonly residentMb: number;
  /** The most that each of them had so far, added up. */
  readonly peakMb: number;
  /** CPU time so far, in clock ticks (10 ms). */
  readonly ticks: number;
  readonly processes: number;
}

export function readUsage(pids: readonly number[]): ProcessUsage {
  return {
    residentMb: sum(pids.map((pid) => readKb(pid, 'status', 'VmRSS'))) / 1024,
    peakMb: sum(pids.map((pid) => readKb(pid, 'status', 'VmHWM'))) / 1024,
    ticks: sum(pids.map(readOwnTicks)),
    processes: pids.length,
  };
}

/** Memory in which each page that several processes share is counted in parts. Megabytes. */
export function readProportionalMb(pids: readonly number[]): number {
  return sum(pids.map((pid) => readKb(pid, 'smaps_rollup', 'Pss'))) / 1024;
}

/** All processes that were started with this home folder: also those that left the process that started them. */
export function listProcessesOf(home: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => `\0${readProc(pid, 'environ')}`.includes(`\0HOME=${home}\0`));
}

/** CPU time of the process alone so far, in clock ticks (10 ms). */
export function readOwnTicks(pid: number): number {
  return sum(readStat(pid).slice(11, 13).map(Number));
}

/** The same with the processes that it started and that have ended. */
export function readTicksWithEnded(pid: number): number {
  return sum(readStat(pid).slice(11, 15).map(Number));
}

/** The fields of /proc/PID/stat from the third on, since the second may contain spaces; empty when the process has ended. */
function readStat(pid: number): string[] {
  const text = readProc(pid, 'stat');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function readKb(pid: number, file: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(readProc(pid, file))?.[1] ?? 0);
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch (error) {
    const {code} = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES') return '';
    throw error;
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
