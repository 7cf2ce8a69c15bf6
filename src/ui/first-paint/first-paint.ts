/**
 * The first thing on the screen: header, frame and prompt, written before the screen is loaded. It takes keys at once, shows
 * letters in the prompt, and gives all of them to the screen, which erases this frame in the same write in which it draws
 * its own.
 */
import {type EarlyKeys, isLeaving, NO_KEYS, takeKeys} from './early-keys.ts';
import {changeText, eraseFrame, frameText, type HeaderInfo, hasRoom, headerText, promptRoom} from './frame.ts';
import {wrapsAgain} from './prompt-frame.ts';

interface PaintedTerminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
}

/** What the screen goes on from. */
interface Handover {
  /** Stands in the prompt. */
  readonly typed: string;
  /** Erases the frame. */
  readonly erase: string;
  /** Lets the screen read the keys that it must judge itself; call it once the screen reads. */
  readonly giveKeys: () => void;
}

export interface FirstPaint {
  /** Ends the paint: from now on the screen reads keys and draws. */
  handOver(): Handover;
  /** Takes the frame off the screen, for a program that ends before there is a screen. Does nothing after `handOver`. */
  remove(): void;
}

const BRACKETED_PASTE = {on: '\u001b[?2004h', off: '\u001b[?2004l'};

interface Options extends Omit<HeaderInfo, 'columns'> {
  readonly env: NodeJS.ProcessEnv;
  /** The person left. */
  readonly onLeave: () => void;
}

/** Paints, and reads keys from now on. The terminal is in raw mode. */
export function startFirstPaint({stdin, stdout}: PaintedTerminal, {env, onLeave, ...info}: Options): FirstPaint {
  const color = !env.NO_COLOR;
  const canFrame = env.TERM !== 'dumb' && env.INK_SCREEN_READER !== 'true';
  let [keys, columns]: [EarlyKeys, number] = [NO_KEYS, stdout.columns || 80];
  let [isFirst, isFramed, isOver] = [true, false, false];

  const getFrame = () => {
    isFramed = canFrame && hasRoom(columns, stdout.rows || 24);
    return isFramed ? frameText(keys.typed, columns, color) : '';
  };
  // As Ink does it: a stream that was read by `data` events would have to be paused, and would lose keys.
  const onReadable = () => {
    let chunk = '';
    for (let read = stdin.read(); read !== null; read = stdin.read()) chunk += read;
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
    const erase = isFramed
      ? eraseFrame(keys.typed, columns, wrapsAgain(env) ? Math.min(columns, stdout.columns) : columns)
      : '';
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
  // Written over anything that was typed and echoed before this program started.
  stdout.write(`\r\u001b[K${headerText({...info, columns}, color)}${BRACKETED_PASTE.on}${getFrame()}`);
  return {
    handOver: () => {
      end();
      const {typed, waiting} = keys;
      return {
        typed,
        erase: isFramed ? eraseFrame(typed, columns) : '',
        giveKeys: () => waiting !== '' && stdin.unshift(waiting, 'utf8'),
      };
    },
    remove,
  };
}
