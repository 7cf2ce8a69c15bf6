/**
 * Rules of model servers for messages, and the repair of messages that break them. A single bad block makes a server
 * refuse the whole history with status 400, and with it every later request of the session.
 *
 * - Each call has one result in the next message, before its other blocks; each result has its call.
 * - The ids of calls are unique in the history; an input is an object; a name has letters, digits, `_` and `-`.
 * - No text is blank, no message is empty, no character is half of a surrogate pair.
 * - Images are whole and within the limits; larger ones become a line of text.
 * - The thinking blocks of a reply stay unchanged, or all of them are removed.
 *
 * A message that follows all rules is returned as the same object.
 */

import type {Message, ToolResultBlock} from '../contract/model.ts';
import {findImageProblem, MANY_IMAGES, MAX_IMAGES, MAX_PIXELS_OF_MANY} from '../util/image.ts';
import {getResults} from '../util/messages.ts';
import {isObject, mapTexts} from '../util/objects.ts';

/** Kinds of repairs, for the notice to the user. Blank texts are not among them, because replies often have them. */
export type Repair =
  | 'result'
  | 'stray'
  | 'id'
  | 'input'
  | 'name'
  | 'characters'
  | 'image'
  | 'thought'
  | 'block'
  | 'start';

interface OpenCall {
  readonly id: string;
  /** Id in the reply. Results of earlier versions use it. */
  readonly sentId: string;
  /** Input in the reply. It may be something else than an object. */
  readonly input: unknown;
}

/** State that the next message depends on. */
export interface HistoryState {
  /** Ids of all calls so far. */
  readonly ids: Set<string>;
  open: readonly OpenCall[];
}

export function createState(): HistoryState {
  return {ids: new Set(), open: []};
}

export interface ValidMessage {
  /** Undefined when nothing is left of the message. */
  readonly message: Message | undefined;
  readonly repairs: readonly Repair[];
  /** Ids of the message's calls. */
  readonly newIds: readonly string[];
  readonly open: readonly OpenCall[];
  /** True when the message has results of the open calls. If not, `answerCalls` must answer these before it. */
  readonly hasResults: boolean;
}

type Block = Readonly<Record<string, unknown>> & {readonly type: string};
type Call = Block & {readonly id: unknown; readonly name: unknown; readonly input: unknown};

/** Text of the error result for a call without a result. */
export const NO_RESULT = 'Cut off: the result of this call was lost.';

export function toValidMessage(message: Message, state: HistoryState): ValidMessage {
  const repairs: Repair[] = [];
  const repair = (text: string) => text.toWellFormed();
  // Halves of surrogate pairs become U+FFFD.
  const wellFormed = mapTexts(message, repair, repair);
  if (wellFormed !== message) repairs.push('characters');
  return message.role === 'assistant'
    ? toValidReply(wellFormed, message, state.ids, repairs)
    : toValidUserMessage(wellFormed, message, state.open, repairs);
}

/** Creates one error result for each call. @param known returns the result of a call whose end is known */
export function answerCalls(calls: readonly OpenCall[], text: string, known?: GetKnownResult): Message {
  return {
    role: 'user',
    content: calls.map(({id, sentId}) => {
      const result = known?.(sentId) ?? {text, isError: true};
      const failed = errorResult(id, result.text);
      return result.isError ? failed : {...failed, is_error: false};
    }),
  };
}

/** @param id id of the call as the model sent it */
export type GetKnownResult = (id: string) => {readonly text: string; readonly isError: boolean} | undefined;

function toValidReply(reply: Message, given: Message, ids: ReadonlySet<string>, repairs: Repair[]): ValidMessage {
  const newIds: string[] = [];
  const open: OpenCall[] = [];
  const blocks = pairServerBlocks(toBlocks(reply.content)).flatMap((block): Block[] => {
    if (isBlankText(block)) return [];
    if (isServerBlock(block)) return [block];
    if (block.type === 'tool_result' || block.type === 'image' || !isReadable(block)) return note(repairs, 'block');
    if (block.type !== 'tool_use') return [block];
    const call = toValidCall(block as Call, (id) => ids.has(id) || newIds.includes(id), repairs);
    newIds.push(call.id);
    open.push({id: call.id, sentId: String((block as Call).id), input: (block as Call).input});
    return [call];
  });
  return {message: build(given, keepThoughts(blocks, given, repairs)), repairs, newIds, open, hasResults: false};
}

/**
 * Removes all thinking blocks when one of them was changed or lacks its signature, when the message ends with one, and
 * when it has nothing else.
 */
function keepThoughts(blocks: readonly Block[], given: Message, repairs: Repair[]): readonly Block[] {
  const sent = toBlocks(given.content).filter(isThought);
  if (sent.length === 0) return blocks;
  const areWhole = sent.every((block) => isSigned(block) && blocks.some((each) => sameThought(each, block)));
  const isLast = blocks.length === 0 || isThought(blocks.at(-1)!);
  if (areWhole && !isLast) return blocks;
  if (!areWhole) repairs.push('thought');
  return blocks.filter((block) => !isThought(block));
}

function isThought({type}: Block): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

function isSigned({type, thinking, signature, data}: Block): boolean {
  const seal = type === 'thinking' ? signature : data;
  return typeof seal === 'string' && seal !== '' && (type !== 'thinking' || typeof thinking === 'string');
}

function sameThought(a: Block, b: Block): boolean {
  return a.type === b.type && a.thinking === b.thinking && a.signature === b.signature && a.data === b.data;
}

function toValidCall(call: Call, isTaken: (id: string) => boolean, repairs: Repair[]): Call & {readonly id: string} {
  const {id, name, input} = call;
  const validId = toUniqueId(typeof id === 'string' ? id : '', isTaken);
  const validName = (typeof name === 'string' ? name : '').replaceAll(/[^\w-]/g, '_').slice(0, 128) || 'unknown';
  if (validId !== id) repairs.push('id');
  if (validName !== name) repairs.push('name');
  if (!isObject(input)) repairs.push('input');
  if (validId === id && validName === name && isObject(input)) return call as Call & {readonly id: string};
  return {...call, id: validId, name: validName, input: isObject(input) ? input : {}};
}

/** Creates the same id at each load, so that a resumed history keeps its bytes. */
function toUniqueId(id: string, isTaken: (id: string) => boolean): string {
  const base = id.replaceAll(/[^\w-]/g, '_') || 'call';
  if (!isTaken(base)) return base;
  let next = 2;
  while (isTaken(`${base}_${next}`)) next += 1;
  return `${base}_${next}`;
}

function toValidUserMessage(
  message: Message,
  given: Message,
  open: readonly OpenCall[],
  repairs: Repair[],
): ValidMessage {
  const results = new Map<string, Block>();
  const others = toBlocks(message.content).flatMap((block): Block[] => {
    if (isBlankText(block)) return [];
    if (block.type === 'image') return [toValidImage(block, repairs)];
    if (block.type !== 'tool_result') {
      return OF_REPLIES.has(block.type) || !isReadable(block) ? note(repairs, 'block') : [block];
    }
    const call = open.find(({id, sentId}) => !results.has(id) && [id, sentId].includes(String(block.tool_use_id)));
    if (!call) return note(repairs, 'stray');
    results.set(call.id, toValidResult(block, call.id, repairs));
    return [];
  });
  const hasResults = results.size > 0;
  const answers = hasResults ? open.map(({id}) => results.get(id) ?? missing(id, repairs)) : [];
  const valid = build(given, [...answers, ...others]);
  return {message: valid, repairs, newIds: [], open: [], hasResults};
}

function missing(id: string, repairs: Repair[]): Block {
  repairs.push('result');
  return {...errorResult(id, NO_RESULT)};
}

function errorResult(id: string, text: string): ToolResultBlock {
  return {type: 'tool_result', tool_use_id: id, content: text, is_error: true};
}

function toValidResult(block: Block, id: string, repairs: Repair[]): Block {
  const {content} = block;
  const named = block.tool_use_id === id ? block : {...block, tool_use_id: id};
  if (typeof content === 'string') return content.trim() === '' ? {...named, content: '(no output)'} : named;
  if (!Array.isArray(content)) return {...named, content: '(no output)'};
  const given = content.filter(isBlock);
  const inner = given.flatMap((each) => {
    if (isBlankText(each)) return [];
    if (each.type === 'image') return [toValidImage(each, repairs)];
    return isReadable(each) ? [each] : note(repairs, 'block');
  });
  if (inner.length === 0) return {...named, content: '(no output)'};
  const isSame = inner.length === content.length && inner.every((each, index) => each === content[index]);
  return isSame ? named : {...named, content: inner};
}

function toValidImage(block: Block, repairs: Repair[], maxPixels?: number): Block {
  const {source} = block;
  // The server loads the image from its address.
  if (isObject(source) && source.type === 'url') return block;
  const {data, media_type} = isObject(source) && source.type === 'base64' ? source : {};
  const problem =
    typeof data === 'string' && typeof media_type === 'string'
      ? findImageProblem({data, media_type}, maxPixels)
      : 'a damaged image';
  if (problem === undefined) return block;
  repairs.push('image');
  return {type: 'text', text: `(An image was left out here: ${problem}.)`};
}

/**
 * Replaces large images by text when there are many images, and the oldest ones when there are more than a request may
 * have.
 * @returns the same array when nothing changed
 */
export function limitImages<T extends {readonly message: Message}>(lines: T[], repairs: Repair[]): T[] {
  const count = lines.reduce((sum, {message}) => sum + countImages(message), 0);
  if (count <= MANY_IMAGES) return lines;
  // Removes more images than necessary at a time, because each change makes the server write its cache again.
  let excess = count > MAX_IMAGES ? Math.ceil((count - MAX_IMAGES) / MANY_IMAGES) * MANY_IMAGES : 0;
  const limit = (block: Block): Block => {
    if (block.type === 'tool_result' && Array.isArray(block.content)) {
      const content = block.content.map((inner) => limit(inner as Block));
      return content.every((each, index) => each === (block.content as unknown[])[index]) ? block : {...block, content};
    }
    if (block.type !== 'image') return block;
    if (excess <= 0) return toValidImage(block, repairs, MAX_PIXELS_OF_MANY);
    excess -= 1;
    return {type: 'text', text: '(An image was left out here: there are too many in this conversation.)'};
  };
  let isChanged = false;
  const limited = lines.map((line) => {
    if (countImages(line.message) === 0) return line;
    const message = build(line.message, toBlocks(line.message.content).map(limit)) ?? line.message;
    isChanged ||= message !== line.message;
    return message === line.message ? line : {...line, message};
  });
  return isChanged ? limited : lines;
}

export function countImages({content}: Message): number {
  const count = (blocks: readonly Block[]): number =>
    blocks.reduce((sum, {type, content: inner}) => {
      if (type === 'image') return sum + 1;
      return type === 'tool_result' && Array.isArray(inner) ? sum + count(inner as Block[]) : sum;
    }, 0);
  return typeof content === 'string' ? 0 : count(toBlocks(content));
}

export function hasResults({content}: Message): boolean {
  return getResults(content).length > 0;
}

/** Whether this is a user message without results: a prompt of a person, a message of another agent, or a note. */
export function isPrompt(message: Message): boolean {
  return message.role === 'user' && !hasResults(message);
}

/** Returns the signatures, or the data, of the message's thinking blocks. */
export function getSeals({content}: Message): readonly string[] {
  return typeof content === 'string' ? [] : toBlocks(content).flatMap(getSeal);
}

function getSeal(block: Block): readonly string[] {
  if (!isThought(block)) return [];
  const seal = block.type === 'thinking' ? block.signature : block.data;
  return typeof seal === 'string' ? [seal] : [];
}

export function hasThoughts({content}: Message): boolean {
  return toBlocks(content).some(isThought);
}

/**
 * Removes thinking blocks. @returns undefined when the message has nothing else
 * @param isLeftOut says by the seal of a block whether it is removed
 */
export function withoutThoughts(
  message: Message,
  isLeftOut: (seal: string) => boolean = () => true,
): Message | undefined {
  const blocks = toBlocks(message.content);
  const left = blocks.filter((block) => !isThought(block) || !getSeal(block).every(isLeftOut));
  return left.length === blocks.length ? message : build(message, left);
}

/** Servers refuse white space at the end of a history that ends with a reply. */
export function withoutTrailingSpace(message: Message): Message {
  const blocks = toBlocks(message.content);
  const last = blocks.at(-1);
  if (last?.type !== 'text' || typeof last.text !== 'string') return message;
  const text = last.text.trimEnd();
  return text === last.text ? message : (build(message, [...blocks.slice(0, -1), {...last, text}]) ?? message);
}

const LABELS: Readonly<Record<Repair, readonly [one: string, many: string]>> = {
  result: ['call had no result', 'calls had no result'],
  stray: ['result had no call', 'results had no call'],
  id: ['id of a call was used twice', 'ids of calls were used twice'],
  input: ['input of a call was no object', 'inputs of calls were no object'],
  name: ['name of a tool could not be sent', 'names of tools could not be sent'],
  characters: ['message had broken characters', 'messages had broken characters'],
  image: ['image was beyond the limits', 'images were beyond the limits'],
  thought: ['reply had incomplete thinking', 'replies had incomplete thinking'],
  block: ['part of a message was damaged or unknown', 'parts of messages were damaged or unknown'],
  start: ['beginning of the conversation is missing', 'beginnings of the conversation are missing'],
};

export function formatRepairs(repairs: readonly Repair[]): string {
  const counts = new Map<Repair, number>();
  for (const repair of repairs) counts.set(repair, (counts.get(repair) ?? 0) + 1);
  const parts = [...counts].map(([repair, count]) => `${count} ${LABELS[repair][count === 1 ? 0 : 1]}`);
  return `The conversation was repaired, so that the model's server takes it: ${parts.join(', ')}.`;
}

/** Returns the given message when its blocks are the same. Content that is a string stays a string. */
function build(given: Message, blocks: readonly Block[]): Message | undefined {
  if (blocks.length === 0) return undefined;
  const before = given.content;
  if (typeof before === 'string') {
    const [only] = blocks;
    if (blocks.length > 1 || only?.type !== 'text') return {...given, content: [...blocks]} as unknown as Message;
    return only.text === before ? given : ({...given, content: String(only.text)} as Message);
  }
  const isSame =
    blocks.length === before.length && blocks.every((block, index) => (block as unknown) === before[index]);
  return isSame ? given : ({...given, content: [...blocks]} as unknown as Message);
}

function toBlocks(content: Message['content']): readonly Block[] {
  if (typeof content === 'string') return [{type: 'text', text: content}];
  return (content as readonly unknown[]).filter(isBlock);
}

function isBlock(value: unknown): value is Block {
  return isObject(value) && typeof value.type === 'string';
}

function isBlankText({type, text}: Block): boolean {
  return type === 'text' && typeof text === 'string' && text.trim() === '';
}

const OF_REPLIES: ReadonlySet<string> = new Set(['tool_use', 'thinking', 'redacted_thinking']);
const KNOWN: ReadonlySet<string> = new Set(['text', 'image', 'document', ...OF_REPLIES]);

/** Block types of a tool that the server ran within the reply, and of its result. Each needs the other. */
const SERVER_CALL = 'server_tool_use';
const SERVER_RESULT = 'web_search_tool_result';

function isServerBlock({type}: Block): boolean {
  return type === SERVER_CALL || type === SERVER_RESULT;
}

/** Removes the server's calls that have no result in the same reply, and results without a call. */
function pairServerBlocks(blocks: readonly Block[]): readonly Block[] {
  if (!blocks.some(isServerBlock)) return blocks;
  const calls = new Set(blocks.flatMap(({type, id}) => (type === SERVER_CALL ? [id] : [])));
  const results = new Set(blocks.flatMap(({type, tool_use_id: id}) => (type === SERVER_RESULT ? [id] : [])));
  const isPaired = ({type, id, tool_use_id: of}: Block) => (type === SERVER_CALL ? results.has(id) : calls.has(of));
  return blocks.filter((block) => !isServerBlock(block) || isPaired(block));
}

/** Removes searches of a server, and the citations in texts that only this server can read. */
export function withoutServerBlocks(message: Message): Message | undefined {
  const blocks = toBlocks(message.content);
  const isCited = ({type, citations}: Block) => type === 'text' && Array.isArray(citations) && citations.length > 0;
  if (!blocks.some((block) => isServerBlock(block) || isCited(block))) return message;
  return build(
    message,
    blocks.flatMap((block) => {
      if (isServerBlock(block)) return [];
      return [isCited(block) ? {...block, citations: null} : block];
    }),
  );
}

/**
 * Says whether servers can read the block. A damaged disk may have changed its fields, or another server invented its
 * type.
 */
function isReadable({type, text}: Block): boolean {
  return type === 'text' ? typeof text === 'string' : KNOWN.has(type);
}

function note(repairs: Repair[], repair: Repair): [] {
  repairs.push(repair);
  return [];
}
