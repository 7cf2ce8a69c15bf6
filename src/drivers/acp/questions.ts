/** Puts the questions of a session to the person at the editor: about calls as permissions, all others as forms. */
import path from 'node:path';
import type {
  CreateElicitationRequest,
  CreateElicitationResponse,
  ElicitationPropertySchema,
  PermissionOption,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from '@agentclientprotocol/sdk/unstable';
import type {Answer, Question, SessionInfo} from '../../core/contract/events.ts';
import {getErrorMessage} from '../../core/util/errors.ts';
import {formatTitle, readPatch, textContent} from './tool-calls.ts';
import type {Updates} from './updates.ts';

/** How the editor asks its person. A request rejects when its signal aborts. */
export interface Asker {
  askPermission(request: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionResponse>;
  /** Absent when the editor shows no forms. */
  readonly askForm?:
    | ((request: CreateElicitationRequest, signal: AbortSignal) => Promise<CreateElicitationResponse>)
    | undefined;
}

type Call = NonNullable<Question['call']>;

const OPTION_KINDS: Readonly<Record<string, PermissionOption['kind']>> = {
  yes: 'allow_once',
  session: 'allow_always',
  acceptEdits: 'allow_always',
  always: 'allow_always',
  no: 'reject_once',
};

export class Questions {
  /** Controllers by the ids of open questions. Aborting one cancels its question. */
  readonly #open = new Map<string, AbortController>();

  constructor(
    private readonly info: Pick<SessionInfo, 'sessionId' | 'cwd' | 'toolFacts'>,
    private readonly asker: Asker,
    private readonly updates: Updates,
  ) {}

  /** Asks the person. Another side may answer first. It never rejects. @returns undefined when it was withdrawn */
  async ask(question: Question): Promise<Answer | undefined> {
    const {askForm} = this.asker;
    const {call} = question;
    const asking = new AbortController();
    this.#open.set(question.id, asking);
    try {
      if (call) return await this.#askAboutCall(question, call, asking.signal);
      if (!askForm || question.editor) return {choice: question.escape};
      return readForm(question, await askForm(createForm(this.info.sessionId, question), asking.signal));
    } catch (error) {
      if (asking.signal.aborted) return undefined;
      const note = `The question could not be asked: ${getErrorMessage(error)}`;
      return {choice: call ? 'no' : question.escape, note};
    } finally {
      this.#open.delete(question.id);
    }
  }

  withdraw(id: string): void {
    this.#open.get(id)?.abort();
  }

  withdrawAll(): void {
    for (const asking of this.#open.values()) asking.abort();
  }

  async #askAboutCall(question: Question, call: Call, signal: AbortSignal): Promise<Answer> {
    const {outcome} = await this.asker.askPermission(this.#createRequest(question, call), signal);
    const chosen = outcome.outcome === 'selected' ? outcome.optionId : undefined;
    const isOffered = question.options.some(({choice}) => choice === chosen);
    return chosen !== undefined && isOffered
      ? {choice: chosen}
      : {choice: 'no', note: 'The question was not answered.'};
  }

  #createRequest(question: Question, {callId, tool, input}: Call): RequestPermissionRequest {
    const {agent, title, because, detail, detailType, options} = question;
    const {cwd, sessionId, toolFacts} = this.info;
    const asker = agent === 'main' ? '' : `${agent}: `;
    const shown = `${asker}${formatTitle(tool, detailType === 'command' ? detail : '', toolFacts)}`;
    this.updates.showCall({callId, tool, input}, shown);
    const {path: named} = input as {readonly path?: unknown};
    const change =
      detailType === 'diff' && typeof named === 'string' ? readPatch(path.resolve(cwd, named), detail) : undefined;
    return {
      sessionId,
      toolCall: {
        toolCallId: callId,
        title: because === undefined ? shown : `${shown} (${because})`,
        status: 'pending',
        content: change ? [...change.content] : [textContent(`${title}\n\n${detail}`)],
        ...(change && {locations: [...change.locations]}),
      },
      options: options.map(({choice, label}) => ({
        optionId: choice,
        name: label,
        kind: OPTION_KINDS[choice] ?? 'allow_once',
      })),
    };
  }
}

function createForm(sessionId: string, question: Question): CreateElicitationRequest {
  const {title, because, detail, options, list, enter, callId} = question;
  const choices = list ?? options;
  const oneOf = choices.map(({choice, label}) => ({const: choice, title: label}));
  const answer: ElicitationPropertySchema = {type: 'string', title, ...(oneOf.length > 0 && {oneOf})};
  const takesNote = options.some((option) => option.takesNote);
  return {
    mode: 'form',
    sessionId,
    ...(callId !== undefined && {toolCallId: callId}),
    message: [because, title, detail].filter((line) => line !== undefined && line !== '').join('\n\n'),
    requestedSchema: {
      type: 'object',
      properties: {answer, ...(takesNote && {note: {type: 'string' as const, title: 'In your words'}})},
      ...(enter === undefined && !takesNote && {required: ['answer']}),
    },
  };
}

function readForm(question: Question, response: CreateElicitationResponse): Answer {
  const {options, list, enter, escape: left} = question;
  if (response.action !== 'accept') return {choice: left};
  const {answer, note} = (response.content ?? {}) as {readonly answer?: unknown; readonly note?: unknown};
  const said = typeof note === 'string' && note.trim() !== '' ? {note} : {};
  if (typeof answer !== 'string' || answer === '') {
    const noted = options.find(({takesNote}) => takesNote && 'note' in said);
    return {choice: noted?.choice ?? enter ?? left, ...said};
  }
  if (options.length === 0 && !list) return {choice: 'text', note: answer};
  const isOffered = [...options, ...(list ?? [])].some(({choice}) => choice === answer);
  return {choice: isOffered ? answer : left, ...said};
}
