import type {NoticeLevel} from '../ui-state.ts';
import {Wrapped} from './styled-text.tsx';

interface NoticeProps {
  readonly level: NoticeLevel;
  readonly text: string;
  readonly columns: number;
}

/** One message of mini-cc itself: a command's words, a warning, an error. */
export function Notice({level, text, columns}: NoticeProps) {
  if (level === 'error') return <Wrapped color="red" text={`error: ${text}`} columns={columns} />;
  if (level === 'warning') return <Wrapped color="yellow" text={text} columns={columns} />;
  return <Wrapped text={text} columns={columns} />;
}
