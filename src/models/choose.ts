/** Chooses the model of a run from its call, its agent, the role table and the settings. */
import type {Settings} from '../config/settings.ts';
import type {Model, Thinking} from '../core/contract/model.ts';
import {UsageError} from '../core/util/errors.ts';
import type {ModelResolver} from './resolve.ts';

type Role = NonNullable<Settings['roles']>[string];

/** An agent, with the fields that `agents.NAME` of the settings adds to its definition. */
interface ModelUser extends Role {
  readonly name: string;
  readonly apiKeyEnv?: string | undefined;
}

export interface ChosenModel {
  readonly model: Model;
  /** Warnings for the result of the run, one line each. */
  readonly warnings: readonly string[];
}

/** Role groups of agents. An agent whose name has no role gets the role of its group. */
const GROUPS: Readonly<Record<string, string>> = {
  'code-explore': 'explore',
  'doc-reader': 'explore',
  architect: 'plan',
  reviewer: 'code-review',
  coder: 'code',
  debugger: 'code',
};

function findRole(roles: Settings['roles'] = {}, agent: string): Role {
  const names = [agent, GROUPS[agent], 'default'];
  const name = names.find((each) => each !== undefined && Object.hasOwn(roles, each));
  return name === undefined ? {} : roles[name]!;
}

export class ModelChooser {
  /** @param getMain returns the current model of the session */
  constructor(
    private readonly resolver: ModelResolver,
    private readonly settings: Pick<Settings, 'agents' | 'roles' | 'subagentModel'>,
    private readonly getMain: () => Model,
    private readonly env: Readonly<Record<string, string | undefined>>,
  ) {}

  /**
   * Chooses the model. It never throws: a name that cannot be used is skipped with a warning.
   * @param asked choice of the call
   */
  choose(agent: ModelUser, asked: Role = {}): ChosenModel {
    const {agents = {}, roles, subagentModel} = this.settings;
    // The definition has this model where it names none itself. Otherwise it is the next one.
    const ofSettings = Object.hasOwn(agents, agent.name) ? agents[agent.name]!.model : undefined;
    const role = findRole(roles, agent.name);
    const thinking = asked.thinking ?? agent.thinking ?? role.thinking;
    const unusable: string[] = [];
    const notes: string[] = [];
    const named = [asked.model, agent.model, ofSettings, role.model, subagentModel];
    const names = new Set(named.filter((name) => name !== undefined));
    let model: Model | undefined;
    for (const name of names) {
      if (name.trim().toLowerCase() === 'inherit') break;
      try {
        model = this.#resolve(name, agent, thinking, notes);
        break;
      } catch (error) {
        if (!(error instanceof UsageError)) throw error;
        unusable.push(error.message);
      }
    }
    model ??= this.#inherit(agent, thinking, notes);
    const {name} = model;
    return {model, warnings: [...unusable.map((text) => `${text}. ${name} answered instead`), ...notes]};
  }

  #inherit(agent: ModelUser, thinking: Thinking | undefined, warnings: string[]): Model {
    const main = this.getMain();
    if (thinking === undefined && agent.apiKeyEnv === undefined) return main;
    return main.offline ? main : this.#resolve(main.name, agent, thinking ?? main.thinking, warnings);
  }

  #resolve(name: string, agent: ModelUser, thinking: Thinking | undefined, warnings: string[]): Model {
    const keyEnv = this.#getKeyEnv(name, agent, warnings);
    const main = this.getMain();
    return this.resolver.resolve(name, {thinking, keyEnv, ifUnknown: main});
  }

  /** Returns the variable of the agent's own key, unless it is empty or belongs to another provider's server. */
  #getKeyEnv(name: string, {name: agent, apiKeyEnv: keyEnv}: ModelUser, warnings: string[]): string | undefined {
    if (keyEnv === undefined) return undefined;
    const provider = this.resolver.resolve(name).source?.provider;
    const owner = this.resolver.providers.findOwner(keyEnv);
    const problem = !this.env[keyEnv]?.trim()
      ? `${keyEnv} is not set or empty`
      : owner !== undefined && owner !== provider
        ? `${keyEnv} is the key of ${owner}, and ${name} is a model of ${provider}`
        : undefined;
    if (problem === undefined) return owner === provider ? undefined : keyEnv;
    warnings.push(`the agent ${agent} works with the key of its provider: ${problem}`);
    return undefined;
  }
}
