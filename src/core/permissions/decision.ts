/**
 * Decides on a call once, in one `CallDecision`: approval, then sandbox, then attempts. The order is: deny rules; hooks
 * that look at the call first; mode and rules; the question to the person. A session without a person refuses a call
 * that the policy would ask about, and records the denial.
 */
import {randomUUID} from 'node:crypto';
import type {AgentDefinition} from '../agent-types.ts';
import type {Answer, Emit, Question} from '../contract/events.ts';
import type {
  Access,
  AllowedCall,
  Attempt,
  Attempts,
  BeforeCall,
  CallDecision,
  CallOpinion,
  Denial,
  Permit,
  PermitRequest,
  Verdict,
  Workspace,
} from '../contract/permission.ts';
import type {ToolFacts} from '../contract/tool-facts.ts';
import {inBackground, neverRejects} from '../util/background.ts';
import {getErrorMessage} from '../util/errors.ts';
import {isInside} from '../util/paths.ts';
import {cutEnd} from '../util/text.ts';
import {findTool, formatCall} from '../util/tool-names.ts';
import {USER_SAYS} from '../util/tool-output.ts';
import type {AgentPermissions, PermissionSandbox} from './context.ts';
import {getRoots} from './files/file-zone.ts';
import {getPlace} from './files/resolve-links.ts';
import type {PermissionPolicy} from './policy.ts';
import type {Questions} from './questions.ts';
import type {AskVerdict} from './verdict.ts';

export interface PermitDeps {
  readonly policy: PermissionPolicy;
  /** Absent in print mode, which refuses calls that need a question. */
  readonly questions: Questions | undefined;
  readonly onDenied: (denial: Denial) => void;
  readonly sandbox: PermissionSandbox;
  /** Hooks that look at each call before it is asked about. */
  readonly beforeCall?: readonly BeforeCall[];
  /** Hook that may answer a question instead of the person. Without `allow` or `deny` the person is asked. */
  readonly answerCall?: BeforeCall | undefined;
}

/** Fields of an agent's definition that concern its permissions, and the run if it is a subagent. */
export type PermitAgent = Partial<Pick<AgentDefinition, 'permissionMode' | 'readOnly'>> & {readonly runId?: string};

/** Creates the permit of one agent. @param label how questions and denials name the agent */
export function createPermit(
  deps: PermitDeps,
  label: string,
  workspace: Workspace,
  emit: Emit,
  {permissionMode, readOnly, runId}: PermitAgent = {},
): Permit {
  const agent = {sandbox: deps.sandbox, mode: permissionMode, readOnly};
  const decider = new Decider(deps, {label, runId}, workspace, emit, agent);
  return Object.assign((request: PermitRequest, signal: AbortSignal) => decider.decide(request, signal), {
    launchUnasked: () => deps.policy.launchUnasked(workspace, permissionMode),
    foresee: (tool: string, accesses: readonly Access[]) => decider.foresee(tool, accesses),
  });
}

class Decider {
  constructor(
    private readonly deps: PermitDeps,
    private readonly asker: {readonly label: string; readonly runId: string | undefined},
    private readonly workspace: Workspace,
    private readonly emit: Emit,
    private readonly agent: AgentPermissions,
  ) {}

  async foresee(tool: string, given: readonly Access[]): Promise<Attempt | undefined> {
    const {policy} = this.deps;
    const accesses = given.map((access) => resolvePath(access, this.workspace));
    const verdict = await policy.judge({tool, accesses}, this.workspace, this.agent);
    if (verdict.verdict !== 'allow' || !verdict.attempts) return undefined;
    return policy.maskDeniedFiles(verdict.attempts, this.workspace)[0];
  }

  async decide(given: PermitRequest, signal: AbortSignal): Promise<CallDecision> {
    const request = {...given, accesses: given.accesses.map((access) => resolvePath(access, this.workspace))};
    const targets = getTargets(request.accesses);
    let opinion = request.changed;
    for (let round = 1; ; round += 1) {
      const {judged, changes} = await this.#judge(request);
      if (judged.verdict === 'deny') return this.#deny(request, judged.because);
      if (round === 1) {
        const hook = await this.#askHooks(request, signal);
        if (hook?.verdict === 'changed' || hook?.verdict === 'deny') return hook;
        if (hook) opinion = {by: 'hook', says: hook.verdict};
        if (this.deps.policy.changes !== changes) continue;
      }
      const verdict = applyOpinion(judged, opinion, request);
      if (verdict.verdict === 'allow') return this.#allow(request, verdict, targets);
      const problem = await this.#findProblem(request, targets);
      if (problem !== undefined) return {verdict: 'deny', because: 'it would fail', message: problem};
      const said = await this.#answerByHook(request, verdict, signal);
      if (said?.verdict === 'allow')
        return this.#allow(
          request,
          {...verdict, ...(verdict.unseen && {attempts: verdict.unseen}), because: said.because},
          targets,
        );
      if (said) return said;
      const answer = await this.#ask(request, verdict, signal, opinion);
      if (answer === 'again') continue;
      if ('verdict' in answer) return answer;
      // The mode or the rules may have changed while the question was open: they may refuse the call or confine it.
      const now = this.deps.policy.changes === changes ? judged : (await this.#judge(request)).judged;
      if (now.verdict === 'deny') return this.#deny(request, now.because);
      await this.#keepAnswer(request, verdict, answer);
      if (answer.input !== undefined) {
        return {verdict: 'changed', input: answer.input, opinion: {by: 'person', says: 'allow'}};
      }
      return this.#allow(request, {...now, because: 'the user allowed it'}, targets);
    }
  }

  /** Judges again when the rules or the mode changed in the meantime. */
  async #judge(request: PermitRequest): Promise<{judged: Verdict; changes: number}> {
    const {policy} = this.deps;
    for (;;) {
      const {changes} = policy;
      const judged = await policy.judge(request, this.workspace, this.agent);
      if (policy.changes === changes) return {judged, changes};
    }
  }

  /**
   * Finds a reason why the call would fail, so that the person is not asked about it. The reason reveals something about the
   * files that the call would write, so it is looked for only if the agent may read them without a question.
   */
  async #findProblem({findProblem, ...request}: PermitRequest, {places}: CallTargets): Promise<string | undefined> {
    const {questions, policy} = this.deps;
    if (!questions || !findProblem) return undefined;
    const reads = request.accesses.flatMap((access): Access[] =>
      access.kind === 'write' ? [{...access, kind: 'read'}] : [],
    );
    const {verdict} = await policy.judge({...request, tool: 'read_file', accesses: reads}, this.workspace, this.agent);
    return verdict === 'allow' ? findProblem(places) : undefined;
  }

  /**
   * Asks the hooks, except about a call that was already changed. A refusal wins over a question, and a question over
   * an approval.
   */
  async #askHooks(
    request: PermitRequest,
    signal: AbortSignal,
  ): Promise<Exclude<Verdict, {verdict: 'deny'}> | Exclude<CallDecision, AllowedCall> | undefined> {
    const {beforeCall = []} = this.deps;
    if (beforeCall.length === 0 || request.changed) return undefined;
    const answers = await Promise.all(beforeCall.map((hook) => hook(request, signal)));
    const denied = answers.find(({decision}) => decision === 'deny');
    if (denied) return {...this.#deny(request, denied.because ?? 'a hook refuses it'), stops: denied.stops};
    const asked = answers.find(({decision}) => decision === 'ask');
    const allowed = answers.find(({decision}) => decision === 'allow');
    const changed = answers.find(({input}) => input !== undefined);
    if (changed) {
      const says = asked ? 'ask' : allowed && 'allow';
      return {verdict: 'changed', input: changed.input, opinion: {by: 'hook', ...(says && {says})}};
    }
    if (asked) return {verdict: 'ask', because: asked.because ?? 'a hook asks'};
    return allowed && {verdict: 'allow', because: allowed.because ?? 'a hook allows it'};
  }

  /**
   * Lets a hook answer instead of the person, except where only a person may answer. It was already asked about a
   * changed call.
   */
  async #answerByHook(
    request: PermitRequest,
    {onlyPerson}: AskVerdict,
    signal: AbortSignal,
  ): Promise<{readonly verdict: 'allow'; readonly because: string} | Exclude<CallDecision, AllowedCall> | undefined> {
    if (onlyPerson || request.changed || !this.deps.answerCall) return undefined;
    const {decision, because = 'a hook', input, stops} = await this.deps.answerCall(request, signal);
    if (decision === 'deny') return {...this.#deny(request, because), stops};
    if (decision !== 'allow') return undefined;
    if (input !== undefined) return {verdict: 'changed', input, opinion: {by: 'hook', says: 'allow'}};
    return {verdict: 'allow', because: 'a hook allowed it'};
  }

  /**
   * @returns `again` when another answer or another mode may have settled this question; the caller then judges again
   */
  async #ask(
    request: PermitRequest,
    verdict: AskVerdict,
    signal: AbortSignal,
    opinion: CallOpinion | undefined,
  ): Promise<Answer | CallDecision | 'again'> {
    const {policy, questions} = this.deps;
    if (!questions || policy.mode === 'dontAsk' || this.agent.mode === 'dontAsk') {
      const {tool} = request;
      const how = formatWayToAllow(tool, verdict);
      const why = questions ? 'mode dontAsk asks nothing' : 'nobody can be asked here';
      const message = `Permission denied: ${tool} ${verdict.because}, and ${why}. It was not run. ${how}.`;
      return this.#deny(request, `${verdict.because}. ${how}`, message);
    }
    const stillNeeded = async () => {
      const now = await policy.judge(request, this.workspace, this.agent);
      return now.verdict !== 'deny' && applyOpinion(now, opinion, request).verdict === 'ask';
    };
    const question = {...(await this.#createQuestion(request, verdict)), ...(await this.#getHint(request))};
    request.deadline?.pause();
    request.onAsked?.();
    const answer = await questions.ask(question, this.emit, signal, stillNeeded);
    request.deadline?.resume();
    if (answer === 'withdrawn') {
      return {verdict: 'deny', because: 'stopped', message: 'Not run: stopped before it was permitted.'};
    }
    if (answer === 'settled') return 'again';
    if (answer.choice === 'no' || answer.choice === 'escape') {
      return {...this.#deny(request, 'refused by the user', formatRefusal(answer)), byPerson: true};
    }
    return answer;
  }

  /**
   * Saves what the answer allows for later calls. The offer was about the input that was shown, so it does not count
   * when the answer changes the input.
   */
  async #keepAnswer(request: PermitRequest, {rules}: AskVerdict, answer: Answer): Promise<void> {
    const {policy, questions} = this.deps;
    const isChanged = answer.input !== undefined;
    if (answer.choice === 'session' && !isChanged) policy.grant(request, this.workspace);
    if (answer.choice === 'always') await this.#saveRules(answer.rules ?? (isChanged ? undefined : rules));
    if (answer.choice !== 'yes' && questions) inBackground(questions.recheck(), neverRejects);
  }

  async #allow(
    request: PermitRequest,
    {because = 'the rules allow it', attempts}: {readonly because?: string; readonly attempts?: Attempts},
    targets: CallTargets,
  ): Promise<CallDecision> {
    const mayRead = this.deps.policy.createReadFilter(request, this.workspace, this.agent);
    return {
      verdict: 'allow',
      because,
      ...targets,
      mayRead,
      attempts: this.deps.policy.maskDeniedFiles(
        attempts ?? (await this.#planFileAttempts(request, targets)),
        this.workspace,
      ),
    };
  }

  /**
   * Plans a call that starts no command. A search runs in the read-only sandbox, unless a person or the mode allows it in
   * a place that the sandbox hides. A checkpoint saves the files that a call writes, except those of a worktree, which is
   * a copy.
   */
  async #planFileAttempts({tool}: PermitRequest, {places, writes}: CallTargets): Promise<Attempts> {
    const {workspace} = this;
    const {policy, sandbox} = this.deps;
    const isVisible = (place: string) =>
      sandbox.visibleIn(workspace)(place) ||
      sandbox.visibleIn({...workspace, seen: [...(workspace.seen ?? []), place]})(place);
    const isConfined = findTool(tool, policy.rules.tools)?.runsConfined && (await sandbox.available());
    if (isConfined && places.every(isVisible)) return [{launch: 'read-only', checkpoint: false}];
    const isCopy = (place: string) => workspace.confinement === 'worktree' && isInside(place, getRoots(workspace));
    return [{launch: 'plain', checkpoint: writes.some((place) => !isCopy(place))}];
  }

  #deny(request: PermitRequest, because: string, message = `Permission denied: ${because}.`) {
    const {callId, tool, title, input} = request;
    this.deps.onDenied({agent: this.asker.label, callId, tool, title, input, reason: because});
    return {verdict: 'deny', because, message} as const;
  }

  /** A failure is only a notice: the answer allows this call even if its rules cannot be written. */
  async #saveRules(rules: readonly string[] | undefined): Promise<void> {
    if (rules === undefined) return;
    try {
      await this.deps.policy.saveRules(rules);
    } catch (error) {
      const text = `${rules.join(', ')} was not saved: ${getErrorMessage(error)}`;
      this.emit({type: 'notice', level: 'warning', text});
    }
  }

  /** Returns a hint on how to be asked less, with the first question about a command. */
  async #getHint({accesses}: PermitRequest): Promise<Pick<Question, 'hint'>> {
    const {policy, sandbox} = this.deps;
    const isAsked = accesses.some(({kind}) => kind === 'run') && this.workspace.confinement === 'none';
    if (!isAsked || !(await sandbox.available()) || !policy.takeSandboxHint()) return {};
    return {hint: '/sandbox auto runs commands confined to the workspace without asking'};
  }

  async #createQuestion(request: PermitRequest, verdict: AskVerdict): Promise<Question> {
    const {policy} = this.deps;
    const {because, onlyOnce = false, onlyPerson, isOutside, rules} = verdict;
    const {label, runId} = this.asker;
    const tool = findTool(request.tool, policy.rules.tools);
    const isEdit = tool?.kind === 'edit' && !onlyOnce && !onlyPerson && !isOutside;
    const canSave = !onlyOnce && rules !== undefined && policy.rules.canSave(rules);
    return {
      id: randomUUID(),
      agent: label,
      runId,
      callId: request.callId,
      title: formatQuestion(request, policy.rules.tools),
      ...(!REPEATS_TITLE.test(because) && {because}),
      ...(await getDetail(request.accesses, request.title)),
      call: {
        callId: request.callId,
        tool: request.tool,
        input: request.input,
        ...(canSave && {rules}),
        ...(isEdit && {isEdit}),
      },
      options: [
        {digit: 1, choice: 'yes', label: 'yes'},
        ...(onlyOnce ? [] : [{digit: 2, choice: 'session', label: policy.describeGrant(request, this.workspace)}]),
        ...(canSave
          ? [{digit: 3, choice: 'always', label: `yes, always in this project: ${rules.map(shorten).join(', ')}`}]
          : []),
        {digit: 4, choice: 'no', label: 'no, and say why', takesNote: true},
      ],
      escape: 'no',
    };
  }
}

/**
 * Applies the opinion about a call that rules and mode do not refuse. A hook cannot allow what only a person may allow.
 * A hook or driver that changed the input has not allowed the places that it now names: these are asked about anew.
 */
function applyOpinion(
  verdict: Exclude<Verdict, {verdict: 'deny'}>,
  {by, says}: Partial<CallOpinion> = {},
  {changed}: Pick<PermitRequest, 'changed'>,
): Exclude<Verdict, {verdict: 'deny'}> {
  if (says === 'ask' && verdict.verdict === 'allow') {
    return {...verdict, verdict: 'ask', because: 'is asked about by a hook', onlyOnce: true};
  }
  if (verdict.verdict === 'allow' || says !== 'allow') return verdict;
  if (verdict.onlyPerson && (by === 'hook' || changed)) return verdict;
  if (verdict.isOutside && changed) return verdict;
  const attempts = (by === 'hook' && verdict.unseen) || verdict.attempts;
  return {verdict: 'allow', because: 'a hook or an answer allowed it', ...(attempts && {attempts})};
}

type CallTargets = Pick<AllowedCall, 'places' | 'writes'>;

/** Resolves the links of an access's path at this moment, once: nothing resolves them again until the call has ended. */
function resolvePath(access: Access, workspace: Workspace): Access {
  return 'path' in access ? {...access, place: getPlace(access, workspace)} : access;
}

/** Returns the places that the call names. When it runs, it may touch no others. */
function getTargets(accesses: readonly Access[]): CallTargets {
  const getPlaces = (kind?: Access['kind']) =>
    accesses.flatMap((each) =>
      'place' in each && each.place && (kind ?? each.kind) === each.kind ? [each.place] : [],
    );
  return {places: getPlaces(), writes: [...new Set(getPlaces('write'))]};
}

const MAX_FLAG_CHARS = 200;

/** Returns the flag that would allow a call where no person can be asked. */
function formatWayToAllow(tool: string, {rules, onlyOnce}: AskVerdict): string {
  if (rules !== undefined && !onlyOnce) {
    const flag = rules.join(',');
    const isShort = flag.length <= MAX_FLAG_CHARS && !/[\p{Cc}\p{Cf}]/u.test(flag);
    return `--allowed-tools '${(isShort ? flag : tool).replaceAll("'", String.raw`'\''`)}' allows it`;
  }
  return onlyOnce
    ? 'A person has to allow it each time: start mini-cc without -p'
    : 'Only --permission-mode bypassPermissions allows it, with all other calls';
}

function formatRefusal(answer: Answer): string {
  const note = answer.note?.trim();
  return note
    ? `The user refused this call. It was not run. ${USER_SAYS}${note}`
    : 'The user refused this call. It was not run. Do not try the same by other means.';
}

const MAX_RULE_CHARS = 60;

/** Shortens a rule for a label. The question shows the whole command above its choices. */
function shorten(rule: string): string {
  return cutEnd(rule.replace(/\s*\n\s*/g, ' '), MAX_RULE_CHARS);
}

/** Matches a reason that says no more than the title. One that says more has a colon before the name of the file. */
const REPEATS_TITLE = /^(?:runs a command|(?:writes|fetches from) (?:(?!: ).)+)$/s;

/** Formats a question such as `Edit greet.ts?` or `Run this command?` */
function formatQuestion({tool, title, accesses}: PermitRequest, tools: readonly ToolFacts[]): string {
  return accesses.some(({kind}) => kind === 'run') ? 'Run this command?' : `${formatCall(tool, title, tools)}?`;
}

async function getDetail(accesses: readonly Access[], title: string): Promise<Pick<Question, 'detail' | 'detailType'>> {
  for (const access of accesses) {
    if (access.kind === 'run') return {detail: access.command, detailType: 'command'};
    if (access.kind === 'mcp') return {detail: access.detail, detailType: 'text'};
    const preview = access.kind === 'write' && (await access.preview?.(access.place ?? access.path));
    if (preview) return {detail: preview, detailType: 'diff'};
  }
  return {detail: title, detailType: 'text'};
}
