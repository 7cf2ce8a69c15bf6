/** Handlers of all requests: the one table behind slash commands and control requests. */
import {randomUUID} from 'node:crypto';
import {type AgentCatalog, type AgentDefinition, formatUnknownAgent, restrictTools} from '../agent-types.ts';
import type {Emit, SessionInfo} from '../contract/events.ts';
import type {Message, PromptContent, UsageEntry} from '../contract/model.ts';
import type {SubagentMark} from '../contract/runs.ts';
import type {ContextPart, ContextUse, Requests, SessionUsage} from '../contract/session-requests.ts';
import {addSummaries, NO_SUBAGENTS} from '../runs/delegation-log.ts';
import {formatRunTitle} from '../runs/progress-line.ts';
import {hasEnded} from '../runs/run-record.ts';
import {runTypedCall} from '../tool-calls.ts';
import {compact} from '../turn/compaction.ts';
import {getWindowSize} from '../turn/context-window.ts';
import {type Account, ToolSpecs} from '../turn/model-request.ts';
import {MiniCcError, UsageError} from '../util/errors.ts';
import {addUsage, getResults, NO_USAGE, sumEntries} from '../util/messages.ts';
import {findTool, toToolName} from '../util/tool-names.ts';
import {assertIdle, conversationRequests, listEarlierUse} from './conversation-requests.ts';
import {explainCall} from './explain-call.ts';
import type {SessionParts} from './parts.ts';
import {createMainRun, type Turns} from './turns.ts';
import {createUserShell} from './user-commands.ts';

/** @param getInfo returns what front ends see of the session */
export function createRequests(parts: SessionParts, turns: Turns, emit: Emit, getInfo: () => SessionInfo): Requests {
  const runUserCommand = createUserShell(parts, emit);
  const emitInfo = () => emit({type: 'session', info: getInfo()});
  const conversation = conversationRequests(parts, turns, emit, getInfo);
  return {
    ...parts.requests,
    tell: ({text, label}) =>
      parts.inbox.put({id: randomUUID(), kind: 'companion', content: text, label, startsTurn: false}),
    run_command: ({command}) => turns.during(({signal}) => runUserCommand(command, signal)),
    status_line: () => runStatusLine(parts, turns.closed),
    explain_call: ({question}) => explainCall(parts, question),
    ...fanOutRequests(parts, turns),
    ...settingRequests(parts, emitInfo),
    ...runRequests(parts),
    ...contextRequests(parts, turns),
    ...conversation,
    async resume(request) {
      const resumed = await conversation.resume(request);
      await emitRestoredUse(parts, emit);
      return resumed;
    },
  };
}

/** Gives the command what Claude Code gives it, as far as it is known here. */
async function runStatusLine(parts: SessionParts, signal: AbortSignal): Promise<string> {
  if (!parts.runStatusLine) return '';
  const {state, info} = parts;
  const {cwd} = info;
  const {model, window, limit, parts: used} = await getContextUse(parts);
  const tokens = used.reduce((sum, part) => sum + part.tokens, 0);
  const share = Math.round((100 * tokens) / limit);
  const {cost_usd: cost} = getSessionUsage(parts)
    .entries.map(({usage}) => usage)
    .reduce(addUsage, NO_USAGE);
  const facts = {
    hook_event_name: 'Status',
    session_id: state.conversation.id,
    transcript_path: state.conversation.transcript,
    cwd,
    model: {id: model, display_name: model},
    workspace: {current_dir: cwd, project_dir: cwd, added_dirs: parts.folders.list()},
    permission_mode: parts.permissions().mode,
    ...(cost !== undefined && {cost: {total_cost_usd: cost}}),
    context_window: {
      total_input_tokens: tokens,
      context_window_size: window,
      used_percentage: share,
      remaining_percentage: 100 - share,
    },
    exceeds_200k_tokens: tokens > 200_000,
  };
  return parts.runStatusLine(parts.redactor.values(facts), signal);
}

function settingRequests(parts: SessionParts, emitInfo: () => void) {
  const {state} = parts;
  // Commands of servers come and go with the servers, so front ends get new information after each change.
  parts.onPermissionMode(emitInfo);
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
    set_permission_mode({mode}) {
      parts.setPermissionMode(mode);
    },
    set_theme({theme}) {
      state.theme = theme;
      emitInfo();
    },
    tools: () => new ToolSpecs().create(parts.run.tools),
    async call_tool({name, input, signal}) {
      const caller = {...createMainRun(parts, signal), moreTools: undefined};
      const {block} = await runTypedCall(name, input, caller, signal);
      const {content = '', is_error: isError = false} = block;
      return {content: content as PromptContent, isError};
    },
    permissions: () => parts.permissions(),
    mcp_servers: () => parts.mcp.list(),
    start_mcp_servers: () => parts.mcp.startAll(),
    read_mcp_resource: ({server, uri}) => parts.mcp.readResource(server, uri),
    reconnect_mcp_server: ({server}) => changing(parts.mcp.reconnect(server)),
    log_in_mcp_server: ({server, signal}) => changing(parts.mcp.logIn(server, signal)),
    log_out_mcp_server: ({server}) => changing(parts.mcp.logOut(server)),
    enable_mcp_server: ({server, enabled}) => changing(parts.mcp.setEnabled(server, enabled)),
    set_mcp_servers: ({servers}) => changing(parts.mcp.setServers(servers)),
    agents: () => parts.agents.list().map(({name, description}) => ({name, description})),
    folders: () => parts.folders.list(),
    add_folder({folder}) {
      parts.folders.add(folder);
      return parts.folders.list();
    },
    diff_session: () => parts.changes.diffAll(),
    usage: () => getSessionUsage(parts),
    subagent_summary: ({since}) => ({mark: parts.manager.log.mark, summary: summarizeSubagents(parts, since)}),
    // The session redacts every answer on its way out, and so this one.
    redact: ({text}) => text,
  } satisfies Partial<Requests>;
}

/** @param since default: the beginning of the conversation, in an earlier process, too */
function summarizeSubagents({state, manager: {log}}: SessionParts, since: SubagentMark | undefined) {
  const summary = log.summarize(since);
  const {subagentsBefore} = state.conversation;
  if (since || subagentsBefore === NO_SUBAGENTS) return summary;
  return addSummaries(subagentsBefore, summary ?? NO_SUBAGENTS);
}

function getSessionUsage(parts: SessionParts): SessionUsage {
  const {budget} = parts.run;
  const {limitUsd, spentUsd, setAsideUsd} = budget;
  const current = budget.entries();
  return {
    entries: sumEntries([...listEarlierUse(parts), ...current]),
    current: sumEntries(current),
    pricesAsOf: parts.pricesAsOf,
    ...(limitUsd !== undefined && {budget: {limitUsd, spentUsd, setAsideUsd}}),
  };
}

function runRequests(parts: SessionParts) {
  const {manager, changes} = parts;
  return {
    runs: () => manager.list(),
    run({run}) {
      const record = manager.find(run);
      const archiveAt = manager.archiveTime(record)?.getTime();
      return {record, ...(archiveAt !== undefined && {archiveAt})};
    },
    read_run: ({run}) => manager.read(manager.find(run).runId),
    spawn_run({agent: name, tools: asked, signal = new AbortController().signal, ...spec}) {
      // No subagent has the tools that dispatch.
      const offered = parts.info.tools.filter((tool) => !findTool(tool, parts.info.toolFacts)?.dispatches);
      const whole = getAgent(name, parts.agents);
      const tools = asked?.map((tool) => toToolName(tool, parts.info.toolFacts));
      if (tools) checkTools(whole.name, tools, whole.tools === '*' ? offered : whole.tools);
      const agent = tools ? restrictTools(whole, tools, offered) : whole;
      const onlyTools = tools && agent.tools !== '*' ? agent.tools : undefined;
      return manager.spawn({
        ...spec,
        agent,
        onlyTools,
        ...parts.chooseModel(agent),
        signal,
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
  } satisfies Partial<Requests>;
}

function fanOutRequests({fanOuts}: SessionParts, turns: Turns) {
  return {
    async fan_out(request) {
      const {signal} = new AbortController();
      const approved = await fanOuts.request(request, signal, 'program');
      if (typeof approved === 'string') throw new MiniCcError('REFUSED', 'The fan-out was refused. Nothing was run.');
      return fanOuts.run(approved, signal);
    },
    fan_outs() {
      const {results} = fanOuts;
      const last = fanOuts.last();
      return {...(last && {last}), results};
    },
    async undo_fan_out() {
      assertIdle(turns, 'take it back');
      return fanOuts.undo();
    },
  } satisfies Partial<Requests>;
}

function contextRequests(parts: SessionParts, turns: Turns) {
  return {
    compact: ({focus = ''}) =>
      turns.between(async (signal) => {
        const run = createMainRun(parts, signal);
        const size = (await getWindowSize(run.model, run.limits.contextTokens))!;
        const tools = new ToolSpecs().create(run.tools);
        const onUsage: Account['onUsage'] = (usage, model) => run.history.recordUsage(usage, model);
        return compact(run, tools, {trigger: 'manual', size, focus, account: {budget: run.budget, onUsage}});
      }),
    context: () => getContextUse(parts),
  } satisfies Partial<Requests>;
}

/** Shows what a conversation that continues has used, before its first answer here. */
export async function emitRestoredUse(parts: SessionParts, emit: Emit): Promise<void> {
  if (!parts.interactive || parts.state.conversation.restored.length === 0) return;
  const sum = (entries: readonly UsageEntry[]) => entries.reduce((all, {usage}) => addUsage(all, usage), NO_USAGE);
  emit({type: 'cost', usage: sum(parts.run.budget.entries()), before: sum(listEarlierUse(parts))});
  const {limit, parts: used} = await getContextUse(parts);
  emit({type: 'context', tokens: used.reduce((all, {tokens}) => all + tokens, 0), limit});
}

async function getContextUse(parts: SessionParts): Promise<ContextUse> {
  const {history, model, system, tools, limits} = createMainRun(parts, new AbortController().signal);
  const size = (await getWindowSize(model, limits.contextTokens))!;
  const {window, lines} = history;
  const specs = new ToolSpecs().create(tools);
  const count = (wanted: (line: (typeof lines)[number]) => Message[]) => window.countMessages(lines.flatMap(wanted));
  const results = count(({message}) => (getResults(message.content).length > 0 ? [message] : []));
  const summaries = count(({message, summary}) => (summary ? [message] : []));
  const replies = count(({message}) => (message.role === 'assistant' ? [message] : []));
  const messages = count(({message}) => [message]);
  const used: ContextPart[] = [
    {name: 'system prompt', tokens: window.count({system, tools: [], messages: []})},
    {name: 'tools', tokens: window.count({system: '', tools: specs, messages: []})},
    {name: 'summary', tokens: summaries},
    {name: 'prompts', tokens: messages - results - summaries - replies},
    {name: 'replies', tokens: replies},
    {name: 'tool results', tokens: results},
  ];
  return {...size, model: model.name, isEstimate: window.isEstimate, parts: used.filter(({tokens}) => tokens > 0)};
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
