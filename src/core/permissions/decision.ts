/**
 * Decides on a call, once: approval, then sandbox, then attempts, in one `CallDecision`. In this order: deny rules; hooks
 * that look at the call first; mode and rules; the question to the person. A session without a person refuses a call that
 * the policy would ask about, and notes the denial.
 */
import {randomUUID} from 'node:crypto';
import type {AgentDefinition} from '../agent-types.ts';
import type {Answer, Emit, Question} from '../contract/events.ts';
import type {
  Access,
  Attempts,
  BeforeCall,
  CallDecision,
  Denial,
  Permit,
  PermitRequest,
  Verdict,
  Workspace,
} from '../contract/permission.ts';
import {getErrorMessage} from '../util/errors.ts';
import type {AgentPermissions} from './context.ts';
import {resolveLinks} from './files/paths.ts';
import type {PermissionPolicy} from './policy.ts';
import type {Questions} from './questions.ts';

export interface PermitDeps {
  readonly policy: PermissionPolicy;
  /** Absent in print mode: calls that need a question are refused. */
  readonly questions: Questions | undefined;
  readonly onDenied: (denial: Denial) => void;
  /** Whether a sandbox works here. */
  readonly sandboxAvailable: () => Promise<boolean>;
  /** Hooks that look at each call before it is asked about. */
  readonly beforeCall?: readonly BeforeCall[];
}

/** The fields of an agent's definition that concern its permissions. */
export type PermitAgent = Partial<Pick<AgentDefinition, 'permissionMode' | 'readOnly'>>;

/** The permit of one agent. @param label how questions and denials name the agent */
export function createPermit(
  deps: PermitDeps,
  label: string,
  workspace: Workspace,
  emit: Emit,
  {permissionMode, readOnly}: PermitAgent = {},
): Permit {
  const agent: AgentPermissions = {
    sandboxAvailable: deps.sandboxAvailable,
    ...(permissionMode === undefined ? {} : {mode: permissionMode}),
    ...(readOnly === undefined ? {} : {readOnly}),
  };
  const decider = new Decider(deps, label, workspace, emit, agent);
  return (request, signal) => decider.decide(request, signal);
}

class Decider {
  constructor(
    private readonly deps: PermitDeps,
    private readonly label: string,
    private readonly workspace: Workspace,
    private readonly emit: Emit,
    private readonly agent: AgentPermissions,
  ) {}

  async decide(request: PermitRequest, signal: AbortSignal): Promise<CallDecision> {
    let hooked: Verdict['verdict'] | undefined;
    for (let round = 1; ; round += 1) {
      const places = getPlaces(request.accesses, this.workspace);
      const judged = await this.#judge(request);
      if (judged.verdict === 'deny') return this.#deny(request, judged.because);
      if (round === 1) {
        const hook = await this.#askHooks(request, signal);
        if (hook?.verdict === 'changed') return hook;
        if (hook?.verdict === 'deny') return this.#deny(request, hook.because);
        hooked = hook?.verdict;
      }
      const verdict = applyApproval(judged, hooked, request.changed?.approved);
      if (verdict.verdict === 'allow') return this.#allow(request, verdict, places);
      const answer = await this.#ask(request, verdict, signal);
      if (answer === 'again') continue;
      if ('verdict' in answer) return answer;
      if (answer.input !== undefined && !request.changed) {
        return {verdict: 'changed', input: answer.input, approved: true};
      }
      return this.#allow(request, {...verdict, because: 'the user allowed it'}, places);
    }
  }

  /** Judges again when the rules or the mode changed meanwhile. */
  async #judge(request: PermitRequest): Promise<Verdict> {
    const {policy} = this.deps;
    for (;;) {
      const {changes} = policy;
      const verdict = await policy.judge(request, this.workspace, this.agent);
      if (policy.changes === changes) return verdict;
    }
  }

  /** A changed call is not shown to hooks again. A refusal wins over a question, a question over an approval. */
  async #askHooks(request: PermitRequest, signal: AbortSignal): Promise<Verdict | CallDecision | undefined> {
    const {beforeCall = []} = this.deps;
    if (beforeCall.length === 0 || request.changed) return undefined;
    const answers = await Promise.all(beforeCall.map((hook) => hook(request, signal)));
    const denied = answers.find(({decision}) => decision === 'deny');
    if (denied) return {verdict: 'deny', because: denied.because ?? 'a hook refuses it'};
    const asked = answers.find(({decision}) => decision === 'ask');
    const allowed = answers.find(({decision}) => decision === 'allow');
    const changed = answers.find(({input}) => input !== undefined);
    if (changed) return {verdict: 'changed', input: changed.input, approved: !asked && allowed !== undefined};
    if (asked) return {verdict: 'ask', because: asked.because ?? 'a hook asks'};
    return allowed && {verdict: 'allow', because: allowed.because ?? 'a hook allows it'};
  }

  /** @returns `again` when another answer, or another mode, may have settled this question, too: judge again */
  async #ask(
    request: PermitRequest,
    verdict: Extract<Verdict, {verdict: 'ask'}>,
    signal: AbortSignal,
  ): Promise<Answer | CallDecision | 'again'> {
    const {policy, questions} = this.deps;
    if (!questions) {
      return this.#deny(
        request,
        verdict.because,
        `Permission denied: ${request.tool} ${verdict.because}, and nobody can be asked here. It was not run.`,
      );
    }
    const stillNeeded = async () => (await policy.judge(request, this.workspace, this.agent)).verdict === 'ask';
    const question = this.#createQuestion(request, verdict);
    const answer = await questions.ask(question, this.emit, signal, stillNeeded);
    if (answer === 'withdrawn') {
      return {verdict: 'deny', because: 'stopped', message: 'Not run: stopped before it was permitted.'};
    }
    if (answer === 'settled') return 'again';
    if (answer.choice === 'no' || answer.choice === 'escape') {
      return this.#deny(request, 'refused by the user', formatRefusal(answer));
    }
    if (answer.choice === 'session') policy.grant(request, this.workspace);
    if (answer.choice === 'always') await this.#saveRule(answer.rule ?? verdict.rule);
    if (answer.choice !== 'yes') void questions.recheck();
    return answer;
  }

  #allow(
    request: PermitRequest,
    {because = 'the rules allow it', attempts}: {readonly because?: string; readonly attempts?: Attempts},
    places: readonly string[],
  ): CallDecision {
    const writing = request.accesses.filter(({kind}) => kind === 'write');
    const mayRead = this.deps.policy.createReadFilter(request, this.workspace, this.agent);
    return {
      verdict: 'allow',
      because,
      places,
      writes: [...new Set(getPlaces(writing, this.workspace))],
      ...(mayRead && {mayRead}),
      attempts: attempts ?? planFileAttempts(request.accesses, this.workspace),
    };
  }

  #deny(request: PermitRequest, because: string, message = `Permission denied: ${because}.`): CallDecision {
    const {callId, tool, input} = request;
    this.deps.onDenied({agent: this.label, callId, tool, input, reason: because});
    return {verdict: 'deny', because, message};
  }

  /** A failure is a notice: the answer allows this call, even if its rule cannot be written. */
  async #saveRule(rule: string | undefined): Promise<void> {
    if (rule === undefined) return;
    try {
      await this.deps.policy.saveRule(rule);
    } catch (error) {
      this.emit({type: 'notice', level: 'warning', text: `the rule ${rule} was not saved: ${getErrorMessage(error)}`});
    }
  }

  #createQuestion(
    request: PermitRequest,
    {because, onlyOnce = false, rule}: Extract<Verdict, {verdict: 'ask'}>,
  ): Question {
    const {policy} = this.deps;
    const canSave = !onlyOnce && rule !== undefined && policy.rules.canSave(rule);
    return {
      id: randomUUID(),
      agent: this.label,
      title: `${request.tool} ${because}`,
      ...getDetail(request.accesses, request.title),
      options: [
        {digit: 1, choice: 'yes', label: 'yes'},
        ...(onlyOnce ? [] : [{digit: 2, choice: 'session', label: policy.describeGrant(request, this.workspace)}]),
        ...(canSave ? [{digit: 3, choice: 'always', label: `yes, always in this project: ${shorten(rule)}`}] : []),
        {digit: 4, choice: 'no', label: 'no, and say why', takesNote: true},
      ],
      escape: 'no',
    };
  }
}

/** Applies what a hook or an earlier answer said about a call that rules and mode do not refuse. */
function applyApproval(
  verdict: Exclude<Verdict, {verdict: 'deny'}>,
  hooked: Verdict['verdict'] | undefined,
  approved = false,
): Exclude<Verdict, {verdict: 'deny'}> {
  if (hooked === 'ask' && verdict.verdict === 'allow' && !approved) {
    return {...verdict, verdict: 'ask', because: 'is asked about by a hook', onlyOnce: true};
  }
  if (verdict.verdict === 'allow') return verdict;
  const isApproved = approved || (hooked === 'allow' && !verdict.onlyPerson);
  if (!isApproved) return verdict;
  const {attempts} = verdict;
  return {verdict: 'allow', because: 'a hook or an answer allowed it', ...(attempts && {attempts})};
}

/** The files that the call names, with links resolved now. When it runs, it may touch no others. */
function getPlaces(accesses: readonly Access[], {cwd}: Workspace): string[] {
  return accesses.flatMap((access) => ('path' in access ? [resolveLinks(access.path, cwd)] : []));
}

/** For a call that starts no command. A checkpoint saves the files that it writes, but not in a worktree: that is a copy. */
function planFileAttempts(accesses: readonly Access[], {confinement}: Workspace): Attempts {
  const writes = accesses.some(({kind}) => kind === 'write');
  return [{launch: 'plain', checkpoint: writes && confinement !== 'worktree'}];
}

function formatRefusal(answer: Answer): string {
  const note = answer.note?.trim();
  return note
    ? `The user refused this call. It was not run. The user says: ${note}`
    : 'The user refused this call. It was not run. Do not try the same by other means.';
}

const MAX_RULE_CHARS = 60;

/** For a label. The question shows the whole command above its choices. */
function shorten(rule: string): string {
  const line = rule.replace(/\s*\n\s*/g, ' ');
  return line.length <= MAX_RULE_CHARS ? line : `${line.slice(0, MAX_RULE_CHARS - 1)}…`.toWellFormed();
}

function getDetail(accesses: readonly Access[], title: string): Pick<Question, 'detail' | 'detailType'> {
  for (const access of accesses) {
    if (access.kind === 'run') return {detail: access.command, detailType: 'command'};
    if (access.kind === 'write' && access.preview) return {detail: access.preview, detailType: 'diff'};
  }
  return {detail: title, detailType: 'text'};
}
