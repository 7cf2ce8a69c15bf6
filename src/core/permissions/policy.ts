/**
 * Decides by modes, rules and grants what agents may do without a question, what is asked about, and what is refused.
 */
import type {PermissionMode} from '../contract/events.ts';
import type {
  Access,
  Attempt,
  Attempts,
  Confinement,
  PermitRequest,
  RuleChange,
  RuleTexts,
  Verdict,
  Workspace,
} from '../contract/permission.ts';
import type {ToolFacts} from '../contract/tool-facts.ts';
import {MiniCcError, UsageError} from '../util/errors.ts';
import type {AgentPermissions, PermissionContext} from './context.ts';
import {createReadFilter, judgeRead, judgeWrite} from './files/file-judge.ts';
import {withLinkTargets, type ZonePaths} from './files/file-zone.ts';
import {getPlace} from './files/resolve-links.ts';
import {describeGrant, getFetchGrant, getGrant, getMcpGrant} from './grants.ts';
import {findMaskedFiles} from './rules/masked-files.ts';
import {
  createRule,
  formatHostRule,
  formatRule,
  matchesHost,
  matchesName,
  parseRule,
  RULE_KINDS,
  type Rule,
} from './rules/rule.ts';
import {RuleBook} from './rules/rule-book.ts';
import {ALLOWED, askByRule, combineVerdicts, deny, type Restriction, refuseToAsk} from './verdict.ts';

export class PermissionPolicy {
  #mode: PermissionMode;
  #changes = 0;
  readonly #grants = new Set<string>();
  #mayHint = true;
  #allowedInTurn: readonly string[] = [];
  readonly #zonePaths: ZonePaths;

  /**
   * @param mayBypass false where the settings turn the mode bypassPermissions off
   * @throws UsageError for this mode then, as the setter of the mode does
   */
  constructor(
    mode: PermissionMode,
    readonly rules: RuleBook,
    zonePaths: ZonePaths,
    readonly mayBypass = true,
  ) {
    this.#mode = this.#checkMode(mode);
    this.#zonePaths = {...zonePaths, secretPaths: withLinkTargets(zonePaths.secretPaths)};
  }

  get mode(): PermissionMode {
    return this.#mode;
  }

  set mode(mode: PermissionMode) {
    this.#mode = this.#checkMode(mode);
    this.#changes += 1;
  }

  #checkMode(mode: PermissionMode): PermissionMode {
    if (mode !== 'bypassPermissions' || this.mayBypass) return mode;
    throw new UsageError(
      'the mode bypassPermissions is turned off by permissions.disableBypassPermissionsMode in the settings',
    );
  }

  /** Callers report here that something else that verdicts depend on has changed, such as the sandbox. */
  noteChange(): void {
    this.#changes += 1;
  }

  /** Counts the changes of mode, rules and grants. After a change, an earlier verdict may be out of date. */
  get changes(): number {
    return this.#changes;
  }

  /**
   * Returns the mode that applies to an agent. A session in plan mode confines all agents. In a session in
   * bypassPermissions, an agent's own mode applies only if it is plan.
   * @param own mode that the agent's definition names
   */
  getAgentMode(own: PermissionMode | undefined): PermissionMode {
    if (this.mode === 'plan') return 'plan';
    if (this.mode === 'bypassPermissions') return own === 'plan' ? 'plan' : this.mode;
    return own === undefined || (own === 'bypassPermissions' && !this.mayBypass) ? this.mode : own;
  }

  /**
   * Returns how the processes of an agent are confined at present. @param base their confinement outside of plan mode
   */
  getConfinement(base: Confinement, own?: PermissionMode): Confinement {
    return this.getAgentMode(own) === 'plan' ? 'read-only' : base;
  }

  /** Says how a command starts that may write and runs without a question. @param own mode of the agent */
  launchUnasked(workspace: Workspace, own?: PermissionMode): Attempt['launch'] | undefined {
    const confinement = this.getConfinement(workspace.confinement, own);
    if (confinement === 'workspace-write') return 'workspace-write';
    return confinement === 'none' && this.getAgentMode(own) === 'bypassPermissions' ? 'plain' : undefined;
  }

  /**
   * Judges a call of an agent that works in `workspace`. Deny wins over ask, ask over allow.
   * @throws as `resolveLinks`, for paths that cannot be resolved
   */
  async judge(
    request: Pick<PermitRequest, 'tool' | 'accesses'>,
    workspace: Workspace,
    agent: AgentPermissions,
  ): Promise<Verdict> {
    const context = this.#createContext(request.tool, workspace, agent);
    const byTool = judgeTool(context);
    if (byTool?.verdict === 'deny') return byTool;
    const verdicts = [];
    for (const access of request.accesses) verdicts.push(await judgeAccess(access, context));
    return combineVerdicts([...verdicts, ...(byTool ? [byTool] : [])]);
  }

  /** Returns true at its first call in a session, so that the hint about the sandbox is shown once. */
  takeSandboxHint(): boolean {
    const mayHint = this.#mayHint;
    this.#mayHint = false;
    return mayHint;
  }

  /** Returns a test of which files a call that searches folders may read; undefined when it may read all files. */
  createReadFilter(
    {tool, accesses}: Pick<PermitRequest, 'tool' | 'accesses'>,
    workspace: Workspace,
    agent: AgentPermissions,
  ): ((file: string) => boolean) | undefined {
    const searched = accesses.flatMap((access) => (access.kind === 'read' ? [getPlace(access, workspace)] : []));
    return createReadFilter(this.#createContext(tool, workspace, agent), searched);
  }

  /** Hides the files that deny rules for reading name from confined commands. */
  maskDeniedFiles([first, ...others]: Attempts, workspace: Workspace): Attempts {
    const isConfined = [first, ...others].some(({launch}) => launch !== 'plain');
    const masked = isConfined ? findMaskedFiles(this.rules, workspace) : undefined;
    const mask = (attempt: Attempt): Attempt => (masked && attempt.launch !== 'plain' ? {...attempt, masked} : attempt);
    return [mask(first), ...others.map(mask)];
  }

  /** Allows calls like this one until the session ends. */
  grant(request: PermitRequest, workspace: Workspace): void {
    for (const grant of this.#getGrants(request, workspace)) this.#grants.add(grant);
    this.#changes += 1;
  }

  /** Saves rules that allow calls in this and later sessions. @throws MiniCcError as `RuleBook.save` */
  async saveRules(rules: readonly string[]): Promise<void> {
    await this.rules.save(rules);
    this.#changes += 1;
  }

  /** Adds or removes a rule that a person typed. @throws MiniCcError as `RuleBook.save` and `RuleBook.remove` */
  async changeRule(rule: string, change: RuleChange): Promise<void> {
    if (change === 'remove') await this.rules.remove(rule);
    else {
      const {text} = createRule(rule, change, '/permissions', this.rules.tools);
      if (!this.rules.canSave([text])) throw new MiniCcError('RULE', 'a rule with a key in it is not saved');
      await this.rules.save([text], change);
    }
    this.#changes += 1;
  }

  /** Sets the rules that a command file allows for the turn that begins. */
  allowInTurn(allowed: readonly string[]): void {
    this.#allowedInTurn = allowed;
    if (this.rules.setTurnRules(allowed.map((text) => createRule(text, 'allow', 'this command', this.rules.tools))))
      this.#changes += 1;
  }

  /** Adds the rules that a skill allows which the model calls. They end with the turn, too. */
  allowMoreInTurn(more: readonly string[]): void {
    if (more.length > 0) this.allowInTurn([...this.#allowedInTurn, ...more]);
  }

  /** Replaces the rules that the program that drives the session set before. @throws MiniCcError `RULE` */
  setDriverRules(given: RuleTexts): void {
    const rules = RULE_KINDS.flatMap((kind) =>
      (given[kind] ?? []).map((text) => createRule(text, kind, 'driver', this.rules.tools)),
    );
    this.rules.setDriverRules(rules);
    this.#changes += 1;
  }

  /** Grants that the person gave for this session so far, each in a few words. */
  get granted(): readonly string[] {
    return [...this.#grants];
  }

  /** Returns the label of the answer "yes for this session", which says what that answer covers. */
  describeGrant(request: PermitRequest, workspace: Workspace): string {
    return describeGrant(this.#getGrants(request, workspace)[0] ?? '');
  }

  #getGrants({accesses, tool}: PermitRequest, workspace: Workspace): string[] {
    return accesses.map((access) => getGrant(access, tool, workspace, this.#zonePaths));
  }

  #createContext(tool: string, workspace: Workspace, agent: AgentPermissions): PermissionContext {
    const mode = this.getAgentMode(agent.mode);
    const confinement = this.getConfinement(workspace.confinement, agent.mode);
    return {
      tool,
      workspace,
      mode,
      confinement,
      neverAsks: agent.readOnly ?? (confinement === 'read-only' && mode !== 'plan'),
      sandbox: agent.sandbox,
      rules: this.rules,
      isGranted: (grant) => this.#grants.has(grant),
      zonePaths: this.#zonePaths,
    };
  }
}

/** Says whether a permission rule is about a call: whether it would refuse the call as a deny rule. */
export async function isRuleAbout(text: string, request: PermitRequest, tools: readonly ToolFacts[]): Promise<boolean> {
  const parsed = parseRule(text, tools);
  if ('problem' in parsed || !request.workspace) return false;
  const rule: Rule = {kind: 'deny', text, source: 'if', ...parsed};
  const policy = new PermissionPolicy('bypassPermissions', new RuleBook([rule], tools), {
    ownFolders: () => [],
    secretPaths: [],
  });
  const sandbox = {available: async () => false, visibleIn: () => () => false, keepsVariable: () => false};
  const judged = await policy.judge(request, request.workspace, {sandbox});
  return judged.verdict === 'deny' && judged.because.includes(formatRule(rule));
}

/** Judges by the rules that apply to every call of the tool. */
function judgeTool({rules, tool, mode, neverAsks}: PermissionContext): Restriction | undefined {
  const [denied] = rules.getToolRules(tool, 'deny');
  if (denied) return deny(`${tool} is not allowed in this session: ${formatRule(denied)}`);
  const [asked] = rules.getToolRules(tool, 'ask');
  if (!asked) return undefined;
  if (neverAsks) return refuseToAsk(asked);
  return mode === 'bypassPermissions' ? undefined : askByRule(asked, 'is used');
}

async function judgeAccess(access: Access, context: PermissionContext): Promise<Verdict> {
  switch (access.kind) {
    case 'run': {
      // This import is late because many sessions run no command, and the module loads the tables of programs.
      const {judgeRun} = await import('./shell/command-judge.ts');
      return judgeRun(access, context);
    }
    case 'read':
      return judgeRead(access.path, context, access.place);
    case 'write':
      return judgeWrite(access.path, context, access.place);
    case 'fetch':
      return judgeFetch(access.host, context);
    case 'dispatch':
      return judgeDispatch(access.agent, context);
    case 'mcp':
      return judgeMcp(access, context);
    case 'none':
      return (access.name !== undefined && judgeName(access.name, context.tool, matchesName, context)) || ALLOWED;
  }
}

/** Judges by the rules of `Task`, whichever tool starts the subagent. */
function judgeDispatch(agent: string, context: PermissionContext): Verdict {
  const ruled = [judgeTool({...context, tool: 'Task'}), judgeName(agent, 'Task', matchesName, context)];
  return combineVerdicts([ALLOWED, ...ruled.filter((each) => each !== undefined)]);
}

function judgeFetch(host: string, context: PermissionContext): Verdict {
  const {rules, tool, mode, neverAsks, confinement} = context;
  const ruled = judgeName(host, 'web_fetch', matchesHost, context);
  if (ruled?.verdict === 'deny') return ruled;
  if (neverAsks) return deny('a read-only agent does not reach the network');
  if (confinement === 'read-only') return deny('plan mode reaches no network');
  if (mode === 'bypassPermissions') return ALLOWED;
  if (ruled) return ruled;
  const isAllowed =
    rules.getToolRules(tool, 'allow').length > 0 ||
    rules.getPatternRules(['web_fetch'], 'allow').some(({pattern}) => matchesHost(pattern, host));
  if (isAllowed || context.isGranted(getFetchGrant(host))) return ALLOWED;
  return {verdict: 'ask', because: `fetches from ${host}`, rules: [formatHostRule(host)]};
}

/** mini-cc does not know what the tool does. What its server claims about it does not count here. */
function judgeMcp({server, confined}: Extract<Access, {kind: 'mcp'}>, context: PermissionContext): Verdict {
  const {rules, tool, mode, neverAsks, confinement} = context;
  if (confined) return {verdict: 'allow', because: 'its server runs in the read-only sandbox'};
  if (neverAsks) return deny('a read-only agent has only the MCP servers that its definition names in mcpServers');
  if (confinement === 'read-only')
    return deny('plan mode changes nothing, and what a tool of an MCP server does is not known');
  if (mode === 'bypassPermissions') return ALLOWED;
  const [allowed] = rules.getToolRules(tool, 'allow');
  if (allowed) return {verdict: 'allow', because: formatRule(allowed)};
  if (context.isGranted(getMcpGrant(tool))) return ALLOWED;
  return {verdict: 'ask', because: `is a tool of the MCP server ${server}`, rules: [tool]};
}

function judgeName(
  name: string,
  tool: string,
  matches: (pattern: string, name: string) => boolean,
  {rules, mode, neverAsks}: PermissionContext,
): Restriction | undefined {
  const find = (kind: Rule['kind']) => rules.getPatternRules([tool], kind).find((rule) => matches(rule.pattern, name));
  const denied = find('deny');
  if (denied) return deny(`${formatRule(denied)} refuses ${name}`);
  const asked = find('ask');
  if (!asked || mode === 'bypassPermissions') return undefined;
  return neverAsks ? refuseToAsk(asked) : askByRule(asked, `is used for ${name}`);
}
