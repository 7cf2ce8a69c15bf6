/** Stores the runs of one session: writes their transcripts, and reads runs back from them. */
import {existsSync} from 'node:fs';
import path from 'node:path';
import type {Usage} from '../../core/contract/model.ts';
import type {OutputStore} from '../../core/contract/results.ts';
import type {RunSpec} from '../../core/contract/run-spec.ts';
import type {EndEntry, RunStore, StoredRun} from '../../core/contract/runs.ts';
import type {TranscriptEntry} from '../../core/contract/transcript.ts';
import type {Redactor} from '../../core/secrets/redaction.ts';
import {MiniCcError, UsageError} from '../../core/util/errors.ts';
import {readCommit} from '../../core/util/files/git-folder.ts';
import {addUsage, addUsageTo, getText, joinTexts, NO_USAGE} from '../../core/util/messages.ts';
import {archiveTranscript, findArchived, findTranscript, listRunFolders, TRANSCRIPT} from './archive.ts';
import {getRestoredMessages, listSaid} from './conversation.ts';
import {
  assertContinuable,
  ignoreUnreadable,
  isNewerFormat,
  readEntries,
  readHeaderAndLast,
  readTranscript,
  type TranscriptHeader,
  UsageOfCutReply,
} from './transcript.ts';
import {type DiskState, TranscriptWriter} from './transcript-writer.ts';

interface RunFilesDeps {
  /** Called each time, since /clear starts a new session. */
  readonly session: () => {readonly id: string; readonly folder: string};
  readonly cwd: string;
  readonly createOutputStore: (folder: string) => OutputStore;
  readonly redactor: Redactor;
  readonly disk: DiskState;
}

export class RunFiles implements RunStore {
  /** Milliseconds since the epoch. */
  #lastCreatedAt = 0;

  constructor(private readonly deps: RunFilesDeps) {}

  get sessionId(): string {
    return this.deps.session().id;
  }

  create({runId, ...asked}: RunSpec) {
    const folder = this.#getFolder(runId);
    const transcript = path.join(folder, TRANSCRIPT);
    // Two runs that start in the same millisecond get different times, so that they keep their order.
    this.#lastCreatedAt = Math.max(Date.now(), this.#lastCreatedAt + 1);
    const at = new Date(this.#lastCreatedAt).toISOString();
    const commit = readCommit(this.deps.cwd);
    const first = {id: runId, at, cwd: this.deps.cwd, parent: this.sessionId, ...asked, ...(commit && {commit})};
    const journal = this.#createWriter(transcript, first);
    return {...getHandles(journal), output: this.deps.createOutputStore(folder), transcript};
  }

  reopen(runId: string) {
    const folder = this.#getFolder(runId);
    const transcript = path.join(folder, TRANSCRIPT);
    if (!existsSync(transcript)) {
      const archived = findArchived(folder);
      throw archived
        ? new MiniCcError('RUN_ARCHIVED', `Run ${runId} is archived and cannot go on. Its transcript: ${archived}`)
        : new MiniCcError('RUN_NOT_FOUND', `Run ${runId} has no transcript any more`);
    }
    assertContinuable(transcript);
    const read = readTranscript(transcript);
    const journal = this.#createWriter(transcript, read.header);
    const output = this.deps.createOutputStore(folder);
    return {
      ...getHandles(journal),
      spec: getSpec(read.header),
      output,
      transcript,
      messages: getRestoredMessages(read),
    };
  }

  list(): readonly StoredRun[] {
    return listRunFolders(this.deps.session().folder)
      .flatMap((folder) => readRun(folder) ?? [])
      .sort((a, b) => a.createdAt - b.createdAt);
  }

  read(runId: string): readonly TranscriptEntry[] {
    const file = findTranscript(this.#getFolder(runId));
    return file ? listSaid(readRunEntries(file)) : [];
  }

  archive(runId: string): string {
    return archiveTranscript(this.#getFolder(runId));
  }

  #createWriter(file: string, header: ConstructorParameters<typeof TranscriptWriter>[1]): TranscriptWriter {
    return new TranscriptWriter(file, header, this.deps.redactor, {disk: this.deps.disk});
  }

  #getFolder(runId: string): string {
    if (!/^[\w-]+$/.test(runId)) throw new UsageError(`Not a run id: ${JSON.stringify(runId)}`);
    return path.join(this.deps.session().folder, 'subagents', runId);
  }
}

function getHandles(journal: TranscriptWriter) {
  return {journal, park: () => journal.park(), close: () => journal.closeInBackground()};
}

/** Returns the entries after the header that can be read. */
function readRunEntries(file: string): TranscriptEntry[] {
  return readEntries(file).filter(({type}) => type !== 'session');
}

/** Undefined when the folder has no readable run, because one bad file must not prevent the session from continuing. */
function readRun(folder: string): StoredRun | undefined {
  const transcript = findTranscript(folder);
  return transcript === undefined ? undefined : ignoreUnreadable(() => parseRun(transcript));
}

function parseRun(transcript: string): StoredRun | undefined {
  const archived = path.basename(transcript) !== TRANSCRIPT;
  const {header, last} = readHeaderAndLast(transcript);
  if (!header) return undefined;
  const begun = {...getSpec(header), createdAt: Date.parse(header.at)};
  if (last?.type === 'end') return {...begun, ...fromEnd(last), transcript, archived};
  const state = fromEntries(readRunEntries(transcript));
  // A run that was cut off gets an end in its file when its session is continued. A file of a newer format is not
  // written, so its end is made here.
  const end = state.end ?? (isNewerFormat(header) ? createUnwrittenEnd(header, state) : undefined);
  return {...begun, ...state, ...(end && {end}), transcript, archived};
}

function createUnwrittenEnd(header: TranscriptHeader, state: ReturnType<typeof fromEntries>): EndEntry {
  const {text, tools, usage, usageByModel, round, lastAt} = state;
  const durationMs = Math.max(0, lastAt - Date.parse(header.at));
  const reason = 'its transcript was written by a newer mini-cc';
  const end = {
    type: 'end',
    at: header.at,
    outcome: 'unknown',
    reason,
    text,
    tools,
    usage,
    usageByModel,
    round,
    durationMs,
  } as const;
  return {...end, background: state.background ?? header.background ?? false};
}

function getSpec(header: TranscriptHeader): RunSpec {
  const {type: _, version: _v, id, cwd: _c, branch: _b, commit: _m, parent: _p, at: _a, ...asked} = header;
  return {description: '', model: '', background: false, cleanup: 'keep', ...asked, runId: id};
}

/** The end entry contains the whole state of the run. */
function fromEnd(end: EndEntry) {
  const {text = '', tools = 0, usage = NO_USAGE, usageByModel = {}, background = false, round = 1, lastTool} = end;
  return {
    text,
    tools,
    ...(lastTool !== undefined && {lastTool}),
    usage,
    usageByModel,
    background,
    round,
    lastAt: Date.parse(end.at),
    end,
  };
}

/** Lines that a run writes when it went on after a pause. */
const ENDS_PAUSE: ReadonlySet<TranscriptEntry['type']> = new Set(['message', 'partial', 'resumed', 'end']);

/** Returns the state of a run whose last line is not its end: it was cut off, or just sent to the background. */
function fromEntries(entries: readonly TranscriptEntry[]) {
  let state: RunSoFar = {text: '', tools: 0, usage: NO_USAGE, usageByModel: {}, round: 1, lastAt: 0};
  let isBackground = false;
  let texts: string[] = [];
  let streamed = '';
  let end: EndEntry | undefined;
  const cut = new UsageOfCutReply();
  for (const entry of entries) {
    for (const used of cut.endBefore(entry)) state = {...state, ...addUsed(state, used)};
    if ('at' in entry) state = {...state, lastAt: Date.parse(entry.at)};
    if (ENDS_PAUSE.has(entry.type)) state = {...state, pause: undefined};
    switch (entry.type) {
      case 'background':
        isBackground = true;
        break;
      case 'paused':
        state = {...state, pause: {provider: entry.provider, until: entry.until}};
        break;
      case 'resumed':
        isBackground = true;
        end = undefined;
        texts = [];
        state = {...state, round: entry.round};
        break;
      case 'end':
        end = entry;
        break;
      case 'partial':
        streamed = entry.start ? entry.text : streamed + entry.text;
        break;
      case 'message':
        streamed = '';
        if (entry.message.role === 'assistant') texts.push(getText(entry.message.content));
        state = {...state, ...fromMessage(entry, state)};
        break;
      case 'usage':
        state = {...state, ...addUsed(state, entry)};
    }
  }
  for (const used of cut.take()) state = {...state, ...addUsed(state, used)};
  const text = joinTexts([...texts, streamed.trim()]);
  return {...state, text, ...(isBackground ? {background: true} : {}), ...(end ? {end} : {})};
}

type RunSoFar = Pick<
  StoredRun,
  'text' | 'tools' | 'usage' | 'usageByModel' | 'round' | 'lastAt' | 'lastTool' | 'pause'
>;

function addUsed(state: RunSoFar, {usage, model = ''}: {readonly usage: Usage; readonly model?: string}) {
  return {usage: addUsage(state.usage, usage), usageByModel: addUsageTo(state.usageByModel, model, usage)};
}

function fromMessage(
  {message, usage, model}: Extract<TranscriptEntry, {type: 'message'}>,
  state: RunSoFar,
): Partial<RunSoFar> {
  const {content, role} = message;
  if (role === 'assistant') {
    const last = typeof content === 'string' ? undefined : content.findLast(({type}) => type === 'tool_use');
    return {
      ...(last && 'name' in last && {lastTool: String(last.name)}),
      ...(usage && addUsed(state, {usage, ...(model && {model})})),
    };
  }
  if (typeof content === 'string') return {};
  return {tools: state.tools + content.filter(({type}) => type === 'tool_result').length};
}
