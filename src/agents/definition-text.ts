/** A definition as mini-cc writes it: keys in one order, short lists on one line. */
import {AGENT_KEYS, type AgentFile, FORMAT_VERSION} from './schema.ts';

/** From `.mini-cc/agents/NAME.json`. */
export const SCHEMA_ADDRESS = '../agent.schema.json';

export function definitionText(fields: AgentFile): string {
  const all: AgentFile = {...fields, $schema: fields.$schema ?? SCHEMA_ADDRESS, version: FORMAT_VERSION};
  const lines = AGENT_KEYS.filter((key) => all[key] !== undefined).map(
    (key) => `  ${JSON.stringify(key)}: ${valueText(all[key])}`,
  );
  return `{\n${lines.join(',\n')}\n}\n`;
}

function valueText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((entry) => JSON.stringify(entry)).join(', ')}]`;
  return JSON.stringify(value, null, 2).replaceAll('\n', '\n  ');
}
