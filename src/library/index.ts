/** The library's face: `import {SubagentManager, runAgent} from 'mini-cc'`. */
export {compose, type SessionOptions} from '../compose.ts';
export {type AgentRun, runAgent} from '../core/agent-loop.ts';
export {AGENT_TYPES, type AgentDefinition} from '../core/agent-types.ts';
export type {AgentEvent} from '../core/contract/events.ts';
export type {RunResult} from '../core/contract/run-result.ts';
export type {FrontEndSession, SubmitResult} from '../core/contract/session.ts';
export type {Tool} from '../core/contract/tool.ts';
export type {ToolResult} from '../core/contract/tool-result.ts';
export {MiniCcError, UsageError} from '../core/util/errors.ts';
export {
  SubagentManager,
  type SubagentManagerConfig,
  type SubtaskRequest,
  type SubtaskResult,
  type SubtaskRun,
} from './subagent-manager-facade.ts';
