/** A session over a manager of subagents, with everything real but the model and the files. */
import {AGENT_TYPES, type AgentCatalog} from '../../../src/core/agent-types.ts';
import type {Model} from '../../../src/core/contract/model.ts';
import type {FanOuts} from '../../../src/core/fan-out/fan-outs.ts';
import {Questions} from '../../../src/core/permissions/questions.ts';
import {NO_SUBAGENTS} from '../../../src/core/runs/delegation-log.ts';
import {Redactor} from '../../../src/core/secrets/redaction.ts';
import type {ChangedFiles, SessionParts} from '../../../src/core/session/parts.ts';
import {createSession} from '../../../src/core/session.ts';
import {History} from '../../../src/core/turn/history.ts';
import {NO_HOOKS} from '../../../src/core/turn/run-hooks.ts';
import type {managerFixture} from '../manager-fixture.ts';
import type {runFixture} from '../run-fixture.ts';

const BUILT_IN_AGENTS: AgentCatalog = {list: () => Object.values(AGENT_TYPES), get: (name) => AGENT_TYPES[name]};

export function sessionOver(
  made: Pick<ReturnType<typeof managerFixture>, 'manager' | 'bus' | 'inbox'>,
  model: Model,
  {run}: ReturnType<typeof runFixture>,
  change: Partial<SessionParts> = {},
) {
  const openConversation = () => ({
    ...{id: 'session-1', transcript: '/t', restored: [], announced: new Set<string>(), usedBefore: [], problems: []},
    subagentsBefore: NO_SUBAGENTS,
    history: new History({append: () => undefined}),
    output: run.output,
    rewindPoints: () => [],
    messagesBefore: () => [],
    wholeConversation: () => [],
    close: () => undefined,
  });
  const conversation = openConversation();
  const session = createSession({
    info: {cwd: '/tmp', tools: [], toolFacts: [], agents: [], commands: [], warnings: [], foreignWords: []},
    agentId: 'main',
    state: {conversation, model},
    bus: made.bus,
    redactor: new Redactor([]),
    questions: new Questions(),
    manager: made.manager,
    agents: BUILT_IN_AGENTS,
    commands: [],
    changes: {describeCutOff: () => undefined} as unknown as ChangedFiles,
    hooks: NO_HOOKS,
    mcp: {} as SessionParts['mcp'],
    allowInTurn: () => undefined,
    fanOuts: {
      consider: async () => undefined,
      last: () => undefined,
      describeCutOff: () => undefined,
    } as unknown as FanOuts,
    interactive: true,
    limits: {},
    inbox: made.inbox,
    pending: [],
    shell: {} as SessionParts['shell'],
    run: {...run, agentId: 'main', emit: made.bus.emitFor('main')},
    getSystem: () => run.system,
    requests: {} as SessionParts['requests'],
    onPermissionMode: () => undefined,
    permissions: () => ({mode: 'default', rules: [], granted: [], mayBypass: true}),
    setPermissionMode: () => undefined,
    openConversation,
    listSessions: () => [],
    folders: {list: () => [], add: () => undefined},
    chooseModel: () => ({model, warnings: [], foreignWords: []}),
    resolveModel: () => model,
    pricesAsOf: '2026-10-24',
    onClose: async () => undefined,
    ...change,
  });
  return {session, history: conversation.history};
}
