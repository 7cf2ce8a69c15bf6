/** Finds models and keys in a project's settings that send data to a server that the project itself names. */
import type {SettingsValues} from './schema.ts';

type Values = Partial<SettingsValues>;

export function getProviderNames(files: readonly Values[]): ReadonlySet<string> {
  return new Set(files.flatMap(({providers = {}}) => Object.keys(providers)));
}

/**
 * Lists the paths of models of these providers, and of keys that agents name. They count when the user trusts them.
 * @param providers providers of the project's own files
 */
export function findModelClaims(values: Values, providers: ReadonlySet<string>): readonly (readonly string[])[] {
  const {model, subagentModel, fallback, compaction, roles = {}, agents = {}} = values;
  const named: (readonly [path: readonly string[], names: readonly (string | undefined)[]])[] = [
    [['model'], [model]],
    [['subagentModel'], [subagentModel]],
    [['fallback'], fallback ?? []],
    [['compaction', 'model'], [compaction?.model]],
    ...Object.entries(roles).map(([name, role]) => [['roles', name, 'model'], [role.model]] as const),
    ...Object.entries(agents).map(([name, agent]) => [['agents', name, 'model'], [agent.model]] as const),
  ];
  const models = named.filter(([, names]) =>
    names.some((name) => name?.includes('/') && providers.has(name.slice(0, name.indexOf('/')).trim())),
  );
  const keys = Object.entries(agents).filter(([, {apiKeyEnv}]) => apiKeyEnv !== undefined);
  return [...models.map(([path]) => path), ...keys.map(([name]) => ['agents', name, 'apiKeyEnv'])];
}
