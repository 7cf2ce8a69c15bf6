/**
 * The REPL, a front end of a session. This module loads fast: it prints the header before it loads the screen, and the
 * first frame is drawn before the session is open.
 */
import type {ReplOptions} from './screen.tsx';
import {screenLine} from './text/screen-text.ts';

/** Runs until the person leaves. @returns the exit code: 0, 1 for a failure, 2 for a wrong option or setting. */
export async function startRepl(options: ReplOptions): Promise<number> {
  // The screen reports a session that failed; until it is loaded, Node must not report it as unhandled.
  options.session.catch(() => undefined);
  // Ink takes its colours from chalk, which reads only FORCE_COLOR.
  if (process.env.NO_COLOR) process.env.FORCE_COLOR = '0';
  try {
    // Written over anything that was typed and echoed before this program started.
    process.stdout.write(`\r\u001b[K${headerText(getHeader(options), !process.env.NO_COLOR)}`);
    const {runScreen} = await withoutDataFetch(() => import('./screen.tsx'));
    return await runScreen(options);
  } finally {
    process.stdin.setRawMode?.(false);
  }
}

interface HeaderInfo extends Pick<ReplOptions, 'version' | 'cwd' | 'offline'> {
  /** Nothing was typed in this folder before. */
  readonly isFirst: boolean;
  readonly columns: number;
}

function getHeader(options: ReplOptions): HeaderInfo {
  return {...options, isFirst: (options.history ?? []).length === 0, columns: process.stdout.columns || 80};
}

/** What a person reads at the first start; a line about the key follows where none is set. */
const WELCOME = [
  'A coding agent: it reads, changes and runs what is in this folder, and asks first.',
  'Say what you want, for example: what does this project do? · ? lists the keys',
];

/** The first lines on the screen. @param color false when `NO_COLOR` is set */
export function headerText({version, cwd, offline, isFirst, columns}: HeaderInfo, color: boolean): string {
  const paint = (code: string, text: string) => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
  const rules = columns < 44 ? '' : ' (rule-based)';
  const model = offline ? ` · offline model${rules}` : '';
  const more = isFirst ? WELCOME.flatMap((line) => wrapWords(line, columns)) : ['/help lists commands and keys'];
  const lines = [
    `${paint('1;36', 'mini-cc')} ${version}${paint('2', model)}`,
    ...[screenLine(cwd), ...more].map((line) => paint('2', line)),
  ];
  return `${lines.join('\n')}\n`;
}

/** `text/wrap.ts` would do it too, and load what the header does not need. */
function wrapWords(text: string, columns: number): string[] {
  const rows: string[] = [];
  for (const word of text.split(' ')) {
    const last = rows.at(-1);
    if (last === undefined || last.length + 1 + word.length > columns) rows.push(word);
    else rows[rows.length - 1] = `${last} ${word}`;
  }
  return rows;
}

/**
 * Makes the `fetch` of a binary data: URI fail while `work` runs; other requests pass. Ink's layout engine fetches its
 * wasm so, and decodes it without `fetch` when that fails. Node's `fetch` would load its whole HTTP client, which takes a
 * sixth of the start-up time.
 */
async function withoutDataFetch<T>(work: () => Promise<T>): Promise<T> {
  const real = globalThis.fetch;
  const quiet: typeof fetch = (input, init) =>
    typeof input === 'string' && input.startsWith('data:application/octet-stream')
      ? Promise.reject(new TypeError('decoded without fetch'))
      : real(input, init);
  globalThis.fetch = quiet;
  try {
    return await work();
  } finally {
    // Do not undo a replacement that other code made meanwhile.
    if (globalThis.fetch === quiet) globalThis.fetch = real;
  }
}
