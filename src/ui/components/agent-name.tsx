import {type Span, Styled, type TextStyle} from '../text/styled-text.tsx';
import {getAgentTone} from '../theme.ts';

/** `[explore]` in the colour of that run. @param color the number of the run in the session */
export function AgentName({name, color}: {readonly name: string; readonly color: number}) {
  return <Styled tone={getAgentTone(color)}>{`[${name}]`}</Styled>;
}

/** Styles a line that begins with `[name]`, also after an indent: the name in its colour, the rest in `style`. */
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
