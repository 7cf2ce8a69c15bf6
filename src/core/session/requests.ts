/** Handlers of all requests: the one table behind slash commands and control requests. */
import {randomUUID} from 'node:crypto';
import {type AgentCatalog, type AgentDefinition, formatUnknownAgent, restrictTools} from '../agent-types.ts';
import type {Emit, SessionInfo} from '../contract/events.ts';
import type {Requests, SessionUsage} from '../contract/session-requests.ts';
import {formatRunTitle} from '../runs/progress-line.ts';
import {hasEnded} from '../runs/run-record.ts';
import {MiniCcError, UsageError} from '../util/errors.ts';
import {sumEntries} from '../util/messages.ts';
import {findTool, toToolName} from '../util/tool-names.ts';
import {contextRequests} from './context-requests.ts';
import {type ConversationRequest, conversationRequests} from './conversation-requests.ts';
import {explainCall} from './explain-call.ts';
import {type FanOutRequest, fanOutRequests} from './fan-out-requests.ts';
import type {SessionParts} from './parts.ts';
import type {Turns} from './turns.ts';
import type {UserCommands} from './user-commands.ts';

/** @param getInfo returns what front ends see of the session */
export function createRequests(
  parts: SessionParts,
  {turns, userCommands}: {readonly turns: Turns; readonly userCommands: UserCommands},
  emit: Emit,
  getInfo: () => SessionInfo,
): Requests {
  const emitInfo = () => emit({type: 'session', info: getInfo()});
  return {
    find_files: ({query}) => parts.findFiles(query),
    tell: ({text, label}) =>
      parts.inbox.put({id: randomUUID(), kind: 'companion', content: text, label, startsTurn: false}),
    run_command: ({command}) => userCommands.run(command),
    explain_call: ({question}) => explainCall(parts, question),
    ...fanOutRequests(parts, turns),
    ...settingRequests(parts, emitInfo),
    ...runRequests(parts),
    ...contextRequests(parts, turns),
    ...conversationRequests(parts, turns, emit, getInfo),
  };
}

type SettingRequest =
  | 'set_model'
  | 'set_thinking'
  | 'models'
  | 'set_permission_mode'
  | 'set_rules'
  | 'set_theme'
  | 'permissions'
  | 'sandbox'
  | 'set_sandbox'
  | 'agents'
  | 'hooks'
  | 'mcp_servers'
  | 'start_mcp_servers'
  | 'reconnect_mcp_server'
  | 'enable_mcp_server'
  | 'set_mcp_servers'
  | 'folders'
  | 'add_folder'
  | 'diff_session'
  | 'denials'
  | 'usage'
  | 'redact';

function settingRequests(parts: SessionParts, emitInfo: () => void): Pick<Requests, SettingRequest> {
  const {state} = parts;
  // Commands of servers come and go with the servers, so front ends get new information after each change.
  const changing = <T>(change: Promise<T>) => change.finally(emitInfo);
  return {
    set_model({model}) {
      state.model = parts.resolveModel(model, state.thinking);
      emitInfo();
      return {model: state.model.name, offline: state.model.offline};
    },
    set_thinking(choice) {
      state.model = parts.resolveModel(state.model.name, choice);
      state.thinking = choice;
    },
    set_rules: (rules) => parts.setRules(rules),
    models: () => parts.listModels(),
    set_permission_mode({mode}) {
      parts.setPermissionMode(mode);
      emitInfo();
    },
    set_theme({theme}) {
      state.theme = theme;
      emitInfo();
    },
    permissions: () => parts.permissions(),
    sandbox: () => parts.sandbox.state(),
    set_sandbox: ({mode}) => parts.sandbox.set(mode),
    hooks: () => parts.listHooks(),
    mcp_servers: () => parts.mcp.list(),
    start_mcp_servers: () => parts.mcp.startAll(),
    reconnect_mcp_server: ({server}) => changing(parts.mcp.reconnect(server)),
    enable_mcp_server: ({server, enabled}) => changing(parts.mcp.setEnabled(server, enabled)),
    set_mcp_servers: ({servers}) => changing(parts.mcp.setServers(servers)),
    agents: () => parts.agents.list().map(({name, description}) => ({name, description})),
    folders: () => parts.folders.list(),
    add_folder({folder}) {
      parts.folders.add(folder);
      return parts.folders.list();
    },
    diff_session: () => parts.changes.diffAll(),
    denials: () => parts.denials,
    usage: () => getSessionUsage(parts),
    // The session redacts every answer on its way out, and so this one.
    redact: ({text}) => text,
  };
}

function getSessionUsage({run: {budget}, state, manager, pricesAsOf}: SessionParts): SessionUsage {
  const {limitUsd, spentUsd, setAsideUsd} = budget;
  const current = budget.entries();
  const restored = manager.list().filter((run) => run.restored);
  const earlier = restored.flatMap(({agent, usageByModel}) =>
    Object.entries(usageByModel).map(([model, usage]) => ({agent, model, usage})),
  );
  return {
    entries: sumEntries([...state.conversation.usedBefore, ...earlier, ...current]),
    current: sumEntries(current),
    pricesAsOf,
    ...(limitUsd !== undefined && {budget: {limitUsd, spentUsd, setAsideUsd}}),
  };
}

type OwnRequest = 'run_command' | 'explain_call' | 'find_files' | 'tell';
type ContextRequest = 'compact' | 'context';

function runRequests(
  parts: SessionParts,
): Omit<Requests, SettingRequest | ConversationRequest | ContextRequest | FanOutRequest | OwnRequest> {
  const {manager, changes} = parts;
  return {
    runs: () => manager.list(),
    run({run}) {
      const record = manager.find(run);
      const archiveAt = manager.archiveTime(record)?.getTime();
      return {record, ...(archiveAt !== undefined && {archiveAt})};
    },
    read_run: ({run}) => manager.read(manager.find(run).runId),
    spawn_run({agent: name, tools: asked, runId, description, prompt, limits}) {
      // No subagent has the tools that dispatch.
      const offered = parts.info.tools.filter((tool) => !findTool(tool, parts.info.toolFacts)?.dispatches);
      const whole = getAgent(name, parts.agents);
      const tools = asked?.map((tool) => toToolName(tool, parts.info.toolFacts));
      if (tools) checkTools(whole.name, tools, whole.tools === '*' ? offered : whole.tools);
      const agent = tools ? restrictTools(whole, tools, offered) : whole;
      const onlyTools = tools && agent.tools !== '*' ? agent.tools : undefined;
      return manager.spawn({
        runId,
        description,
        prompt,
        limits,
        agent,
        onlyTools,
        ...parts.chooseModel(agent),
        signal: new AbortController().signal,
      });
    },
    send_to_run: ({run, message}) => manager.send(run, message),
    async stop_runs({run}) {
      const runs = (run === undefined ? manager.list() : [manager.find(run)]).filter((each) => !hasEnded(each));
      await Promise.all(runs.map(({runId}) => manager.stop(runId)));
      return runs;
    },
    detach_runs: ({run}) =>
      run === undefined ? manager.detachAll() : [manager.find(run)].filter(({runId}) => manager.detach(runId)),
    wait_for_runs: () => manager.waitAll(),
    async diff_run({run}) {
      const record = manager.find(run);
      return {record, ...(await changes.diff(record.runId))};
    },
    async undo_run({run}) {
      const record = manager.find(run);
      if (!hasEnded(record)) {
        const id = record.runId.slice(0, 8);
        throw new MiniCcError(
          'RUN_AT_WORK',
          `${formatRunTitle(record)} is at work: stop it first, by /subagents stop ${id}`,
        );
      }
      return {record, ...(await changes.undo(record.runId))};
    },
  };
}

/** Finds an agent. White space and case do not matter, as in the Task tool. @throws UsageError */
function getAgent(sent: string, agents: AgentCatalog): AgentDefinition {
  const name = sent.trim();
  const agent = agents.get(name) ?? agents.get(name.toLowerCase());
  if (agent) return agent;
  const names = agents.list().map((each) => each.name);
  throw new UsageError(formatUnknownAgent(sent, name, names));
}

/** @param asked names of tools in mini-cc @throws UsageError when the list is empty, or the agent lacks one of them */
export function checkTools(agent: string, asked: readonly string[], has: readonly string[]): void {
  const missing = asked.filter((tool) => !has.includes(tool));
  if (asked.length > 0 && missing.length === 0) return;
  const problem = asked.length === 0 ? 'tools is empty' : `${agent} has none of these tools: ${missing.join(', ')}`;
  throw new UsageError(`${problem}. It has: ${has.join(', ')}`);
}
