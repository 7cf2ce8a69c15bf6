/** The slash commands of a session, with what they need besides its requests. */
import {realpathSync} from 'node:fs';
import {homedir} from 'node:os';
import {version} from '../../package.json';
import type {LiveCatalog} from '../agents/live-catalog.ts';
import type {ShownSettings} from '../commands/settings/config.ts';
import {createCommandTable} from '../commands/table.ts';
import {getEffectiveSettings} from '../config/effective-settings.ts';
import {createMemoryDeps} from '../config/memory/memory-files.ts';
import {DirectoryTrust} from '../config/trust.ts';
import {saveUserSetting} from '../config/user-settings.ts';
import type {Trusts} from '../core/contract/permission.ts';
import type {Command} from '../core/contract/session.ts';
import type {Redactor} from '../core/secrets/redaction.ts';
import type {FoundPrompts} from '../extensions/prompts/find-prompts.ts';
import {createPromptCommands, createSkillsCommand} from '../extensions/prompts/slash-commands.ts';
import type {SessionStore} from '../storage/sessions/session-store.ts';
import {createAgentsCommandDeps} from './agents.ts';
import type {SessionOptions} from './options.ts';
import {getEffectiveTrust} from './trust.ts';

interface CommandParts {
  readonly options: SessionOptions;
  /** The session's folder, with links resolved. */
  readonly root: string;
  readonly redactor: Redactor;
  readonly store: SessionStore;
  readonly catalog: LiveCatalog;
  readonly toolNames: readonly string[];
  /** What the user trusts of the project's files. */
  readonly loaded: {readonly trust: {readonly trusts: Trusts}};
  readonly found: FoundPrompts;
  readonly mcp: {list(): readonly {readonly name: string}[]};
}

/** A command of mini-cc is never hidden by one that the user or the project brought. */
export function createCommands(parts: CommandParts): readonly Command[] {
  const {options, root, redactor, store, catalog, toolNames, loaded, found} = parts;
  const {home} = options;
  const {trusts} = loaded.trust;
  const own = createCommandTable({
    version,
    agents: createAgentsCommandDeps(catalog, root, home, toolNames, () => parts.mcp.list().map(({name}) => name)),
    examine: async () => (await import('./doctor.ts')).examine(options),
    memory: createMemoryDeps(root, home, trusts, options.settingSources),
    exports: {store, redactor, root},
    readConfig: async () => readShownSettings(options),
    saveTheme: (theme) => saveUserSetting(home, 'theme', theme),
    skills: createSkillsCommand(found.prompts, found.problems),
  });
  const taken = own.map(({name}) => name);
  return [...own, ...createPromptCommands(found.prompts, taken)];
}

type ConfigOptions = Pick<SessionOptions, 'home' | 'cwd' | 'env' | 'settingsFile' | 'settingSources'>;

/** The settings as their files are now. @throws UsageError for settings that are wrong */
export function readShownSettings(options: ConfigOptions): ShownSettings {
  const {home, cwd, env, settingsFile, settingSources} = options;
  const root = realpathSync(cwd);
  const trust = new DirectoryTrust(home, root);
  const {claims, ...inForce} = getEffectiveSettings(
    {
      home,
      cwd: root,
      userHome: homedir(),
      trusts: trust.trusts,
      ...(settingsFile !== undefined && {explicit: settingsFile}),
      ...(settingSources && {sources: settingSources}),
    },
    env,
  );
  const {warnings, ...trusted} = getEffectiveTrust(home, trust, {claims});
  return {...inForce, trust: trusted, warnings: [...inForce.warnings, ...warnings]};
}
