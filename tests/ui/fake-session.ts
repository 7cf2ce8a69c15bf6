/** Fake session: the test emits its events, and calls of its verbs are recorded. */

import {ALL_TOOLS} from '../../src/compose/known-tools.ts';
import type {AgentEvent, AgentEventBody, Answer, Question, SessionInfo} from '../../src/core/contract/events.ts';
import type {
  Request,
  RequestAnswer,
  RequestName,
  Session,
  SubmitResult,
} from '../../src/core/contract/session-requests.ts';
import {getText, NO_USAGE} from '../../src/core/util/messages.ts';

export const INFO: SessionInfo = {
  sessionId: 'session-1',
  cwd: '/home/me/project',
  model: 'sonnet',
  offline: false,
  permissionMode: 'default',
  tools: ['bash'],
  toolFacts: ALL_TOOLS,
  agents: ['explore'],
  commands: [
    {name: 'help', description: 'lists commands and keys'},
    {name: 'model', description: 'shows or sets the model'},
    {name: 'exit', description: 'leaves'},
    {name: 'ship', description: 'ships it', argumentHint: 'WHERE'},
  ],
  transcript: '/tmp/session.jsonl',
  warnings: [],
  foreignWords: [],
  restored: [],
  restoredRuns: [],
};

export interface FakeSession extends Session {
  readonly emit: (body: AgentEventBody, agentId?: string) => void;
  readonly submitted: string[];
  /** Without `redact`. */
  readonly requests: Request[];
  readonly answers: {id: string; answer: Answer}[];
  /** The answer to `explain_call`. */
  explanation: Promise<string>;
  readonly aborts: () => number;
  readonly closed: () => boolean;
  /** Ends the turn that the last `submit` started. */
  readonly endTurn: (outcome?: 'success' | 'stopped' | 'error', reason?: string) => void;
}

/** Creates events with their tags, as the core does: `main` has no parent, all others are its children. */
export function createEvents() {
  let seq = 0;
  return (body: AgentEventBody, agentId = 'main', at = 1_000_000): AgentEvent => {
    seq += 1;
    return {...body, agentId, seq, at, ...(agentId !== 'main' && {parent: 'main'})};
  };
}

export function createFakeSession(info: Partial<SessionInfo> = {}): FakeSession {
  const listeners = new Set<(event: AgentEvent) => void>();
  const event = createEvents();
  const submitted: string[] = [];
  const requests: Request[] = [];
  let current: SessionInfo = {...INFO, ...info};
  const answers: {id: string; answer: Answer}[] = [];
  let aborts = 0;
  let isClosed = false;
  let finish: ((result: SubmitResult) => void) | undefined;

  const emit = (body: AgentEventBody, agentId?: string) => {
    for (const listener of listeners) listener(event(body, agentId, Date.now()));
  };
  const endTurn = (outcome: 'success' | 'stopped' | 'error' = 'success', reason = '') => {
    emit({type: 'run_end', outcome, reason, tools: 0, durationMs: 1, usage: NO_USAGE});
    finish?.({
      type: 'turn',
      result: {
        outcome: 'success',
        text: '',
        usage: NO_USAGE,
        usageByModel: {},
        turns: 1,
        tools: [],
        durationMs: 1,
        modelMs: 1,
      },
    });
    finish = undefined;
  };
  const answerRequest = (request: Request): unknown => {
    if (request.type === 'redact') return (request as Request<'redact'>).text;
    requests.push(request);
    if (request.type === 'explain_call') return session.explanation;
    if (request.type === 'send_to_run') return 'queued';
    if (request.type === 'take_back') {
      const {id} = request as Request<'take_back'>;
      emit({type: 'queued_prompt_taken_back', id});
      return id;
    }
    if (request.type === 'set_permission_mode') {
      current = {...current, permissionMode: (request as Request<'set_permission_mode'>).mode};
      emit({type: 'session', info: current});
    }
    return [];
  };
  const session: FakeSession = {
    explanation: Promise.resolve(''),
    get info() {
      return current;
    },
    emit,
    endTurn,
    submitted,
    requests,
    answers,
    aborts: () => aborts,
    closed: () => isClosed,
    submit: (input) => {
      const text = typeof input === 'string' ? input : getText(input.content);
      submitted.push(text);
      if (text.startsWith('/')) {
        emit({type: 'notice', level: 'info', text: `ran ${text}`});
        return Promise.resolve({type: 'command', ok: true, text: '', exit: text === '/exit'});
      }
      if (finish) {
        emit({type: 'queued_prompt', id: text, text});
        return Promise.resolve({type: 'queued', id: text});
      }
      emit({type: 'run_start', agent: 'main', description: text, model: 'sonnet', queued: false});
      return new Promise((resolve) => {
        finish = resolve;
      });
    },
    request: <N extends RequestName>(request: Request<N>) => answerRequest(request) as RequestAnswer<N>,
    answer: (id, answer) => {
      answers.push({id, answer});
      emit({type: 'ask_end', askId: id, answer: answer.choice});
    },
    abort: () => {
      aborts += 1;
      endTurn('stopped', 'stopped');
    },
    close: () => {
      isClosed = true;
      return Promise.resolve();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return session;
}

export function question(change: Partial<Question> = {}): Question {
  return {
    id: 'ask-1',
    agent: 'main',
    title: 'Run this command?',
    detail: 'npm test',
    detailType: 'command',
    options: [
      {digit: 1, choice: 'yes', label: 'yes'},
      {digit: 2, choice: 'session', label: 'yes for this session'},
      {digit: 4, choice: 'no', label: 'no, and say why', takesNote: true},
    ],
    escape: 'no',
    ...change,
  };
}
