/** What the environment says before any file is read. */

/** A key or a server is set; without either the built-in model answers. */
export function isModelConfigured(env: Readonly<Record<string, string | undefined>>): boolean {
  return Boolean(env.ANTHROPIC_API_KEY || env.ANTHROPIC_AUTH_TOKEN || env.ANTHROPIC_BASE_URL);
}
