import {Text} from 'ink';
import type {Span, TextStyle} from '../text/styled-text.tsx';
import {agentColor} from './agent-color.ts';

/** `[explore]` in that agent's colour. */
export function AgentName({name}: {readonly name: string}) {
  return <Text color={agentColor(name)}>{`[${name}]`}</Text>;
}

/** A line that begins with `[name]`, also moved in: the name in its colour, the rest in the line's style. */
export function namedSpans(line: string, name: string, style: TextStyle): Span[] {
  const label = `[${name}]`;
  const start = line.length - line.trimStart().length;
  if (!line.startsWith(label, start)) return [{text: line, style}];
  const end = start + label.length;
  return [
    {text: line.slice(0, start), style},
    {text: label, style: {...style, color: agentColor(name)}},
    {text: line.slice(end), style},
  ];
}
