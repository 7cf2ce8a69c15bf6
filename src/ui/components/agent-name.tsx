import {Text} from 'ink';
import type {Span, TextStyle} from '../text/styled-text.tsx';

/** From the 256 colours of terminals; each has a contrast of at least 3.6 to black and to white. */
export const AGENT_COLORS = ['#0087d7', '#875fd7', '#d75f00', '#00875f', '#d70087', '#878700'] as const;

/** The colour of an agent. It depends only on the name, so it is the same in every session. */
export function getAgentColor(name: string): string {
  // FNV-1a: names that differ in one letter get unrelated colours.
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193) >>> 0;
  return AGENT_COLORS[hash % AGENT_COLORS.length]!;
}

/** `[explore]` in that agent's colour. */
export function AgentName({name}: {readonly name: string}) {
  return <Text color={getAgentColor(name)}>{`[${name}]`}</Text>;
}

/** Styles a line that begins with `[name]`, also after an indent: the name in its colour, the rest in `style`. */
export function namedSpans(line: string, name: string, style: TextStyle): Span[] {
  const label = `[${name}]`;
  const start = line.length - line.trimStart().length;
  if (!line.startsWith(label, start)) return [{text: line, style}];
  const end = start + label.length;
  return [
    {text: line.slice(0, start), style},
    {text: label, style: {...style, color: getAgentColor(name)}},
    {text: line.slice(end), style},
  ];
}
