/** Creates the run of the main agent, as far as it is the same for all turns. */
import type {FanOuts} from '../core/fan-out/fan-outs.ts';
import {createPermit} from '../core/permissions/decision.ts';
import mainPrompt from '../core/prompts/main.md';
import type {Conversation, SessionParts} from '../core/session/parts.ts';
import {createFileLedger} from '../core/turn/file-ledger.ts';
import {systemClock} from '../core/turn/run-limits.ts';
import {ANSWER_PROMPT} from '../core/turn/structured-answer.ts';
import {createSystemPrompt} from '../core/turn/system-prompt.ts';
import {createMainSkills} from '../extensions/prompts/skill-tool.ts';
import {createAskingTools, createTaskTools} from '../tools/index.ts';
import {describeAgents} from '../tools/task/described-agents.ts';
import {keepForStep, TASK} from '../tools/task/task.ts';
import {getMainTools} from './agents.ts';
import {MAIN} from './project.ts';
import {type ComposedParts, readPromptContext} from './runs.ts';

export function createMainRun(deps: ComposedParts, fanOuts: FanOuts): SessionParts['run'] {
  const {agents, models, permissions, changes, runs} = deps;
  const {clock = systemClock, rawStream = false} = deps.project.options;
  const {emit} = deps.records;
  const {mainAgent} = agents;
  const {workspace, permits, hooks} = permissions;
  const {answerSchema} = models;
  const readOnly = mainAgent && {readOnly: mainAgent.readOnly};
  const tools = createMainTools(deps, fanOuts);
  const untold = tools.some(({name}) => name === TASK.name)
    ? keepForStep(() => describeAgents(agents.agents.list()).others)
    : undefined;
  return {
    agentId: MAIN,
    label: MAIN,
    workspace,
    checkpoints: changes.checkpoints,
    emit,
    rawStream,
    clock,
    summaryModel: models.summaryModel,
    budget: models.budget,
    tools,
    background: runs.manager.background,
    afterCall: hooks.afterCall,
    moreTools: mainAgent ? deps.tools.mcp.forAgent(mainAgent, undefined, untold) : deps.tools.mcp.forMain(untold),
    files: createFileLedger(changes.writeLog, MAIN),
    permit: createPermit(permits, MAIN, workspace, emit, readOnly),
    answerSchema,
  };
}

/**
 * Creates the function that returns the system prompt of a conversation. The conversation keeps its prompt, and so its
 * prompt cache, even when memory files change meanwhile. The next conversation reads them again.
 */
export function createGetSystem({project, agents, models}: ComposedParts): SessionParts['getSystem'] {
  const prompts = new WeakMap<Conversation, string>();
  const read = () => {
    const prompt = project.options.systemPrompt ?? agents.agentPrompt ?? mainPrompt;
    const system = createSystemPrompt(prompt, {...readPromptContext(project), notes: agents.notes});
    return models.answerSchema ? `${system}\n\n${ANSWER_PROMPT}` : system;
  };
  return (conversation) => {
    const system = prompts.get(conversation) ?? read();
    prompts.set(conversation, system);
    return system;
  };
}

/** Creates the tools by which the main agent asks, where a person can answer. */
function createMainAskingTools({project: {options}, permissions: {questions, modes}}: ComposedParts) {
  if (!options.interactive && !options.driverIsAsked) return [];
  return createAskingTools({
    who: options.driverIsAsked === 'calls' ? 'driver' : 'screen',
    async ask(question, emit, signal) {
      const end = await questions.ask(question, emit, signal);
      return typeof end === 'string' ? undefined : end;
    },
    getMode: () => modes.mode,
    setMode: (mode) => modes.set(mode),
  });
}

function createMainTools(composed: ComposedParts, fanOuts: FanOuts) {
  const {project, tools, agents, models, permissions, runs} = composed;
  const taskTools = createTaskTools({
    agents: agents.agents,
    manager: () => runs.manager,
    hasWorkers: project.settings.subagents?.queue !== undefined,
    fanOuts: () => fanOuts,
    onDenied: (denial) => permissions.permits.onDenied({...denial, agent: MAIN, tool: 'FanOut'}),
    modelFor: (agent, asked) => models.chooser.choose(agent, asked),
  });
  // Tools that a rule refuses in any case are not offered, because a model would spend turns on them.
  const own = [...taskTools, ...createMainAskingTools(composed)];
  const offered = getMainTools(agents, tools.baseTools, own).filter(
    ({name}) => !tools.rules.forbids(name) && (!tools.only || tools.only.includes(name)),
  );
  return createMainSkills(offered, tools.found.prompts, (rules) => permissions.policy.allowMoreInTurn(rules));
}
