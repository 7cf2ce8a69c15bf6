/** Implements `mini-cc runs`: the sessions of this user on this machine and their runs, as they are at this moment. */
import {existsSync, readdirSync, statSync} from 'node:fs';
import path from 'node:path';
import type {StoredRun} from '../../core/contract/runs.ts';
import {formatDuration, formatEnding} from '../../core/runs/progress-line.ts';
import {tryOr, UsageError} from '../../core/util/errors.ts';
import {addUsage, countTokens, formatUsd, NO_USAGE, toCost} from '../../core/util/messages.ts';
import {formatColumns, formatCount, formatTokens, showControls, toShortLine} from '../../core/util/text.ts';
import {
  askLive,
  LIVE_STATES,
  type LiveRun,
  type LiveSession,
  listLive,
  watchLive,
} from '../../storage/live-sessions.ts';
import {listRunFolders, TRANSCRIPT} from '../../storage/sessions/archive.ts';
import {readOpening} from '../../storage/sessions/opening.ts';
import {SessionStore} from '../../storage/sessions/session-store.ts';
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
  const found = await findRun(home, id);
  if (!found && verb === 'log') return formatEntries(readStoredRun(home, id), json);
  if (!found) throw new UsageError(`No run ${JSON.stringify(id)} is at work: mini-cc runs lists them`);
  const run = found.id;
  const answer = (await askLive(found.socket, {type: verb as 'stop' | 'log', run}, STOP_MS)) as
    | {error?: string; entries?: readonly object[]}
    | undefined;
  if (!answer || answer.error !== undefined)
    throw new UsageError(`mini-cc runs ${verb}: ${answer?.error ?? 'its session does not answer'}`);
  if (verb === 'stop') return json ? printJson({run, stopped: true}) : printText(`Stopped ${run}`);
  return formatEntries(answer.entries ?? [], json);
}

function formatEntries(entries: readonly object[], json: boolean | undefined): CommandLineOutcome {
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
  const known: KnownFiles = new Map();
  for (let before = ''; ; ) {
    const changed = nextChange();
    const sessions = await listSessions(home, all, known);
    const now = withoutAge(sessions);
    if (now !== before) print(sessions);
    before = now;
    await changed;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** Sorts runs that wait for a person first, then the newest. @param all includes the runs that have ended */
async function listSessions(
  home: string,
  all: boolean,
  files: KnownFiles = new Map(),
): Promise<readonly LiveSession[]> {
  const live = await Promise.all(
    listLive(home).map(async ({record, isDead}): Promise<LiveSession> => {
      const {session, folder, pid, socket, startedAt} = record;
      const known = isDead ? undefined : ((await askLive(socket, {type: 'status'})) as LiveSession | undefined);
      if (known?.session !== undefined) return known;
      const state = isDead ? 'dead' : 'not answering';
      return {session, folder, state, pid, age_ms: Date.now() - startedAt, ...readFacts(home, session, folder, state)};
    }),
  );
  const ended = all
    ? listStored(home)
        .filter(({session}) => !live.some((each) => each.session === session))
        .map(({session, folder, at, file}): LiveSession => {
          const key = `${file} ${statSync(file).mtimeMs}`;
          const facts = files.get(key) ?? readFacts(home, session, folder, 'ended');
          files.set(key, facts);
          return {session, folder, state: 'ended', pid: 0, age_ms: Date.now() - at, ...facts};
        })
    : [];
  const rank = ({state}: LiveSession) => (state === 'waiting' ? 0 : LIVE_STATES.indexOf(state) < 5 ? 1 : 2);
  return [...live, ...ended].toSorted((a, b) => rank(a) - rank(b) || a.age_ms - b.age_ms);
}

type FileFacts = Pick<LiveSession, 'tools' | 'tokens' | 'cost' | 'runs'>;
/** Facts of sessions that have ended, by transcript and its time, so that `--watch` reads each of them once. */
type KnownFiles = Map<string, FileFacts>;

/** Reads from its files what a session did that does not answer. Of one that may be at work, only the runs without an end. */
function readFacts(home: string, session: string, folder: string, state: LiveSession['state']): FileFacts {
  const store = new SessionStore(home, folder);
  const stored = tryOr(() => store.runStore(() => session).list(), []);
  const transcript = path.join(store.sessionFolder(session), TRANSCRIPT);
  const main = tryOr(() => readOpening(transcript), undefined);
  const usage = [...(main?.used ?? []), ...stored].reduce((sum, each) => addUsage(sum, each.usage), NO_USAGE);
  const results = (main?.restored ?? []).flatMap(({message: {content}}) =>
    typeof content === 'string' ? [] : content,
  );
  const tools = results.filter(({type}) => type === 'tool_result').length;
  return {
    tools: stored.reduce((sum, run) => sum + run.tools, tools),
    tokens: countTokens(usage),
    cost: toCost(usage),
    runs: stored.filter(({end}) => state === 'ended' || !end).map((run) => toLiveRun(run, state)),
  };
}

function toLiveRun(run: StoredRun, session: LiveSession['state']): LiveRun {
  const {runId, agent, label, description, end, tools, usage, createdAt} = run;
  const cutOff = session === 'not answering' ? 'running' : 'unknown';
  return {
    run: runId,
    agent,
    description: label ?? description,
    state: end ? formatEnding(end.outcome, end.outcome === 'limit' ? (end.reason ?? '') : '') : cutOff,
    tools,
    tokens: countTokens(usage),
    cost: toCost(usage),
    age_ms: Date.now() - createdAt,
  };
}

/** Reads the transcript of a run that is not at work. @throws UsageError when there is none, or several */
function readStoredRun(home: string, id: string): readonly object[] {
  const found = listStored(home).flatMap(({session, folder, file}) =>
    listRunFolders(path.dirname(file))
      .map((each) => path.basename(each))
      .map((run) => ({id: run, session, folder})),
  );
  const one = findById(found, id, 'runs');
  if (!one) throw new UsageError(`No run ${JSON.stringify(id)}: mini-cc runs --all lists them`);
  return new SessionStore(home, one.folder).runStore(() => one.session).read(one.id);
}

interface StoredSession {
  readonly session: string;
  readonly folder: string;
  /** Milliseconds since the epoch when it began. */
  readonly at: number;
  readonly file: string;
}

/** Lists the sessions that have a transcript, whether they are at work or not. */
function listStored(home: string): StoredSession[] {
  const projects = path.join(home, 'projects');
  const folders = tryOr(() => readdirSync(projects), []).flatMap((project) =>
    tryOr(() => readdirSync(path.join(projects, project)), []).map((id) => path.join(projects, project, id)),
  );
  return folders.flatMap((folder): StoredSession[] => {
    const file = path.join(folder, TRANSCRIPT);
    const header = existsSync(file) ? tryOr(() => readHeader(file), undefined) : undefined;
    if (!header) return [];
    return [{session: path.basename(folder), folder: header.cwd, at: Date.parse(header.at), file}];
  });
}

async function findRun(home: string, id: string) {
  const places = await Promise.all(
    listLive(home)
      .filter(({isDead}) => !isDead)
      .map(async ({record: {socket}}) => {
        const session = (await askLive(socket, {type: 'status'})) as LiveSession | undefined;
        return (session?.runs ?? []).map(({run}) => ({id: run, socket}));
      }),
  );
  return findById(places.flat(), id, 'runs');
}

/** Finds what has this id, or an id that begins so. @throws UsageError when several begin so */
function findById<T extends {readonly id: string}>(all: readonly T[], id: string, what: string): T | undefined {
  const found = all.filter((each) => each.id.startsWith(id));
  const exact = found.find((each) => each.id === id);
  if (!exact && found.length > 1)
    throw new UsageError(`${id} begins the ids of ${found.length} ${what}: give more of it`);
  return exact ?? found[0];
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
  const stored = listStored(home).map((each) => ({...each, id: each.session}));
  const found = findById(stored, id, 'sessions');
  if (!found) throw new UsageError(`No session ${JSON.stringify(id)}: mini-cc runs --all lists them`);
  return found;
}

const TITLE_CHARS = 60;

function formatSessions(sessions: readonly LiveSession[]): string {
  if (sessions.length === 0) return 'No session is at work.';
  return sessions.map((session) => [formatHead(session), ...formatRuns(session.runs)].join('\n')).join('\n');
}

function formatHead({session, folder, state, waits_for, paused_until, pid, ...facts}: LiveSession): string {
  const why = waits_for ?? (paused_until && `until ${new Date(paused_until).toTimeString().slice(0, 5)}`);
  const words = [
    `${state}${why ? `: ${toShortLine(showControls(why), TITLE_CHARS)}` : ''}`,
    folder,
    ...formatFacts(facts),
  ];
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
