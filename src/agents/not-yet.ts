/** Fields of the contract whose engine comes with a later release. An entry goes when its engine is there. */
import type {AgentFile, AgentKey} from './schema.ts';

export const NOT_YET: ReadonlySet<AgentKey> = new Set([
  'thinking',
  'maxBudgetUsd',
  'contextTokens',
  'apiKeyEnv',
  'outputSchema',
]);

/** Without its engine, an agent with this would run unsafely: it is refused. */
export function needsMissingEngine(fields: Partial<AgentFile>): AgentKey | undefined {
  return fields.isolation === 'worktree' ? 'isolation' : undefined;
}
