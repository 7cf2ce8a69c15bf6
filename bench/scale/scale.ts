/** How the costs of mini-cc grow: with the history, the subagents, the files of a repository, the size of a transcript. */
import {buildOnce} from '../../tests/support/run-cli.ts';
import {type ModelServer, startModelServer} from '../compared/model-server.ts';
import type {Curve, Point, ScaleOptions} from './curve.ts';
import {measureHistory} from './history.ts';
import {measureRepository} from './repository.ts';
import {measureResume} from './resume.ts';
import {measureFleet} from './subagents.ts';

export interface ScaleResults {
  readonly date: string;
  readonly curves: readonly Curve[];
}

/** The measures by the words that `--only` takes. */
const PARTS: Readonly<Record<string, (server: ModelServer, options: ScaleOptions) => Promise<readonly Curve[]>>> = {
  history: measureHistory,
  subagents: measureFleet,
  repository: measureRepository,
  resume: measureResume,
};

export async function measureScale(options: ScaleOptions): Promise<ScaleResults> {
  await buildOnce();
  const server = await startModelServer();
  const curves: Curve[] = [];
  try {
    for (const [name, measure] of Object.entries(PARTS)) {
      if (options.only !== undefined && options.only !== name) continue;
      options.onProgress(name);
      curves.push(...(await measure(server, options)));
    }
  } finally {
    await server.close();
  }
  return {date: new Date().toISOString(), curves};
}

/** A table of each curve. The growth is the exponent between the first and the last point: 1 is linear, 0 is flat. */
export function formatScale({curves}: ScaleResults): string {
  return curves
    .map(({what, per, unit, points}) => {
      const head = [per, ...points.map(({of}) => of.toLocaleString('en'))];
      const values = [`${what}, ${unit}`, ...points.map(({value}) => value.toFixed(value < 10 ? 2 : 0))];
      const rule = head.map((_, index) => (index === 0 ? '---' : '--:'));
      const rows = [head, rule, values].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
      return `${rows}\n\nGrowth: ${getGrowth(points).toFixed(2)} (1 is linear).`;
    })
    .join('\n\n');
}

/** Returns the growth over the last two thirds of the points, because constant costs hide the growth of the first third. */
export function getGrowth(points: readonly Point[]): number {
  const [first, last] = [points[Math.floor(points.length / 3)], points.at(-1)];
  if (!first || !last || first === last) return 0;
  return Math.log(Math.max(last.value, 1e-6) / Math.max(first.value, 1e-6)) / Math.log(last.of / first.of);
}

const [WIDTH, HEIGHT, MARGIN] = [300, 200, 44];

/** One small plot for each curve, both axes logarithmic; the dashed line is linear growth. */
export function createScalePlot({curves}: ScaleResults): string {
  const columns = 3;
  const plots = curves.map((curve, index) => {
    const [x, y] = [(index % columns) * WIDTH, Math.floor(index / columns) * HEIGHT];
    return `<g transform="translate(${x} ${y})">${drawCurve(curve)}</g>`;
  });
  const size = [WIDTH * columns, HEIGHT * Math.ceil(curves.length / columns)] as const;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.join(' ')}" font-family="system-ui, sans-serif" font-size="11" fill="#d4d8e0">`,
    '<title>How the costs of mini-cc grow; both axes are logarithmic, the dashed line is linear growth</title>',
    `<rect width="${size[0]}" height="${size[1]}" rx="8" fill="#161b24"/>`,
    ...plots,
    '</svg>\n',
  ].join('\n');
}

function drawCurve({what, per, unit, points}: Curve): string {
  const values = points.map(({value}) => Math.max(value, 1e-3));
  const [left, right] = [Math.log(points[0]!.of), Math.log(points.at(-1)!.of)];
  const [least, most] = [Math.log(Math.min(...values) / 2), Math.log(Math.max(...values) * 2)];
  const toX = (of: number) => MARGIN + ((Math.log(of) - left) / (right - left || 1)) * (WIDTH - MARGIN - 20);
  const toY = (value: number) => {
    const share = Math.min(1, Math.max(0, (Math.log(value) - least) / (most - least)));
    return HEIGHT - 40 - share * (HEIGHT - 80);
  };
  const place = (of: number, value: number) => `${toX(of).toFixed(1)},${toY(value).toFixed(1)}`;
  const line = points.map(({of}, index) => place(of, values[index]!)).join(' ');
  const linear = points.map(({of}) => place(of, (values.at(-1)! * of) / points.at(-1)!.of)).join(' ');
  const labels = [points[0]!, points.at(-1)!].map(({of, value}, index) => {
    const shown = `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`;
    const anchor = index === 0 ? 'start' : 'end';
    const [x, y] = [toX(of), toY(Math.max(value, 1e-3)) - 8];
    return (
      `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${shown}</text>` +
      `<text x="${x.toFixed(1)}" y="${HEIGHT - 22}" text-anchor="${anchor}" fill="#8b93a5">${of.toLocaleString('en')}</text>`
    );
  });
  return [
    `<text x="16" y="22" font-weight="bold">${what}</text>`,
    `<text x="${WIDTH / 2}" y="${HEIGHT - 8}" text-anchor="middle" fill="#8b93a5">${per}</text>`,
    `<polyline points="${linear}" fill="none" stroke="#5c6370" stroke-dasharray="4 4"/>`,
    `<polyline points="${line}" fill="none" stroke="#61afef" stroke-width="2"/>`,
    ...labels,
  ].join('');
}
