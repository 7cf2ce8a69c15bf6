/** Implements /cost, which shows what the session has used, by agent and model. */
import type {UsageEntry} from '../core/contract/model.ts';
import type {Command, SessionUsage} from '../core/contract/session-requests.ts';
import {tokens} from '../core/runs/receipt.ts';
import {addUsage, NO_USAGE} from '../core/util/messages.ts';
import {formatCost, formatUsd} from '../core/util/money.ts';

export const costCommand: Command = {
  name: 'cost',
  description: 'what was used: by agent and model, and the budget',
  run: ({request}) => ({ok: true, text: formatUsage(request({type: 'usage'}))}),
};

const HEAD = ['agent', 'model', 'in', 'out', 'cache read', 'cache write', 'cost'];

function formatUsage({entries, pricesAsOf, budget}: SessionUsage): string {
  if (entries.length === 0) return `No model was asked yet.${formatBudgetLine(budget)}`;
  const rows = [HEAD, ...entries.map(toRow)];
  const total = entries.map(({usage}) => usage).reduce(addUsage, NO_USAGE);
  if (entries.length > 1) rows.push(toRow({agent: 'all', model: '', usage: total}));
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const pad = (cell: string, column: number) =>
    column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!);
  const table = rows.map((row) => `  ${row.map(pad).join('  ')}`.trimEnd());
  const unknown = table.some((line) => line.includes('n/a'))
    ? '\nn/a: the price of that model is not known. "pricing" in the settings sets it.'
    : '';
  const source = `Estimated by your "pricing" and the list prices of ${pricesAsOf}.`;
  return (
    [`Cost of this session: ${formatCost(total)}`, ...table, `${source}${unknown}`].join('\n') +
    formatBudgetLine(budget)
  );
}

function toRow({agent, model, usage}: UsageEntry): string[] {
  const counts = [
    usage.input_tokens,
    usage.output_tokens,
    usage.cache_read_input_tokens,
    usage.cache_creation_input_tokens,
  ];
  return [agent, model, ...counts.map(tokens), formatCost(usage)];
}

function formatBudgetLine(budget: SessionUsage['budget']): string {
  if (!budget) return '';
  const {limitUsd, spentUsd, setAsideUsd} = budget;
  const aside = setAsideUsd > 0 ? `, ${formatUsd(setAsideUsd)} set aside for subagents at work` : '';
  return `\nBudget: ${formatUsd(spentUsd)} of ${formatUsd(limitUsd)} used (${Math.round((100 * spentUsd) / limitUsd)} %)${aside}.`;
}
