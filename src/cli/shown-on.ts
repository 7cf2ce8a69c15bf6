import {showControls} from '../core/util/control-characters.ts';

/** Writes to a stream: on a terminal what it would obey is shown; files and pipes get the text as it is. */
export function shownOn(stream: NodeJS.WriteStream): (text: string) => void {
  return (text) => void stream.write(stream.isTTY ? showControls(text) : text);
}
