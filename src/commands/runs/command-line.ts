/** Implements `mini-cc runs`: the sessions of this user on this machine and their runs, as they are at this moment. */
import {existsSync, readdirSync} from 'node:fs';
import path from 'node:path';
import {formatDuration} from '../../core/runs/progress-line.ts';
import {tokens as formatTokens} from '../../core/runs/receipt.ts';
import {tryOr, UsageError} from '../../core/util/errors.ts';
import {formatUsd} from '../../core/util/messages.ts';
import {formatColumns, formatCount, showControls, toShortLine} from '../../core/util/text.ts';
import {
  askLive,
  LIVE_STATES,
  type LiveRun,
  type LiveSession,
  listLive,
  watchLive,
} from '../../storage/live-sessions.ts';
import {TRANSCRIPT} from '../../storage/sessions/archive.ts';
import {readHeader} from '../../storage/sessions/transcript.ts';
import {
  type CommandLineOutcome,
  createUnknownVerb,
  printJson,
  printText,
  type SubcommandArguments,
} from '../shared/command-line.ts';

interface RunsArguments extends SubcommandArguments {
  readonly all?: boolean;
  readonly watch?: boolean;
}

const VERBS = 'list, stop ID, log ID, open SESSION';
/** Milliseconds for the end of a run that is stopped. */
const STOP_MS = 10_000;

/** @throws UsageError for bad usage and unknown ids */
export async function runRunsCommandLine(
  home: string,
  args: RunsArguments,
  say: (line: string) => void,
): Promise<CommandLineOutcome> {
  const {verb, words, json, all = false, watch = false} = args;
  if (verb === '' || verb === 'list') {
    if (watch)
      return watchSessions(home, all, (sessions) =>
        say(json ? JSON.stringify({sessions}) : `${formatSessions(sessions)}\n`),
      );
    const sessions = await listSessions(home, all);
    return json ? printJson({sessions}) : printText(formatSessions(sessions));
  }
  if (!['stop', 'log'].includes(verb)) throw createUnknownVerb('mini-cc runs', verb, VERBS);
  const [id, ...rest] = words;
  if (!id || rest.length > 0) throw new UsageError(`mini-cc runs ${verb} needs the id of one run`);
  const {socket, run} = await findRun(home, id);
  const request = {type: verb as 'stop' | 'log', run: run.run};
  const answer = (await askLive(socket, request, STOP_MS)) as {error?: string; entries?: readonly object[]} | undefined;
  if (!answer || answer.error !== undefined)
    throw new UsageError(`mini-cc runs ${verb}: ${answer?.error ?? 'its session does not answer'}`);
  if (verb === 'stop') return json ? printJson({run: run.run, stopped: true}) : printText(`Stopped ${run.run}`);
  const {entries = []} = answer;
  return json ? printJson(entries) : printText(entries.map((entry) => JSON.stringify(entry)).join('\n'));
}

/** Milliseconds between two looks of `--watch`, at least. */
const LOOK_MS = 1000;

/** Prints the list whenever something of it changed, until the process ends. */
async function watchSessions(
  home: string,
  all: boolean,
  print: (sessions: readonly LiveSession[]) => void,
): Promise<never> {
  const withoutAge = (sessions: readonly LiveSession[]) =>
    JSON.stringify(sessions, (key, value: unknown) => (key === 'age_ms' ? undefined : value));
  const nextChange = watchLive(home);
  for (let before = ''; ; ) {
    const changed = nextChange();
    const sessions = await listSessions(home, all);
    const now = withoutAge(sessions);
    if (now !== before) print(sessions);
    before = now;
    await changed;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** Sorts runs that wait for a person first, then the newest. @param all includes the runs that have ended */
async function listSessions(home: string, all: boolean): Promise<readonly LiveSession[]> {
  const live = await Promise.all(
    listLive(home).map(async ({record, isDead}): Promise<LiveSession> => {
      const {session, folder, pid, socket, startedAt} = record;
      const known = isDead ? undefined : ((await askLive(socket, {type: 'status'})) as LiveSession | undefined);
      if (known?.session !== undefined) return known;
      const state = isDead ? 'dead' : 'not answering';
      return {session, folder, state, pid, tools: 0, tokens: 0, cost: null, age_ms: Date.now() - startedAt, runs: []};
    }),
  );
  const ended = all ? listEnded(home).filter(({session}) => !live.some((each) => each.session === session)) : [];
  const rank = ({state}: LiveSession) => (state === 'waiting' ? 0 : LIVE_STATES.indexOf(state) < 5 ? 1 : 2);
  return [...live, ...ended].toSorted((a, b) => rank(a) - rank(b) || a.age_ms - b.age_ms);
}

function listEnded(home: string): LiveSession[] {
  const projects = path.join(home, 'projects');
  const folders = tryOr(() => readdirSync(projects), []).flatMap((project) =>
    tryOr(() => readdirSync(path.join(projects, project)), []).map((id) => path.join(projects, project, id)),
  );
  return folders.flatMap((folder): LiveSession[] => {
    const file = path.join(folder, TRANSCRIPT);
    const header = existsSync(file) ? tryOr(() => readHeader(file), undefined) : undefined;
    if (!header) return [];
    const age = Date.now() - Date.parse(header.at);
    const nothing = {pid: 0, tools: 0, tokens: 0, cost: null, runs: []};
    return [{session: path.basename(folder), folder: header.cwd, state: 'ended', age_ms: age, ...nothing}];
  });
}

async function findRun(home: string, id: string) {
  const places = await Promise.all(
    listLive(home)
      .filter(({isDead}) => !isDead)
      .map(async ({record: {socket}}) => {
        const session = (await askLive(socket, {type: 'status'})) as LiveSession | undefined;
        return (session?.runs ?? []).filter(({run}) => run.startsWith(id)).map((run) => ({socket, run}));
      }),
  );
  const found = places.flat();
  const exact = found.find(({run}) => run.run === id);
  if (exact) return exact;
  if (found.length > 1) throw new UsageError(`${id} begins the ids of ${found.length} runs: give more of it`);
  if (!found[0]) throw new UsageError(`No run ${JSON.stringify(id)} is at work: mini-cc runs lists them`);
  return found[0];
}

/**
 * Finds the folder of a session, to open it there.
 * @param words the words of the command line: only the id
 * @throws UsageError when it is unknown, or is open
 */
export function findClosedSession(
  home: string,
  [id, ...rest]: readonly string[],
): {readonly session: string; readonly folder: string} {
  if (!id || rest.length > 0) throw new UsageError('mini-cc runs open needs the id of one session');
  const open = listLive(home).find(({record, isDead}) => !isDead && record.session.startsWith(id));
  if (open)
    throw new UsageError(`Session ${open.record.session} is open: process ${open.record.pid} in ${open.record.folder}`);
  const found = listEnded(home).filter(({session}) => session.startsWith(id));
  const one = found.find(({session}) => session === id) ?? (found.length === 1 ? found[0] : undefined);
  if (!one)
    throw new UsageError(
      `${found.length === 0 ? 'No session' : 'Several sessions'} ${JSON.stringify(id)}: mini-cc runs --all lists them`,
    );
  return one;
}

const TITLE_CHARS = 60;

function formatSessions(sessions: readonly LiveSession[]): string {
  if (sessions.length === 0) return 'No session is at work.';
  return sessions.map((session) => [formatHead(session), ...formatRuns(session.runs)].join('\n')).join('\n');
}

function formatHead({session, folder, state, waits_for, paused_until, pid, ...facts}: LiveSession): string {
  const why = waits_for ?? (paused_until && `until ${new Date(paused_until).toTimeString().slice(0, 5)}`);
  const known = state === 'ended' || state === 'dead' ? [] : formatFacts(facts);
  const words = [`${state}${why ? `: ${toShortLine(showControls(why), TITLE_CHARS)}` : ''}`, folder, ...known];
  return `${session.slice(0, 8)}  ${words.join(' · ')}${pid > 0 ? ` · pid ${pid}` : ''}`;
}

function formatRuns(runs: readonly LiveRun[]): string[] {
  const rows = runs.map(({run, agent, description, state, ...facts}) => {
    const what = toShortLine(showControls(description), TITLE_CHARS);
    return ['  ', run.slice(0, 8), state, agent, what, ...formatFacts(facts)];
  });
  return rows.length === 0 ? [] : formatColumns(rows, {gap: '  '});
}

function formatFacts({tools, tokens, cost, age_ms}: Pick<LiveRun, 'tools' | 'tokens' | 'cost' | 'age_ms'>): string[] {
  const money = cost === null ? 'n/a' : formatUsd(cost);
  return [formatCount(tools, 'tool'), `${formatTokens(tokens)} tokens`, money, formatDuration(age_ms)];
}
