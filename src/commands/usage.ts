/** Implements `/status`, `/cost`, `/context` and `/compact`: what this session is, what it has used, and free space. */

import type {UsageEntry} from '../core/contract/model.ts';
import type {SandboxState} from '../core/contract/permission.ts';
import type {Command, ContextUse, SessionUsage} from '../core/contract/session-requests.ts';
import {formatSubagentSummary} from '../core/runs/delegation-log.ts';
import {hasEnded} from '../core/runs/run-record.ts';
import {addUsage, formatCost, formatUsd, NO_USAGE} from '../core/util/messages.ts';
import {formatTokens} from '../core/util/text.ts';
import type {SlashCommands} from './shared/command-deps.ts';

const compactCommand: Command = {
  name: 'compact',
  description: 'summarise what is old: /compact [what to keep above all]',
  async run({args, request}) {
    const done = await request({type: 'compact', focus: args.trim()});
    const nothing = 'There is nothing to compact: no summary would be shorter than the conversation.';
    return {ok: true, text: done ?? nothing};
  },
};

const contextCommand: Command = {
  name: 'context',
  description: "what fills the window: the parts of the model's context",
  async run({request}) {
    return {ok: true, text: formatContextUse(await request({type: 'context'})), look: 'figures'};
  },
};

const BAR = 36;
const MARKS = ['█', '▓', '▒', '░'];

function formatContextUse({model, window, reserve, limit, isEstimate, parts}: ContextUse): string {
  const used = parts.reduce((sum, part) => sum + part.tokens, 0);
  const free = Math.max(0, limit - used);
  const marks = parts.map((_, index) => MARKS[index % MARKS.length]!);
  const bar = parts.map((part, index) => marks[index]!.repeat(Math.round((BAR * part.tokens) / window))).join('');
  const rest = '·'.repeat(Math.max(0, BAR - bar.length));
  const row = (mark: string, name: string, amount: number) =>
    `  ${mark} ${name.padEnd(21)} ${thousands(amount).padStart(8)} ${`${Math.round((100 * amount) / window)} %`.padStart(5)}`;
  return [
    `Context window of ${model}: ${formatTokens(used)} of ${formatTokens(window)} tokens${isEstimate ? ', estimated' : ''}`,
    `  ${bar.slice(0, BAR)}${rest}`,
    ...parts.map((part, index) => row(marks[index]!, part.name, part.tokens)),
    row('·', 'free', free),
    row(' ', 'set aside for a reply', reserve),
    'At 80 % older tool results are cleared, at 90 % the conversation is summarised. /compact does it now.',
  ].join('\n');
}

/** All amounts have one unit, so that they can be compared in their column. */
const thousands = (amount: number) => `${(amount / 1000).toFixed(1)}k`;

const costCommand: Command = {
  name: 'cost',
  description: 'what was used: by agent and model, and the budget',
  run({request}) {
    const {summary} = request({type: 'subagent_summary'});
    const text = formatUsage(request({type: 'usage'}));
    return {ok: true, text: summary ? `${text}\n${formatSubagentSummary(summary)}` : text, look: 'figures'};
  },
};

function formatUsage({entries, pricesAsOf, budget}: SessionUsage): string {
  if (entries.length === 0) return `No model was asked yet.${formatBudgetLine(budget)}`;
  const total = entries.map(({usage}) => usage).reduce(addUsage, NO_USAGE);
  const rows = entries.map(({agent, model, usage}) => ({name: `${agent} · ${model}`, usage}));
  if (entries.length > 1) rows.push({name: 'all', usage: total});
  // A small amount decides the decimals of all.
  const digits = entries.some(({usage: {cost_usd: usd = 0}}) => usd > 0 && usd < 0.01) ? 4 : 2;
  const costs = rows.map(({usage}) => formatCost(usage, digits));
  const nameWidth = Math.max(...rows.map(({name}) => name.length));
  const costWidth = Math.max(...costs.map(({length}) => length));
  const lines = rows.flatMap(({name, usage}, index) => [
    `  ${name.padEnd(nameWidth)}  ${costs[index]!.padStart(costWidth)}`,
    `    ${formatCounts(usage)}`,
  ]);
  const unknown = costs.some((cost) => cost.includes('n/a'))
    ? '\nn/a: the price of that model is not known. "pricing" in the settings sets it.'
    : '';
  const estimated = total.cost_estimated
    ? '\n~: a part is estimated, since a reply was cut or its server counted wrongly.'
    : '';
  const source = `Estimated by your "pricing" and the list prices of ${pricesAsOf}.`;
  return (
    [`Cost of this session: ${formatCost(total)}`, ...lines, `${source}${unknown}${estimated}`].join('\n') +
    formatBudgetLine(budget)
  );
}

function formatCounts(usage: UsageEntry['usage']): string {
  const {input_tokens: input, output_tokens: output} = usage;
  const cache = `${formatTokens(usage.cache_read_input_tokens)} read, ${formatTokens(usage.cache_creation_input_tokens)} written`;
  return `${formatTokens(input)} in · ${formatTokens(output)} out · cache ${cache}`;
}

function formatBudgetLine(budget: SessionUsage['budget']): string {
  if (!budget) return '';
  const {limitUsd, spentUsd, setAsideUsd} = budget;
  const aside = setAsideUsd > 0 ? `, ${formatUsd(setAsideUsd)} set aside for calls under way` : '';
  return `\nBudget: ${formatUsd(spentUsd)} of ${formatUsd(limitUsd)} used (${Math.round((100 * spentUsd) / limitUsd)} %)${aside}.`;
}

function formatSandbox({mode, kind, problem}: SandboxState): string {
  if (kind === undefined) return `none works here: ${problem}`;
  return mode === 'off' ? `off; ${kind} confines commands that only read` : `${mode}, by ${kind}`;
}

function formatWindow({window, parts}: ContextUse): string {
  const used = parts.reduce((sum, part) => sum + part.tokens, 0);
  return `${formatTokens(used)} of ${formatTokens(window)} tokens used (${Math.round((100 * used) / window)} %)`;
}

export const slashCommands: SlashCommands = ({version}) => [
  compactCommand,
  contextCommand,
  costCommand,
  {
    name: 'status',
    description: 'what this session is, and what it works with',
    async run({info, request}) {
      const [sandbox, context] = await Promise.all([request({type: 'sandbox'}), request({type: 'context'})]);
      const running = request({type: 'runs'}).filter((run) => !hasEnded(run)).length;
      const used = request({type: 'usage'})
        .entries.map(({usage}) => usage)
        .reduce(addUsage, NO_USAGE);
      const rows: [string, string][] = [
        ['mini-cc', version],
        ['session', info.sessionId],
        ['folders', [info.cwd, ...request({type: 'folders'})].join(', ')],
        ['model', `${info.model}${info.offline ? ' (offline, rule-based: no key and no server is set)' : ''}`],
        ['window', formatWindow(context)],
        ['cost', used === NO_USAGE ? 'none yet' : formatCost(used)],
        ['mode', info.permissionMode],
        ['sandbox', formatSandbox(sandbox)],
        ['agents', `${info.agents.length} that can be dispatched, ${running} running`],
        ['theme', info.theme ?? 'terminal'],
        ['transcript', info.transcript],
      ];
      const width = Math.max(...rows.map(([name]) => name.length));
      const lines = rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
      const notes = info.warnings.map((warning) => `note: ${warning}`);
      return {ok: true, text: [...lines, ...notes].join('\n'), look: 'figures'};
    },
  },
];
