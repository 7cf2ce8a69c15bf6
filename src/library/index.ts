/** What the package exports: `import {SubagentManager, runAgent} from 'mini-cc'`. Its types are those of `public.d.ts`. */
export {MiniCcError, UsageError} from '../core/util/errors.ts';
export {createAgentRun, runAgent} from './agent-run.ts';
export {SubagentManagerFacade as SubagentManager} from './subagent-manager-facade.ts';
