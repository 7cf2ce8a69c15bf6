/** What the model says in a round of bad luck: one run a slot, and each changes a file of its own and one of all. */
import {callTools} from '../../support/messages-server.ts';

export function dispatchSlots(slots: number) {
  return callTools(
    Array.from({length: slots}, (_, slot) => ({
      name: 'Task',
      input: {
        ...{description: `slot ${slot}`, prompt: `Do slot ${slot}`, agent_type: 'code'},
        ...{isolation: 'worktree', where: 'workers', background: true},
      },
    })),
  );
}

export function readFiles(slot: number) {
  return callTools([`parts/f${slot}.ts`, 'shared.txt'].map((file) => ({name: 'read_file', input: {path: file}})));
}

export function editFiles(slot: number) {
  return callTools([
    {name: 'edit_file', input: {path: `parts/f${slot}.ts`, old_string: `old ${slot}`, new_string: `new ${slot}`}},
    {name: 'edit_file', input: {path: 'shared.txt', old_string: `slot ${slot}: old`, new_string: `slot ${slot}: new`}},
  ]);
}
