import {type Span, Styled, type TextStyle} from '../text/styled-text.tsx';
import {getAgentTone} from '../theme.ts';

/**
 * Shows the name of an agent in the colour of its run, e.g. `[explore]`.
 * @param color number of the run in the session
 */
export function AgentName({name, color}: {readonly name: string; readonly color: number}) {
  return <Styled tone={getAgentTone(color)}>{`[${name}]`}</Styled>;
}

/** Styles a line that begins with `[name]`, perhaps after an indent: the name has its colour, the rest has `style`. */
export function namedSpans(line: string, name: string, color: number, style: TextStyle): Span[] {
  const label = `[${name}]`;
  const start = line.length - line.trimStart().length;
  if (!line.startsWith(label, start)) return [{text: line, style}];
  const end = start + label.length;
  return [
    {text: line.slice(0, start), style},
    {text: label, style: {...style, tone: getAgentTone(color)}},
    {text: line.slice(end), style},
  ];
}
