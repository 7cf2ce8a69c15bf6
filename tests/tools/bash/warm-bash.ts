/** The bash tool of a session that has run commands: on Linux, a shell beside mini-cc starts the further ones. */
import type {Tool} from '../../../src/core/contract/tool.ts';
import {createSandbox} from '../../../src/sandbox/index.ts';
import type {ProcessGroups} from '../../../src/sandbox/launch/process-groups.ts';
import {type BashInput, createBash} from '../../../src/tools/bash/bash.ts';
import {fixture} from '../fixture.ts';

/** Without a sandbox. To be called in a test or in `beforeEach`. @throws Error when the shell does not come up */
export async function createWarmBash(processes: ProcessGroups): Promise<Tool<BashInput>> {
  const sandbox = createSandbox({home: '/nonexistent', miniCcHome: '/nonexistent', searchPath: ''});
  const bash = createBash(sandbox, processes);
  const {call} = fixture();
  for (let tries = 0; process.platform === 'linux'; tries += 1) {
    const {text} = await call(bash, {command: 'echo $PPID'});
    if (text !== String(process.pid)) break;
    if (tries > 500) throw new Error('all commands were started by Node');
  }
  return bash;
}
