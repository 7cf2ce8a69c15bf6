/**
 * Defines the agents of `mini-cc review`. Task does not offer them. A file of the same name replaces prompt, tools,
 * model and limits; they stay read-only, and the schema of their answers is the command's.
 */
import type {AgentDefinition} from '../../core/agent-types.ts';
import {FINDINGS_SCHEMA, VERDICT_SCHEMA} from './answers.ts';
import finder from './finder.md';
import verifier from './verifier.md';

/** What each finder looks for, by the name of the agent. */
const CONCERNS: Readonly<Record<string, string>> = {
  'review-correctness':
    'correctness. Wrong conditions and bounds, missing cases, errors that are lost, wrong order, races, resources that stay open, callers that the change breaks.',
  'review-security':
    'security. Input of others that reaches a command, query, path, page or address unchecked; missing checks of permission; secrets in code, logs or errors; weak randomness and cryptography; unsafe parsing.',
  'review-tests':
    'tests. Tests that cannot fail, that assert nothing or the wrong thing, that depend on time, order or network; changed behaviour that an existing test no longer covers, where that hides a fault.',
  'review-api':
    'interfaces. Changes that break callers, stored data, configuration or the wire; contracts, types and documentation that no longer agree with the code; names that say something else than the code does.',
};

const TOOLS = ['bash', 'read_file', 'grep', 'glob', 'symbols'];

export const FINDERS: readonly string[] = Object.keys(CONCERNS);
export const VERIFIER = 'review-verifier';

export const SHIPPED_AGENTS: readonly AgentDefinition[] = [
  ...Object.entries(CONCERNS).map(([name, concern]) => ({
    name,
    description: `Reviews a change for mini-cc review: ${concern.split('.')[0]}.`,
    tools: TOOLS,
    prompt: finder.replace('CONCERN', concern),
    readOnly: true,
    maxTurns: 12,
    outputSchema: FINDINGS_SCHEMA,
    isCommandOnly: true,
  })),
  {
    name: VERIFIER,
    description: 'Tries to refute one claim of mini-cc review.',
    tools: TOOLS,
    prompt: verifier,
    readOnly: true,
    maxTurns: 12,
    outputSchema: VERDICT_SCHEMA,
    isCommandOnly: true,
  },
];

/** Returns the definition of a file, or what it may replace of a shipped agent of the same name. */
export function narrowToShipped(own: AgentDefinition): AgentDefinition {
  const shipped = SHIPPED_AGENTS.find(({name}) => name === own.name);
  if (!shipped) return own;
  const {name: _n, description: _d, readOnly: _r, outputSchema: _o, hooks: _h, skills: _s, ...rest} = own;
  const {isolation: _i, where: _w, background: _b, mcpServers: _m, permissionMode: _p, ...replaced} = rest;
  return {...shipped, ...replaced};
}
