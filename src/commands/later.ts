/** Commands that the contract names and this release has not: they say so. /help does not list them. */
import type {Command} from '../core/session.ts';

const NAMES = 'compact context cost resume export fanout init memory mcp';

export const laterCommands: readonly Command[] = NAMES.split(' ').map((name) => ({
  name,
  description: 'not yet available',
  run: () => ({ok: false, text: `/${name} is not yet available.`}),
}));
