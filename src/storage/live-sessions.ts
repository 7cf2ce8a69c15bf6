/**
 * Lists the sessions of this user on this machine that are at work, and asks them. Each one has a file
 * `<home>/live/<pid>.json`, which names its socket. A killed session leaves its file, which the next one removes.
 */
import {existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, watch, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {inBackground, neverRejects} from '../core/util/background.ts';
import {tryOr} from '../core/util/errors.ts';
import {createPrivateFolder} from '../core/util/files/private-file.ts';
import {getOwnerState, getOwnRecord, getProcessPlace, type ProcessOwner} from '../core/util/process-owner.ts';

export interface LiveRun {
  readonly run: string;
  readonly agent: string;
  readonly description: string;
  readonly state: string;
  readonly tools: number;
  readonly tokens: number;
  /** US dollars; null when a price is unknown. */
  readonly cost: number | null;
  readonly age_ms: number;
}

export const LIVE_STATES = ['waiting', 'working', 'paused', 'idle', 'not answering', 'dead', 'ended'] as const;
type LiveState = (typeof LIVE_STATES)[number];

/** A session as `mini-cc runs` shows it. */
export interface LiveSession extends Omit<LiveRun, 'run' | 'agent' | 'description' | 'state'> {
  readonly session: string;
  readonly folder: string;
  readonly state: LiveState;
  /** The question that it asks a person. */
  readonly waits_for?: string;
  /** In ISO 8601. */
  readonly paused_until?: string;
  readonly pid: number;
  readonly runs: readonly LiveRun[];
}

/** The requests over the socket, as one line of JSON. The answer is one line too. */
export type LiveRequest =
  | {readonly type: 'status'}
  /** This request is answered when the session does something else, or ends. */
  | {readonly type: 'changed'}
  | {readonly type: 'stop'; readonly run: string}
  | {readonly type: 'log'; readonly run: string};

export interface LiveRecord extends ProcessOwner {
  readonly version: 1;
  readonly session: string;
  readonly folder: string;
  readonly socket: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

/** The longest address of a socket that every system takes. */
const MAX_SOCKET_CHARS = 100;

/** Returns the place of this process's socket. Where the home's path is too long, the socket is in a new temporary folder. */
export function chooseSocket(home: string, env: Readonly<Record<string, string | undefined>>): string {
  const folder = path.join(home, 'live');
  createPrivateFolder(folder);
  const name = `${process.pid}.sock`;
  const near = path.join(folder, name);
  if (near.length <= MAX_SOCKET_CHARS) return near;
  const base = env.XDG_RUNTIME_DIR && existsSync(env.XDG_RUNTIME_DIR) ? env.XDG_RUNTIME_DIR : tmpdir();
  return path.join(mkdtempSync(path.join(base, 'mini-cc-')), name);
}

/** Writes this process's file. */
export function publishLive(home: string, own: Pick<LiveRecord, 'session' | 'folder' | 'socket' | 'startedAt'>): void {
  const record: LiveRecord = {version: 1, ...getOwnRecord(), ...own};
  writeFileSync(getFile(home, process.pid), JSON.stringify(record), {mode: 0o600});
}

export function removeLive(home: string, {pid, socket}: Pick<LiveRecord, 'pid' | 'socket'>): void {
  rmSync(getFile(home, pid), {force: true});
  const folder = path.dirname(socket);
  if (folder === path.join(home, 'live')) rmSync(socket, {force: true});
  else rmSync(folder, {recursive: true, force: true});
}

/** Lists the sessions that have a file, also those that were killed. Sessions of other machines are left out. */
export function listLive(home: string): {readonly record: LiveRecord; readonly isDead: boolean}[] {
  const folder = path.join(home, 'live');
  const here = getProcessPlace();
  const names = tryOr(() => readdirSync(folder), []).filter((name) => name.endsWith('.json'));
  return names.flatMap((name) => {
    const record = tryOr(() => JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as LiveRecord, undefined);
    if (record?.version !== 1) return [];
    const state = getOwnerState(record, here);
    return state === 'elsewhere' ? [] : [{record, isDead: state === 'dead'}];
  });
}

function getFile(home: string, pid: number): string {
  return path.join(home, 'live', `${pid}.json`);
}

/** Milliseconds after which a session counts as not answering. */
const ANSWER_MS = 1000;

/** @param ms time for the answer, which may be infinite @returns undefined when the session does not answer */
export async function askLive(socket: string, request: LiveRequest, ms = ANSWER_MS): Promise<unknown> {
  const {connect} = await import('node:net');
  return new Promise((resolve) => {
    let text = '';
    const client = connect(socket);
    const timer = Number.isFinite(ms) ? setTimeout(() => end(), ms) : undefined;
    const end = () => {
      clearTimeout(timer);
      client.destroy();
      resolve(tryOr(() => JSON.parse(text) as unknown, undefined));
    };
    client.setEncoding('utf8');
    client.on('connect', () => client.write(`${JSON.stringify(request)}\n`));
    client.on('data', (chunk) => {
      text += chunk;
    });
    client.on('error', end);
    client.on('close', end);
  });
}

/**
 * Watches the sessions, also those that begin later.
 * @returns a function whose promise resolves when a session has begun, ended, or does something else
 */
export function watchLive(home: string): () => Promise<void> {
  const folder = path.join(home, 'live');
  createPrivateFolder(folder);
  const asked = new Set<string>();
  let changed = Promise.withResolvers<void>();
  watch(folder, () => changed.resolve());
  const ask = async (socket: string) => {
    asked.add(socket);
    await askLive(socket, {type: 'changed'}, Number.POSITIVE_INFINITY);
    asked.delete(socket);
    changed.resolve();
  };
  return () => {
    changed = Promise.withResolvers();
    for (const {record, isDead} of listLive(home)) {
      if (!isDead && !asked.has(record.socket)) inBackground(ask(record.socket), neverRejects);
    }
    return changed.promise;
  };
}
