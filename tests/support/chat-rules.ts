/**
 * Rules of the chat completions protocol for requests, in the words of OpenAI's server: the scripted server answers 400
 * to a request that breaks one.
 */

export interface ChatCall {
  readonly id: string;
  readonly type: string;
  readonly function: {readonly name: string; readonly arguments: string};
}

export interface ChatPart {
  readonly type: string;
  readonly text?: string;
  readonly image_url?: {readonly url: string};
}

export interface ChatMessage {
  readonly role: string;
  readonly content?: string | readonly ChatPart[] | null;
  readonly tool_calls?: readonly ChatCall[];
  readonly tool_call_id?: string;
  readonly reasoning_content?: string;
}

export interface ChatBody {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly stream?: boolean;
  readonly stream_options?: {readonly include_usage?: boolean};
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly tools?: readonly {
    readonly type: string;
    readonly function: {readonly name: string; readonly parameters: unknown};
  }[];
  readonly tool_choice?: unknown;
  readonly response_format?: unknown;
  readonly reasoning_effort?: string;
}

export interface ChatProblem {
  readonly message: string;
  readonly param?: string;
  readonly code?: string;
}

const PARAMETERS: readonly string[] = [
  ...['model', 'messages', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'tools', 'tool_choice'],
  ...['response_format', 'reasoning_effort', 'temperature', 'parallel_tool_calls'],
];
const EFFORTS: readonly string[] = ['none', 'minimal', 'low', 'medium', 'high'];
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const MAX_ID_CHARS = 64;

/** @param unknown parameters that this server does not take, though others do */
export function findChatProblem(body: ChatBody, unknown: readonly string[] = []): ChatProblem | undefined {
  const strange = Object.keys(body).find((key) => !PARAMETERS.includes(key) || unknown.includes(key));
  if (strange) return {message: `Unrecognized request argument supplied: ${strange}`, param: strange};
  if (body.stream_options && !body.stream)
    return {message: "'stream_options' is only allowed when 'stream' is enabled"};
  if (body.max_tokens !== undefined && body.max_completion_tokens !== undefined) {
    return {message: "'max_tokens' and 'max_completion_tokens' cannot both be set"};
  }
  if (body.reasoning_effort !== undefined && !EFFORTS.includes(body.reasoning_effort)) {
    return {message: `Invalid value: '${body.reasoning_effort}'`, param: 'reasoning_effort'};
  }
  if (!JSON.stringify(body).isWellFormed()) return {message: 'We could not parse the JSON body of your request.'};
  return findInTools(body) ?? findInMessages(body.messages);
}

function findInTools({tools, tool_choice}: ChatBody): ChatProblem | undefined {
  if (tools?.length === 0) return {message: "[] is too short - 'tools'", param: 'tools'};
  if (tool_choice !== undefined && !tools) return {message: "'tool_choice' is only allowed when 'tools' are specified"};
  const bad = tools?.find(({type, function: {name}}) => type !== 'function' || !NAME.test(name));
  return bad && {message: `Invalid 'tools': string does not match pattern: '${bad.function.name}'`, param: 'tools'};
}

function findInMessages(messages: readonly ChatMessage[]): ChatProblem | undefined {
  if (messages.length === 0) return {message: "[] is too short - 'messages'", param: 'messages'};
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    const param = `messages.[${index}]`;
    if (message.role === 'tool') {
      const {tool_call_id: id, content} = message;
      if (!open.includes(id ?? '')) {
        const why = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
        return {message: `Invalid parameter: ${why}`, param: `${param}.role`};
      }
      if (typeof content !== 'string') return {message: `Invalid type for '${param}.content': a tool has text alone`};
      open = open.filter((each) => each !== id);
      continue;
    }
    if (open.length > 0) {
      return {
        message: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(', ')}`,
        param: `${param}.role`,
      };
    }
    const problem = message.role === 'assistant' ? findInReply(message, param) : findInPrompt(message, param);
    if (problem) return problem;
    open = (message.tool_calls ?? []).map(({id}) => id);
  }
  return open.length > 0 ? {message: `No tool output found for function call ${open[0]}.`} : undefined;
}

function findInReply({content, tool_calls: calls}: ChatMessage, param: string): ChatProblem | undefined {
  if (calls?.length === 0) return {message: `Invalid '${param}.tool_calls': empty array.`, param};
  if ((content === null || content === undefined) && !calls) {
    return {message: `Invalid value for 'content': expected a string, got null.`, param: `${param}.content`};
  }
  for (const call of calls ?? []) {
    if (call.id.length > MAX_ID_CHARS || call.id === '') return {message: `Invalid '${param}.tool_calls[0].id'`, param};
    if (!NAME.test(call.function.name)) return {message: `Invalid '${param}.tool_calls[0].function.name'`, param};
    if (typeof call.function.arguments !== 'string') return {message: `Invalid type for '${param}.tool_calls'`, param};
    JSON.parse(call.function.arguments);
  }
  return undefined;
}

function findInPrompt({role, content}: ChatMessage, param: string): ChatProblem | undefined {
  if (!['system', 'user', 'developer'].includes(role))
    return {message: `Invalid value: '${role}'.`, param: `${param}.role`};
  if (typeof content === 'string') return undefined;
  if (!Array.isArray(content) || content.length === 0) return {message: `Invalid type for '${param}.content'`, param};
  const bad = (content as readonly ChatPart[]).find(
    ({type, image_url}) =>
      !(type === 'text' || (type === 'image_url' && /^(?:https?:|data:image\/\w+;base64,)/.test(image_url?.url ?? ''))),
  );
  return bad && {message: `Invalid value: '${bad.type}'. Supported values are: 'text', 'image_url'`, param};
}
