import {Text} from 'ink';
import {cutText, textWidth} from '../text/wrap.ts';

interface StatusProps {
  readonly model: string;
  readonly mode: string;
  readonly running: number;
  /** Tokens in the main agent's window; 0 when not known. */
  readonly contextTokens: number;
  /** Takes the line's place for a moment. */
  readonly hint: string;
  /** A key worth knowing just now; the first to give way. */
  readonly tip?: string;
  readonly columns: number;
}

/** Model, mode and what runs. Where it is narrow, the last parts give way. */
export function StatusLine({model, mode, running, contextTokens, hint, tip = '', columns}: StatusProps) {
  if (hint !== '') return <Text color="yellow">{cutText(hint, columns)}</Text>;
  const parts = [
    mode,
    running > 0 ? `${running} ${running === 1 ? 'agent' : 'agents'}` : '',
    model,
    contextTokens > 0 ? `context ${shortCount(contextTokens)}` : '',
    tip,
  ].filter((part) => part !== '');
  let line = '';
  for (const part of parts) {
    const longer = line === '' ? part : `${line} · ${part}`;
    if (textWidth(longer) > columns) break;
    line = longer;
  }
  // Where nothing is asked any more, that is not to be overlooked.
  if (mode === 'bypassPermissions' && line.startsWith(mode)) {
    return (
      <Text>
        <Text color="red">{mode}</Text>
        <Text dimColor>{line.slice(mode.length)}</Text>
      </Text>
    );
  }
  return <Text dimColor>{line === '' ? ' ' : line}</Text>;
}

function shortCount(count: number): string {
  return count < 1000 ? String(count) : `${(count / 1000).toFixed(1)}k`;
}
