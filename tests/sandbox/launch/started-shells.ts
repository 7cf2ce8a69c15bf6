/** Lists the shells that commands have, also those that the helper shell started. */
import {readFileSync} from 'node:fs';
import {tryOr} from '../../../src/core/util/errors.ts';
import {listProcesses} from '../../../src/sandbox/launch/process-groups.ts';

/** @returns the leaders of the groups that this process or its helper shells started, without the helper shells */
export function listStartedShells() {
  const table = listProcesses();
  const children = (parents: readonly number[]) => table.filter(({parent}) => parents.includes(parent));
  const pids = (rows: typeof table) => rows.map(({pid}) => pid);
  const own = children([process.pid]);
  // The helper shell forks for each command, and the fork starts its group.
  const helpers = pids(own.filter(({pid}) => isHelper(pid)));
  const started = [...own.filter(({pid}) => !helpers.includes(pid)), ...children(pids(children(helpers)))];
  return started.filter(({isRunning, pid, group}) => isRunning && pid === group);
}

const isHelper = (pid: number) => tryOr(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'), '').includes('--norc');
