/**
 * Attempts to escape, tried by the built program in each way that it confines commands. A class passes when none of its
 * attempts had an effect, and when the same attempts do have it unconfined: else the class would test nothing.
 */
import {spawnSync} from 'node:child_process';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {cliPath} from '../support/run-cli.ts';
import {hasSandbox} from '../support/sandbox.ts';
import type {Attempt, AttemptClass} from './attempt.ts';
import {DENY, denied, masked} from './attempts/denied.ts';
import {ALL} from './attempts/index.ts';
import {ordinary} from './attempts/ordinary.ts';
import {type Control, createQueue, type Outcome, type Profile, runAttempts, runControls} from './run-attempts.ts';

const usable = await hasSandbox();
const isRoot = process.getuid?.() === 0;
/** A user without rights that no machine has. */
const PLAIN = 54_321;
const MINUTES = 60_000;

/** What the user's git and mini-cc read: of the workspace's own repository, and of those below that were there before. */
const READ_LATER = String.raw`\.git/(?:hooks|config|config\.worktree|commondir|modules|info)(?:/.*)?`;
const OF_WORKSPACE = new RegExp(`/workspace/(?:${READ_LATER}|\\.git|(?:\\.mini-cc|\\.claude)(?:/.*)?) changed$`);
const BELOW = new RegExp(`/workspace/.*${READ_LATER} changed$`);
const isProtected = (effect: string, {isNested = false}: Attempt) =>
  OF_WORKSPACE.test(effect) || (isNested && BELOW.test(effect));

const readOnly = {title: 'a read-only agent', args: ['--agent', 'explore'], settings: {}, sandbox: true, batches: true};
const writing = {
  ...{title: 'workspace-write', args: ['--permission-mode', 'acceptEdits'], settings: {sandbox: 'auto'}, sandbox: true},
  ...{batches: true, isProtected},
};
const asking = {title: 'default mode', args: [], settings: {}, sandbox: true};
/** Nothing is asked here, so only the rules refuse. */
const ruled = {
  ...{title: 'deny rules', args: ['--permission-mode', 'bypassPermissions'], isProtected: () => false},
  settings: {permissions: {deny: DENY}, sandbox: 'auto'},
};
const withoutSandbox = (profile: Omit<Profile, 'sandbox'>): Profile => ({
  ...{...profile, title: `${profile.title} without a sandbox`, settings: {...profile.settings, sandbox: 'off'}},
  ...{sandbox: false, batches: false},
});
const asPlain = (profile: Profile): Profile => ({
  ...{...profile, title: `${profile.title}, as a plain user`, user: PLAIN},
});

/** `npm run soak` tries all in each profile; `npm test` tries one of so many of each class. */
const TRIES_ALL = process.env.MINI_CC_ATTEMPTS === 'all';
const PATIENCE_MS = (TRIES_ALL ? 60 : 10) * MINUTES;
const SEEN_BEFORE = /^seen before/;
const someOf = (every: number, classes: readonly AttemptClass[] = ALL): AttemptClass[] =>
  classes.map(({title, attempts}) => {
    // One at least whose control must succeed.
    const sure = attempts.find(
      ({uncontrolled, mayBeMissing, needs}) => !mayBeMissing && needs === undefined && uncontrolled === undefined,
    );
    const step = sure ? every : Math.min(every, 12);
    const isTried = (attempt: Attempt, index: number) => TRIES_ALL || index % step === 0 || attempt === sure;
    return {title, attempts: attempts.filter(isTried)};
  });
/** All that was seen before, of the others one of so many. */
const seenAndSomeOf = (every: number): AttemptClass[] =>
  someOf(every).map((some, index) => (SEEN_BEFORE.test(some.title) ? ALL[index]! : some));

const RUNS: readonly (readonly [Profile, readonly AttemptClass[]])[] = [
  [asking, seenAndSomeOf(30)],
  [withoutSandbox(asking), someOf(30)],
  [writing, seenAndSomeOf(40)],
  [readOnly, someOf(40)],
  [withoutSandbox(readOnly), someOf(40)],
  [withoutSandbox(ruled), someOf(5, denied)],
  [{...ruled, sandbox: true}, [...someOf(5, denied), ...masked]],
];
const CONTROLLED = [...seenAndSomeOf(30), ...someOf(5, denied), ...masked];
const AS_PLAIN = [readOnly, writing, asking].map((profile) => [asPlain(profile), someOf(80)] as const);

/** The table that this file prints: by class, over all profiles. */
const report = new Map<
  string,
  {tried: number; stopped: number; refused: number; controls: number; succeeded: number}
>();
function count(title: string, by: Partial<Record<'tried' | 'stopped' | 'refused' | 'controls' | 'succeeded', number>>) {
  const entry = report.get(title) ?? {tried: 0, stopped: 0, refused: 0, controls: 0, succeeded: 0};
  for (const key of Object.keys(by) as (keyof typeof by)[]) entry[key] += by[key] ?? 0;
  report.set(title, entry);
}
afterAll(() => {
  const names = ['tried', 'stopped', 'refused', 'controls', 'succeeded'] as const;
  const sums = names.map((name) => [...report.values()].reduce((sum, entry) => sum + entry[name], 0));
  const lines = [...report].map(([title, entry]) => [title, ...names.map((name) => entry[name])]);
  const table = [['class', ...names], ...lines, ['all', ...sums]].map((line) => `| ${line.join(' | ')} |`);
  console.log(table.join('\n'));
});

const profiles = !usable ? [] : isRoot && mayPlainUserRun(cliPath, process.execPath) ? [...RUNS, ...AS_PLAIN] : RUNS;
/** The sessions of all profiles and the controls, a few at once: one profile alone would leave a core idle. */
const queue = createQueue();
let tried: ReadonlyMap<Profile, Promise<Map<string, Outcome[]>>>;
let controlled: Promise<Map<string, Control[]>>;

beforeAll(() => {
  if (!usable) return;
  tried = new Map(profiles.map(([profile, classes]) => [profile, runAttempts([...classes, ordinary], profile, queue)]));
  controlled = runControls(CONTROLLED, queue);
  // Each is awaited below, some of them later than they may fail.
  for (const each of [...tried.values(), controlled]) each.catch(() => undefined);
});

describe.runIf(usable)('attempts to escape', () => {
  for (const [profile, classes] of profiles) describe(profile.title, () => testProfile(profile, classes));
});

function testProfile(profile: Profile, classes: readonly AttemptClass[]): void {
  let outcomes: Map<string, Outcome[]>;
  beforeAll(async () => {
    outcomes = await tried.get(profile)!;
  }, PATIENCE_MS);

  test('ordinary reading passes', () => {
    const wrong = outcomes
      .get(ordinary.title)!
      .filter(({refused, broke, text}) => refused || broke.length > 0 || /exit code/.test(text));
    expect(wrong.map(({attempt, text}) => ({tried: attempt.command, text}))).toEqual([]);
  });

  test.each(classes.map(({title}) => title))('%s', (title) => {
    const all = outcomes.get(title)!;
    const broken = all.filter(({broke}) => broke.length > 0);
    const refused = all.filter((each) => each.refused).length;
    count(title, {tried: all.length, stopped: all.length - broken.length, refused});
    expect(
      broken.map(({attempt, broke, text}) => ({
        tried: attempt.call ?? attempt.command,
        broke,
        text: text.slice(0, 300),
      })),
    ).toEqual([]);
  });
}

describe.runIf(usable)('the same unconfined', () => {
  let controls: Map<string, Control[]>;
  beforeAll(async () => {
    controls = await controlled;
  }, PATIENCE_MS);

  test.each(CONTROLLED.map(({title}) => title))('%s', (title) => {
    const all = controls.get(title)!;
    const failed = all.filter(
      ({attempt, succeeded, missing}) => !succeeded && missing === undefined && !attempt.mayBeMissing,
    );
    const succeeded = all.filter((each) => each.succeeded).length;
    count(title, {controls: all.length, succeeded});
    expect(
      failed.map(({attempt, text}) => ({tried: attempt.command, first: attempt.first, text: text.slice(0, 400)})),
    ).toEqual([]);
    expect(succeeded).toBeGreaterThan(0);
  });
});

/** The checkout may lie in a folder of root. */
function mayPlainUserRun(...files: readonly string[]): boolean {
  const as = [`--reuid=${PLAIN}`, `--regid=${PLAIN}`, '--clear-groups'];
  return files.every((file) => spawnSync('setpriv', [...as, 'test', '-r', file]).status === 0);
}
