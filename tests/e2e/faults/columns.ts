/** Brings faults before print mode, the REPL's session and subagents, and records what is seen of each. */
import {onTestFinished} from 'vitest';
import {compose} from '../../../src/compose/session.ts';
import type {Session} from '../../../src/core/contract/session-requests.ts';
import {formatRetry} from '../../../src/core/util/text.ts';
import {print} from '../../../src/drivers/print.ts';
import {describeWork} from '../../../src/ui/components/busy-line.tsx';
import {reduce} from '../../../src/ui/state/store.ts';
import {INITIAL_STATE} from '../../../src/ui/state/ui-state.ts';
import {createHome} from '../../support/environment.ts';
import {fastClock} from '../../support/fast-clock.ts';
import {
  callTools,
  type MessagesBody,
  type MessagesServer,
  type Reply,
  say,
  startMessagesServer,
} from '../../support/messages-server.ts';
import {cliEnvironment, runCli} from '../../support/run-cli.ts';
import {emptyFolder, type Workspace} from '../../support/workspace.ts';
import {isSubagent} from '../fixture.ts';
import {FAULTS, type Fault, HANG, SLOW_FAULT} from './table.ts';

export interface Seen {
  /** All that is shown; for a subagent, what the main agent reads, and the notes on its line. */
  readonly words: string;
  readonly seconds: number;
  /** Requests that met the fault. */
  readonly requests: number;
  /** Print mode alone. */
  readonly exitCode?: number | null;
  /** What the next turn says. */
  readonly next: string;
}

export type ColumnName = 'print' | 'REPL' | 'foreground' | 'background';
type Cell = Omit<Seen, 'requests' | 'next' | 'seconds'>;

export const NEXT = 'Here again.';
/** Seconds of the session's clock in each real one. */
const SPEED = 20;
const FAST_TIMES = {retry: {maxWaitSeconds: 20}, limits: {idleSeconds: 120}};
/** A loaded machine is silent for seconds, too: only the fault that hangs has a short limit. */
const realTimes = (name: string) => ({retry: {maxWaitSeconds: 2}, limits: {idleSeconds: name === HANG ? 2 : 40}});
/** Tells the server what to answer. The last one in a request counts. */
const MARK = /\[(fault|foreground|background|next) ?([^\]]*)\]/g;

/** The real program, with the real clock. */
export async function runPrintColumn(faults: readonly Fault[]): Promise<Map<string, Seen>> {
  const place = await createPlace();
  return runFaults(place, faults, async ({name, replies}) => {
    const prompt = `[fault ${name}]`;
    if (name === SLOW_FAULT) return printHere(place, prompt);
    if (replies === 'refused') await place.server.close();
    const times = JSON.stringify(realTimes(name));
    const run = await runCli(['-p', prompt, '--settings', times], {...place, cwd: place.folder.path});
    if (replies === 'refused') await place.server.reopen();
    return {words: run.stderr + run.stdout, exitCode: run.code};
  });
}

/** Print mode in this process, with a fast clock. */
async function printHere(place: Place, prompt: string): Promise<Cell> {
  const session = await openSession(place, 'new', false);
  let words = '';
  const write = (text: string) => {
    words += `${text}\n`;
  };
  const exitCode = await print(session, {
    isTyped: true,
    ...{prompt, format: 'text', verbose: false, stdout: write, stderr: write, getLeaving: () => undefined},
  });
  await session.close();
  return {words, exitCode};
}

/** One session meets all faults, one after the other. */
export async function runSessionColumn(name: Exclude<ColumnName, 'print'>): Promise<Map<string, Seen>> {
  const place = await createPlace();
  const session = await openSession(place, 'new', true);
  onTestFinished(() => session.close());
  const meet = {REPL: meetInTurn, foreground: meetInTask, background: meetInBackground}[name];
  return runFaults(place, FAULTS, (fault) => meet(session, fault, place), session);
}

async function meetInTurn(session: Session, {name, replies}: Fault, {server}: Place): Promise<Cell> {
  let state = INITIAL_STATE;
  const waits: string[] = [];
  const stop = session.subscribe((event) => {
    state = reduce(state, event);
    if (event.type === 'retry') waits.push(describeWork(state, event.at));
  });
  if (replies === 'refused') await server.close();
  await session.submit(`[fault ${name}]`);
  if (replies === 'refused') await server.reopen();
  stop();
  const texts = state.finished.map((item) => ('text' in item ? item.text : ''));
  return {words: [...waits, ...texts].join('\n')};
}

async function meetInTask(session: Session, {name, replies}: Fault, place: Place): Promise<Cell> {
  const notes = collectNotes(session);
  const stop = replies === 'refused' ? closeDuringRun(session, place) : () => undefined;
  await session.submit(`[foreground ${name}]`);
  stop();
  return {words: notes() + getLastMessage(place.server)};
}

async function meetInBackground(session: Session, {name, replies}: Fault, place: Place): Promise<Cell> {
  const notes = collectNotes(session);
  const stop = replies === 'refused' ? closeDuringRun(session, place) : () => undefined;
  const announced = waitForAnnouncement(session);
  await session.submit(`[background ${name}]`);
  const announcement = await announced;
  stop();
  return {words: notes() + announcement};
}

/** Nothing listens while a subagent runs. */
function closeDuringRun(session: Session, {server}: Place): () => void {
  return session.subscribe((event) => {
    if (event.parent === undefined) return;
    if (event.type === 'run_start') void server.close();
    if (event.type === 'run_end') void server.reopen();
  });
}

/** @returns a function that stops and returns the notes on the lines of subagents. */
function collectNotes(session: Session): () => string {
  let notes = '';
  const stop = session.subscribe((event) => {
    if (event.type === 'retry') notes += `${formatRetry(event)}\n`;
  });
  return () => {
    stop();
    return notes;
  };
}

/** @returns what the main agent reads, when the turn in which it reads it has ended */
function waitForAnnouncement(session: Session): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const stop = session.subscribe((event) => {
      if (event.parent !== undefined) return;
      if (event.type === 'message' && event.role === 'user') {
        const content = JSON.stringify(event.content);
        if (content.includes('task_announcement')) text = content;
      }
      if (event.type !== 'run_end' || text === '') return;
      stop();
      resolve(text);
    });
  });
}

function getLastMessage({requests}: MessagesServer): string {
  const content = requests.at(-1)?.body.messages.at(-1)?.content ?? '';
  return typeof content === 'string'
    ? content
    : content
        .map(({text, content: inner}) => text ?? (typeof inner === 'string' ? inner : JSON.stringify(inner)))
        .join('\n');
}

/** Meets the faults in order; after each, the next turn of the same conversation is answered. */
async function runFaults(
  place: Place,
  faults: readonly Fault[],
  meet: (fault: Fault) => Promise<Cell>,
  session?: Session,
): Promise<Map<string, Seen>> {
  const seen = new Map<string, Seen>();
  for (const fault of faults) {
    const began = performance.now();
    const cell = await meet(fault);
    const seconds = (performance.now() - began) / 1000;
    const after = session ?? (await openSession(place, 'continue', false));
    const next = await after.submit('[next]');
    if (session === undefined) await after.close();
    const requests = place.counts.get(fault.name) ?? 0;
    seen.set(fault.name, {...cell, seconds, requests, next: next.type === 'turn' ? next.result.text : next.type});
  }
  return seen;
}

interface Place {
  readonly server: MessagesServer;
  /** Requests that met each fault, by its name. */
  readonly counts: ReadonlyMap<string, number>;
  readonly folder: Workspace;
  readonly home: Awaited<ReturnType<typeof createHome>>;
  readonly settingsFile: string;
}

async function createPlace(): Promise<Place> {
  const counts = new Map<string, number>();
  const server = await startMessagesServer((body) => answer(body, counts), {closesConnections: true});
  const [folder, home] = [await emptyFolder(), await createHome()];
  onTestFinished(async () => {
    await server.close();
    await Promise.all([folder.remove(), home.remove()]);
  });
  const settingsFile = await folder.write('fast.json', JSON.stringify(FAST_TIMES));
  return {server, counts, folder, home, settingsFile};
}

function openSession(place: Place, which: 'new' | 'continue', interactive: boolean): Promise<Session> {
  const {server, home, settingsFile} = place;
  const env = cliEnvironment(home, {server});
  return compose({
    ...{cwd: place.folder.path, env, home: home.env.MINI_CC_HOME!, settingsFile, interactive, which: {type: which}},
    clock: fastClock(SPEED),
  });
}

function answer(body: MessagesBody, counts: Map<string, number>): Reply {
  const [, kind, name = ''] = getMark(body) ?? [];
  if (kind === 'next') return say(NEXT);
  if (kind === 'fault') {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const {replies} = FAULTS.find((fault) => fault.name === name)!;
    if (replies === 'refused') throw new Error('a request came where nothing listens');
    return replies[Math.min(count, replies.length) - 1]!;
  }
  if (kind === undefined || isSubagent(body)) return say('Noted.');
  const input = {description: 'meet a fault', prompt: `[fault ${name}]`, agent_type: 'explore'};
  return callTools([{name: 'Task', input: {...input, background: kind === 'background'}}]);
}

/** In the last message, else in the prompt before: the loop may have asked for an answer. Not before a result or an end. */
function getMark({messages}: MessagesBody): RegExpMatchArray | undefined {
  for (const {role, content} of messages.toReversed()) {
    const text = JSON.stringify(content);
    const mark = [...text.matchAll(MARK)].at(-1);
    if (role === 'user' && (mark || /tool_result|task_announcement/.test(text))) return mark;
  }
  return undefined;
}
