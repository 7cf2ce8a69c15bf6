/** Names of agents: which are allowed, which are taken by mini-cc, how others become allowed. */
import {AGENT_TYPES} from '../core/agent-types.ts';

export const NAME_PATTERN = /^[a-z][a-z0-9-]{0,63}$/;
export const NAME_RULE = 'lower-case letters, digits and hyphens, a letter first, at most 64';

const MAX_LENGTH = 64;

export const builtInNames: readonly string[] = Object.keys(AGENT_TYPES);

export function isAgentName(name: string): boolean {
  return NAME_PATTERN.test(name);
}

export function isBuiltIn(name: string): boolean {
  return Object.hasOwn(AGENT_TYPES, name);
}

/** `Code Reviewer_v2` → `code-reviewer-v2`. Undefined when no letter of a–z is left to start with. */
export function normalName(written: string): string | undefined {
  const name = written
    .normalize('NFKD')
    // Accents, which NFKD has set apart from their letters.
    .replace(/\p{Mark}/gu, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[-0-9]+/, '')
    .slice(0, MAX_LENGTH)
    .replace(/-+$/, '');
  return isAgentName(name) ? name : undefined;
}

/** The name itself, or with the first number that makes it free: `reviewer-2`. Built-in names are never free. */
export function freeName(name: string, taken: Iterable<string>): string {
  const all = new Set([...taken, ...builtInNames]);
  if (!all.has(name)) return name;
  for (let number = 2; ; number++) {
    const candidate = `${name.slice(0, MAX_LENGTH - `-${number}`.length)}-${number}`;
    if (!all.has(candidate)) return candidate;
  }
}
