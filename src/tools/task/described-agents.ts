/** Chooses which agents and descriptions are in each request of the main model, so that many agents do not fill it. */
import type {AgentDefinition} from '../../core/agent-types.ts';
import {takeFitting} from '../../core/util/text.ts';

type Agent = Pick<AgentDefinition, 'name' | 'description'>;

/** Characters of names and descriptions, the names of the schema counted: at most 2,000 tokens. */
const MAX_CHARS = 7_000;
/** Lengths of descriptions that are tried, the longest first. */
const LENGTHS = [1_000, 500, 300, 200, 140, 100];
const SHORTEST = 70;
/** Characters that the first agents have for descriptions, however many names follow. */
const DESCRIBED_CHARS = 1_000;
/** Quotes and comma of a name in the schema. */
const IN_SCHEMA = 3;

interface DescribedAgents {
  /** Names that the schema lists. Task accepts all other agents, too. */
  readonly names: readonly string[];
  /** One line for each agent with a description, and one that says where the others are. */
  readonly text: string;
  /** Agents without a line, which a search must find. */
  readonly others: readonly Agent[];
}

/**
 * Lists all agents with whole descriptions. Where these are too long, it shortens them; where even that is too much, the
 * first agents have a description and the others only a name.
 * @param agents in the order of their importance
 */
export function describeAgents(agents: readonly Agent[]): DescribedAgents {
  const names = agents.map(({name}) => name);
  const forLines = MAX_CHARS - countInSchema(names);
  for (const length of [Number.POSITIVE_INFINITY, ...LENGTHS, SHORTEST]) {
    const lines = agents.map((agent) => formatAgent(agent, length));
    if (countChars(lines) <= forLines) return {names, text: lines.join('\n'), others: []};
  }
  return describeFirst(agents);
}

function describeFirst(agents: readonly Agent[]): DescribedAgents {
  const names = takeFitting(
    agents.map(({name}) => name),
    MAX_CHARS - DESCRIBED_CHARS,
    IN_SCHEMA,
  );
  const all = agents.map((agent) => formatAgent(agent, SHORTEST));
  const lines = takeFitting(all, MAX_CHARS - countInSchema(names));
  const others = agents.slice(lines.length);
  const where = `${others.length} more: tool_search finds them by words about the work; agent_type takes each name that it finds`;
  return {names, text: [...lines, where].join('\n'), others};
}

function countInSchema(names: readonly string[]): number {
  return countChars(names, IN_SCHEMA);
}

/** @param between number of characters after each text */
function countChars(texts: readonly string[], between = 1): number {
  return texts.reduce((sum, {length}) => sum + length + between, 0);
}

function formatAgent({name, description}: Agent, length: number): string {
  if (description.length <= length) return `- ${name}: ${description}`;
  return `- ${name}: ${description.slice(0, length).replaceAll(/\s+/g, ' ').trimEnd().toWellFormed()}…`;
}
