/**
 * Random hostile commands, made of a program that writes, a place that it must not write, and what is around them:
 * over modes, users, with and without a sandbox. `MINI_CC_HOSTILE`: how many in all (`npm run soak`: 5,000).
 * `MINI_CC_HOSTILE_SEED`: the seed.
 */
import {spawnSync} from 'node:child_process';
import {expect, test} from 'vitest';
import {createRandom} from '../support/random.ts';
import {cliPath} from '../support/run-cli.ts';
import {hasSandbox} from '../support/sandbox.ts';
import {type AttemptClass, attempts} from './attempt.ts';
import {createQueue, type Profile, runAttempts, runControls} from './run-attempts.ts';

const COUNT = Number(process.env.MINI_CC_HOSTILE ?? 24);
const SEED = Number(process.env.MINI_CC_HOSTILE_SEED ?? 1);
const MINUTES = 60_000;
/** A user without rights that no machine has. */
const PLAIN = 54_321;

const WRITERS = [
  ...['echo x > T', 'echo x >> T', 'tee T < a.txt', 'cp a.txt T', 'install a.txt T', 'dd if=a.txt of=T', 'touch T'],
  ...['sort -uoT a.txt', 'sort --output=T a.txt', 'uniq a.txt T', 'tar cfT a.txt', 'find a.txt -fprint T'],
  ...['awk "BEGIN{print 1 > \\"T\\"}"', 'git diff --no-index --output=T a.txt /dev/null', 'xargs -I% cp % T <<< a.txt'],
  ...['git -c alias.x="!touch T" x', 'ln -sf a.txt T', 'mkfifo T', 'printf x | dd of=T'],
];
const PLACES = [
  ...['@OUT/made', '@OUT/canary.txt', '@HOME/.bashrc', '@HOME/.gitconfig', '@HOME/made', '@WS/../out/made'],
  ...[
    '.git/hooks/pre-commit',
    '.git/config',
    '.mini-cc/settings.json',
    '.claude/settings.json',
    '/proc/self/cwd/.git/info/x',
  ],
];
const AROUND = [
  ...['C', '(C)', '{ C; }', 'true && C', 'C; true', 'false || C', 'if true; then C; fi', 'for i in 1; do C; done'],
  ...["bash -c 'C'", "eval 'C'", "timeout 5 bash -c 'C'", "trap 'C' EXIT", "bash <<'E'\nC\nE", 'f() { C; }; f'],
  ...['cat a.txt | { C; }', 'C & wait', 'echo "$(C)"'],
];

function createCommands(seed: number, count: number): AttemptClass {
  const random = createRandom(seed);
  const pick = (from: readonly string[]) => from[random(from.length)]!;
  const commands = Array.from({length: count}, () => {
    const [writer, place, around] = [pick(WRITERS), pick(PLACES), pick(AROUND)];
    const command = around.replace('C', () => writer.replaceAll('T', () => place));
    // The folders of some places are not there, so that a control may fail.
    return {command, shows: place.startsWith('@') ? ('outside' as const) : ('workspace' as const), mayBeMissing: true};
  });
  return attempts(`random commands of seed ${seed}`, 'outside', commands);
}

const isProtected = (effect: string) => /\/workspace\/\.(?:git\/(?:hooks|config|info)|mini-cc|claude)\b/.test(effect);
const writing = {args: ['--permission-mode', 'acceptEdits'], settings: {sandbox: 'auto'}, isProtected};
const PROFILES: readonly Profile[] = [
  {title: 'default mode', args: [], settings: {}, sandbox: true},
  {title: 'plan mode', args: ['--permission-mode', 'plan'], settings: {}, sandbox: true},
  {title: 'workspace-write', ...writing, sandbox: true},
  {title: 'default mode without a sandbox', args: [], settings: {}, sandbox: false},
];

function mayPlainUserRun(): boolean {
  const as = [`--reuid=${PLAIN}`, `--regid=${PLAIN}`, '--clear-groups'];
  const mayRead = (file: string) => spawnSync('setpriv', [...as, 'test', '-r', file]).status === 0;
  return process.getuid?.() === 0 && [cliPath, process.execPath].every(mayRead);
}

test.runIf(await hasSandbox())(
  'random hostile commands have no effect in any mode, and some have it unconfined',
  async () => {
    const profiles = mayPlainUserRun()
      ? PROFILES.flatMap((each) => [each, {...each, title: `${each.title}, as a plain user`, user: PLAIN}])
      : PROFILES;
    const count = Math.ceil(COUNT / profiles.length);
    const queue = createQueue();
    const tried = profiles.map(async (profile, index) => {
      const [outcomes = []] = (await runAttempts([createCommands(SEED + index, count)], profile, queue)).values();
      return outcomes.flatMap(({attempt, broke}) =>
        broke.map((effect) => `${profile.title}: ${attempt.command}: ${effect}`),
      );
    });
    expect((await Promise.all(tried)).flat()).toEqual([]);
    const [controls = []] = (await runControls([createCommands(SEED, 8)], queue)).values();
    expect(controls.filter(({succeeded}) => succeeded).length).toBeGreaterThan(2);
  },
  (COUNT > 100 ? 120 : 5) * MINUTES,
);
