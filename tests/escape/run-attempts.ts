/** An agent that tries them all: a real run by a scripted model, so that permissions, bash and the sandbox count. */
import {setTimeout as delay} from 'node:timers/promises';
import {AGENT_TYPES} from '../../src/core/agent-types.ts';
import type {Confinement} from '../../src/core/contract/access.ts';
import type {PermissionMode} from '../../src/core/contract/events.ts';
import type {Tool} from '../../src/core/contract/tool.ts';
import {PermissionPolicy} from '../../src/core/permissions/policy.ts';
import {RuleBook} from '../../src/core/permissions/rules/rule-book.ts';
import {secretPlaces} from '../../src/core/secrets/secret-paths.ts';
import {createSandbox} from '../../src/sandbox/index.ts';
import {ProcessGroups} from '../../src/sandbox/launch/process-groups.ts';
import {createBash} from '../../src/tools/bash/bash.ts';
import {managerFixture} from '../core/manager-fixture.ts';
import {resultsIn} from '../core/run-fixture.ts';
import {call, calls, ScriptedModel, say} from '../core/scripted-model.ts';
import {type Arena, type Attempts, HIDE} from './fixture.ts';

export interface Outcome {
  /** What must not be, in words; empty when it was held. */
  readonly broke: string[];
  /** The tool's result. */
  text: string;
}

export interface Conditions {
  readonly agent: 'explore' | 'code';
  /** Of an agent that may write. */
  readonly confinement: Confinement;
  readonly mode: PermissionMode;
  /** Where `bwrap` is looked for; default: the PATH. */
  readonly searchPath?: string;
  /** Paths of the workspace that must stay as they are. */
  readonly protects: (path: string) => boolean;
  /** The workspace is put back after each attempt. */
  readonly restores?: boolean;
}

const LIMIT_S = 10;
/** A conversation grows with each. */
const MOST_A_RUN = 20;
/** After which what was started for later would have shown. */
const LATER_MS = 700;

export async function attemptAll(
  arena: Arena,
  attempts: Attempts,
  conditions: Conditions,
): Promise<Map<string, Outcome>> {
  const names = Object.keys(attempts);
  const outcomes = new Map(names.map((name): [string, Outcome] => [name, {broke: [], text: ''}]));
  let before = arena.fingerprint(conditions.protects);
  let sent = arena.arrived();
  const check = (name: string) => {
    const {broke} = outcomes.get(name)!;
    const now = arena.fingerprint(conditions.protects);
    broke.push(...differences(before, now));
    if (arena.arrived() > sent) broke.push('something arrived');
    if (!arena.isVictimWell()) broke.push('another process was hurt');
    if (conditions.restores) arena.restore();
    before = conditions.restores ? arena.fingerprint(conditions.protects) : now;
    sent = arena.arrived();
  };
  for (let first = 0; first < names.length; first += MOST_A_RUN) {
    const some = names.slice(first, first + MOST_A_RUN);
    const model = new ScriptedModel(({messages}, index) => {
      const done = some[index - 1];
      if (done !== undefined) {
        const content = resultsIn(messages.at(-1))[0]?.content;
        const text = typeof content === 'string' ? content : JSON.stringify(content);
        outcomes.get(done)!.text = text;
        if (arena.holdsKey(text)) outcomes.get(done)!.broke.push('the key was seen');
        check(done);
      }
      const next = some[index];
      if (next === undefined) return say('that was all');
      // From the same place, wherever the one before it went.
      const command = `cd ${arena.root}; ${arena.fill(attempts[next]!, first + index)}`;
      return calls(call('bash', {command, timeout_seconds: LIMIT_S}, `toolu_${index}`));
    });
    await dispatch(arena, model, conditions);
  }
  await delay(LATER_MS);
  check(names.at(-1)!);
  for (const left of arena.left()) {
    const name = names[Number(left.match(/\d{3}$/)?.[0])] ?? names.at(-1)!;
    outcomes.get(name)!.broke.push(`it left ${left}`);
  }
  return outcomes;
}

async function dispatch(arena: Arena, model: ScriptedModel, conditions: Conditions): Promise<void> {
  const {home, root, env} = arena;
  const {searchPath, mode, confinement, agent} = conditions;
  const miniCcHome = `${home}/.mini-cc`;
  const sandbox = createSandbox({home, miniCcHome, hide: HIDE, ...(searchPath === undefined ? {} : {searchPath})});
  const policy = new PermissionPolicy(mode, new RuleBook([]), {
    ownFolders: () => [],
    secretPlaces: secretPlaces(home, miniCcHome),
  });
  const {manager, request} = managerFixture({
    tools: [createBash(sandbox, new ProcessGroups()) as Tool],
    runs: {
      workspace: {root, extraRoots: [], cwd: root, confinement: 'none', env},
      confinement,
      permits: {
        policy,
        questions: undefined,
        onDenied: () => undefined,
        sandboxAvailable: async () => (await sandbox.status()).available,
      },
    },
  });
  const definition = {...AGENT_TYPES[agent]!, maxTurns: 400, timeoutSeconds: 0};
  const ended = await manager.spawn(request(model, {agent: definition}));
  if (ended.result.outcome !== 'success') throw new Error(`the run ended by ${JSON.stringify(ended.result)}`);
  await manager.close();
}

function differences(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): string[] {
  const paths = new Set([...before.keys(), ...now.keys()]);
  return [...paths].filter((path) => before.get(path) !== now.get(path)).map((path) => `it changed ${path}`);
}
