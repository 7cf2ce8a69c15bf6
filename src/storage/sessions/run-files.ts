/** The runs of one session on disk: `<session>/subagents/<run>/session.jsonl`, renamed when it is archived. */
import {existsSync, readdirSync, renameSync} from 'node:fs';
import path from 'node:path';
import type {EndEntry, RunHeader, RunStore, StoredRun} from '../../core/contract/runs.ts';
import type {OutputStore} from '../../core/contract/tool-result.ts';
import type {TranscriptEntry} from '../../core/contract/transcript.ts';
import type {Redactor} from '../../core/secrets/redaction.ts';
import {MiniCcError, UsageError} from '../../core/util/errors.ts';
import {addUsage, NO_USAGE, textOf} from '../../core/util/messages.ts';
import {
  assertContinuable,
  endsOf,
  entriesIn,
  type Header,
  isNewer,
  messagesOf,
  readTranscript,
  TranscriptWriter,
  unlessUnreadable,
} from './transcript.ts';

export const TRANSCRIPT = 'session.jsonl';
const ARCHIVED = `${TRANSCRIPT}.deleted.`;

export interface RunFilesDeps {
  /** Asked at each call, since /clear begins a new session. */
  readonly session: () => {readonly id: string; readonly folder: string};
  readonly cwd: string;
  readonly outputsIn: (folder: string) => OutputStore;
  readonly redactor: Redactor;
}

export class RunFiles implements RunStore {
  /** Milliseconds since the epoch. */
  #lastCreatedAt = 0;

  constructor(private readonly deps: RunFilesDeps) {}

  get sessionId(): string {
    return this.deps.session().id;
  }

  create(header: RunHeader) {
    const {runId, ...facts} = header;
    const folder = this.#folderOf(runId);
    const transcript = path.join(folder, TRANSCRIPT);
    // Two in one millisecond keep their order.
    this.#lastCreatedAt = Math.max(Date.now(), this.#lastCreatedAt + 1);
    const at = new Date(this.#lastCreatedAt).toISOString();
    const first = {id: runId, at, cwd: this.deps.cwd, parent: this.sessionId, ...facts};
    const journal = new TranscriptWriter(transcript, first, this.deps.redactor);
    return {...handles(journal), output: this.deps.outputsIn(folder), transcript};
  }

  reopen(runId: string) {
    const folder = this.#folderOf(runId);
    const transcript = path.join(folder, TRANSCRIPT);
    if (!existsSync(transcript)) {
      const archived = archivedIn(folder);
      throw archived
        ? new MiniCcError('RUN_ARCHIVED', `Run ${runId} is archived and cannot go on. Its transcript: ${archived}`)
        : new MiniCcError('RUN_NOT_FOUND', `Run ${runId} has no transcript any more`);
    }
    assertContinuable(transcript);
    const read = readTranscript(transcript);
    const journal = new TranscriptWriter(transcript, read.header, this.deps.redactor);
    const output = this.deps.outputsIn(folder);
    return {...handles(journal), output, transcript, messages: messagesOf(read)};
  }

  list(): readonly StoredRun[] {
    return runFoldersOf(this.deps.session().folder)
      .flatMap((folder) => readRun(folder) ?? [])
      .sort((a, b) => a.createdAt - b.createdAt);
  }

  read(runId: string): readonly TranscriptEntry[] {
    const file = transcriptIn(this.#folderOf(runId));
    return file ? runEntries(file) : [];
  }

  archive(runId: string): string {
    return archiveIn(this.#folderOf(runId));
  }

  #folderOf(runId: string): string {
    if (!/^[\w-]+$/.test(runId)) throw new UsageError(`Not a run id: ${JSON.stringify(runId)}`);
    return path.join(this.deps.session().folder, 'subagents', runId);
  }
}

function handles(journal: TranscriptWriter) {
  return {journal, park: () => journal.park(), close: () => journal.closeBeside()};
}

/** The folders of all runs of a session. */
export function runFoldersOf(sessionFolder: string): string[] {
  const parent = path.join(sessionFolder, 'subagents');
  if (!existsSync(parent)) return [];
  const runs = readdirSync(parent, {withFileTypes: true}).filter((entry) => entry.isDirectory());
  return runs.map(({name}) => path.join(parent, name));
}

/** Renames the transcript in a run's folder; its bytes stay as they are. @returns where it is now. */
export function archiveIn(folder: string): string {
  const stamp = new Date().toISOString().replaceAll(':', '-');
  const archived = path.join(folder, `${ARCHIVED}${stamp}`);
  renameSync(path.join(folder, TRANSCRIPT), archived);
  return archived;
}

/** The run whose transcript this is has come to an end. */
export function isFinished(file: string): boolean {
  return endsOf(file).last?.type === 'end';
}

function transcriptIn(folder: string): string | undefined {
  const file = path.join(folder, TRANSCRIPT);
  return existsSync(file) ? file : archivedIn(folder);
}

/** The newest, should there be several. */
function archivedIn(folder: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  const name = readdirSync(folder)
    .filter((each) => each.startsWith(ARCHIVED))
    .sort()
    .at(-1);
  return name === undefined ? undefined : path.join(folder, name);
}

/** What follows the header, as far as it can be read. */
function runEntries(file: string): TranscriptEntry[] {
  return entriesIn(file).filter(({type}) => type !== 'session');
}

/** Undefined when there is nothing that can be read as a run: one bad file must not keep the session from going on. */
function readRun(folder: string): StoredRun | undefined {
  const transcript = transcriptIn(folder);
  return transcript === undefined ? undefined : unlessUnreadable(() => storedRun(transcript));
}

function storedRun(transcript: string): StoredRun | undefined {
  const archived = path.basename(transcript) !== TRANSCRIPT;
  const {header, last} = endsOf(transcript);
  if (!header) return undefined;
  if (last?.type === 'end') return {...fromHeader(header), ...fromEnd(last), transcript, archived};
  const told = fromAll(runEntries(transcript));
  // The end that a cut-off run is given cannot be written to a file of a newer version: it has it without.
  const end = told.end ?? (isNewer(header) ? unwrittenEnd(header, told) : undefined);
  return {...fromHeader(header), ...told, ...(end && {end}), transcript, archived};
}

function unwrittenEnd(header: Header, told: ReturnType<typeof fromAll>): EndEntry {
  const {text, tools, usage, round, lastAt} = told;
  const durationMs = Math.max(0, lastAt - Date.parse(header.at));
  const reason = 'its transcript was written by a newer mini-cc';
  const end = {type: 'end', at: header.at, outcome: 'unknown', reason, text, tools, usage, round, durationMs} as const;
  return {...end, background: told.background ?? header.background ?? false};
}

function fromHeader(header: Header) {
  const {
    id,
    agent,
    description = '',
    model = '',
    background = false,
    cleanup = 'keep',
    label,
    callId,
    limits,
    onlyTools,
    isolation,
    at,
  } = header;
  return {
    ...{runId: id, agent, description, model, background, cleanup, createdAt: Date.parse(at)},
    ...(label === undefined ? {} : {label}),
    ...(callId === undefined ? {} : {callId}),
    ...(limits === undefined ? {} : {limits}),
    ...(onlyTools === undefined ? {} : {onlyTools}),
    ...(isolation === undefined ? {} : {isolation}),
  };
}

/** A run's own last line says all of it. */
function fromEnd(end: EndEntry) {
  const {text = '', tools = 0, usage = NO_USAGE, background = false, round = 1} = end;
  return {text, tools, usage, background, round, lastAt: Date.parse(end.at), end};
}

/** What the lines tell of a run whose last line is not its end: it was cut off, or sent to the background just then. */
function fromAll(entries: readonly TranscriptEntry[]) {
  let told = {text: '', tools: 0, usage: NO_USAGE, round: 1, lastAt: 0};
  let isBackground = false;
  let end: EndEntry | undefined;
  for (const entry of entries) {
    if ('at' in entry) told = {...told, lastAt: Date.parse(entry.at)};
    switch (entry.type) {
      case 'background':
        isBackground = true;
        break;
      case 'resumed':
        isBackground = true;
        end = undefined;
        told = {...told, round: entry.round};
        break;
      case 'end':
        end = entry;
        break;
      case 'message':
        told = {...told, ...fromMessage(entry, told)};
    }
  }
  return {...told, ...(isBackground ? {background: true} : {}), ...(end ? {end} : {})};
}

function fromMessage(
  {message, usage = NO_USAGE}: Extract<TranscriptEntry, {type: 'message'}>,
  told: Pick<StoredRun, 'text' | 'tools' | 'usage'>,
) {
  const {content, role} = message;
  if (role === 'assistant') return {text: textOf(content) || told.text, usage: addUsage(told.usage, usage)};
  if (typeof content === 'string') return {};
  return {tools: told.tools + content.filter(({type}) => type === 'tool_result').length};
}
