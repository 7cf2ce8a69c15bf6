/** Asks the terminal about itself, and finds its replies among the keys. A reply comes at once, late, or never. */

/** Asks the terminal for its background (OSC 11) and its name. */
export const ASK_TERMINAL = '\x1b]11;?\x1b\\\x1b[>c';

/** Tells whether a terminal may be asked, and has a title. The Linux console would show the codes. */
export function canAsk({TERM = '', INK_SCREEN_READER}: NodeJS.ProcessEnv): boolean {
  return !['dumb', 'linux'].includes(TERM) && INK_SCREEN_READER !== 'true';
}

/**
 * Tells whether a terminal may get links (OSC 8), which it ignores when it does not know them. Old terminals of GNOME show
 * or break them. `FORCE_HYPERLINK=0` turns them off, as in other programs.
 */
export function canLink(env: NodeJS.ProcessEnv): boolean {
  const isOld = env.VTE_VERSION !== undefined && Number(env.VTE_VERSION) <= 5000;
  return canAsk(env) && !env.NO_COLOR && !isOld && env.FORCE_HYPERLINK !== '0';
}

/**
 * The start of the strings in which a terminal reports about itself, e.g. its colours. No person types so many of these
 * characters.
 */
export const STRING_HEAD = String.raw`(?:\]\d{1,4};|P[\d;]*[>=!$+][\d;]*[a-z|])`;
export const STRING_TEXT = String.raw`[\x20-\x7e]{0,256}`;
/** Matches whole replies: strings, which Ink would read as text, and the name of the terminal. */
const REPLY = new RegExp(String.raw`\x1b(?:${STRING_HEAD}${STRING_TEXT}(?:\x07|\x1b\\)|\[>[\d;]*c)`, 'g');

/** Removes replies from typed text. Ink itself drops others that have the form of keys. */
export function takeReplies(text: string, onReply: (reply: string) => void = () => undefined): string {
  if (!text.includes('\x1b')) return text;
  return text.replace(REPLY, (reply) => {
    onReply(reply);
    return '';
  });
}

/** Tells whether this is the name of xterm.js, or of a terminal that is made of it. */
export function isXtermJs(reply: string): boolean {
  return reply.startsWith('\x1b[>0;276;');
}
