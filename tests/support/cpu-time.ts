/** @returns how long this process computed for the work, in milliseconds: a machine that stops meanwhile does not count */
export function measureCpu(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const {user, system} = process.cpuUsage(before);
  return (user + system) / 1000;
}
