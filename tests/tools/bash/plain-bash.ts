import type {Tool} from '../../../src/core/contract/tool.ts';
import {createSandbox} from '../../../src/sandbox/index.ts';
import type {ProcessGroups} from '../../../src/sandbox/launch/process-groups.ts';
import {type BashInput, createBash} from '../../../src/tools/bash/bash.ts';

/** The bash tool of a new session, on a machine without a sandbox. */
export function createPlainBash(processes: ProcessGroups): Tool<BashInput> {
  return createBash(createSandbox({home: '/nonexistent', miniCcHome: '/nonexistent', searchPath: ''}), processes);
}
