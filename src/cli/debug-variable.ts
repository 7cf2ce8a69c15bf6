/** `MINI_CC_DEBUG`: set, and not to 0. */
export function debugVariable(env: NodeJS.ProcessEnv): boolean {
  return !['', '0', undefined].includes(env.MINI_CC_DEBUG);
}
