/** The first request of a driver: what the session is made with, beside the command line. */
import {z} from 'zod';
import type {SessionInfo} from '../../core/contract/events.ts';
import {UsageError} from '../../core/util/errors.ts';
import {formatNotYetAvailable} from '../../core/util/planned-features.ts';

export const initializeSchema = z.looseObject({
  /** A list whose parts are joined; `[""]` is an empty prompt. */
  systemPrompt: z.union([z.string(), z.array(z.string())]).optional(),
  appendSystemPrompt: z.string().optional(),
  agents: z.record(z.string(), z.looseObject({})).optional(),
  jsonSchema: z.looseObject({}).optional(),
  hooks: z.record(z.string(), z.array(z.looseObject({}))).nullish(),
  sdkMcpServers: z.array(z.string()).optional(),
  mcpServers: z.record(z.string(), z.looseObject({})).optional(),
});

export type Initialize = Readonly<Partial<z.infer<typeof initializeSchema>>>;

/** The options of a session that follow. @throws UsageError for what is not there yet */
export function toSessionOptions({systemPrompt, appendSystemPrompt, agents, ...rest}: Initialize) {
  for (const name of ['hooks', 'sdkMcpServers', 'mcpServers', 'jsonSchema'] as const) {
    const value = rest[name];
    if (value && Object.keys(value).length > 0) throw new UsageError(formatNotYetAvailable(`initialize.${name}`));
  }
  const prompt = Array.isArray(systemPrompt) ? systemPrompt.join('\n\n') : systemPrompt;
  return {
    ...(prompt !== undefined && {systemPrompt: prompt}),
    ...(appendSystemPrompt !== undefined && {appendSystemPrompt}),
    ...(agents && {agentsJson: JSON.stringify(agents)}),
  };
}

/** What `initialize` is answered with, besides what depends on the request. */
export function describeSession({commands, model}: SessionInfo) {
  return {
    commands: commands.map(({name, description}) => ({name, description, argumentHint: ''})),
    output_style: 'default',
    available_output_styles: ['default'],
    models: [{value: model, displayName: model, description: ''}],
    account: {},
  };
}
