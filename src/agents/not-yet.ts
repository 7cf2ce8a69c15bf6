/** Fields of the contract whose engine comes with a later release. An entry goes when its engine is there. */
import type {AgentKey} from './schema.ts';

export const NOT_YET: ReadonlySet<AgentKey> = new Set([
  'thinking',
  'maxBudgetUsd',
  'contextTokens',
  'apiKeyEnv',
  'outputSchema',
]);
