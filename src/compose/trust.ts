/** Asks the user once whether what a project's files ask for may take effect. Until the user agrees, it does not. */
import {randomUUID} from 'node:crypto';
import {homedir} from 'node:os';
import path from 'node:path';
import {listAgentClaims} from '../agents/catalog.ts';
import {listNotesClaims} from '../agents/notes.ts';
import {isRead} from '../config/layers.ts';
import {memoryClaims} from '../config/memory-files.ts';
import type {LoadedSettings} from '../config/settings.ts';
import {DirectoryTrust, type TrustState} from '../config/trust.ts';
import type {Question} from '../core/contract/events.ts';
import type {Claim} from '../core/contract/permission.ts';
import type {Plugin} from '../core/contract/plugin.ts';
import {MiniCcError} from '../core/util/errors.ts';
import {showControls} from '../core/util/text.ts';
import {readProjectEntries} from '../extensions/mcp/entry-files.ts';
import {listPromptClaims} from '../extensions/prompts/find-prompts.ts';
import {alternatesClaims} from '../sandbox/view/repository-folders.ts';
import {AGENT_TOOLS, ALL_TOOLS} from './known-tools.ts';
import {readSettings, type SessionOptions} from './options.ts';
import {findPlugins} from './plugins.ts';

interface TrustedSettings extends LoadedSettings {
  readonly trust: DirectoryTrust;
  /** Plugins that are in use. Their hooks are among `hooks`. */
  readonly plugins: readonly Plugin[];
  /** Warnings about trust, which are also among `warnings`. */
  readonly trustWarnings: readonly string[];
}

/**
 * Loads the settings of a directory, with what its user trusts of them. If a person can be asked, they are asked about
 * what they have not answered yet.
 * @throws UsageError for settings that are wrong, MiniCcError `WITHDRAWN` when the person left instead of answering
 */
export async function loadTrustedSettings(options: SessionOptions, root: string): Promise<TrustedSettings> {
  const loaded = await loadWithTrust(options, root);
  const {plugins, warnings} = await findPlugins(options, loaded.settings);
  const hooks = [...loaded.hooks, ...plugins.flatMap((plugin) => plugin.hooks)];
  return {...loaded, hooks, plugins, warnings: [...loaded.warnings, ...warnings]};
}

async function loadWithTrust(options: SessionOptions, root: string): Promise<Omit<TrustedSettings, 'plugins'>> {
  const trust = new DirectoryTrust(options.home, root);
  const read = () => readSettings(options, root, trust.trusts);
  const first = read();
  const claims = getClaims(options, root, first);
  if (claims.length === 0) return {...first, trust, trustWarnings: []};
  const open = claims.filter((claim) => needsAnswer(trust, claim, options.trust ?? false));
  const problems = open.length > 0 ? await askForTrust(open, trust, options) : [];
  // The answer is about the values that were shown. The files may have changed since, so they are read again.
  const loaded = open.length > 0 ? read() : first;
  const trustWarnings = formatWarnings(checkTrust(options, trust, loaded), trust, options, problems);
  return {...loaded, warnings: [...loaded.warnings, ...trustWarnings], trust, trustWarnings};
}

/** @returns what the user should know, one line each */
async function askForTrust(
  open: readonly Claim[],
  trust: DirectoryTrust,
  {trust: isTrusting, ask}: SessionOptions,
): Promise<(string | undefined)[]> {
  if (isTrusting) return [`trusted from now on: ${listClaims(open, trust)}`, await trust.remember(open, 'trusted')];
  if (!ask) return [];
  const answer = await ask(createQuestion(open, trust));
  if (answer === 'withdrawn') throw new MiniCcError('WITHDRAWN', 'left before this directory was trusted or not');
  if (answer.choice === 'trust') return [await trust.remember(open, 'trusted')];
  return answer.choice === 'never' ? [await trust.remember(open, 'refused')] : [];
}

/** Finds what takes effect only when it is trusted, and what of it is ignored. `problem` is that of `trust.json`. */
function checkTrust(
  options: Pick<SessionOptions, 'home' | 'settingSources'>,
  trust: DirectoryTrust,
  settings: Pick<LoadedSettings, 'claims'>,
) {
  const claims = getClaims(options, trust.directory, settings);
  const problem = claims.length > 0 ? trust.problem : undefined;
  return {claims, problem, ignored: claims.filter((claim) => !trust.trusts(claim))};
}

/** @param answered lines about what the user has just answered @returns what the user should know, one line each */
function formatWarnings(
  {problem, ignored}: ReturnType<typeof checkTrust>,
  trust: DirectoryTrust,
  {interactive}: Pick<SessionOptions, 'interactive'>,
  answered: readonly (string | undefined)[] = [],
): string[] {
  const how = interactive ? 'mini-cc --trust' : HOW_TO_TRUST;
  const lines = [
    problem,
    ...answered,
    ignored.length > 0 ? `${describeIgnored(ignored, trust)}. To trust what they say: ${how}` : undefined,
  ];
  return lines.filter((line) => line !== undefined).map(toOneLine);
}

const HOW_TO_TRUST = '--trust, or start mini-cc in a terminal';

function describeIgnored(ignored: readonly Claim[], trust: DirectoryTrust): string {
  return `ignored, as this directory is not trusted: ${listClaims(ignored, trust)}`;
}

/**
 * Lists for people the keys of a directory that need trust, each with its state. Values are left out because they may
 * contain tokens.
 */
interface EffectiveTrust {
  readonly directory: string;
  readonly keys: readonly {readonly file: string; readonly key: string; readonly state: TrustState}[];
  /** One line each. */
  readonly warnings: readonly string[];
}

/** Returns the problems with trust, one line each, and how to repair them. */
export function getTrustProblems(
  home: string,
  trust: DirectoryTrust,
  settings: Pick<LoadedSettings, 'claims'>,
): {readonly text: string; readonly remedy: string}[] {
  const {problem, ignored} = checkTrust({home}, trust, settings);
  return [
    ...(problem === undefined ? [] : [{text: toOneLine(problem), remedy: 'repair or delete that file'}]),
    ...(ignored.length === 0
      ? []
      : [{text: toOneLine(describeIgnored(ignored, trust)), remedy: `${HOW_TO_TRUST}, if you trust what they say`}]),
  ];
}

export function getEffectiveTrust(
  home: string,
  trust: DirectoryTrust,
  settings: Pick<LoadedSettings, 'claims'>,
): EffectiveTrust {
  const checked = checkTrust({home}, trust, settings);
  return {
    directory: trust.directory,
    keys: checked.claims.map((claim) => ({file: claim.file, key: claim.key, state: trust.getState(claim)})),
    warnings: formatWarnings(checked, trust, {interactive: false}),
  };
}

/** Returns everything that takes effect only when it is trusted. */
function getClaims(
  {home, settingSources}: Pick<SessionOptions, 'home' | 'settingSources'>,
  root: string,
  {claims}: Pick<LoadedSettings, 'claims'>,
): Claim[] {
  // Files that are not read ask for nothing.
  const ofProject = isRead('project', settingSources)
    ? [
        ...listAgentClaims({cwd: root, home: homedir(), miniCcHome: home}, AGENT_TOOLS),
        ...memoryClaims(root),
        ...listNotesClaims(root),
        ...readProjectEntries(root).claims,
        ...listPromptClaims({cwd: root, home: homedir(), miniCcHome: home, tools: ALL_TOOLS}),
      ]
    : [];
  return [...claims, ...ofProject, ...alternatesClaims(root, homedir())];
}

/** Whether the user has to answer. `--trust` also trusts what they refused before. */
function needsAnswer(trust: DirectoryTrust, claim: Claim, alsoRefused: boolean): boolean {
  const state = trust.getState(claim);
  return state === 'new' || state === 'changed' || (alsoRefused && state === 'refused');
}

function createQuestion(claims: readonly Claim[], trust: DirectoryTrust): Question {
  const files = Map.groupBy(claims, ({file}) => file);
  const blocks = [...files].map(([file, own]) =>
    [path.relative(trust.directory, file), ...own.map((claim) => formatValue(claim, trust))].join('\n'),
  );
  return {
    id: randomUUID(),
    agent: 'mini-cc',
    title: 'Do you trust what the files of this directory ask for?',
    detail: [`${trust.directory}\nIt could run code on this machine, or send data elsewhere:`, ...blocks].join('\n\n'),
    detailType: 'text',
    options: [
      {digit: 1, choice: 'trust', label: 'yes, until it changes'},
      {digit: 2, choice: 'no', label: 'no, ignore it this time'},
      {digit: 3, choice: 'never', label: 'no, and ask again only when it changes'},
    ],
    escape: 'no',
    enter: 'no',
  };
}

/** A longer value is printed on several lines. */
const MAX_LINE_CHARS = 60;

function formatValue(claim: Claim, trust: DirectoryTrust): string {
  const changed = trust.getState(claim) === 'changed' ? ' (changed since you trusted it)' : '';
  const short = JSON.stringify(claim.value);
  const value = short.length <= MAX_LINE_CHARS ? short : JSON.stringify(claim.value, null, 2);
  return `${claim.key}${changed}: ${value}`.replaceAll(/^/gm, '  ');
}

/** File names may contain line breaks, after which the rest would look like lines of mini-cc. */
function toOneLine(text: string): string {
  return showControls(text).replaceAll(/\s/g, ' ');
}

/** Formats `.mini-cc/settings.json: hooks, providers; …`. */
function listClaims(claims: readonly Claim[], {directory}: DirectoryTrust): string {
  const files = Map.groupBy(claims, ({file}) => file);
  return [...files]
    .map(([file, own]) => `${path.relative(directory, file)}: ${own.map(({key}) => key).join(', ')}`)
    .join('; ');
}
