import {Text} from 'ink';
import {screenText} from '../text/screen-text.ts';
import type {StreamState} from '../text/stream-blocks.ts';
import {wrapText} from '../text/wrap.ts';

/** The end of the text that the model is writing, as rows of the screen. */
export function tailRows(stream: StreamState, columns: number): string[] {
  const isFenced = stream.fence !== undefined || /^\s*(?:```|~~~)/.test(stream.tail);
  const code = stream.fence ? stream.tail : stream.tail.replace(/^.*\n?/, '');
  // Code stands as it will when it is finished: moved in, without its fence.
  const text = screenText(isFenced ? code : stream.tail).replace(/\s+$/, '');
  if (text === '') return [];
  const indent = isFenced ? '  ' : '';
  return wrapText(text, columns - indent.length).map((row) => indent + row);
}

export function StreamTail({rows}: {readonly rows: readonly string[]}) {
  return rows.length === 0 ? null : <Text wrap="truncate">{rows.join('\n')}</Text>;
}
