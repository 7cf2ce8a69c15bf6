/** The first words on the screen, printed before anything is loaded that draws. */
import {screenLine} from './text/screen-text.ts';

export interface HeaderInfo {
  readonly version: string;
  readonly cwd: string;
  /** The built-in model answers. */
  readonly offline: boolean;
}

/** @param color false where `NO_COLOR` is set. */
export function headerText({version, cwd, offline}: HeaderInfo, color: boolean): string {
  const paint = (code: string, text: string) => (color ? `\u001b[${code}m${text}\u001b[0m` : text);
  const model = offline ? ' · offline model (rule-based)' : '';
  const lines = [
    `${paint('1;36', 'mini-cc')} ${version}${paint('2', model)}`,
    paint('2', screenLine(cwd)),
    paint('2', '/help lists commands and keys'),
  ];
  return `${lines.join('\n')}\n`;
}
