/** @returns how long this process computed for the work, in milliseconds: a machine that stops meanwhile does not count */
export function measureCpu(work: () => void): number {
  const before = process.cpuUsage();
  work();
  return millisecondsSince(before);
}

/** As {@link measureCpu}, for work that is waited for; all threads of the process count. */
export async function measureCpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  return millisecondsSince(before);
}

function millisecondsSince(before: NodeJS.CpuUsage): number {
  const {user, system} = process.cpuUsage(before);
  return (user + system) / 1000;
}
