// Runs a program in the foreground of this process.
import {spawn} from 'node:child_process';

/**
 * Runs a program and forwards the signals that only this process gets. The terminal sends Ctrl+C to the child as well,
 * so it is ignored here.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 * @param {(pid: number) => void} [onStart] called with the child's process id
 * @returns {Promise<{code: number | null, signal: NodeJS.Signals | null}>} rejects when the command cannot be started
 */
export async function runChild(command, args, options = {}, onStart = () => undefined) {
  const child = spawn(command, args, {stdio: 'inherit', ...options});
  if (child.pid !== undefined) onStart(child.pid);
  const passOn = (signal) => child.kill(signal);
  const ignore = () => undefined;
  process.on('SIGTERM', passOn).on('SIGHUP', passOn).on('SIGINT', ignore);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => resolve({code, signal}));
    });
  } finally {
    process.off('SIGTERM', passOn).off('SIGHUP', passOn).off('SIGINT', ignore);
  }
}

/** Ends this process with the child's signal or exit code. */
export function endLike({code, signal}) {
  if (signal !== null) process.kill(process.pid, signal);
  else process.exitCode = code;
}
