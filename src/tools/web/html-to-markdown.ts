/**
 * Converts HTML to markdown in a worker thread, because a malicious page may take minutes and would block the terminal.
 * The thread runs this same file.
 */
import {isMainThread, parentPort, Worker, workerData} from 'node:worker_threads';
import type {HTMLElement, Node} from 'node-html-parser';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import {toOneLine} from '../../core/util/text.ts';

/** Milliseconds of a conversion after which the page is returned as plain text instead. */
const MAX_MS = 1_200;
/** Milliseconds that the thread may take to start and to load the libraries, on a busy machine. */
const MAX_START_MS = 15_000;
/** Message of the thread when it begins to convert. The only other message is the markdown. */
const BEGUN = {isBegun: true};
const MAX_MEMORY_MB = 512;
/**
 * Length of the pieces in characters. A long page is converted in pieces, because the library's time grows with the
 * square of the length.
 */
const PIECE = 16_000;

interface ConversionJob {
  readonly htmlToMarkdown: {readonly html: string; readonly base: string};
}

/** @param base address to which links are relative @throws the signal's reason when aborted */
export async function htmlToMarkdown(html: string, base: string, signal: AbortSignal, maxMs = MAX_MS): Promise<string> {
  signal.throwIfAborted();
  const job: ConversionJob = {htmlToMarkdown: {html, base}};
  const {promise, resolve, reject} = Promise.withResolvers<string>();
  const worker = new Worker(new URL(import.meta.url), {
    workerData: job,
    env: {},
    execArgv: [],
    resourceLimits: {maxOldGenerationSizeMb: MAX_MEMORY_MB},
  });
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, {once: true});
  const bareText = () => resolve(`(without its markup)\n\n${toPlainText(html)}`);
  let timer = setTimeout(bareText, MAX_START_MS);
  const onMessage = (said: string | typeof BEGUN) => {
    if (typeof said === 'string') return resolve(said);
    clearTimeout(timer);
    timer = setTimeout(bareText, maxMs);
  };
  // For a page that is nested too deeply or too large, plain text is better than an error.
  worker.on('message', onMessage).on('error', bareText);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
    // Its memory is freed later, which takes seconds after a large page.
    inBackground(worker.terminate(), neverRejects);
  }
}

function isJob(data: unknown): data is ConversionJob {
  return typeof data === 'object' && data !== null && 'htmlToMarkdown' in data;
}

/** Elements whose content is not shown to readers. */
const UNREAD = ['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'SVG', 'CANVAS', 'IFRAME', 'OBJECT', 'HEAD'];
/** Elements between whose children the page may be cut. */
const CONTAINERS = new Set(['HTML', 'BODY', 'DIV', 'MAIN', 'SECTION', 'ARTICLE', 'HEADER', 'FOOTER', 'ASIDE', 'NAV']);

async function translate({html, base}: ConversionJob['htmlToMarkdown']): Promise<string> {
  const [{NodeHtmlMarkdown}, {parse}] = await Promise.all([import('node-html-markdown'), import('node-html-parser')]);
  parentPort?.postMessage(BEGUN);
  // Remove an XML declaration, because the parser reads the document type as text when something precedes it.
  const root = parse(html.replace(/^\s*(?:<\?xml[^>]*>\s*)?/, ''));
  const [head] = root.getElementsByTagName('head');
  const title = toOneLine(head?.getElementsByTagName('title')[0]?.text ?? '');
  for (const unread of UNREAD.flatMap((name) => root.getElementsByTagName(name))) unread.remove();
  for (const link of root.getElementsByTagName('a')) {
    const to = link.hasAttribute('href') && URL.parse(link.getAttribute('href') ?? '', base);
    if (to) link.setAttribute('href', to.href);
  }
  const markdown = splitIntoPieces(root)
    .map((piece) => NodeHtmlMarkdown.translate(piece).trim())
    .filter((piece) => piece !== '')
    .join('\n\n');
  return title ? `# ${title}\n\n${markdown}` : markdown;
}

function splitIntoPieces(parent: HTMLElement): string[] {
  const pieces: string[] = [];
  let gathered = '';
  const end = () => {
    pieces.push(gathered);
    gathered = '';
  };
  for (const child of parent.childNodes) {
    const isElement = child.nodeType === 1;
    if (isElement && CONTAINERS.has((child as HTMLElement).tagName) && getLength(child) > PIECE) {
      end();
      pieces.push(...splitIntoPieces(child as HTMLElement));
      continue;
    }
    // Cut only before a block element, because inline elements belong to the words around them.
    if (isElement && gathered.length > PIECE && isBlock(child as HTMLElement)) end();
    gathered += child.toString();
  }
  end();
  return pieces;
}

function getLength({range}: Node): number {
  return range[1] - range[0];
}

function isBlock({tagName}: HTMLElement): boolean {
  return CONTAINERS.has(tagName) || /^(?:P|H[1-6]|UL|OL|DL|TABLE|PRE|BLOCKQUOTE|HR|FORM|FIGURE|DETAILS)$/.test(tagName);
}

const SKIPPED = /^<(script|style|noscript|template|svg|head)\b/i;

/** Returns the text between the tags. It runs in one pass, so that its time is linear for every page. */
export function toPlainText(html: string): string {
  const small = html.toLowerCase();
  const words: string[] = [];
  let at = 0;
  for (;;) {
    const open = html.indexOf('<', at);
    words.push(html.slice(at, open < 0 ? undefined : open));
    if (open < 0) break;
    const [, skipped] = SKIPPED.exec(small.slice(open, open + 12)) ?? [];
    const isComment = html.startsWith('<!--', open);
    const closing = isComment ? '-->' : skipped ? `</${skipped}` : '>';
    const close = small.indexOf(closing, open);
    const end = isComment ? close + 2 : html.indexOf('>', close);
    if (close < 0 || end < 0) break;
    at = end + 1;
    words.push(isComment ? '' : ' ');
  }
  return words
    .join('')
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n[ \n]*/g, '\n')
    .trim();
}

// Runs only in the worker thread, after everything above is initialized.
if (!isMainThread && isJob(workerData)) parentPort?.postMessage(await translate(workerData.htmlToMarkdown));
