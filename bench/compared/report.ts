/** The table and the plot of the README, made from the results. */
import {escapeText} from '../../scripts/terminal-picture.mjs';
import {PROGRAM_NAMES, type ProgramName} from './programs.ts';
import {
  findBestPeer,
  type Goal,
  getMedian,
  getRatio,
  type Measured,
  meetsGoal,
  type Results,
  type Row,
} from './results.ts';

export const TITLES: Readonly<Record<Measured, string>> = {
  'mini-cc': 'mini-cc',
  claude: 'Claude Code',
  codex: 'Codex',
  pi: 'Pi',
  node: '`node -e 0`',
};

/** A table of markdown, and below it what was measured where. */
export function formatTable(results: Results): string {
  const names = PROGRAM_NAMES.filter((name) => results.versions[name] !== undefined);
  const compares = names.length > 1;
  const head = ['measure', ...names.map((name) => TITLES[name]), ...(compares ? ['to the best peer'] : []), 'goal', ''];
  const lines = results.rows.map((row) => [
    row.what,
    ...names.map((name) => formatValue(row, name)),
    ...(compares ? [formatRatio(row)] : []),
    formatGoal(row.goal, row.unit),
    formatVerdict(row),
  ]);
  const rule = head.map((_, index) => (index === 0 || index === head.length - 1 ? '---' : '--:'));
  return [[head, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n'), formatNotes(results)].join(
    '\n\n',
  );
}

function formatNotes({date, seed, machine, versions, rows}: Results): string {
  const missed = rows.filter((row) => meetsGoal(row) === false).length;
  const judged = rows.filter((row) => meetsGoal(row) !== undefined).length;
  const programs = PROGRAM_NAMES.flatMap((name) => (versions[name] ? [`${TITLES[name]} ${versions[name]}`] : []));
  const {cores, cpu, memoryGb, system, node, loadAverage} = machine;
  return [
    `Medians of ${date.slice(0, 10)}, ${cores} × ${cpu}, ${memoryGb} GB, ${system}, Node ${node}, load before it`,
    `${loadAverage.toFixed(1)}: ${programs.join(', ')}; one scripted server, one run. Less is better. A`,
    "ratio is mini-cc's median to the best peer's, in brackets the least and the most of the rounds.",
    ...(seed === undefined ? [] : [`The seed ${seed} drew commands and letters (bench/README.md).`]),
    missed === 0 ? `Of ${judged} goals, all are met.` : `**Of ${judged} goals, ${missed} are not met.**`,
  ].join('\n');
}

function formatValue(row: Row, name: ProgramName): string {
  const value = getMedian(row, name);
  return value === undefined ? `*${row.failed[name] ?? 'not measured'}*` : `${value.toFixed(row.digits)} ${row.unit}`;
}

function formatRatio(row: Row): string {
  const best = findBestPeer(row);
  const ratio = best && getRatio(row, best);
  if (!best || !ratio) return '';
  const {min, median, max} = ratio;
  const spread = min === max ? '' : ` (${min.toFixed(2)}–${max.toFixed(2)})`;
  return `${median.toFixed(2)} × ${TITLES[best]}${spread}`;
}

function formatGoal({atMost, of}: Goal, unit: string): string {
  if (of === undefined) return `≤ ${atMost} ${unit}`;
  return `≤ ${atMost} × ${of === 'best' ? 'best peer' : TITLES[of]}`;
}

function formatVerdict(row: Row): string {
  const meets = meetsGoal(row);
  return meets === undefined ? 'not judged' : meets ? 'met' : '**not met**';
}

const MARKS = ['<!-- bench: made by `npm run bench -- --peers --save` -->', '<!-- /bench -->'] as const;

/** @returns the README with the table of these results. @throws Error when its marks are missing */
export function replaceTable(readme: string, results: Results): string {
  const [begin, end] = MARKS.map((mark) => readme.indexOf(mark)) as [number, number];
  if (begin < 0 || end < begin) throw new Error('README.md has no marks for the table of the bench');
  return `${readme.slice(0, begin + MARKS[0].length)}\n${formatTable(results)}\n${readme.slice(end)}`;
}

const COLOURS: Readonly<Partial<Record<ProgramName, string>>> = {claude: '#e5885b', codex: '#61afef', pi: '#98c379'};
const [WIDTH, LEFT, RIGHT, LINE, TOP] = [960, 410, 40, 26, 70];
/** The scale goes from a quarter of mini-cc to 64 times it. */
const [LEAST, MOST] = [0.25, 64];

/** How many times as much as mini-cc each peer takes, on a logarithmic scale. */
export function createPlot(results: Results): string {
  const peers = PROGRAM_NAMES.filter((name) => name !== 'mini-cc' && results.versions[name] !== undefined);
  const height = TOP + results.rows.length * LINE + 40;
  const place = (ratio: number) => {
    const share = Math.log(Math.min(MOST, Math.max(LEAST, ratio)) / LEAST) / Math.log(MOST / LEAST);
    return LEFT + share * (WIDTH - LEFT - RIGHT);
  };
  const text = (x: number, y: number, words: string, attributes = '') =>
    `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${escapeText(words)}</text>`;
  const ticks = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64].flatMap((ratio) => {
    const x = place(ratio);
    const stroke = ratio === 1 ? '#d4d8e0' : '#343b4a';
    return [
      `<line x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${TOP - 12}" y2="${height - 34}" stroke="${stroke}"/>`,
      text(x, height - 14, `${ratio} ×`, 'text-anchor="middle" fill="#8b93a5"'),
    ];
  });
  const legend = peers.flatMap((name, index) => {
    const x = LEFT + 130 + index * 130;
    return [`<circle cx="${x}" cy="30" r="6" fill="${COLOURS[name]}"/>`, text(x + 12, 34, TITLES[name])];
  });
  const rows = results.rows.flatMap((row, index) => {
    const y = TOP + index * LINE + 8;
    const own = getMedian(row, 'mini-cc');
    const label = row.what.replaceAll('`', '');
    const value = own === undefined ? 'not measured' : `${own.toFixed(row.digits)} ${row.unit}`;
    const dots = peers.flatMap((name) => {
      const other = getMedian(row, name);
      if (own === undefined || other === undefined) return [];
      const ratio = own === 0 ? (other === 0 ? 1 : MOST) : other / own;
      return [`<circle cx="${place(ratio).toFixed(1)}" cy="${y}" r="6" fill="${COLOURS[name]}" fill-opacity="0.85"/>`];
    });
    return [text(16, y + 4, label), text(LEFT - 14, y + 4, value, 'text-anchor="end" fill="#8b93a5"'), ...dots];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="12" fill="#d4d8e0">`,
    '<title>How many times as much as mini-cc each peer takes; less is better</title>',
    `<rect width="${WIDTH}" height="${height}" rx="8" fill="#161b24"/>`,
    text(16, 34, 'mini-cc = 1; right of it: a peer takes more', 'font-weight="bold" font-size="14"'),
    ...[...legend, ...ticks, ...rows],
    '</svg>\n',
  ].join('\n');
}
