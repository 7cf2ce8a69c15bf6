/** Decides the next assistant message from the request alone. The same request always gives the same bytes. */

import {createHash} from 'node:crypto';
import type {AssistantBlock, ModelRequest, StopReason, StreamEvent, Usage} from '../core/contract/model.ts';
import {readConversation} from './read-messages.ts';
import {isCannot, joinAnswers, notPermitted, OFFLINE_NOTICE, paragraphs, saysUnable} from './report.ts';
import {inTurn, type Job, NotPermitted, type Route, replay, type Work} from './skill.ts';
import {create} from './skills/create.ts';
import {asksForDefinition, createAgent, draftDefinition} from './skills/create-agent.ts';
import {delegateSeveral, delegateTyped, formatAnnouncement} from './skills/delegate.ts';
import {greet} from './skills/greet.ts';
import {history} from './skills/history.ts';
import {list} from './skills/list.ts';
import {part} from './skills/part.ts';
import {plan} from './skills/plan.ts';
import {explore} from './skills/project/explore.ts';
import {projectFacts} from './skills/project/project-facts.ts';
import {read} from './skills/read.ts';
import {rename} from './skills/rename/rename.ts';
import {review} from './skills/review.ts';
import {run} from './skills/run.ts';
import {answerByText, asksForWork} from './skills/search-text.ts';
import {symbolQuestion} from './skills/symbols/symbol-question.ts';
import {Toolbox} from './toolbox.ts';
import {maskQuoted, plainRequest} from './words.ts';

/** Maximum number of replies to one request. The last one must be an answer. */
const MAX_TURNS = 15;

export function decide(request: ModelRequest): Reply {
  const {system, tools, messages} = request;
  const body = JSON.stringify({system, tools, messages});
  // Ids are hashes of the request, so that they differ within a conversation.
  const id = createHash('sha256').update(body).digest('hex').slice(0, 20);
  const {content, stopReason} = decideContent(request, id);
  const usage = {
    input_tokens: estimateTokens(body),
    output_tokens: estimateTokens(JSON.stringify(content)),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  };
  return {id: `msg_offline_${id}`, content, stopReason, usage};
}

/** Estimates four characters per token. */
function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

function decideContent(request: ModelRequest, id: string): Pick<Reply, 'content' | 'stopReason'> {
  const mayCallTools = request.mayCallTools || request.tools.length === 0;
  const conversation = readConversation(request.messages, mayCallTools);
  if (conversation.announcement !== undefined) return toAnswer(formatAnnouncement(conversation.announcement));
  if (asksForDefinition(request.answerSchema)) {
    return toAnswer(draftDefinition(conversation.request));
  }
  const toolbox = new Toolbox(request.tools);
  const job: Job = {
    text: plainRequest(conversation.request),
    toolbox,
    main: toolbox.has('Task'),
    role: getRole(request.system),
    project: /^Working directory: .*?([^/\n]*)$/m.exec(request.system)?.[1] ?? '',
    isPart: PART.test(request.system),
    earlier: conversation.earlier,
  };
  const next = replay(startWork(job), conversation.seen, mayCallTools && conversation.turns < MAX_TURNS);
  if (next.type === 'answer') {
    const stopped = mayCallTools ? '' : '\n\n(Reported before the work was done: this answer is incomplete.)';
    const gaps = [...conversation.seen.values()].flatMap(({text}) => /^\(not all could .*\)$/m.exec(text)?.[0] ?? []);
    const text = paragraphs(`${next.text}${conversation.turns > 0 ? stopped : ''}`, gaps[0]);
    // The notice comes last, because scripts may read only the first line (`| head -1`).
    const noticed = job.main && conversation.first && !isCannot(text) ? `${text}\n\n${OFFLINE_NOTICE}` : text;
    return {...toAnswer(noticed), ...(saysUnable(text) && {stopReason: 'unable' as const})};
  }
  const calls = next.calls.map(({name, input}, index): AssistantBlock => {
    return {type: 'tool_use', id: `toolu_offline_${id}_${index}`, name, input, caller: {type: 'direct'}};
  });
  return {content: calls, stopReason: 'tool_use'};
}

/** Start of the system prompt of a fan-out part, from `core/prompts/part.md`. */
const PART = /^You carry out one part of a task that several agents share/;

/** Derives the agent's role from the first telling word near the start of its system prompt. */
function getRole(system: string): Job['role'] {
  const word = /\b(plans?|planning|design|review\w*|audit\w*|explor\w*|coding|task)\b/i
    .exec(system.slice(0, 300))?.[1]
    ?.toLowerCase();
  if (word === undefined) return 'other';
  if (/^(plan|design)/.test(word)) return 'plan';
  return /^(review|audit)/.test(word) ? 'review' : 'other';
}

function toAnswer(text: string): Pick<Reply, 'content' | 'stopReason'> {
  return {content: [{type: 'text', text, citations: null}], stopReason: 'end_turn'};
}

/**
 * Skills in order. The first one that accepts the request handles it; `startWork` handles requests that none accepts.
 * Those in `DO` do what the request says word for word.
 */
const DO: readonly Route[] = [
  greet,
  delegateSeveral,
  delegateTyped,
  createAgent,
  part,
  rename,
  create,
  run,
  (job) => plan({...job, role: 'other'}),
  (job) => review({...job, role: 'other'}),
];
/** Skills that answer questions. An order that no other skill carries out, such as "delete all tests", is no question. */
const ANSWER: readonly Route[] = [history, projectFacts, list, explore, symbolQuestion, read];

/** Maximum number of requests in one message. */
const MAX_PARTS = 4;

function startWork(job: Job): Work<string> {
  // "It" in a part may stand for what the parts before it name.
  const parts = splitRequest(job.text).map((text, index, all) => {
    return {...job, text, earlier: [...job.earlier, ...all.slice(0, index)]};
  });
  const works = parts.map(findWork);
  if (works.length > 1 && works.every((work) => work !== undefined)) return runInOrder(works);
  // A plan or review agent plans or reviews when no other skill accepts the request.
  return stopWhenDenied(findWork(job) ?? plan(job) ?? review(job) ?? answerByText(job));
}

function findWork(job: Job): Work<string> | undefined {
  for (const route of asksForWork(job.text) ? DO : [...DO, ...ANSWER]) {
    const work = route(job);
    if (work) return work;
  }
  return undefined;
}

/**
 * Splits a message such as "create a.txt with "x", then run `cat a.txt`" into its requests. Quoted texts are not split,
 * nor is any message with a code fence.
 */
function splitRequest(text: string): readonly string[] {
  if (/```/.test(text)) return [text];
  const masked = maskQuoted(text);
  const parts = masked.text.split(
    /\s*(?:[,;.]\s*(?:and\s+)?then\s+|\s+and then\s+|,?\s+and\s+(?=(?:what|which|who|where|how|when)\b)|;\s*\n|\n+(?=\d+[.)]\s))/i,
  );
  const clean = parts.map((part) => plainRequest(masked.plain(part.replace(/^\s*\d+[.)]\s+/, ''))));
  return clean.length <= MAX_PARTS ? clean.filter((part) => part !== '') : [text];
}

function* runInOrder(works: readonly Work<string>[]): Work<string> {
  return joinAnswers(yield* inTurn(works.map(stopWhenDenied)));
}

/** Ends the work with a sentence when a call is denied, and tries nothing else. */
function* stopWhenDenied(work: Work<string>): Work<string> {
  try {
    return yield* work;
  } catch (error) {
    if (!(error instanceof NotPermitted)) throw error;
    const names = [...new Set(error.calls.map((call) => call.name))].map((name) => `\`${name}\``).join(', ');
    const [call] = error.calls;
    const what = call?.input.command ?? call?.input.path ?? call?.input.pattern ?? call?.input.url;
    const named = typeof what === 'string' && error.calls.length === 1 ? ` for \`${what.split('\n')[0]}\`` : '';
    return notPermitted(`${names}${named}`, error.reason.split('\n')[0]!);
  }
}

interface Reply {
  readonly id: string;
  readonly content: readonly AssistantBlock[];
  readonly stopReason: StopReason;
  /** Estimated numbers of tokens. */
  readonly usage: Usage;
}

export function* createEvents(reply: Reply & {readonly model: string}): Generator<StreamEvent> {
  const {id, model, content, stopReason, usage} = reply;
  const opening = {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {...usage, output_tokens: content.length > 0 ? 1 : 0},
  };
  yield event({type: 'message_start', message: opening});
  for (const [index, block] of content.entries()) yield* blockEvents(block, index);
  yield event({type: 'message_delta', delta: {stop_reason: stopReason, stop_sequence: null}, usage});
  yield event({type: 'message_stop'});
}

function* blockEvents(block: AssistantBlock, index: number): Generator<StreamEvent> {
  if (block.type === 'text') {
    yield event({type: 'content_block_start', index, content_block: {type: 'text', text: '', citations: null}});
    for (const text of split(block.text)) {
      yield event({type: 'content_block_delta', index, delta: {type: 'text_delta', text}});
    }
  } else if (block.type === 'tool_use') {
    yield event({type: 'content_block_start', index, content_block: {...block, input: {}}});
    for (const partial_json of split(JSON.stringify(block.input))) {
      yield event({type: 'content_block_delta', index, delta: {type: 'input_json_delta', partial_json}});
    }
  }
  yield event({type: 'content_block_stop', index});
}

/** The SDK's event types require fields that only newer features of the hosted service fill. */
function event(fields: {readonly type: StreamEvent['type']} & Record<string, unknown>): StreamEvent {
  return fields as unknown as StreamEvent;
}

/** Splits by code points, so that no delta ends within a surrogate pair. */
const split = (text: string) => text.match(/.{1,32}/gsu) ?? [];
