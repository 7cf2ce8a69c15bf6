/** Creates the tools of a session's agents, with the sandbox and the rules that they need. */

import path from 'node:path';
import {CodeIndexes} from '../code-index/code-indexes.ts';
import type {Tool} from '../core/contract/tool.ts';
import {type FoundPrompts, findPrompts} from '../extensions/prompts/find-prompts.ts';
import {createGetSkill, createSkillTool} from '../extensions/prompts/skill-tool.ts';
import type {ModelResolver} from '../models/resolve.ts';
import {ProcessGroups} from '../sandbox/launch/process-groups.ts';
import {createBaseTools} from '../tools/index.ts';
import {FileIndex} from '../tools/search/file-index.ts';
import {getListable} from './known-tools.ts';
import {createMcpServers} from './mcp.ts';
import {getModelName} from './options.ts';
import {chooseTools, createRules, createSessionSandbox} from './permission-settings.ts';
import type {Project, Records} from './project.ts';
import {SandboxControl} from './sandbox-control.ts';

/** @param names names of the only skills, whole or without the name of their plugin. Default: all */
function chooseSkills(found: FoundPrompts, names: readonly string[] | undefined): FoundPrompts {
  const isChosen = ({kind, name}: FoundPrompts['prompts'][number]) =>
    kind !== 'skill' || names?.some((each) => name === each || name.endsWith(`:${each}`));
  return names ? {...found, prompts: found.prompts.filter(isChosen)} : found;
}

export type SessionTools = Awaited<ReturnType<typeof createTools>>;

/** @throws UsageError for a wrong rule or MCP server of the command line, and for impossible settings of the sandbox */
export async function createTools(project: Project, {store, emit, questions}: Records, resolver: ModelResolver) {
  const {options, root, settings, trusts, redactor, env} = project;
  const knownIn = path.join(options.home, 'cache');
  const sandbox = createSessionSandbox(settings, {miniCcHome: options.home, root, trusts, knownIn});
  const sandboxControl = await SandboxControl.open(
    settings,
    sandbox,
    options.sandboxMode ?? project.loaded.sandboxMode,
  );
  const {warning} = await sandboxControl.state();
  const {rules, warnings, foreignWords} = createRules(options, project.loaded, root, redactor);
  const chosen = chooseTools(options.tools);
  const indexes = new CodeIndexes({root, env, cacheFolder: path.join(store.folder, 'code-index')});
  const searches = resolver.resolve(getModelName(options, settings)).source?.searchesWeb ?? false;
  const web = {mayReachPrivate: (host: string) => rules.namesHost(host), searches};
  const found = chooseSkills(findPrompts(project.folders, trusts), options.skills);
  const skillTool = createSkillTool(found.prompts);
  const processes = new ProcessGroups();
  const {
    servers: mcp,
    warnings: mcpWarnings,
    sampling,
  } = createMcpServers({...project, emit, sandbox, processes, rules, questions});
  const baseTools = [
    ...createBaseTools({sandbox, processes, web, getIndex: (place) => indexes.for(place), editor: options.editor}),
    ...(skillTool ? [skillTool as Tool] : []),
  ];
  return {
    sandbox,
    /** All that tools, hooks, MCP servers and the status line start. */
    processes,
    sandboxControl,
    rules,
    baseTools,
    indexes,
    files: new FileIndex(root, env),
    found,
    mcp,
    sampling,
    getSkill: createGetSkill(found.prompts),
    listable: getListable(baseTools),
    only: chosen.only,
    foreignWords: [...foreignWords, ...chosen.foreignWords],
    warnings: [...warnings, ...found.skipped, ...mcpWarnings, ...(warning === undefined ? [] : [warning])],
  };
}
