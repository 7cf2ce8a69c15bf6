/**
 * Paints the first thing on the screen: header, frame and prompt, before the screen is loaded. It takes keys at once,
 * shows text in the prompt, and hands all keys over to the screen. The screen erases this frame in the same write in
 * which it draws its own.
 */
import {
  changeText,
  countColumns,
  eraseFrame,
  frameText,
  type HeaderInfo,
  hasRoom,
  headerText,
  promptRoom,
  type TypedText,
} from './frame.ts';
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
  /** The replies of the terminal about itself so far. */
  readonly replies: readonly string[];
}

export interface FirstPaint {
  /** Ends the paint. From then on the screen reads keys and draws. */
  handOver(): Handover;
  /** Removes the frame, for a program that ends before there is a screen. It does nothing after `handOver`. */
  remove(): void;
}

const BRACKETED_PASTE = {on: '\u001b[?2004h', off: '\u001b[?2004l'};

interface Options extends Omit<HeaderInfo, 'columns' | 'userHome'> {
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
    return isFramed ? frameText(keys, columns, color) : '';
  };
  // Ink reads in the same way. A stream that is read by `data` events would have to be paused, and would lose keys.
  const onReadable = () => {
    const chunk = takeReplies(readAll(stdin), (reply) => replies.push(reply));
    if (chunk === '') return;
    const before = keys;
    // An Enter that was typed before raw mode comes as a newline.
    keys = takeKeys(keys, isFirst ? chunk.replace(/\n$/, '\r') : chunk, promptRoom(columns));
    isFirst = false;
    if (isFramed) stdout.write(changeText(before, keys, columns, color));
    if (!isLeaving(keys)) return;
    remove();
    onLeave();
  };
  const onResize = () => {
    const now = wrapsAgain(env) ? Math.min(columns, stdout.columns) : columns;
    const erase = isFramed ? eraseFrame(keys, columns, now, replies.some(isXtermJs)) : '';
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
    stdout.write(`${isFramed ? eraseFrame(keys, columns) : ''}${BRACKETED_PASTE.off}`);
  };

  stdin.setEncoding('utf8');
  stdin.on('readable', onReadable);
  stdout.on('resize', onResize);
  // The header overwrites text that was typed and echoed before this program started.
  stdout.write(`\r\u001b[K${headerText({...info, userHome: env.HOME, columns}, color)}${getModes(env)}${getFrame()}`);
  return {
    handOver: () => {
      end();
      const waiting = getWaiting(keys);
      return {
        typed: keys.typed + keys.behind,
        erase: isFramed ? eraseFrame(keys, columns) : '',
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

interface EarlyKeys extends TypedText {
  /** Keys for the screen. */
  readonly waiting: string;
}

export const NO_KEYS: EarlyKeys = {typed: '', behind: '', waiting: ''};

const BACKSPACE = '\x7f';
const CTRL_C = '\x03';
const CTRL_D = '\x04';
const LEFT = '\x1b[D';
const RIGHT = '\x1b[C';

/** Matches one key: pasted text of one line, an arrow, an emoji with all its parts, or a character. */
const KEY =
  /\x1b\[200~([^\x00-\x1f\x7f/]+)\x1b\[201~|\x1b\[[CD]|[\u2000-\u32ff\u{1f000}-\u{1faff}](?:\ufe0f|[\u{1f3fb}-\u{1f3ff}]|\u200d[\u2600-\u27bf\u{1f000}-\u{1faff}])*|./gsu;
/** Matches text in which every character is shown. Others, such as those that change the direction, wait. */
const SHOWN =
  /^(?:(?![\u180b-\u180f]|[\ufe00-\ufe0f])[^\x00-\x1f\x7f-\xa0\xad\u061c\u115f-\u1160\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3164\ud800-\uf8ff\ufeff\uffa0\ufff0-\uffff\u{e0000}-\u{10ffff}]|(?<=[\u2000-\u{1faff}])(?:\ufe0f|\u200d))+$/u;

/** Splits the text into what a person takes for letters, as the screen does. */
function splitLetters(text: string): string[] {
  return Array.from(new Intl.Segmenter().segment(text), ({segment}) => segment);
}

/** Returns the keys for the screen. It puts the cursor behind the text, so the first ones move it back to its place. */
function getWaiting({behind, waiting}: EarlyKeys): string {
  return behind === '' ? waiting : LEFT.repeat(splitLetters(behind).length) + waiting;
}

/**
 * Takes keys that are typed before the screen is loaded. Letters of all scripts, emoji, pasted lines and the arrows to
 * the sides change the prompt at once. From the first other key on, all keys wait for the screen, which knows their
 * meaning.
 * @param columns columns of the prompt's row; letters that do not fit wait
 */
export function takeKeys(keys: EarlyKeys, chunk: string, columns: number): EarlyKeys {
  let {typed, behind, waiting} = keys;
  for (const [key, pasted = key] of chunk.matchAll(KEY)) {
    if (waiting !== '') waiting += key;
    // A question mark in an empty prompt asks for the list of keys.
    else if (SHOWN.test(pasted) && countColumns(typed + behind + pasted) <= columns && !isHelp(key, typed + behind))
      typed += pasted;
    else if (key === BACKSPACE) typed = splitLetters(typed).slice(0, -1).join('');
    else if (key === CTRL_C && typed + behind !== '') [typed, behind] = ['', ''];
    else if (key === LEFT && typed !== '') {
      const last = splitLetters(typed).at(-1)!;
      [typed, behind] = [typed.slice(0, -last.length), last + behind];
    } else if (key === RIGHT && behind !== '') {
      const first = splitLetters(behind)[0]!;
      [typed, behind] = [typed + first, behind.slice(first.length)];
    } else waiting += key;
  }
  return {typed, behind, waiting};
}

function isHelp(key: string, text: string): boolean {
  return key === '?' && text === '';
}

/** Tells whether the keys mean to leave. The screen leaves with the same keys. */
export function isLeaving({typed, behind, waiting}: EarlyKeys): boolean {
  return typed + behind === '' && (waiting === CTRL_D || waiting === CTRL_C + CTRL_C || waiting === CTRL_C + CTRL_D);
}
