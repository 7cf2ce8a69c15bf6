/** What the agents of a project ask for beyond what the user has allowed. */
import type {Claim} from '../core/contract/trust.ts';
import {readEntry} from './catalog.ts';
import {readDefinitionFile} from './definition-file.ts';
import {type AgentPlaces, agentFolders, type FileSource, listAgentFiles} from './folders.ts';
import {STANDARD_TOOLS} from './known-tools.ts';

const OF_PROJECT: ReadonlySet<FileSource> = new Set(['project', 'claude-project']);
/** Files without these words are not parsed: most have none. */
const ASKS = /permissionMode|apiKeyEnv/;

export function agentClaims(places: AgentPlaces): Claim[] {
  return agentFolders(places)
    .filter(({source}) => OF_PROJECT.has(source))
    .flatMap((folder) => listAgentFiles(folder).files)
    .filter(({file}) => ASKS.test(readDefinitionFile(file, {lossy: true}).text ?? ''))
    .flatMap(({folder, file}) => {
      const {agent} = readEntry(folder.source, file, {toolNames: STANDARD_TOOLS});
      return agent?.widening.map(({key, value}) => ({file, key, value})) ?? [];
    });
}
