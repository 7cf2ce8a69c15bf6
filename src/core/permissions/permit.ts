/** Joins the policy and the person: what the policy would ask is asked, or, without a person, refused and noted. */
import {randomUUID} from 'node:crypto';
import type {AgentDefinition} from '../agent-types.ts';
import type {Access, Workspace} from '../contract/access.ts';
import type {Answer, Emit, Question} from '../contract/events.ts';
import type {Permit, PermitRequest, Permitted, Verdict} from '../contract/permission.ts';
import {messageOf} from '../util/errors.ts';
import type {Standing} from './case.ts';
import {resolveLinks} from './files/paths.ts';
import type {PermissionPolicy} from './policy.ts';
import type {Questions} from './questions.ts';

/** A call that was refused, as `permission_denials` of the JSON result lists it. */
export interface Denial {
  readonly agent: string;
  readonly callId: string;
  readonly tool: string;
  readonly input: unknown;
  readonly reason: string;
}

export interface PermitDeps {
  readonly policy: PermissionPolicy;
  /** Absent in print mode: then what would be asked is refused. */
  readonly questions: Questions | undefined;
  readonly onDenied: (denial: Denial) => void;
  /** Commands can be held by the operating system here. */
  readonly sandboxAvailable: () => Promise<boolean>;
}

/** What of an agent's definition counts. */
export type PermitAgent = Partial<Pick<AgentDefinition, 'permissionMode' | 'readOnly'>>;

/** The permit of one agent. `label` is how questions and denials name it. */
export function createPermit(
  deps: PermitDeps,
  label: string,
  workspace: Workspace,
  emit: Emit,
  {permissionMode, readOnly}: PermitAgent = {},
): Permit {
  const {policy, questions, sandboxAvailable} = deps;
  const standing: Standing = {
    sandboxAvailable,
    ...(permissionMode === undefined ? {} : {mode: permissionMode}),
    ...(readOnly === undefined ? {} : {readOnly}),
  };
  const deny = (request: PermitRequest, reason: string, message: string) => {
    const {callId, tool, input} = request;
    deps.onDenied({agent: label, callId, tool, input, reason});
    return {allowed: false as const, message};
  };
  return async (request, signal) => {
    for (;;) {
      const places = placesOf(request.accesses, workspace);
      const {changes} = policy;
      const decision = await policy.decide(request, workspace, standing);
      if (policy.changes !== changes) continue;
      if (decision.verdict === 'deny') return deny(request, decision.why, `Permission denied: ${decision.why}.`);
      const mayRead = policy.readFilter(request, workspace, standing);
      const as: Permitted = {proven: decision.proven ?? false, places, ...(mayRead && {mayRead})};
      if (decision.verdict === 'allow') return {allowed: true, as};
      if (!questions) {
        return deny(
          request,
          decision.why,
          `Permission denied: ${request.tool} ${decision.why}, and nobody can be asked here. It was not run.`,
        );
      }
      const question = questionFor(request, label, decision, policy, workspace);
      const stillNeeded = async () => (await policy.decide(request, workspace, standing)).verdict === 'ask';
      const answer = await questions.ask(question, emit, signal, stillNeeded);
      if (answer === 'withdrawn') return {allowed: false, message: 'Not run: stopped before it was permitted.'};
      // Judged anew: what settled it may also have refused it.
      if (answer === 'settled') continue;
      if (answer.choice === 'no' || answer.choice === 'escape')
        return deny(request, 'refused by the user', refusal(answer));
      if (answer.choice === 'session') policy.grant(request, workspace);
      if (answer.choice === 'always') await keep(decision.rule, policy, emit);
      if (answer.choice !== 'yes') void questions.recheck();
      return {allowed: true, as};
    }
  };
}

/** Where the call would go now; where it goes when it runs is held against this. */
function placesOf(accesses: readonly Access[], {cwd}: Workspace): string[] {
  return accesses.flatMap((access) => ('path' in access ? [resolveLinks(access.path, cwd)] : []));
}

/** The yes holds for this call, also where its rule cannot be written. */
async function keep(rule: string | undefined, policy: PermissionPolicy, emit: Emit): Promise<void> {
  if (rule === undefined) return;
  try {
    await policy.keep(rule);
  } catch (error) {
    emit({type: 'notice', level: 'warning', text: `the rule ${rule} was not kept: ${messageOf(error)}`});
  }
}

function refusal(answer: Answer): string {
  const note = answer.note?.trim();
  return note
    ? `The user refused this call. It was not run. The user says: ${note}`
    : 'The user refused this call. It was not run. Do not try the same by other means.';
}

function questionFor(
  request: PermitRequest,
  agent: string,
  {why, onlyOnce = false, rule}: Extract<Verdict, {verdict: 'ask'}>,
  policy: PermissionPolicy,
  workspace: Workspace,
): Question {
  const isKept = !onlyOnce && rule !== undefined && policy.rules.keeps(rule);
  return {
    id: randomUUID(),
    agent,
    title: `${request.tool} ${why}`,
    ...detailOf(request.accesses, request.title),
    options: [
      {digit: 1, choice: 'yes', label: 'yes'},
      ...(onlyOnce ? [] : [{digit: 2, choice: 'session', label: policy.grantWords(request, workspace)}]),
      ...(isKept ? [{digit: 3, choice: 'always', label: `yes, always in this project: ${shortened(rule)}`}] : []),
      {digit: 4, choice: 'no', label: 'no, and say why', takesNote: true},
    ],
    escape: 'no',
  };
}

const MOST_RULE_CHARS = 60;

/** The command stands whole above the choices. */
function shortened(rule: string): string {
  const line = rule.replace(/\s*\n\s*/g, ' ');
  return line.length <= MOST_RULE_CHARS ? line : `${line.slice(0, MOST_RULE_CHARS - 1)}…`.toWellFormed();
}

function detailOf(accesses: readonly Access[], title: string): Pick<Question, 'detail' | 'detailType'> {
  for (const access of accesses) {
    if (access.kind === 'run') return {detail: access.command, detailType: 'command'};
    if (access.kind === 'write' && access.preview) return {detail: access.preview, detailType: 'diff'};
  }
  return {detail: title, detailType: 'text'};
}
