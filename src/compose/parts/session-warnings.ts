/** What a session says to its user at its start, one line each. */
import type {LiveCatalog} from '../../agents/live-catalog.ts';
import type {Model} from '../../core/contract/model.ts';
import type {Redactor} from '../../core/secrets/redaction.ts';
import type {LocalServer} from '../../models/local-servers.ts';
import {describeBrokenAgents} from '../agents.ts';
import {describeOffline, type SessionOptions} from '../options.ts';

interface WarningSources {
  readonly options: Pick<SessionOptions, 'offline'>;
  readonly redactor: Redactor;
  readonly catalog: LiveCatalog;
  readonly firstConversation: {readonly warnings: readonly string[]};
  readonly state: {readonly model: Pick<Model, 'offline'>};
  /** Of settings, rules, hooks and models. */
  readonly warnings: readonly string[];
  readonly fanOuts: {describeCutOff(): string | undefined};
  readonly localServers: readonly LocalServer[];
}

export function listWarnings(sources: WarningSources): readonly string[] {
  const {options, redactor, catalog, firstConversation, state, warnings, fanOuts, localServers} = sources;
  const cutOff = fanOuts.describeCutOff();
  return redactor.values([
    ...warnings,
    ...describeBrokenAgents(catalog),
    ...firstConversation.warnings,
    ...(cutOff === undefined ? [] : [cutOff]),
    ...(state.model.offline && !options.offline ? describeOffline(localServers) : []),
  ]);
}
