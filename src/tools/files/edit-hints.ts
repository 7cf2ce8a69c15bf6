/** When the text to replace is not in the file: what is there instead, so that the next try succeeds. */
import leven from 'leven';

const MAX_SHOWN_CHARS = 1000;
/** Comparing takes time: only so many lines, each up to so many characters. */
const MAX_COMPARED_LINES = 20_000;
const MAX_COMPARED_CHARS = 300;
/** Share of letters that may differ in a line that is still called close. */
const CLOSE = 0.4;

/** One or a few lines for the model. Both texts have `\n` as line ends. */
export function notFound(wanted: string, text: string): string {
  if (text.trim() === '') return 'The file is empty: use write_file.';
  const wantedLines = trimBlankEnds(wanted.split('\n'));
  if (wantedLines.every((line) => /^\s*\d+\t/.test(line))) {
    return 'old_string was not found: leave out the line numbers and tabs that read_file puts before each line.';
  }
  const lines = text.split('\n');
  const near = sameButForSpace(wantedLines, lines);
  if (near !== undefined) {
    const there = lines.slice(near, near + wantedLines.length).join('\n');
    return `old_string was not found: only white space differs at line ${near + 1}, where the file has:\n${shorten(there)}\n`;
  }
  return firstDifference(wantedLines, lines) ?? closestLine(wantedLines, lines) ?? 'old_string was not found.';
}

/** Index of the first line of a passage that equals `wanted` but for spaces and tabs. */
function sameButForSpace(wanted: readonly string[], lines: readonly string[]): number | undefined {
  const bare = (line: string): string => line.replace(/\s+/g, '');
  const bareWanted = wanted.map(bare);
  const first = bareWanted[0];
  if (bareWanted.every((line) => line === '')) return undefined;
  const bareLines = lines.map(bare);
  const isHere = (at: number): boolean => bareWanted.every((line, index) => bareLines[at + index] === line);
  const exact = bareLines.findIndex((line, at) => line === first && isHere(at));
  if (exact !== -1) return exact;
  // Of a single line, a part may be meant.
  const within = bareWanted.length === 1 ? bareLines.findIndex((line) => line.includes(first as string)) : -1;
  return within === -1 ? undefined : within;
}

/** Where the beginning is there and what follows is not. */
function firstDifference(wanted: readonly string[], lines: readonly string[]): string | undefined {
  let best = {at: -1, same: 0};
  for (const at of lines.keys()) {
    let same = 0;
    while (same < wanted.length && lines[at + same]?.trim() === wanted[same]?.trim()) same += 1;
    if (same > best.same) best = {at, same};
  }
  if (best.same === 0 || wanted.slice(0, best.same).every((line) => line.trim() === '')) return undefined;
  const line = best.at + best.same;
  const there = line < lines.length ? `the file has:\n${shorten(lines[line] as string)}` : 'the file ends';
  return (
    `old_string was not found: its first ${best.same} ${best.same === 1 ? 'line is' : 'lines are'} at line ` +
    `${best.at + 1}, but at line ${line + 1} ${there}\nwhere old_string has:\n${shorten(wanted[best.same] ?? '')}\n`
  );
}

function closestLine(wanted: readonly string[], lines: readonly string[]): string | undefined {
  const first = (wanted.find((line) => line.trim() !== '') ?? '').trim();
  if (first === '' || first.length > MAX_COMPARED_CHARS) return undefined;
  let closest = {at: -1, distance: Math.ceil(first.length * CLOSE)};
  for (const [at, line] of lines.slice(0, MAX_COMPARED_LINES).entries()) {
    const trimmed = line.trim();
    if (Math.abs(trimmed.length - first.length) >= closest.distance) continue;
    const distance = leven(first, trimmed, {maxDistance: closest.distance});
    if (distance < closest.distance) closest = {at, distance};
  }
  if (closest.at === -1) return undefined;
  return `old_string was not found. The closest line is ${closest.at + 1}:\n${shorten(lines[closest.at] as string)}\n`;
}

function trimBlankEnds(lines: readonly string[]): string[] {
  const isText = (line: string): boolean => line.trim() !== '';
  return lines.slice(Math.max(0, lines.findIndex(isText)), lines.findLastIndex(isText) + 1);
}

function shorten(text: string): string {
  return text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS)}…`.toWellFormed();
}
