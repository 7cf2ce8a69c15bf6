/** Types of npm-environment.mjs for tests. */
export function environmentBeforeNpm(
  env: Readonly<Record<string, string | undefined>>,
  root: string,
): Record<string, string | undefined>;
