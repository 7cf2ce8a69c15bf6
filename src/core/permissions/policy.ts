/**
 * What an agent may do without asking, what is asked, what is refused.
 * Modes and rules decide here; who is asked, and how, is `questions.ts`.
 */

import type {Access, Confinement, Workspace} from '../contract/access.ts';
import type {PermissionMode} from '../contract/events.ts';
import type {PermitRequest, Verdict} from '../contract/permission.ts';
import type {AgentPermissions, PermissionContext} from './context.ts';
import {judgeRead, judgeWrite, readFilter} from './files/file-judge.ts';
import {type PermissionPlaces, withTheirLinks} from './files/file-zone.ts';
import {fetchGrant, grantFor, grantWords} from './grants.ts';
import {hostRule, matchesHost, matchesName, type Rule} from './rules/rule.ts';
import {type RuleBook, ruleWords} from './rules/rule-book.ts';
import {ALLOWED, combineVerdicts, deny} from './verdict.ts';

/** The agent of one session: its mode, its rules, and what a person granted so far. */
export class PermissionPolicy {
  #mode: PermissionMode;
  #changes = 0;
  readonly #grants = new Set<string>();
  readonly #places: PermissionPlaces;

  constructor(
    mode: PermissionMode,
    readonly rules: RuleBook,
    places: PermissionPlaces,
  ) {
    this.#mode = mode;
    this.#places = {...places, secretPlaces: withTheirLinks(places.secretPlaces)};
  }

  get mode(): PermissionMode {
    return this.#mode;
  }

  set mode(mode: PermissionMode) {
    this.#mode = mode;
    this.#changes += 1;
  }

  /** Grows with each change of what is permitted: what was judged before it may be judged otherwise now. */
  get changes(): number {
    return this.#changes;
  }

  /**
   * The mode that counts for an agent. Plan holds everybody; where nothing is asked, only an agent that plans is held.
   * @param own of its definition
   */
  modeOf(own: PermissionMode | undefined): PermissionMode {
    if (this.mode === 'plan') return 'plan';
    if (this.mode === 'bypassPermissions') return own === 'plan' ? 'plan' : this.mode;
    return own ?? this.mode;
  }

  /** How the processes of an agent are held now. @param base how they are held outside of plan mode */
  confinementOf(base: Confinement, own?: PermissionMode): Confinement {
    return this.modeOf(own) === 'plan' ? 'read-only' : base;
  }

  /** Judges a call of an agent that works in `workspace`. Deny wins over ask, ask over allow. */
  async judge(request: PermitRequest, workspace: Workspace, agent: AgentPermissions): Promise<Verdict> {
    const context = this.#contextFor(request.tool, workspace, agent);
    const byTool = judgeTool(context);
    if (byTool?.verdict === 'deny') return byTool;
    const verdicts = [];
    for (const access of request.accesses) verdicts.push(await judgeAccess(access, context));
    return combineVerdicts([...verdicts, ...(byTool ? [byTool] : [])]);
  }

  /** Which files a call that searches through folders may look into; undefined: all. */
  readFilter(
    {tool, accesses}: Pick<PermitRequest, 'tool' | 'accesses'>,
    workspace: Workspace,
    agent: AgentPermissions,
  ): ((file: string) => boolean) | undefined {
    const searched = accesses.flatMap((access) => (access.kind === 'read' ? [access.path] : []));
    return readFilter(this.#contextFor(tool, workspace, agent), searched);
  }

  /** From now on calls like this one pass for the rest of the session. */
  grant(request: PermitRequest, workspace: Workspace): void {
    for (const grant of this.#grantsFor(request, workspace)) this.#grants.add(grant);
    this.#changes += 1;
  }

  /** From now on this rule allows, also in later sessions. @throws MiniCcError when it cannot be written. */
  async keep(rule: string): Promise<void> {
    await this.rules.keep([rule]);
    this.#changes += 1;
  }

  /** What was granted for this session so far, in a few words each. */
  get granted(): readonly string[] {
    return [...this.#grants];
  }

  /** What such a grant covers, in a few words. */
  grantWords(request: PermitRequest, workspace: Workspace): string {
    return grantWords(this.#grantsFor(request, workspace));
  }

  #grantsFor({accesses}: PermitRequest, workspace: Workspace): string[] {
    return accesses.map((access) => grantFor(access, workspace, this.#places));
  }

  #contextFor(tool: string, workspace: Workspace, agent: AgentPermissions): PermissionContext {
    const mode = this.modeOf(agent.mode);
    const confinement = this.confinementOf(workspace.confinement, agent.mode);
    return {
      tool,
      workspace,
      mode,
      confinement,
      neverAsks: agent.readOnly ?? (confinement === 'read-only' && mode !== 'plan'),
      sandboxAvailable: agent.sandboxAvailable,
      rules: this.rules,
      isGranted: (grant) => this.#grants.has(grant),
      places: this.#places,
    };
  }
}

/** Rules about the tool as such. */
function judgeTool({
  rules,
  tool,
  mode,
  neverAsks,
}: PermissionContext): Exclude<Verdict, {verdict: 'allow'}> | undefined {
  const [denied] = rules.about(tool, 'deny');
  if (denied) return {verdict: 'deny', because: `${tool} is not allowed in this session: ${ruleWords(denied)}`};
  const [asked] = rules.about(tool, 'ask');
  if (!asked) return undefined;
  if (neverAsks) return {verdict: 'deny', because: `${ruleWords(asked)} asks, and a read-only agent does not ask`};
  return mode === 'bypassPermissions'
    ? undefined
    : {verdict: 'ask', because: `is used: ${ruleWords(asked)}`, onlyOnce: true};
}

async function judgeAccess(access: Access, context: PermissionContext): Promise<Verdict> {
  switch (access.kind) {
    case 'run': {
      // Late: it brings what is known of many programs.
      const {judgeRun} = await import('./shell/command-judge.ts');
      return judgeRun(access, context);
    }
    case 'read':
      return judgeRead(access.path, context);
    case 'write':
      return judgeWrite(access.path, context);
    case 'fetch':
      return judgeFetch(access.host, context);
    case 'dispatch':
      return byRules(access.agent, 'Task', matchesName, context) ?? ALLOWED;
    case 'none':
      return ALLOWED;
  }
}

function judgeFetch(host: string, context: PermissionContext): Verdict {
  const {rules, tool, mode, neverAsks, confinement} = context;
  const ruled = byRules(host, 'web_fetch', matchesHost, context);
  if (ruled?.verdict === 'deny') return ruled;
  if (neverAsks) return deny('a read-only agent does not reach the network');
  if (confinement === 'read-only') return deny('plan mode reaches no network');
  if (mode === 'bypassPermissions') return ALLOWED;
  if (ruled) return ruled;
  const isAllowed =
    rules.about(tool, 'allow').length > 0 ||
    rules.within(['web_fetch'], 'allow').some((rule) => matchesHost(rule.about, host));
  if (isAllowed || context.isGranted(fetchGrant(host))) return ALLOWED;
  return {verdict: 'ask', because: `fetches from ${host}`, rule: hostRule(host)};
}

function byRules(
  name: string,
  tool: string,
  matches: (about: string, name: string) => boolean,
  {rules, mode, neverAsks}: PermissionContext,
): Exclude<Verdict, {verdict: 'allow'}> | undefined {
  const find = (kind: Rule['kind']) => rules.within([tool], kind).find((rule) => matches(rule.about, name));
  const denied = find('deny');
  if (denied) return {verdict: 'deny', because: `${ruleWords(denied)} refuses ${name}`};
  const asked = find('ask');
  if (!asked || mode === 'bypassPermissions') return undefined;
  if (neverAsks) return {verdict: 'deny', because: `${ruleWords(asked)} asks, and a read-only agent does not ask`};
  return {verdict: 'ask', because: `is used for ${name}: ${ruleWords(asked)}`, onlyOnce: true};
}
