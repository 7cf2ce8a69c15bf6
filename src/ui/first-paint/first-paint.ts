/**
 * Paints the first thing on the screen: header, frame and prompt, before the screen is loaded. It takes keys at once,
 * shows letters in the prompt, and hands all keys over to the screen. The screen erases this frame in the same write in
 * which it draws its own.
 */
import {changeText, eraseFrame, frameText, type HeaderInfo, hasRoom, headerText, promptRoom} from './frame.ts';
import {wrapsAgain} from './prompt-frame.ts';
import {ASK_TERMINAL, canAsk, isXtermJs, takeReplies} from './terminal-replies.ts';

interface PaintedTerminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
}

/** The state that the screen continues from. */
interface Handover {
  /** The text in the prompt. */
  readonly typed: string;
  /** Terminal codes that erase the frame. */
  readonly erase: string;
  /** Gives the screen the keys that it must handle itself. Call it when the screen reads. */
  readonly giveKeys: () => void;
  /** What the terminal has said about itself so far. */
  readonly replies: readonly string[];
}

export interface FirstPaint {
  /** Ends the paint. From then on the screen reads keys and draws. */
  handOver(): Handover;
  /** Removes the frame, for a program that ends before there is a screen. It does nothing after `handOver`. */
  remove(): void;
}

const BRACKETED_PASTE = {on: '\u001b[?2004h', off: '\u001b[?2004l'};

interface Options extends Omit<HeaderInfo, 'columns'> {
  readonly env: NodeJS.ProcessEnv;
  /** Called when the person leaves. */
  readonly onLeave: () => void;
}

/** Paints, and starts to read keys. The terminal must be in raw mode. */
export function startFirstPaint({stdin, stdout}: PaintedTerminal, {env, onLeave, ...info}: Options): FirstPaint {
  const color = !env.NO_COLOR;
  const canFrame = env.TERM !== 'dumb' && env.INK_SCREEN_READER !== 'true';
  let [keys, columns]: [EarlyKeys, number] = [NO_KEYS, stdout.columns || 80];
  let [isFirst, isFramed, isOver] = [true, false, false];
  const replies: string[] = [];

  const getFrame = () => {
    isFramed = canFrame && hasRoom(columns, stdout.rows || 24);
    return isFramed ? frameText(keys.typed, columns, color) : '';
  };
  // Ink reads in the same way. A stream that is read by `data` events would have to be paused, and would lose keys.
  const onReadable = () => {
    const chunk = takeReplies(readAll(stdin), (reply) => replies.push(reply));
    if (chunk === '') return;
    const before = keys.typed;
    // An Enter that was typed before raw mode comes as a newline.
    keys = takeKeys(keys, isFirst ? chunk.replace(/\n$/, '\r') : chunk, promptRoom(columns));
    isFirst = false;
    if (isFramed && keys.typed !== before) stdout.write(changeText(before, keys.typed, columns, color));
    if (!isLeaving(keys)) return;
    remove();
    onLeave();
  };
  const onResize = () => {
    const now = wrapsAgain(env) ? Math.min(columns, stdout.columns) : columns;
    const erase = isFramed ? eraseFrame(keys.typed, columns, now, replies.some(isXtermJs)) : '';
    columns = stdout.columns;
    stdout.write(`${erase}${getFrame()}`);
  };
  const end = () => {
    isOver = true;
    stdin.off('readable', onReadable);
    stdout.off('resize', onResize);
  };
  const remove = () => {
    if (isOver) return;
    end();
    stdout.write(`${isFramed ? eraseFrame(keys.typed, columns) : ''}${BRACKETED_PASTE.off}`);
  };

  stdin.setEncoding('utf8');
  stdin.on('readable', onReadable);
  stdout.on('resize', onResize);
  // The header overwrites text that was typed and echoed before this program started.
  stdout.write(`\r\u001b[K${headerText({...info, columns}, color)}${getModes(env)}${getFrame()}`);
  return {
    handOver: () => {
      end();
      const {typed, waiting} = keys;
      return {
        typed,
        erase: isFramed ? eraseFrame(typed, columns) : '',
        replies,
        giveKeys: () => waiting !== '' && stdin.unshift(waiting, 'utf8'),
      };
    },
    remove,
  };
}

/** Turns bracketed paste on, and asks the terminal about itself. */
function getModes(env: NodeJS.ProcessEnv): string {
  return `${BRACKETED_PASTE.on}${canAsk(env) ? ASK_TERMINAL : ''}`;
}

function readAll(stdin: NodeJS.ReadStream): string {
  let text = '';
  for (let read = stdin.read(); read !== null; read = stdin.read()) text += read;
  return text;
}

interface EarlyKeys {
  /** The text in the prompt. */
  readonly typed: string;
  readonly waiting: string;
}

export const NO_KEYS: EarlyKeys = {typed: '', waiting: ''};

const BACKSPACE = '\x7f';
const CTRL_C = '\x03';
const CTRL_D = '\x04';
/** Matches letters that every terminal shows in one column. */
const PLAIN = /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff]$/;

/**
 * Takes keys that are typed before the screen is loaded. Plain letters go into the prompt at once. From the first other
 * key on, all keys wait for the screen, which knows their meaning.
 * @param columns columns of the prompt's row; letters that do not fit wait
 */
export function takeKeys(keys: EarlyKeys, chunk: string, columns: number): EarlyKeys {
  let {typed, waiting} = keys;
  for (const key of chunk) {
    if (waiting !== '') waiting += key;
    // A question mark in an empty prompt asks for the list of keys.
    else if (PLAIN.test(key) && typed.length < columns && !(key === '?' && typed === '')) typed += key;
    else if (key === BACKSPACE) typed = typed.slice(0, -1);
    else if (key === CTRL_C && typed !== '') typed = '';
    else waiting += key;
  }
  return {typed, waiting};
}

/** Tells whether the keys mean to leave. The screen leaves with the same keys. */
export function isLeaving({typed, waiting}: EarlyKeys): boolean {
  return typed === '' && (waiting === CTRL_D || waiting === CTRL_C + CTRL_C || waiting === CTRL_C + CTRL_D);
}
