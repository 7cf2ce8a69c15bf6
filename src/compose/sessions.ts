/** Opens stored sessions and their conversations, and serves `mini-cc sessions …`. */

import {randomUUID} from 'node:crypto';
import {existsSync, realpathSync} from 'node:fs';
import {createSessionQuestion, createTakeOverQuestion, TAKE_OVER} from '../commands/resume.ts';
import {runSessionsCommandLine} from '../commands/sessions/command-line.ts';
import type {CommandLineOutcome, SubcommandArguments} from '../commands/shared/command-line.ts';
import type {Settings} from '../config/settings.ts';
import type {StoredRun} from '../core/contract/runs.ts';
import type {SessionSummary} from '../core/contract/session-requests.ts';
import {NO_SUBAGENTS} from '../core/runs/delegation-log.ts';
import {RESULT_TOKENS} from '../core/runs/receipt.ts';
import {findResult} from '../core/runs/restore.ts';
import {CUT_OFF_CALL} from '../core/runs/run-record.ts';
import type {Redactor} from '../core/secrets/redaction.ts';
import {toQuestion} from '../core/session/commands.ts';
import type {Conversation} from '../core/session/parts.ts';
import {History} from '../core/turn/history.ts';
import {MiniCcError, UsageError} from '../core/util/errors.ts';
import {formatCount} from '../core/util/text.ts';
import {findHomeFault} from '../storage/home.ts';
import {getWholeConversation, readMessagesBefore, readRewindPoints} from '../storage/sessions/conversation.ts';
import {type Opening, readOpening} from '../storage/sessions/opening.ts';
import {SessionStore} from '../storage/sessions/session-store.ts';
import {readTranscript} from '../storage/sessions/transcript.ts';
import {createSecrets, type SessionOptions} from './options.ts';
import {getExistingFolder} from './permission-settings.ts';

/** Runs `mini-cc sessions …` without opening a session. @throws UsageError for bad usage or an unknown id */
export function sessionsCommandLine(options: SessionOptions, args: SubcommandArguments): Promise<CommandLineOutcome> {
  const root = realpathSync(options.cwd);
  const {redactor} = createSecrets(options, [], root);
  return runSessionsCommandLine(args, {store: new SessionStore(options.home, root), redactor, root});
}

/**
 * Lists the stored sessions of a folder, the one that was written last first. @throws UsageError when there is no such
 * folder
 */
export function listSessions(
  options: Pick<SessionOptions, 'home' | 'env'>,
  cwd: string,
): readonly (SessionSummary & {readonly cwd: string})[] {
  const root = getExistingFolder(cwd, cwd);
  const {redactor} = createSecrets(options, [], root);
  return redactor.values(new SessionStore(options.home, root).summaries()).map((each) => ({...each, cwd: root}));
}

/** Erases a stored session of a folder. @throws UsageError when there is none, or a mini-cc has it open */
export function eraseSession({home}: Pick<SessionOptions, 'home'>, cwd: string, id: string): void {
  new SessionStore(home, getExistingFolder(cwd, cwd)).erase(id);
}

/** Has one line for the user about each session that is damaged or empty. */
interface FirstConversation extends Conversation {
  readonly warnings: readonly string[];
}

/**
 * Opens a new conversation, or the one that the session continues. If a person can be asked, they decide whether to
 * take over the lock of another machine or container.
 * @throws UsageError when it cannot be found or opened, MiniCcError `WITHDRAWN` when the person left instead of
 * answering
 */
export async function openFirstConversation(
  store: SessionStore,
  {options, ...deps}: OpeningDeps & {readonly options: SessionOptions},
): Promise<FirstConversation> {
  const {which} = options;
  // A full disk is no error yet: the session waits for it once there is something to write.
  const fault = findHomeFault(options.home);
  if (fault && !fault.mayPass) throw new UsageError(fault.text);
  if (which.type === 'new') {
    if (which.id !== undefined && store.exists(which.id)) {
      throw new UsageError(`Session ${which.id} exists already: go on with it by --resume ${which.id}`);
    }
    return {...openConversation(store, which.id ?? randomUUID(), deps, () => undefined), warnings: []};
  }
  const {found, passedOver} =
    which.type === 'continue'
      ? findLatest(store, options.cwd)
      : {
          found: store.find(which.type === 'resume' ? which.id : await chooseSession(store, options, deps.redactor)),
          passedOver: [],
        };
  const warnings = passedOver.map(({id, problem}) => `session ${id} is newer and was passed over: ${problem}`);
  if (options.fork && store.exists(found.id)) {
    const id = options.fork.id ?? randomUUID();
    store.fork(found.id, id);
    const {transcript} = store.find(id);
    return {...openConversation(store, id, deps, () => readOpening(transcript)), warnings};
  }
  if (!store.exists(found.id)) warnings.push(`session ${found.id} is empty: it starts from the beginning`);
  // An empty transcript has nothing to continue.
  const read = () => (store.exists(found.id) ? readOpening(found.transcript) : undefined);
  const takeOver = options.takeOver || (await mayTakeOver(store.findForeignLock(found.id), options));
  return {...openConversation(store, found.id, deps, read, {takeOver}), warnings};
}

/**
 * Asks the person for a session. @returns its id. @throws UsageError when there is none, MiniCcError `WITHDRAWN` when
 * the person left
 */
async function chooseSession(store: SessionStore, {ask, cwd}: SessionOptions, redactor: Redactor): Promise<string> {
  const sessions = store.summaries(true);
  if (sessions.length === 0) throw new UsageError(`There is no session to resume in ${cwd}`);
  if (!ask) throw new UsageError('--resume needs the id of a session; --continue takes the last one');
  const question = redactor.values(createSessionQuestion(sessions, Date.now()));
  const answer = await ask(toQuestion(question));
  const chosen = answer === 'withdrawn' ? undefined : sessions.find(({id}) => id === answer.choice);
  if (!chosen) throw new MiniCcError('WITHDRAWN', 'left without a session');
  return chosen.id;
}

/** @throws UsageError when there is none; it names the damaged ones */
function findLatest(store: SessionStore, cwd: string) {
  const {whole, passedOver} = store.latest();
  if (whole) return {found: whole, passedOver};
  if (passedOver.length === 0) throw new UsageError(`There is no session to continue in ${cwd}`);
  const damaged = passedOver.map(({id, problem}) => `session ${id}: ${problem}`).join('; ');
  throw new UsageError(`There is no whole session to continue in ${cwd}; ${damaged}`);
}

/** Returns false if no person can be asked. Opening the session then fails with an error that says so. */
async function mayTakeOver(lockedBy: string | undefined, {ask}: SessionOptions): Promise<boolean> {
  if (lockedBy === undefined || !ask) return false;
  const answer = await ask(toQuestion(createTakeOverQuestion(lockedBy)));
  if (answer === 'withdrawn') throw new MiniCcError('WITHDRAWN', 'left');
  return answer.choice === TAKE_OVER;
}

interface OpeningDeps {
  readonly redactor: Redactor;
  readonly settings: Settings;
}

/** Opens a new conversation, or a stored one, in a session that is open. @throws UsageError when it cannot be opened */
export function openAnother(store: SessionStore, deps: OpeningDeps, id?: string, takeOver = false): Conversation {
  if (id === undefined) return openConversation(store, randomUUID(), deps, () => undefined);
  const {id: found, transcript} = store.find(id);
  return openConversation(store, found, deps, () => readOpening(transcript), {takeOver});
}

const NOTHING: Opening = {restored: [], announced: new Set(), used: [], subagents: NO_SUBAGENTS, damaged: 0};

/** More messages than front ends show of a conversation that continues. */
const MAX_SHOWN = 500;

/**
 * @param read reads the transcript. It is called when the session is locked, so that no other process writes the
 * transcript
 */
export function openConversation(
  store: SessionStore,
  id: string,
  {redactor, settings}: OpeningDeps,
  read: () => Opening | undefined,
  lock: {readonly takeOver?: boolean} = {},
): Conversation {
  const {journal, transcript, output, close} = store.openSession(id, lock);
  try {
    const {restored, announced, used, subagents, damaged} = read() ?? NOTHING;
    const lost = `${formatCount(damaged, 'message')} of it cannot be read and is left out (${transcript})`;
    const history = new History(journal, restored);
    let runs: readonly StoredRun[] | undefined;
    const results = history.answerOpenCalls(CUT_OFF_CALL, (callId) => {
      runs ??= store.runStore(() => id).list();
      return findResult(runs, callId, settings.subagents?.resultTokens ?? RESULT_TOKENS);
    });
    const messages = results ? [...restored, {message: results}] : restored;
    const rewindPoints = () => readRewindPoints(transcript);
    const messagesBefore = (uuid: string) => readMessagesBefore(transcript, uuid);
    const wholeConversation = (isStreaming: boolean) =>
      existsSync(transcript) ? getWholeConversation(readTranscript(transcript), isStreaming) : [];
    // The transcript may be older than the key that the redactor replaces. Only the last messages are redacted, because
    // a search in the whole of a long conversation would take most of the time in which it opens.
    const shown = messages.slice(-MAX_SHOWN);
    return {
      id,
      history,
      output,
      transcript,
      restored: redactor.values(shown),
      earlierMessages: messages.length - shown.length,
      announced,
      usedBefore: used,
      subagentsBefore: subagents,
      problems: damaged > 0 ? [`session ${id} is damaged: ${lost}`] : [],
      rewindPoints,
      messagesBefore,
      wholeConversation,
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}
