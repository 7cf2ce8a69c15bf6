/** Opens code indexes. What they answer: `contract.ts`. */
import type {CodeIndex, CodeIndexOptions} from './contract.ts';

/** Costs nothing until the first question. */
export function openCodeIndex(_options: CodeIndexOptions): CodeIndex {
  throw new Error('under construction');
}
