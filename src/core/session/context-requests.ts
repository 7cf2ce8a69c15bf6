/** Requests about the model's context window: what fills it, and compaction. */
import type {Message} from '../contract/model.ts';
import type {ContextPart, ContextUse, Requests} from '../contract/session-requests.ts';
import {compact} from '../turn/compaction.ts';
import {getResults, getWindowSize} from '../turn/context-window.ts';
import {type OnUsage, ToolSpecs} from '../turn/model-request.ts';
import type {SessionParts} from './parts.ts';
import {createMainRun, type Turns} from './turns.ts';

export function contextRequests(parts: SessionParts, turns: Turns): Pick<Requests, 'compact' | 'context'> {
  return {
    compact: ({focus = ''}) =>
      turns.between(async (signal) => {
        const run = createMainRun(parts, signal);
        const size = (await getWindowSize(run.model, run.limits.contextTokens))!;
        const tools = new ToolSpecs().create(run.tools);
        const onUsage: OnUsage = (usage, model) => {
          run.budget.spend(usage, model);
          run.history.recordUsage(usage, model);
        };
        return compact(run, tools, {trigger: 'manual', size, focus, onUsage});
      }),
    context: () => getContextUse(parts),
  };
}

async function getContextUse(parts: SessionParts): Promise<ContextUse> {
  const {history, model, system, tools, limits} = createMainRun(parts, new AbortController().signal);
  const size = (await getWindowSize(model, limits.contextTokens))!;
  const {window, lines} = history;
  const specs = new ToolSpecs().create(tools);
  const count = (wanted: (line: (typeof lines)[number]) => Message[]) => window.countMessages(lines.flatMap(wanted));
  const results = count(({message}) => (getResults(message).length > 0 ? [message] : []));
  const summaries = count(({message, summary}) => (summary ? [message] : []));
  const replies = count(({message}) => (message.role === 'assistant' ? [message] : []));
  const messages = count(({message}) => [message]);
  const used: ContextPart[] = [
    {name: 'system prompt', tokens: window.count({system, tools: [], messages: []})},
    {name: 'tools', tokens: window.count({system: '', tools: specs, messages: []})},
    {name: 'summary', tokens: summaries},
    {name: 'prompts', tokens: messages - results - summaries - replies},
    {name: 'replies', tokens: replies},
    {name: 'tool results', tokens: results},
  ];
  return {...size, model: model.name, isEstimate: window.isEstimate, parts: used.filter(({tokens}) => tokens > 0)};
}
