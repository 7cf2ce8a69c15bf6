/**
 * Exports the public names of the package: `import {SubagentManager, runAgent} from 'mini-cc'`. `public.d.ts` has the
 * types.
 */
export {MiniCcError, UsageError} from '../core/util/errors.ts';
export {createAgentRun, runAgent} from './agent-run.ts';
export {SubagentManagerFacade as SubagentManager} from './subagent-manager-facade.ts';
export {testAgent} from './test-agent.ts';
