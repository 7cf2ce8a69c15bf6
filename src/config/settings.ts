/** Reads the settings files as layers, checks them, merges them and freezes the result. */
import {existsSync, realpathSync} from 'node:fs';
import path from 'node:path';
import type {ForeignWord, PermissionMode} from '../core/contract/events.ts';
import type {HookSetting} from '../core/contract/hook.ts';
import type {Claim, Trusts} from '../core/contract/permission.ts';
import type {ToolFacts} from '../core/contract/tool-facts.ts';
import {QUEUE_SECRET} from '../core/secrets/known-secrets.ts';
import {tryOr, UsageError} from '../core/util/errors.ts';
import {withoutUndefined} from '../core/util/objects.ts';
import {findLinkOut, listProjectFolders} from '../core/util/paths.ts';
import {formatProblem, type Problem, toForeignWord} from '../core/util/problem.ts';
import {showControls} from '../core/util/text.ts';
import {findFolder, readClaudeSettings} from './claude-settings.ts';
import type {ForeignSettings} from './foreign-settings.ts';
import {readHookSettings} from './hook-settings.ts';
import {
  isRead,
  type LayerName,
  type LayerSource,
  type Leaf,
  mergeLayers,
  SETTING_SOURCES,
  type SettingSource,
  toTree,
} from './layers.ts';
import {type SettingsValues, settingsSchema} from './schema.ts';
import {formatPath, NEEDS_TRUST, TRUSTED_BY_ENTRY, USERS_OWN} from './setting-keys.ts';
import {readSettingsFile, remove, type SettingsFile, valueAt} from './settings-file.ts';

export type Settings = DeepReadonly<SettingsValues>;

type DeepReadonly<T> = T extends object ? {readonly [K in keyof T]: DeepReadonly<T[K]>} : T;

export interface LoadedSettings {
  /** The values that files set. */
  readonly settings: Settings;
  /** Warnings for the user, one line each. */
  readonly warnings: readonly string[];
  /** Unknown keys of --settings. Their texts are among the warnings. */
  readonly foreignWords: readonly ForeignWord[];
  /** Permission mode that --settings names, and the least mode of the sandbox that goes with it. */
  readonly mode?: PermissionMode;
  readonly sandboxMode?: 'auto';
  /** Each value of `settings`, with the files that it comes from. */
  readonly origins: readonly Leaf[];
  /** All files that were looked for, the strongest last. */
  readonly files: readonly (LayerSource & {readonly found: boolean})[];
  /** Variables with keys of model servers (`apiKeyEnv`) and with the secret of the queue. */
  readonly keyNames: readonly string[];
  /** Values in files of the project that need trust, whether they are trusted or not. */
  readonly claims: readonly Claim[];
  /** Further directories that agents may use, named by `.claude/settings.json` and `--settings`. */
  readonly directories: readonly string[];
  /** Hooks of all files, except those that are not trusted. All of them run. */
  readonly hooks: readonly HookSetting[];
  /** True when `.claude/settings.json` starts sessions in plan mode. */
  readonly isPlan: boolean;
  /** Unknown parts of `.claude/settings.json`. */
  readonly hints: readonly Problem[];
}

export interface SettingsOptions {
  /** `~/.mini-cc`, or the folder that `MINI_CC_HOME` names. */
  readonly home: string;
  readonly cwd: string;
  /** Home directory of the user, which contains `.claude`. When absent, nothing there is read. */
  readonly userHome?: string;
  /** All tools that rules may name. */
  readonly tools: readonly ToolFacts[];
  /** Value of `--settings`: a file, or its text when it begins with `{`. */
  readonly explicit?: string;
  /** True when a program sends `explicit`. Default: false. */
  readonly isDriven?: boolean;
  /** Value of `--managed-settings`: a file, or its text. */
  readonly managed?: string;
  /** Value of `--setting-sources`. Default: all. */
  readonly sources?: readonly SettingSource[];
  /** Says what the user trusts of the project's files. Default: nothing. */
  readonly trusts?: Trusts;
}

/** Most errors that are printed. */
const MAX_ERRORS = 10;

/**
 * Loads the settings. Stronger layers win, key by key.
 * @throws UsageError for wrong files, with a line for each mistake
 */
export function loadSettings(options: SettingsOptions): LoadedSettings {
  const warnings: string[] = [];
  const foreignWords: ForeignWord[] = [];
  const errors: string[] = [];
  const keyNames: string[] = [];
  const claims: Claim[] = [];
  const [projectRoot = options.cwd] = listProjectFolders(options.cwd);
  const isFollowed = ({file, isProjects}: Pick<SourceFile, 'file' | 'isProjects'>) => {
    const target = isProjects && existsSync(file) ? findLinkOut(file, projectRoot) : undefined;
    if (target !== undefined) warnings.push(`${file} is a link out of the project, to ${target}: it is not followed`);
    return target === undefined;
  };
  const claude = readClaudeLayers(options, isFollowed);
  for (const {claims: own} of claude) claims.push(...own);
  const files = layerFiles(options)
    .filter(isFollowed)
    .map(({text, ...source}) => ({
      ...source,
      read: readSettingsFile(source.file, text, {
        tools: options.tools,
        isForeign: source.layer === 'command line' || source.layer === 'managed',
        isDriven: options.isDriven === true && source.layer === 'command line',
      }),
    }));
  const providers = getProviderNames(files.filter(({isProjects}) => isProjects).map(({read}) => read.values));
  const own = files.map(({file, layer, isProjects, read}) => {
    foreignWords.push(...sortProblems(read, layer, errors, warnings));
    if (layer === 'managed') errors.push(...listNotManaged(read, file));
    // A required sandbox of the user stays.
    const isRequired = files.some((each) => each.read.values.sandbox?.mode === 'required');
    if (layer === 'managed' && isRequired) Object.assign(read.values, {sandbox: {mode: 'required'}});
    if (isProjects) dropUsersOwn(read, file, warnings);
    if (isProjects) claims.push(...dropUntrusted(read, file, providers, options.trusts));
    keyNames.push(...getKeyNames(read));
    const {hooks, problems} = readHookSettings(read.values.hooks, file);
    warnings.push(...problems.map((problem) => `${file}: ${problem}; it is ignored`));
    return {file, layer, isProjects, hooks, found: read.found, values: read.values};
  });
  if (errors.length > 0) throw new UsageError(showControls(limitErrors(errors).join('\n')));
  const foreign = readForeign(files.find(({layer}) => layer === 'command line')?.read.foreign, options, warnings);
  // If one layer has two files, the one of mini-cc is stronger.
  const names: LayerName[] = [...SETTING_SOURCES, 'command line', 'managed'];
  const layers = [...claude, ...own].sort((a, b) => names.indexOf(a.layer) - names.indexOf(b.layer));
  const origins = mergeLayers(layers, options.tools);
  return deepFreeze({
    settings: settingsSchema.parse(toTree(origins)),
    warnings: warnings.map(showControls),
    foreignWords: [...foreignWords, ...foreign.foreignWords],
    ...withoutUndefined({mode: foreign.mode, sandboxMode: foreign.sandboxMode}),
    origins,
    files: layers.map(({file, layer, found}) => ({file, layer, found})),
    keyNames,
    claims,
    directories: [...claude.flatMap((each) => each.directories), ...foreign.directories],
    hooks: [...claude, ...own].flatMap((each) => each.hooks),
    isPlan: claude.some((each) => each.isPlan),
    hints: claude.flatMap((each) => each.hints),
  });
}

/**
 * Adds what is wrong in a file to errors and warnings. What a program sets above all others must hold, so that an unknown
 * key there is an error. @returns the unknown keys of --settings
 */
function sortProblems({problems}: SettingsFile, layer: LayerName, errors: string[], warnings: string[]): ForeignWord[] {
  return problems
    .toSorted((a, b) => a.line - b.line || a.column - b.column)
    .flatMap((problem) => {
      const text = formatProblem(problem);
      (problem.severity === 'error' || layer === 'managed' ? errors : warnings).push(text);
      return layer === 'command line' ? toForeignWord(problem) : [];
    });
}

/** Finds the folders that --settings names, and adds warnings about what it says in Claude Code's words. */
function readForeign(
  foreign: ForeignSettings | undefined,
  {cwd, userHome = cwd}: SettingsOptions,
  warnings: string[],
): ForeignSettings {
  if (!foreign) return {directories: [], foreignWords: []};
  const foreignWords = foreign.foreignWords.map((word) => ({...word, text: `--settings: ${word.text}`}));
  warnings.push(...foreignWords.map(({text}) => text));
  const directories = foreign.directories.flatMap((written) => {
    const folder = findFolder(written, cwd, userHome);
    if (folder === undefined) {
      warnings.push(`--settings: permissions.additionalDirectories: there is no folder ${written}`);
    }
    return folder ?? [];
  });
  return {...foreign, directories, foreignWords};
}

/**
 * Reads `.claude/settings.json` of the user and of the project, if they exist. Untrusted parts of the project's file
 * are left out.
 */
function readClaudeLayers(
  {cwd, userHome, sources, tools, trusts = () => false}: SettingsOptions,
  isFollowed: (source: Pick<SourceFile, 'file' | 'isProjects'>) => boolean,
) {
  if (userHome === undefined) return [];
  const [users, projects] = [userHome, cwd].map((folder) => path.join(folder, '.claude', 'settings.json')) as [
    string,
    string,
  ];
  const isHome = getRealPath(path.dirname(users)) === getRealPath(path.dirname(projects));
  const files = [
    {file: users, layer: 'user' as const, isProjects: false},
    ...(isHome ? [] : [{file: projects, layer: 'project' as const, isProjects: true}]),
  ];
  return files
    .filter(({layer}) => isRead(layer, sources))
    .filter(isFollowed)
    .flatMap((source) => {
      const {found, rules, disable, directories, hooks, ...read} = readClaudeSettings(source.file, {
        cwd,
        home: userHome,
        tools,
      });
      if (!found) return [];
      const asked = [
        {file: source.file, key: 'permissions.allow', value: rules.allow ?? []},
        {file: source.file, key: 'permissions.additionalDirectories', value: directories},
        {file: source.file, key: 'hooks', value: hooks},
      ].filter(({value}) => value.length > 0);
      const claims = source.isProjects ? asked : [];
      const isDropped = (key: string) => claims.some((claim) => claim.key === key && !trusts(claim));
      const {allow, ...others} = rules;
      const permissions = {...others, ...disable, ...(allow && !isDropped('permissions.allow') && {allow})};
      const kept = isDropped('permissions.additionalDirectories') ? [] : directories;
      const used = {directories: kept, hooks: isDropped('hooks') ? [] : hooks};
      return [{...source, ...read, found, claims, ...used, values: {permissions}}];
    });
}

interface SourceFile extends LayerSource {
  /** True when the file belongs to the project, and not to the user. */
  readonly isProjects: boolean;
  /** Text of the settings when they were typed on the command line. */
  readonly text?: string;
}

/** Lists the files, the weakest first. */
function layerFiles({home, cwd, explicit, managed, sources}: SettingsOptions): SourceFile[] {
  const project = path.join(cwd, '.mini-cc');
  // When mini-cc starts in the home directory, the project's folder is the user's own.
  const isHome = getRealPath(project) === getRealPath(home);
  const files: (SourceFile & {readonly layer: SettingSource})[] = [
    {file: path.join(home, 'settings.json'), layer: 'user', isProjects: false},
    ...(isHome ? [] : [{file: path.join(project, 'settings.json'), layer: 'project', isProjects: true} as const]),
    {file: path.join(project, 'settings.local.json'), layer: 'local', isProjects: !isHome},
  ];
  const read = files.filter(({layer}) => isRead(layer, sources));
  const typed = (layer: LayerName, flag: string, value: string | undefined): SourceFile[] => {
    if (value === undefined) return [];
    const isText = value.trimStart().startsWith('{');
    return [{...(isText ? {file: flag, text: value} : {file: path.resolve(cwd, value)}), layer, isProjects: false}];
  };
  return [
    ...read,
    ...typed('command line', '--settings', explicit),
    ...typed('managed', '--managed-settings', managed),
  ];
}

/**
 * Settings that a program puts above all others may only narrow what a session does. Any other key in them is an error.
 */
function listNotManaged({values, foreign}: SettingsFile, file: string): string[] {
  const {
    permissions: {deny: _, ask: _ask, disableBypassPermissionsMode: _mode, ...rules} = {},
    sandbox: {mode, ...more} = {},
    ...rest
  } = values;
  const wrong = [
    ...Object.keys(rest),
    ...Object.keys(rules).map((key) => `permissions.${key}`),
    ...Object.keys(more).map((key) => `sandbox.${key}`),
    ...(mode === 'off' ? ['sandbox.mode: off'] : []),
    ...(foreign?.mode ? ['permissions.defaultMode'] : []),
    ...(foreign?.directories.length ? ['permissions.additionalDirectories'] : []),
  ];
  return wrong.map(
    (key) =>
      `${file}: ${key}: managed settings take permissions.deny, ask and disableBypassPermissionsMode, and sandbox, alone`,
  );
}

function getRealPath(folder: string): string {
  // When the folder does not exist or cannot be entered, reading files in it reports that.
  return tryOr(() => realpathSync(folder), path.resolve(folder));
}

function dropUsersOwn({values}: SettingsFile, file: string, warnings: string[]): void {
  for (const key of USERS_OWN) {
    if (remove(values, key.split('.'))) warnings.push(`${file}: ${key} is ignored: only your own settings may say it`);
  }
}

/** Removes what is not trusted. @returns everything in the file that needs trust */
function dropUntrusted(
  {values}: SettingsFile,
  file: string,
  providers: ReadonlySet<string>,
  trusts: Trusts = () => false,
): Claim[] {
  const keys = NEEDS_TRUST.flatMap((key) => {
    const path = key.split('.');
    return TRUSTED_BY_ENTRY.includes(key)
      ? Object.keys(valueAt(values, path) ?? {}).map((name) => [...path, name])
      : [path];
  });
  const paths = [...keys, ...findModelClaims(values, providers)];
  return paths.flatMap((path) => {
    const value = valueAt(values, path);
    if (value === undefined) return [];
    const claim = {file, key: formatPath(path), value};
    if (!trusts(claim)) remove(values, path);
    return [claim];
  });
}

function getKeyNames({values: {providers = {}, agents = {}, subagents}}: SettingsFile): string[] {
  const keys = [...Object.values(providers), ...Object.values(agents)].flatMap(({apiKeyEnv}) => apiKeyEnv ?? []);
  return subagents?.queue ? [...keys, subagents.queue.secretEnv ?? QUEUE_SECRET] : keys;
}

function limitErrors(errors: readonly string[]): string[] {
  const more = errors.length - MAX_ERRORS;
  return more > 0 ? [...errors.slice(0, MAX_ERRORS), `and ${more} more`] : [...errors];
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const each of Object.values(value)) deepFreeze(each);
  }
  return value;
}

type Values = Partial<SettingsValues>;

function getProviderNames(files: readonly Values[]): ReadonlySet<string> {
  return new Set(files.flatMap(({providers = {}}) => Object.keys(providers)));
}

/**
 * Lists the paths of models of these providers, and of keys that agents name. They count when the user trusts them.
 * @param providers providers of the project's own files
 */
function findModelClaims(values: Values, providers: ReadonlySet<string>): readonly (readonly string[])[] {
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
