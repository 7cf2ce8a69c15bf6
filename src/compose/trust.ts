/** What a project's files ask for is put before the user, once, before anything is made of it. */
import {randomUUID} from 'node:crypto';
import {homedir} from 'node:os';
import path from 'node:path';
import {listAgentClaims} from '../agents/catalog.ts';
import {memoryClaims} from '../config/memory-files.ts';
import type {LoadedSettings} from '../config/settings.ts';
import {DirectoryTrust, type TrustState} from '../config/trust.ts';
import type {Question} from '../core/contract/events.ts';
import type {Claim} from '../core/contract/trust.ts';
import {showControls} from '../core/util/control-characters.ts';
import {MiniCcError} from '../core/util/errors.ts';
import {type SessionOptions, settingsOf} from './options.ts';

export interface Trusted extends LoadedSettings {
  readonly trust: DirectoryTrust;
  /** What of `warnings` is about trust. */
  readonly aboutTrust: readonly string[];
}

/**
 * The settings of a directory, with what its user trusts of them. Where a person can be asked, they are, about what
 * nothing was said yet.
 * @throws UsageError for settings that are wrong, MiniCcError `WITHDRAWN` when the person left instead of answering
 */
export async function settingsTrusted(options: SessionOptions, root: string): Promise<Trusted> {
  const trust = new DirectoryTrust(options.home, root);
  const read = () => settingsOf(options, root, trust.trusts);
  const first = read();
  const claims = claimsOf(options, root, first);
  if (claims.length === 0) return {...first, trust, aboutTrust: []};
  const open = claims.filter((claim) => isOpen(trust, claim, options.trust ?? false));
  const said = open.length > 0 ? await judge(open, trust, options) : [];
  // Judged were the values that were shown: what the files say by now is compared with them.
  const loaded = open.length > 0 ? read() : first;
  const ignored = claimsOf(options, root, loaded).filter((claim) => !trust.trusts(claim));
  const lines = [trust.problem, ...said, ignored.length > 0 ? ignoredLine(ignored, trust, options) : undefined];
  const aboutTrust = lines.filter((line) => line !== undefined).map(asOneLine);
  return {...loaded, warnings: [...loaded.warnings, ...aboutTrust], trust, aboutTrust};
}

/** @returns what the user should know of it, one line each. */
async function judge(
  open: readonly Claim[],
  trust: DirectoryTrust,
  {trust: isTrusting, ask}: SessionOptions,
): Promise<(string | undefined)[]> {
  if (isTrusting) return [`trusted from now on: ${named(open, trust)}`, trust.remember(open, 'trusted')];
  if (!ask) return [];
  const answer = await ask(questionAbout(open, trust));
  if (answer === 'withdrawn') throw new MiniCcError('WITHDRAWN', 'left before this directory was trusted or not');
  if (answer.choice === 'trust') return [trust.remember(open, 'trusted')];
  return answer.choice === 'never' ? [trust.remember(open, 'refused')] : [];
}

/** What is ignored for want of trust, and how to trust it. */
export function ignoredLine(
  ignored: readonly Claim[],
  trust: DirectoryTrust,
  {interactive}: Pick<SessionOptions, 'interactive'>,
): string {
  const how = interactive ? 'mini-cc --trust' : HOW_TO_TRUST;
  return `${ignoredWords(ignored, trust)}. To trust what they say: ${how}`;
}

const HOW_TO_TRUST = '--trust, or start mini-cc in a terminal';

function ignoredWords(ignored: readonly Claim[], trust: DirectoryTrust): string {
  return `ignored, as this directory is not trusted: ${named(ignored, trust)}`;
}

/** How what needs trust stands in a directory, for people to read. Values may hold tokens and are left out. */
export interface EffectiveTrust {
  readonly directory: string;
  readonly keys: readonly {readonly file: string; readonly key: string; readonly state: TrustState}[];
  /** One line each. */
  readonly warnings: readonly string[];
}

/** What is wrong with trust, one line each, and how to mend it. */
export function trustProblems(
  home: string,
  trust: DirectoryTrust,
  settings: Pick<LoadedSettings, 'claims'>,
): {readonly text: string; readonly remedy: string}[] {
  const claims = claimsOf({home}, trust.directory, settings);
  const ignored = claims.filter((claim) => !trust.trusts(claim));
  const problem = claims.length > 0 ? trust.problem : undefined;
  return [
    ...(problem === undefined ? [] : [{text: asOneLine(problem), remedy: 'mend or delete that file'}]),
    ...(ignored.length === 0
      ? []
      : [{text: asOneLine(ignoredWords(ignored, trust)), remedy: `${HOW_TO_TRUST}, if you trust what they say`}]),
  ];
}

export function getEffectiveTrust(
  home: string,
  trust: DirectoryTrust,
  settings: Pick<LoadedSettings, 'claims'>,
): EffectiveTrust {
  const claims = claimsOf({home}, trust.directory, settings);
  const ignored = claims.filter((claim) => !trust.trusts(claim));
  const lines = [
    claims.length > 0 ? trust.problem : undefined,
    ignored.length > 0 ? ignoredLine(ignored, trust, {interactive: false}) : undefined,
  ];
  return {
    directory: trust.directory,
    keys: claims.map((claim) => ({file: claim.file, key: claim.key, state: trust.getState(claim)})),
    warnings: lines.filter((line) => line !== undefined).map(asOneLine),
  };
}

/** All that counts only where it is trusted. */
export function claimsOf(
  {home}: Pick<SessionOptions, 'home'>,
  root: string,
  {claims}: Pick<LoadedSettings, 'claims'>,
): Claim[] {
  return [...claims, ...listAgentClaims({cwd: root, home: homedir(), miniCcHome: home}), ...memoryClaims(root)];
}

/** Who says `--trust` means also what was refused for good before. */
function isOpen(trust: DirectoryTrust, claim: Claim, anew: boolean): boolean {
  const state = trust.getState(claim);
  return state === 'new' || state === 'changed' || (anew && state === 'refused');
}

function questionAbout(claims: readonly Claim[], trust: DirectoryTrust): Question {
  const files = Map.groupBy(claims, ({file}) => file);
  const blocks = [...files].map(([file, own]) =>
    [path.relative(trust.directory, file), ...own.map((claim) => valueLines(claim, trust))].join('\n'),
  );
  return {
    id: randomUUID(),
    agent: 'mini-cc',
    title: 'do you trust what the files of this directory ask for?',
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

/** Characters that a value may have to stand on one line. */
const SHORT_VALUE = 60;

function valueLines(claim: Claim, trust: DirectoryTrust): string {
  const changed = trust.getState(claim) === 'changed' ? ' (changed since you trusted it)' : '';
  const short = JSON.stringify(claim.value);
  const value = short.length <= SHORT_VALUE ? short : JSON.stringify(claim.value, null, 2);
  return `${claim.key}${changed}: ${value}`.replaceAll(/^/gm, '  ');
}

/** Names of files may hold line breaks, and would look like further lines of mini-cc's. */
function asOneLine(text: string): string {
  return showControls(text).replaceAll(/\s/g, ' ');
}

/** `.mini-cc/settings.json: hooks, providers; …` */
function named(claims: readonly Claim[], {directory}: DirectoryTrust): string {
  const files = Map.groupBy(claims, ({file}) => file);
  return [...files]
    .map(([file, own]) => `${path.relative(directory, file)}: ${own.map(({key}) => key).join(', ')}`)
    .join('; ');
}
