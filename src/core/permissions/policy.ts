/**
 * What an agent may do without asking, what is asked, what is refused.
 * Modes and rules decide here; who is asked, and how, is `questions.ts`.
 */

import type {Access, Confinement, Workspace} from '../contract/access.ts';
import type {PermissionMode} from '../contract/events.ts';
import type {PermitRequest, Verdict} from '../contract/permission.ts';
import type {Case, Standing} from './case.ts';
import {judgeRead, judgeWrite, readFilter} from './files/file-judge.ts';
import type {PermissionPlaces} from './files/file-zone.ts';
import {withTheirLinks} from './files/paths.ts';
import {fetchGrant, grantFor, grantWords} from './grants.ts';
import {hostRule, matchesHost, matchesName, type Rule} from './rules/rule.ts';
import {type RuleBook, ruleWords} from './rules/rule-book.ts';
import {ALLOWED, deny, worst} from './verdict.ts';

/** The standing of one session: its mode, its rules, and what a person granted so far. */
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
  async decide(request: PermitRequest, workspace: Workspace, standing: Standing): Promise<Verdict> {
    const about = this.#caseOf(request.tool, workspace, standing);
    const byTool = judgeTool(about);
    if (byTool?.verdict === 'deny') return byTool;
    const verdicts = [];
    for (const access of request.accesses) verdicts.push(await judgeAccess(access, about));
    return worst([...verdicts, ...(byTool ? [byTool] : [])]);
  }

  /** Which files a call that searches through folders may look into; undefined: all. */
  readFilter(
    {tool, accesses}: Pick<PermitRequest, 'tool' | 'accesses'>,
    workspace: Workspace,
    standing: Standing,
  ): ((file: string) => boolean) | undefined {
    const searched = accesses.flatMap((access) => (access.kind === 'read' ? [access.path] : []));
    return readFilter(this.#caseOf(tool, workspace, standing), searched);
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

  #caseOf(tool: string, workspace: Workspace, standing: Standing): Case {
    const mode = this.modeOf(standing.mode);
    const confinement = this.confinementOf(workspace.confinement, standing.mode);
    return {
      tool,
      workspace,
      mode,
      confinement,
      neverAsks: standing.readOnly ?? (confinement === 'read-only' && mode !== 'plan'),
      sandboxAvailable: standing.sandboxAvailable,
      rules: this.rules,
      isGranted: (grant) => this.#grants.has(grant),
      places: this.#places,
    };
  }
}

/** Rules about the tool as such. */
function judgeTool({rules, tool, mode, neverAsks}: Case): Exclude<Verdict, {verdict: 'allow'}> | undefined {
  const [denied] = rules.about(tool, 'deny');
  if (denied) return {verdict: 'deny', why: `${tool} is not allowed in this session: ${ruleWords(denied)}`};
  const [asked] = rules.about(tool, 'ask');
  if (!asked) return undefined;
  if (neverAsks) return {verdict: 'deny', why: `${ruleWords(asked)} asks, and a read-only agent does not ask`};
  return mode === 'bypassPermissions'
    ? undefined
    : {verdict: 'ask', why: `is used: ${ruleWords(asked)}`, onlyOnce: true};
}

async function judgeAccess(access: Access, about: Case): Promise<Verdict> {
  switch (access.kind) {
    case 'run': {
      // Late: it brings what is known of many programs.
      const {judgeRun} = await import('./shell/command-judge.ts');
      return judgeRun(access, about);
    }
    case 'read':
      return judgeRead(access.path, about);
    case 'write':
      return judgeWrite(access.path, about);
    case 'fetch':
      return judgeFetch(access.host, about);
    case 'dispatch':
      return byRules(access.agent, 'Task', matchesName, about) ?? ALLOWED;
    case 'none':
      return ALLOWED;
  }
}

function judgeFetch(host: string, about: Case): Verdict {
  const {rules, tool, mode, neverAsks, confinement} = about;
  const ruled = byRules(host, 'web_fetch', matchesHost, about);
  if (ruled?.verdict === 'deny') return ruled;
  if (neverAsks) return deny('a read-only agent does not reach the network');
  if (confinement === 'read-only') return deny('plan mode reaches no network');
  if (mode === 'bypassPermissions') return ALLOWED;
  if (ruled) return ruled;
  const isAllowed =
    rules.about(tool, 'allow').length > 0 ||
    rules.within(['web_fetch'], 'allow').some((rule) => matchesHost(rule.about, host));
  if (isAllowed || about.isGranted(fetchGrant(host))) return ALLOWED;
  return {verdict: 'ask', why: `fetches from ${host}`, rule: hostRule(host)};
}

function byRules(
  name: string,
  tool: string,
  matches: (about: string, name: string) => boolean,
  {rules, mode, neverAsks}: Case,
): Exclude<Verdict, {verdict: 'allow'}> | undefined {
  const find = (kind: Rule['kind']) => rules.within([tool], kind).find((rule) => matches(rule.about, name));
  const denied = find('deny');
  if (denied) return {verdict: 'deny', why: `${ruleWords(denied)} refuses ${name}`};
  const asked = find('ask');
  if (!asked || mode === 'bypassPermissions') return undefined;
  if (neverAsks) return {verdict: 'deny', why: `${ruleWords(asked)} asks, and a read-only agent does not ask`};
  return {verdict: 'ask', why: `is used for ${name}: ${ruleWords(asked)}`, onlyOnce: true};
}
