/** Lets an agent try all attempts, in a real run with a scripted model, permissions, bash and the sandbox. */
import {setTimeout as delay} from 'node:timers/promises';
import {createPermissionSandbox} from '../../src/compose/permissions.ts';
import {AGENT_TYPES} from '../../src/core/agent-types.ts';
import type {PermissionMode} from '../../src/core/contract/events.ts';
import type {Confinement} from '../../src/core/contract/permission.ts';
import type {Tool} from '../../src/core/contract/tool.ts';
import {PermissionPolicy} from '../../src/core/permissions/policy.ts';
import {RuleBook} from '../../src/core/permissions/rules/rule-book.ts';
import {getSecretPaths} from '../../src/core/secrets/secret-paths.ts';
import {createSandbox} from '../../src/sandbox/index.ts';
import {ProcessGroups} from '../../src/sandbox/launch/process-groups.ts';
import {createBash} from '../../src/tools/bash/bash.ts';
import {managerFixture} from '../core/manager-fixture.ts';
import {resultsIn} from '../core/run-fixture.ts';
import {call, calls, ScriptedModel, say} from '../core/scripted-model.ts';
import {changingFiles} from './changing-files.ts';
import {changingGit, changingTheRepository} from './changing-git.ts';
import {type Attempts, type EscapeFixture, HIDE} from './fixture.ts';
import {reachingOut} from './reaching-out.ts';
import {readingKeys} from './reading-keys.ts';

/** All attempts. */
export const ATTEMPTS = {
  ...readingKeys,
  ...changingFiles,
  ...changingGit,
  ...changingTheRepository,
  ...reachingOut,
};

export interface Outcome {
  /** What went wrong, in words; empty when the attempt failed to escape. */
  readonly broke: string[];
  /** The tool's result. */
  text: string;
}

export interface Conditions {
  readonly agent: 'explore' | 'code';
  /** Of an agent that may write. See `Workspace`. */
  readonly confinement: Confinement;
  readonly mode: PermissionMode;
  /** Where `bwrap` is looked for; default: the PATH. */
  readonly searchPath?: string;
  /** Paths of the workspace that must stay as they are. */
  readonly protects: (path: string) => boolean;
  /** Restores the workspace after each attempt. */
  readonly restores?: boolean;
}

const LIMIT_S = 10;
/** Attempts in one run: the conversation grows with each. */
const MAX_PER_RUN = 20;
/** How long to wait for what attempts started in the background. */
const BACKGROUND_MS = 700;

export async function runAttempts(
  fixture: EscapeFixture,
  attempts: Attempts,
  conditions: Conditions,
): Promise<Map<string, Outcome>> {
  const names = Object.keys(attempts);
  const outcomes = new Map(names.map((name): [string, Outcome] => [name, {broke: [], text: ''}]));
  let before = fixture.fingerprint(conditions.protects);
  let sent = fixture.arrived();
  const check = (name: string) => {
    const {broke} = outcomes.get(name)!;
    const now = fixture.fingerprint(conditions.protects);
    broke.push(...differences(before, now));
    if (fixture.arrived() > sent) broke.push('something arrived');
    if (!fixture.isVictimWell()) broke.push('another process was hurt');
    if (conditions.restores) fixture.restore();
    before = conditions.restores ? fixture.fingerprint(conditions.protects) : now;
    sent = fixture.arrived();
  };
  for (let first = 0; first < names.length; first += MAX_PER_RUN) {
    const some = names.slice(first, first + MAX_PER_RUN);
    const model = new ScriptedModel(({messages}, index) => {
      const done = some[index - 1];
      if (done !== undefined) {
        const content = resultsIn(messages.at(-1))[0]?.content;
        const text = typeof content === 'string' ? content : JSON.stringify(content);
        outcomes.get(done)!.text = text;
        if (fixture.containsKey(text)) outcomes.get(done)!.broke.push('the key was seen');
        check(done);
      }
      const next = some[index];
      if (next === undefined) return say('that was all');
      // Start in the same folder, also when the attempt before changed it.
      const command = `cd ${fixture.root}; ${fixture.fill(attempts[next]!, first + index)}`;
      return calls(call('bash', {command, timeout_seconds: LIMIT_S}, `toolu_${index}`));
    });
    await dispatch(fixture, model, conditions);
  }
  await delay(BACKGROUND_MS);
  check(names.at(-1)!);
  for (const left of fixture.left()) {
    const name = names[Number(left.match(/\d{3}$/)?.[0])] ?? names.at(-1)!;
    outcomes.get(name)!.broke.push(`it left ${left}`);
  }
  return outcomes;
}

async function dispatch(fixture: EscapeFixture, model: ScriptedModel, conditions: Conditions): Promise<void> {
  const {home, root, env} = fixture;
  const {searchPath, mode, confinement, agent} = conditions;
  const miniCcHome = `${home}/.mini-cc`;
  const sandbox = createSandbox({home, miniCcHome, hide: HIDE, ...(searchPath === undefined ? {} : {searchPath})});
  const policy = new PermissionPolicy(mode, new RuleBook([]), {
    ownFolders: () => [],
    secretPaths: getSecretPaths(home, miniCcHome),
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
        sandbox: createPermissionSandbox(sandbox),
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
