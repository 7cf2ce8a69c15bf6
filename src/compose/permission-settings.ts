/** Reads from the command line and the settings what concerns permissions: rules, the sandbox, folders. */

import {realpathSync, statSync} from 'node:fs';
import {homedir} from 'node:os';
import path from 'node:path';
import type {LoadedSettings, Settings} from '../config/settings.ts';
import type {ForeignWord} from '../core/contract/events.ts';
import type {RuleKind, Trusts} from '../core/contract/permission.ts';
import type {PermissionSandbox} from '../core/permissions/context.ts';
import type {ZonePaths} from '../core/permissions/files/file-zone.ts';
import {expandHome} from '../core/permissions/files/resolve-links.ts';
import {expandToolNames, getRuleWarning, parseRule, RULE_KINDS, type Rule} from '../core/permissions/rules/rule.ts';
import {RuleBook} from '../core/permissions/rules/rule-book.ts';
import type {Redactor} from '../core/secrets/redaction.ts';
import {getSecretPaths} from '../core/secrets/secret-paths.ts';
import {tryOr, UsageError} from '../core/util/errors.ts';
import {findTypo, formatMeant} from '../core/util/names.ts';
import {findTool, listMissingTools} from '../core/util/tool-names.ts';
import {confinedEnvironment} from '../sandbox/environment.ts';
import {type AllowedHosts, createSandbox, type Sandbox} from '../sandbox/index.ts';
import {findSystemSecrets, getPackageStores, getSystemFolders} from '../sandbox/view/system-folders.ts';
import {SavedRules} from '../storage/saved-rules.ts';
import {getProjectFolder} from '../storage/sessions/session-store.ts';
import {refusePrivateAddress} from '../tools/web/web-address.ts';
import {AGENT_TOOLS, ALL_TOOLS} from './known-tools.ts';
import type {SessionOptions} from './options.ts';

/** Returns which tools subagents may have. @param only tools of `--tools` */
export function getToolRules({settings: {subagents}}: LoadedSettings, rules: RuleBook, only?: readonly string[]) {
  const {allow, deny = []} = subagents?.tools ?? {};
  const denied = expandToolNames(deny, AGENT_TOOLS);
  const names = AGENT_TOOLS.map(({name}) => name);
  const forbidden = names.filter((tool) => rules.forbids(tool) || only?.includes(tool) === false);
  return {
    deny: [...denied, ...forbidden],
    ...(allow === undefined || allow.includes('*') ? {} : {allow: expandToolNames(allow, AGENT_TOOLS)}),
  };
}

/**
 * Creates the rules of the command line and the settings, and those that the user saved in this project.
 * @param root the project's folder, with links resolved
 * @throws UsageError for an invalid rule of the command line. Rules of files were checked when they were read
 */
export function createRules(options: SessionOptions, loaded: LoadedSettings, root: string, redactor: Redactor) {
  const saved = new SavedRules(getProjectFolder(options.home, root), root, redactor);
  const {rules, warning} = saved.read();
  const typed = [
    ...(options.allowedTools ?? []).map((text) => parseTypedRule(text, 'allow', '--allowed-tools')),
    ...(options.disallowedTools ?? []).map((text) => parseTypedRule(text, 'deny', '--disallowed-tools')),
  ];
  const all = [
    ...typed.flatMap(({rule}) => rule ?? []),
    ...getSettingsRules(loaded),
    ...RULE_KINDS.flatMap((kind) => (rules[kind] ?? []).flatMap((text) => parseCheckedRule(text, kind, saved.source))),
  ];
  return {
    rules: new RuleBook(all, ALL_TOOLS, saved),
    foreignWords: typed.flatMap((each) => each.foreign ?? []),
    warnings: warning === undefined ? [] : [warning],
  };
}

/**
 * Parses a rule of the command line. An unknown tool name is only a warning, because command lines of Claude Code name
 * other tools. A deny rule with such a name still applies.
 */
function parseTypedRule(text: string, kind: RuleKind, source: string): {rule?: Rule; foreign?: ForeignWord} {
  const read = parseRule(text, ALL_TOOLS);
  if (!('problem' in read)) {
    const warning = getRuleWarning(read, ALL_TOOLS);
    const rule = {kind, text, source, ...read};
    return warning === undefined ? {rule} : {rule, foreign: missingTool(read.tool, `${source}: ${warning}`)};
  }
  const meant = read.suggestion === undefined ? '' : ` (did you mean ${read.suggestion}?)`;
  if (!read.unknown) throw new UsageError(`${source}: ${read.problem}${meant}`);
  const [tool = ''] = text.trim().split('(');
  const effect = kind === 'deny' ? 'refuses nothing now; it stays, for a tool of this name' : 'has no effect';
  return {
    ...(kind === 'deny' && {rule: {kind, text, source, tool}}),
    foreign: missingTool(tool, `${source}: ${read.problem}, so that this rule ${effect}${meant}`),
  };
}

function missingTool(name: string, text: string): ForeignWord {
  return {kind: 'tool', name, text};
}

/**
 * @param asked tools of `--tools`. A name that mini-cc lacks is a warning, since Claude Code has other tools
 * @throws UsageError for a name that is known but for a typing mistake
 */
export function chooseTools(asked: readonly string[] | undefined) {
  const names = AGENT_TOOLS.map(({name}) => name);
  const others = AGENT_TOOLS.flatMap(({claude, aliases = []}) => [claude?.name ?? [], aliases].flat());
  const missing = listMissingTools(AGENT_TOOLS);
  const unknown = (asked ?? []).filter((name) => !findTool(name, AGENT_TOOLS));
  const typo = unknown.find((name) => !missing.includes(name) && findTypo(name, [...names, ...others]) !== undefined);
  if (typo !== undefined) {
    const meant = formatMeant(typo, [...names, ...others]);
    throw new UsageError(`--tools has no ${JSON.stringify(typo)}${meant}: ${names.join(', ')}`);
  }
  return {
    only: asked?.flatMap((name) => findTool(name, AGENT_TOOLS)?.name ?? []),
    foreignWords: unknown.map((name) => missingTool(name, `--tools: mini-cc has no tool ${name}`)),
  };
}

/** Returns the rules of the settings, each with the files that contain it. */
function getSettingsRules({origins}: LoadedSettings): Rule[] {
  return RULE_KINDS.flatMap((kind) =>
    origins
      .filter(({path}) => path.join('.') === `permissions.${kind}`)
      .flatMap(({value, from}) => {
        const source = from.map(({file}) => file).join(', ');
        return (value as readonly string[]).flatMap((text) => parseCheckedRule(text, kind, source));
      }),
  );
}

/** Parses a rule that was checked before. A rule of a newer version that this one cannot parse is left out. */
function parseCheckedRule(text: string, kind: RuleKind, source: string): Rule[] {
  const read = parseRule(text, ALL_TOOLS);
  return 'problem' in read ? [] : [{kind, text, source, ...read}];
}

/** Name or address of a host, without scheme and port. */
const HOST = /^(?:\*\.)?[\w-]+(?:\.[\w-]+)*$|^[\da-f:]*:[\da-f:.]*$/i;

interface SandboxPlaces {
  /** Folder with sessions and settings of mini-cc, which no confined command sees. */
  readonly miniCcHome: string;
  /** Folder of the workspace. Absent where only the state of the sandbox is asked for. */
  readonly root?: string;
  /** What the user trusts of the project's files. Default: nothing. */
  readonly trusts?: Trusts;
  /** Folder in which it is kept whether a sandbox works. */
  readonly knownIn?: string;
}

/** @throws UsageError for an allowed host that is not a host name, and for a hidden path that is a pattern */
export function createSessionSandbox(
  settings: Settings,
  {miniCcHome, root, trusts = () => false, knownIn}: SandboxPlaces,
): Sandbox {
  const {show = [], env = [], unixSockets = false, allowedHosts: names = []} = settings.sandbox ?? {};
  const hide = listHiddenPaths(settings, root);
  const wrong = names.find((name) => !HOST.test(name));
  if (wrong !== undefined) {
    throw new UsageError(
      `sandbox.allowedHosts: ${JSON.stringify(wrong)} is no name of a host: write example.com, or *.example.com for all below it`,
    );
  }
  const hosts: AllowedHosts = {
    names,
    mayResolveTo: (host, address) =>
      tryOr(() => {
        refusePrivateAddress(host, address, () => true);
        return true;
      }, false),
  };
  return createSandbox({home: homedir(), miniCcHome, show, hide, env, trusts, hosts, unixSockets, knownIn});
}

/**
 * Returns the paths of `sandbox.hide`, absolute. A relative path is hidden in the home and in the workspace, because its
 * file does not say which one is meant.
 * @throws UsageError for a pattern, which would hide nothing
 */
function listHiddenPaths({sandbox: {hide = []} = {}}: Settings, root?: string): readonly string[] {
  const pattern = hide.find((each) => /[*?[]/.test(each));
  if (pattern !== undefined)
    throw new UsageError(`sandbox.hide: ${JSON.stringify(pattern)} is a pattern: write the paths, one by one`);
  const bases = root === undefined ? [homedir()] : [homedir(), root];
  return hide.flatMap((each) => bases.map((base) => path.resolve(base, expandHome(each))));
}

/**
 * Returns the folders beside the workspace that file tools read without a question, and the places that they do not:
 * those with keys, and those that the settings hide.
 */
export function getZoneFolders(
  settings: Settings,
  {miniCcHome, root}: Pick<SandboxPlaces, 'miniCcHome' | 'root'>,
): Pick<ZonePaths, 'secretPaths' | 'systemFolders'> {
  const home = homedir();
  return {
    secretPaths: [...getSecretPaths(home, miniCcHome), ...findSystemSecrets(), ...listHiddenPaths(settings, root)],
    systemFolders: [...getSystemFolders(), ...getPackageStores(home, process.env)],
  };
}

/** Milliseconds for which an answer about visible places holds: it decides what is asked about, and confines nothing. */
const VISIBLE_MS = 50;

/** @param variables names of variables that the user allows for confined commands */
export function createPermissionSandbox(
  sandbox: Sandbox,
  {container: isContainer = false, env: variables = []}: NonNullable<Settings['sandbox']> = {},
): PermissionSandbox {
  let last: {readonly scope: string; readonly at: number; readonly isVisible: (place: string) => boolean} | undefined;
  return {
    isContainer,
    available: async () => (await sandbox.status()).available,
    visibleIn: (workspace) => {
      const {root, extraRoots, seen, env} = workspace;
      // A command can read what an earlier one left in the temporary folder.
      const scope = JSON.stringify([root, extraRoots, seen, env, sandbox.folder.list()]);
      const at = performance.now();
      if (last?.scope !== scope || at - last.at >= VISIBLE_MS)
        last = {scope, at, isVisible: sandbox.visibleIn(workspace)};
      return last.isVisible;
    },
    keepsVariable: (name, value) => name in confinedEnvironment({[name]: value}, variables),
  };
}

/**
 * Returns the path of a folder with links resolved. @param root start of a relative path. @throws UsageError when there
 * is no such folder
 */
export function getExistingFolder(folder: string, root: string): string {
  const found = path.resolve(root, folder);
  if (!statSync(found, {throwIfNoEntry: false})?.isDirectory()) throw new UsageError(`no such folder: ${folder}`);
  return realpathSync(found);
}
