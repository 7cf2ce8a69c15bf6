/** The workers of a session, where a queue is set. What speaks to the queue is loaded with the first run that goes there. */
import {existsSync} from 'node:fs';
import path from 'node:path';
import type {LoadedSettings} from '../../config/settings.ts';
import type {RemoteRuns} from '../../core/remote/remote-runs.ts';
import type {Redactor} from '../../core/secrets/redaction.ts';
import {getErrorMessage, MiniCcError, UsageError} from '../../core/util/errors.ts';
import {JOB_FILE} from '../../workers/session/kept-jobs.ts';
import type {QueueRuns, QueueRunsDeps} from '../../workers/session/queue-runs.ts';
import {createShippedTrees, type FileChangesOptions, type WritingDeps} from '../file-changes.ts';
import type {SessionOptions} from '../options.ts';
import {getAddress} from './queue-settings.ts';

/** Of a session in the queue, unless the settings say otherwise. */
const MAX_JOBS = 1_000;

interface RemoteRunsOptions extends FileChangesOptions {
  readonly options: SessionOptions;
  readonly loaded: LoadedSettings;
  readonly redactor: Redactor;
  readonly state: {readonly conversation: {readonly id: string}};
  readonly telemetry: {traceparent(runId: string): string | undefined} | undefined;
}

export interface SessionWorkers extends RemoteRuns {
  close(): Promise<void>;
}

export function createRemoteRuns(options: RemoteRunsOptions, checkpoints: WritingDeps['checkpoints']): SessionWorkers {
  const queue = options.loaded.settings.subagents?.queue;
  const runFolder = (runId: string) => path.join(options.sessionFolder(), 'subagents', runId);
  const notify = (text: string) => options.emit({type: 'notice', level: 'warning', text});
  let isTold = false;
  let opened: Promise<QueueRuns> | undefined;
  const open = async () => {
    if (!queue) throw new UsageError('the setting subagents.queue is missing');
    const {QueueRuns: Runs} = await import('../../workers/session/queue-runs.ts');
    const deps: QueueRunsDeps = {
      address: getAddress(queue, options.options.env),
      maxJobs: queue.maxJobs ?? MAX_JOBS,
      root: options.root,
      sessionId: () => options.state.conversation.id,
      runFolder,
      trees: await createShippedTrees(options, checkpoints, runFolder),
      traceparent: (runId) => options.telemetry?.traceparent(runId),
      notify,
      redact: (value) => options.redactor.values(value),
    };
    return new Runs(deps);
  };
  const get = () => {
    opened ??= open();
    return opened;
  };
  return {
    isConfigured: queue !== undefined,
    isServed: async () => {
      try {
        return await (await get()).isServed();
      } catch (error) {
        if (!isTold) notify(`where: "auto": runs stay on this machine: ${getErrorMessage(error)}`);
        isTold = true;
        return false;
      }
    },
    run: async (task, watch) => (await get()).run(task, watch),
    // Asked for all runs of a session that continues: nothing is loaded for those that have ended.
    isPending: (runId) => existsSync(path.join(runFolder(runId), JOB_FILE)),
    resume: async (runId, watch) => {
      try {
        const runs = await get();
        return await runs.resume(runId, watch);
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
