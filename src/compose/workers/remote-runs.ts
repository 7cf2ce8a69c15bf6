/**
 * Creates the workers of a session, if a queue is set. The code that uses the queue is loaded with the first run that
 * goes there.
 */
import {existsSync} from 'node:fs';
import path from 'node:path';
import type {Settings} from '../../config/settings.ts';
import type {RemoteRuns} from '../../core/runs/remote-runs.ts';
import {QUEUE_SECRET} from '../../core/secrets/known-secrets.ts';
import type {SessionState} from '../../core/session/parts.ts';
import {getErrorMessage, MiniCcError, UsageError} from '../../core/util/errors.ts';
import type {QueueAddress} from '../../workers/queue/address.ts';
import {JOB_FILE} from '../../workers/session/job-files.ts';
import type {QueueRuns, QueueRunsDeps} from '../../workers/session/queue-runs.ts';
import {createShippedTrees, type FileChanges} from '../file-changes.ts';
import type {Project, Records} from '../project.ts';

interface SessionWorkers extends RemoteRuns {
  close(): Promise<void>;
}

export function createRemoteRuns(
  project: Project,
  {emit, telemetry}: Records,
  state: SessionState,
  changes: FileChanges,
): SessionWorkers {
  const {queue} = project.settings.subagents ?? {};
  const runFolder = (runId: string) => path.join(changes.sessionFolder(), 'subagents', runId);
  const notify = (text: string) => emit({type: 'notice', level: 'warning', text});
  let isNotified = false;
  let opened: Promise<QueueRuns> | undefined;
  const open = async () => {
    if (!queue) throw new UsageError('the setting subagents.queue is missing');
    const {QueueRuns: Runs} = await import('../../workers/session/queue-runs.ts');
    const deps: QueueRunsDeps = {
      address: getAddress(queue, project.options.env),
      root: project.root,
      sessionId: () => state.conversation.id,
      runFolder,
      trees: await createShippedTrees(project, changes, runFolder),
      traceparent: (runId) => telemetry?.traceparent(runId),
      notify,
      redact: (value) => project.redactor.values(value),
    };
    return Runs.open(deps);
  };
  const get = () => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  return {
    isConfigured: queue !== undefined,
    isServed: async () => {
      try {
        return await (await get()).isServed();
      } catch (error) {
        if (!isNotified) notify(`where: "auto": runs stay on this machine: ${getErrorMessage(error)}`);
        isNotified = true;
        return false;
      }
    },
    run: async (task, watch) => (await get()).run(task, watch),
    // This is called for all runs of a session that continues, so it loads nothing for those that have ended.
    isPending: (runId) => existsSync(path.join(runFolder(runId), JOB_FILE)),
    resume: async (runId, watch) => {
      try {
        return await (await get()).resume(runId, watch);
      } catch (error) {
        if (!(error instanceof UsageError || (error instanceof MiniCcError && error.code === 'QUEUE_AWAY')))
          throw error;
        notify(`${watch.label} went to a worker, and cannot be followed: ${error.message}. --continue tries again`);
        return undefined;
      }
    },
    close: async () => (await opened?.catch(() => undefined))?.close(),
  };
}

export const DEFAULT_PREFIX = 'mini-cc';
/** A shorter secret could be guessed by trying. */
const MIN_SECRET_CHARS = 8;

type QueueSettings = NonNullable<NonNullable<Settings['subagents']>['queue']>;

/** @throws UsageError when the secret is missing or too short */
export function getAddress(
  {url, prefix = DEFAULT_PREFIX, secretEnv = QUEUE_SECRET}: QueueSettings,
  env: Readonly<Record<string, string | undefined>>,
): QueueAddress {
  const secret = env[secretEnv] ?? '';
  if (secret.length < MIN_SECRET_CHARS) {
    const what = secret === '' ? 'is not set' : `has fewer than ${MIN_SECRET_CHARS} characters`;
    throw new UsageError(
      `the queue's secret: the variable ${secretEnv} ${what}. Set it to the same value on all machines, e.g. openssl rand -hex 32`,
    );
  }
  return {url, prefix, secret};
}
