/** Joins the policy and the person: what the policy would ask is asked, or, without a person, refused and noted. */
import {randomUUID} from 'node:crypto';
import type {Answer, Emit, Question} from './events.ts';
import {
  grantWords,
  type Permission,
  type PermissionPolicy,
  type Permit,
  type PermitRequest,
} from './permissions/policy.ts';
import type {Questions} from './questions.ts';
import type {Access, Workspace} from './tool.ts';

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
}

/** The permit of one agent. `label` is how questions and denials name it. */
export function createPermit(deps: PermitDeps, label: string, workspace: Workspace, emit: Emit): Permit {
  const deny = (request: PermitRequest, reason: string, message: string) => {
    const {callId, tool, input} = request;
    deps.onDenied({agent: label, callId, tool, input, reason});
    return {allowed: false as const, message};
  };
  /** Undefined: the question was settled without an answer, and the policy says how. */
  const ask = async (
    request: PermitRequest,
    why: string,
    questions: Questions,
    signal: AbortSignal,
  ): Promise<Permission | undefined> => {
    const stillNeeded = async () => deps.policy.decide(request, workspace).verdict === 'ask';
    const answer = await questions.ask(questionFor(request, label, why, workspace), emit, signal, stillNeeded);
    if (answer === 'settled') return undefined;
    if (answer === 'withdrawn') return {allowed: false, message: 'Not run: stopped before it was permitted.'};
    if (answer.choice === 'no') return deny(request, 'refused by the user', refusal(answer));
    if (answer.choice === 'session') {
      deps.policy.grant(request, workspace);
      void questions.recheck();
    }
    return {allowed: true};
  };
  return async (request, signal) => {
    for (;;) {
      const decision = deps.policy.decide(request, workspace);
      if (decision.verdict === 'allow') return {allowed: true};
      if (decision.verdict === 'deny') return deny(request, decision.why, `Permission denied: ${decision.why}.`);
      if (!deps.questions) {
        return deny(
          request,
          decision.why,
          `Permission denied: ${request.tool} ${decision.why}, and nobody can be asked here. It was not run.`,
        );
      }
      const permission = await ask(request, decision.why, deps.questions, signal);
      if (permission) return permission;
    }
  };
}

function refusal(answer: Answer): string {
  const note = answer.note?.trim();
  return note
    ? `The user refused this call. It was not run. The user says: ${note}`
    : 'The user refused this call. It was not run. Do not try the same by other means.';
}

function questionFor(request: PermitRequest, agent: string, why: string, workspace: Workspace): Question {
  return {
    id: randomUUID(),
    agent,
    title: `${request.tool} ${why}`,
    ...detailOf(request.accesses, request.title),
    options: [
      {digit: 1, choice: 'yes', label: 'yes'},
      {digit: 2, choice: 'session', label: grantWords(request, workspace)},
      {digit: 4, choice: 'no', label: 'no, and say why', takesNote: true},
    ],
    escape: 'no',
  };
}

function detailOf(accesses: readonly Access[], title: string): Pick<Question, 'detail' | 'detailType'> {
  for (const access of accesses) {
    if (access.kind === 'run') return {detail: access.command, detailType: 'command'};
    if (access.kind === 'write' && access.preview) return {detail: access.preview, detailType: 'diff'};
  }
  return {detail: title, detailType: 'text'};
}
