// Runs a program in the foreground of this one, and ends as it ends.
import {spawn} from 'node:child_process';

/**
 * Signals sent to this process alone are passed on. Ctrl+C comes from the terminal to the child as well, so this
 * process only has to outlive it.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 * @param {(pid: number) => void} [onStart]
 * @returns {Promise<{code: number | null, signal: NodeJS.Signals | null}>} rejects when the command can't be started
 */
export async function runChild(command, args, options = {}, onStart = () => undefined) {
  const child = spawn(command, args, {stdio: 'inherit', ...options});
  if (child.pid !== undefined) onStart(child.pid);
  const passOn = (signal) => child.kill(signal);
  const stay = () => undefined;
  process.on('SIGTERM', passOn).on('SIGHUP', passOn).on('SIGINT', stay);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => resolve({code, signal}));
    });
  } finally {
    process.off('SIGTERM', passOn).off('SIGHUP', passOn).off('SIGINT', stay);
  }
}

/** Ends this process the way the child ended. */
export function endLike({code, signal}) {
  if (signal !== null) process.kill(process.pid, signal);
  else process.exitCode = code;
}
