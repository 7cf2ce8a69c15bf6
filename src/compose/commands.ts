/** Creates the slash commands of a session, and serves `mini-cc config …`. */
import {realpathSync} from 'node:fs';
import {version} from '../../package.json';
import {formatSettings} from '../commands/config.ts';
import type {CommandDeps, ShownSettings, SlashCommands} from '../commands/shared/command-deps.ts';
import {createUnknownVerb, printJson, type SubcommandArguments} from '../commands/shared/command-line.ts';
import {getEffectiveSettings} from '../config/effective-settings.ts';
import {settingsJsonSchema} from '../config/json-schema.ts';
import {createMemoryDeps} from '../config/memory-files.ts';
import {DirectoryTrust} from '../config/trust.ts';
import {saveUserSetting} from '../config/user-settings.ts';
import type {Command} from '../core/contract/session-requests.ts';
import {UsageError} from '../core/util/errors.ts';
import {quote} from '../core/util/problem.ts';
import {showControls} from '../core/util/text.ts';
import {createPromptCommands, createSkillsCommand} from '../extensions/prompts/slash-commands.ts';
import type {ReviewDeps} from '../review/review.ts';
import {createAgentsCommandDeps, type SessionAgents} from './agents.ts';
import type {Compose} from './evals.ts';
import {getSettingsOptions, type SessionOptions} from './options.ts';
import type {Project, Records} from './project.ts';
import type {ComposedParts} from './runs.ts';
import type {SessionTools} from './tools.ts';
import {getEffectiveTrust} from './trust.ts';

/** The slash commands of each file of `src/commands/`. The build lists the files. */
const FILES = import.meta.glob<SlashCommands>('../commands/*.ts', {eager: true, import: 'slashCommands'});

/** Commands that people have under these names for other programs. Theirs hide those of mini-cc. */
const HIDEABLE: readonly string[] = ['init', 'review'];

/** Creates the commands, sorted by name. Commands of the user and the project hide only the hideable ones. */
export function createCommands(
  project: Project,
  {store}: Records,
  {found, mcp, listable, rules}: SessionTools,
  {catalog}: SessionAgents,
  getReviewDeps: CommandDeps['getReviewDeps'],
  compose: Compose,
): readonly Command[] {
  const {options, root, redactor, settings, trusts} = project;
  const {home} = options;
  const deps: CommandDeps = {
    version,
    getReviewDeps,
    agents: createAgentsCommandDeps(
      catalog,
      {options, root, loaded: project.loaded, rules},
      listable,
      () => mcp.list().map(({name}) => name),
      async (names, flags, front) =>
        (await import('./evals.ts')).testFromSession(compose, options, names, flags, front),
    ),
    examine: async () => (await import('./doctor.ts')).examine(options),
    home,
    memory: createMemoryDeps({...project.folders, trusts}),
    exports: {store, redactor, root},
    readConfig: async () => readShownSettings(options),
    saveTheme: (theme) => saveUserSetting(home, 'theme', theme),
    async runPlugin(words, confirm) {
      const {openPlugins, runPluginWords} = await import('./plugin-command-line.ts');
      return runPluginWords(openPlugins(options, settings, confirm), words);
    },
    listCommands: () =>
      own
        .filter(isSlashCommand)
        .map((each) => (hidden.includes(each.name) ? {...each, description: "yours, in place of mini-cc's"} : each)),
    listHiddenFiles: () => found.prompts.filter(({name, isForUser}) => isForUser && taken.includes(name)),
  };
  const skills = createSkillsCommand(found.prompts, found.problems, (name) => taken.includes(name));
  const own: readonly Command[] = [...Object.values(FILES).flatMap((create) => create(deps)), skills].sort(byName);
  const hidden = HIDEABLE.filter((name) => found.prompts.some((prompt) => prompt.isForUser && prompt.name === name));
  const kept = own.filter(({name}) => !hidden.includes(name));
  const taken = kept.map(({name}) => name);
  return [...kept, ...createPromptCommands(found, taken)];
}

/** Gives a review what it needs of a session. */
export function createReviewDeps({project, tools, agents, models, permissions, runs}: ComposedParts): ReviewDeps {
  const {root, options} = project;
  const {policy, workspace, permits} = permissions;
  const reading = {tool: 'read_file', accesses: []};
  return {
    root,
    home: options.home,
    mayRead: policy.createReadFilter(reading, workspace, {readOnly: true, sandbox: permits.sandbox}) ?? (() => true),
    getIndex: (folder) => tools.indexes.for(folder),
    getAgent: (name) => agents.agents.get(name),
    chooseModel: (agent) => models.chooser.choose(agent, {}),
    spawn: (request) => runs.manager.spawn(request),
    log: runs.manager.log,
  };
}

const byName = (a: Command, b: Command) => (a.name < b.name ? -1 : 1);

/** Tells whether the command is typed after a slash, and can be used. */
export function isSlashCommand({name, isBroken}: Pick<Command, 'name' | 'isBroken'>): boolean {
  return /^\w/.test(name) && !isBroken;
}

type ConfigOptions = Pick<SessionOptions, 'home' | 'cwd' | 'env' | 'settingsFile' | 'settingSources'>;

/** Reads the settings from their files again. @throws UsageError for settings that are wrong */
function readShownSettings(options: ConfigOptions): ShownSettings {
  const {home, cwd, env} = options;
  const root = realpathSync(cwd);
  const trust = new DirectoryTrust(home, root);
  const {claims, ...inForce} = getEffectiveSettings(getSettingsOptions(options, root, trust.trusts), env);
  const {warnings, ...trusted} = getEffectiveTrust(home, trust, {claims});
  return {...inForce, trust: trusted, warnings: [...inForce.warnings, ...warnings]};
}

type ConfigArguments = Pick<SubcommandArguments, 'verb' | 'words' | 'json'>;

const VERBS = ['show', 'schema'] as const;
const USAGE = 'mini-cc config show [--json] [--settings FILE] [--cwd DIR] | mini-cc config schema';

/** Runs `mini-cc config …`. @throws UsageError for bad usage and for wrong settings */
export async function configCommandLine(options: ConfigOptions, {verb, words, json}: ConfigArguments) {
  const found = VERBS.find((each) => each === verb);
  if (verb === '') throw new UsageError(`config: say what to do: ${USAGE}`);
  if (!found) throw createUnknownVerb('mini-cc config', verb, VERBS.join(', '));
  if (words.length > 0) throw new UsageError(`config ${found}: ${quote(words[0])} is too much: ${USAGE}`);
  if (found === 'schema') {
    const wrong = json ? 'json' : options.settingsFile === undefined ? undefined : 'settings';
    if (wrong) throw new UsageError(`config schema takes no --${wrong}: ${USAGE}`);
    return printJson(settingsJsonSchema());
  }
  const shown = readShownSettings(options);
  if (json) return printJson(shown);
  const stderr = shown.warnings.map((warning) => `mini-cc: ${warning}\n`).join('');
  return {exitCode: 0, stdout: showControls(formatSettings(shown)), stderr};
}
