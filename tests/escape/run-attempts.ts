/**
 * Lets the built program try attempts: a scripted model asks for one call after the other, and after each the world is
 * looked at. `runControls` tries the same without mini-cc, inside an outer sandbox that protects this machine.
 */
import {type ChildProcessWithoutNullStreams, execFile, spawn} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import PQueue from 'p-queue';
import {type Reply, startMessagesServer} from '../support/messages-server.ts';
import {countReplies, getToolResults} from '../support/request-facts.ts';
import {buildOnce, root as checkout, cliPath} from '../support/run-cli.ts';
import {callTools, say} from '../support/scripted-replies.ts';
import {becomesTrue, pause, within} from '../support/wait.ts';
import type {Attempt, AttemptClass} from './attempt.ts';
import {asUser, createWorld, type World} from './world.ts';

export interface Profile {
  readonly title: string;
  readonly args: readonly string[];
  readonly settings: Readonly<Record<string, unknown>>;
  /** False: there is no bubblewrap on this machine. */
  readonly sandbox: boolean;
  /** Every command runs in the sandbox: then one call may try several attempts. */
  readonly batches?: boolean;
  /** The user that mini-cc runs as; default: that of the tests. */
  readonly user?: number;
  /** Whether this change of the workspace is an escape; default: each is. */
  readonly isProtected?: (effect: string, attempt: Attempt) => boolean;
}

export interface Outcome {
  readonly attempt: Attempt;
  /** What it did that it must not do. */
  readonly broke: readonly string[];
  /** mini-cc refused the call. */
  readonly refused: boolean;
  /** The tool's result. */
  readonly text: string;
}

const isRoot = process.getuid?.() === 0;
/** Attempts in one session: its conversation grows with each. */
const MAX_PER_SESSION = 80;
const MAX_PER_BATCH = 10;
const MAX_AT_ONCE = 3;
const LIMIT_S = 15;
const MAX_SESSION_MS = 240_000;
/** How long killed processes may take to end. */
const END_MS = 10_000;
/** How long what was started in the background may take to act. */
const ACT_MS = 300;
const NOTHING: Attempt = {command: '', shows: 'outside'};
/** Between what the attempts of a batch print. */
const NEXT = '=====NEXT=====';

/** Sessions that wait for their turn. They mostly wait for processes: a few at once use both cores. */
export function createQueue(): PQueue {
  return new PQueue({concurrency: MAX_AT_ONCE});
}

/** @returns outcomes by the class's title */
export async function runAttempts(
  classes: readonly AttemptClass[],
  profile: Profile,
  queue: PQueue,
): Promise<Map<string, Outcome[]>> {
  await buildOnce();
  const all = classes.flatMap(({attempts}) => attempts);
  const outcomes = new Map<Attempt, Outcome>();
  const sessions = inGroups(all, MAX_PER_SESSION).map((some) =>
    queue.add(() => new Session(some, profile, outcomes).run()),
  );
  await Promise.all(sessions);
  return new Map(classes.map(({title, attempts}) => [title, attempts.map((attempt) => outcomes.get(attempt)!)]));
}

function inGroups<T>(all: readonly T[], size: number): T[][] {
  return Array.from({length: Math.ceil(all.length / size)}, (_, at) => all.slice(at * size, (at + 1) * size));
}

/** Whether it needs nothing of its own, so that it can share a world with others. */
function isPlain({call, files, links, first, later, shows, machine}: Attempt): boolean {
  return ![call, files, links, first, later, machine].some(Boolean) && shows !== 'process' && shows !== 'arrived';
}

/** One run of the program, in a world of its own. */
class Session {
  readonly #steps: Attempt[][];
  #world!: World;

  constructor(
    attempts: readonly Attempt[],
    readonly profile: Profile,
    readonly outcomes: Map<Attempt, Outcome>,
  ) {
    const shared = attempts.filter((attempt) => profile.batches && isPlain(attempt));
    const single = attempts.filter((attempt) => !shared.includes(attempt)).map((attempt) => [attempt]);
    this.#steps = [...inGroups(shared, MAX_PER_BATCH), ...single];
  }

  async run(): Promise<void> {
    const {profile} = this;
    this.#world = await createWorld(profile.user);
    const server = await startMessagesServer(async (body) => {
      const index = countReplies(body);
      if (index > 0) await this.#look(this.#steps[index - 1]!, getToolResults(body)[0]!);
      const step = this.#steps[index];
      if (step) return this.#try(step, index);
      this.#world.prepare(NOTHING, 0);
      return say('that was all');
    });
    try {
      const {stdout, stderr} = await runProgram(this.#world, profile, server.url);
      if (!stdout.includes('that was all')) throw new Error(`${profile.title}: the session ended: ${stdout}${stderr}`);
      // At its end it removes what is its own, and nothing else.
      this.#blameLast(this.#world.findEffects(''));
    } finally {
      await server.close();
      await this.#world.close();
    }
  }

  #blameLast(effects: readonly string[]): void {
    const [attempt, last] = [...this.outcomes].at(-1)!;
    if (effects.length > 0)
      this.outcomes.set(attempt, {...last, broke: [...last.broke, 'at the end of the session:', ...effects]});
  }

  #try(step: readonly Attempt[], index: number): Reply {
    const [attempt] = step as [Attempt];
    const fill = (text: string) => this.#world.fill(text, index);
    this.#world.prepare(attempt, index);
    if (attempt.call) {
      const entries = Object.entries(attempt.call.input);
      const filled = entries.map(([key, value]) => [key, typeof value === 'string' ? fill(value) : value]);
      return callBoth(attempt.call.name, Object.fromEntries(filled), index);
    }
    const commands = step.map(({command}) => fill(command));
    const command =
      commands.length === 1
        ? commands[0]!
        : commands.map((each) => `timeout -k 1 ${LIMIT_S} bash -c ${quote(each)}`).join(`; echo; echo ${NEXT}; `);
    return callBoth('bash', {command, timeout_seconds: LIMIT_S * step.length}, index);
  }

  async #look(
    step: readonly Attempt[],
    {text, isError}: {readonly text: string; readonly isError: boolean},
  ): Promise<void> {
    const {profile, outcomes} = this;
    const world = this.#world;
    const refused = isError && /^Permission denied|Nothing was run|runs only in a sandbox/.test(text);
    // A call that was refused needs no time to act, and `later` nothing to find.
    const found = refused
      ? world.findEffects(text)
      : await findEffects(world, step[0]!, text, {user: profile.user, endMs: END_MS});
    world.restore();
    const isEscape = (effect: string, attempt: Attempt) => {
      if (!effect.startsWith('workspace') || profile.isProtected === undefined) return true;
      return !attempt.isWork && profile.isProtected(effect, attempt);
    };
    // Which of them was it? They are tried again one by one.
    if (step.length > 1 && found.some((effect) => step.some((attempt) => isEscape(effect, attempt)))) {
      for (const attempt of step) this.#steps.push([attempt]);
      return;
    }
    for (const attempt of step) {
      outcomes.set(attempt, {attempt, broke: found.filter((effect) => isEscape(effect, attempt)), refused, text});
    }
  }
}

/** Calls a tool, and notes where the session stands: one that brings nothing new would end as a run without progress. */
function callBoth(name: string, input: unknown, index: number): Reply {
  const todos = [{content: `attempt ${index}`, status: 'in_progress'}];
  return callTools([
    {name, input},
    {name: 'todo_write', input: {todos}},
  ]);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** @param endMs how long processes that should end are waited for */
async function findEffects(
  world: World,
  attempt: Attempt,
  text: string,
  {user, endMs}: {readonly user: number | undefined; readonly endMs: number},
): Promise<string[]> {
  if (attempt.later !== undefined) {
    const before = world.findEffects(text);
    await runLater(world, attempt.later, user);
    // In the workspace it is the user who changes things now.
    return [...before, ...world.findEffects(text).filter((effect) => !effect.startsWith('workspace'))];
  }
  if (attempt.shows !== 'process') {
    if (attempt.shows === 'arrived') await world.catchUp();
    return world.findEffects(text);
  }
  await pause(ACT_MS, 'what was started in the background gives no sign before it acts');
  await becomesTrue(() => world.findProcessEffects().length === 0, endMs);
  return [...world.findProcessEffects(), ...world.findEffects(text)];
}

/** What the user does after mini-cc. */
function runLater(world: World, command: string, user: number | undefined): Promise<void> {
  const [file, ...args] = [...asUser(user), 'bash', '-c', world.fill(command, 0)];
  const env = {PATH: process.env.PATH, HOME: world.home, GIT_EDITOR: 'true', GIT_OPTIONAL_LOCKS: '0'};
  return new Promise((ended) => execFile(file!, args, {cwd: world.root, env, timeout: 5000}, () => ended()));
}

/** Only the world can be written, and processes outside are not seen. */
function outerSandbox({base}: World, ...more: string[]): string[] {
  return [
    ...['bwrap', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--unshare-pid'],
    // They may lie below /tmp.
    ...[checkout, path.dirname(process.execPath)].flatMap((place) => ['--ro-bind', place, place]),
    ...[
      '--bind',
      base,
      base,
      '--bind',
      `${base}.pid`,
      `${base}.pid`,
      '--die-with-parent',
      '--new-session',
      ...more,
      '--',
    ],
  ];
}

async function runProgram(world: World, profile: Profile, url: string) {
  const settings = `${world.base}.settings.json`;
  writeFileSync(settings, JSON.stringify(profile.settings));
  const args = ['-p', 'go', '--output-format', 'json', '--max-turns', '1000', '--settings', settings, ...profile.args];
  const [file, ...words] = [
    ...asUser(profile.user),
    ...(profile.sandbox ? [] : outerSandbox(world, '--ro-bind', '/dev/null', '/usr/bin/bwrap')),
    ...['bash', '-c', `${world.startVictim}; exec "$@"`, '--', process.execPath, cliPath, ...args],
  ];
  const mine = {
    MINI_CC_HOME: path.join(world.home, '.mini-cc'),
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'test-key',
  };
  const child = spawn(file!, words, {cwd: world.root, env: {...world.env, ...mine}});
  child.stdin.end();
  const output = collect(child);
  let isClosed = false;
  child.once('close', () => {
    isClosed = true;
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await within(ended, MAX_SESSION_MS, 'the end of the session').catch(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  // What it printed last may come after its end; what an attempt left may hold the pipe open.
  await becomesTrue(() => isClosed, 5_000);
  return output;
}

function collect(child: ChildProcessWithoutNullStreams): {stdout: string; stderr: string} {
  const output = {stdout: '', stderr: ''};
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  return output;
}

export interface Control {
  readonly attempt: Attempt;
  /** It had the effect that the attempt is about. */
  readonly succeeded: boolean;
  /** A program that it needs is not on this machine. */
  readonly missing?: string;
  readonly text: string;
}

/** Tries each attempt by plain bash. @returns outcomes by the class's title */
export async function runControls(classes: readonly AttemptClass[], queue: PQueue): Promise<Map<string, Control[]>> {
  const possible = classes
    .flatMap(({attempts}) => attempts)
    .filter(({uncontrolled, machine}) => uncontrolled === undefined && (machine === undefined || isRoot));
  const controls = new Map<Attempt, Control>();
  const parts = inGroups(possible, Math.ceil(possible.length / MAX_AT_ONCE)).map((some) =>
    queue.add(async () => {
      const world = await createWorld();
      try {
        for (const step of inSteps(some))
          for (const control of await runStep(world, step)) controls.set(control.attempt, control);
      } finally {
        await world.close();
      }
    }),
  );
  await Promise.all(parts);
  return new Map(
    classes.map(({title, attempts}) => [title, attempts.flatMap((attempt) => controls.get(attempt) ?? [])]),
  );
}

/** Those that only print what they must not share one shell. */
function inSteps(attempts: readonly Attempt[]): Attempt[][] {
  const isShared = (attempt: Attempt) => isPlain(attempt) && /^(?:canary|said)$/.test(attempt.shows) && !attempt.needs;
  const shared = attempts.filter(isShared);
  return [
    ...inGroups(shared, MAX_PER_BATCH),
    ...attempts.filter((attempt) => !isShared(attempt)).map((attempt) => [attempt]),
  ];
}

async function runStep(world: World, step: readonly Attempt[]): Promise<Control[]> {
  const [attempt] = step as [Attempt];
  world.prepare(attempt, 0);
  const script = `
    ${world.startVictim}; V=$!
    for p in $NEEDS; do type -P $p >/dev/null || { echo MISSING $p; read; }; done
    for n in ${step.map((_, at) => at).join(' ')}; do
      c=C$n; timeout -k 1 ${LIMIT_S} bash -c "\${!c//@PID/$V}" </dev/null 2>&1; echo; echo ${NEXT}
    done; echo FINISHED; read`;
  const [file, ...words] = [...(attempt.machine ? [] : outerSandbox(world)), 'bash', '-c', script];
  writeFileSync(`${world.base}.pid`, '');
  const commands = Object.fromEntries(step.map(({command}, at) => [`C${at}`, world.fill(command, 0)]));
  const child = spawn(file!, words, {
    cwd: world.root,
    env: {...world.env, ...commands, NEEDS: (attempt.needs ?? []).join(' ')},
    detached: true,
  });
  const output = collect(child);
  const hasEnded = () => /^(?:FINISHED|MISSING)/m.test(output.stdout) || child.exitCode !== null;
  await becomesTrue(hasEnded, 1000 * (LIMIT_S * step.length + 3));
  const text = output.stdout + output.stderr;
  const missing = /^MISSING (.*)/m.exec(text)?.[1];
  // What it does to processes is what it is about: nothing is to end.
  const found = await findEffects(world, attempt, text, {user: undefined, endMs: 0});
  const texts = text.split(NEXT);
  const controls = step.map((each, at): Control => {
    const effects = step.length === 1 ? found : world.findInText(texts[at] ?? '');
    const succeeded = effects.some((effect) => effect.startsWith(each.shows));
    return {
      attempt: each,
      succeeded,
      text: step.length === 1 ? text : (texts[at] ?? ''),
      ...(missing !== undefined && {missing}),
    };
  });
  const ended = new Promise((done) => child.once('exit', done));
  // The group: without a sandbox around it, what the shell started would go on, and count in all later steps.
  if (child.exitCode === null && process.kill(-child.pid!, 'SIGKILL')) await ended;
  // The processes in the sandbox end a little later, and would count as those of the next.
  await becomesTrue(() => !world.isVictimThere(), 3_000);
  world.restore();
  return controls;
}
