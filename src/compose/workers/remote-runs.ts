/** The workers of a session, where a queue is set. What speaks to the queue is loaded with the first run that goes there. */
import {existsSync} from 'node:fs';
import path from 'node:path';
import type {LoadedSettings} from '../../config/settings.ts';
import type {RemoteRuns} from '../../core/remote/remote-runs.ts';
import type {Redactor} from '../../core/secrets/redaction.ts';
import {JOB_FILE} from '../../workers/session/kept-jobs.ts';
import type {QueueRuns, QueueRunsDeps} from '../../workers/session/queue-runs.ts';
import {createShippedTrees, type FileChangesOptions, type WritingDeps} from '../file-changes.ts';
import type {SessionOptions} from '../options.ts';
import {getAddress} from './queue-settings.ts';

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

/** Undefined without a queue in the settings. */
export function createRemoteRuns(
  options: RemoteRunsOptions,
  checkpoints: WritingDeps['checkpoints'],
): SessionWorkers | undefined {
  const queue = options.loaded.settings.subagents?.queue;
  if (!queue) return undefined;
  const runFolder = (runId: string) => path.join(options.sessionFolder(), 'subagents', runId);
  let opened: Promise<QueueRuns> | undefined;
  const open = async () => {
    const {QueueRuns: Runs} = await import('../../workers/session/queue-runs.ts');
    const deps: QueueRunsDeps = {
      address: getAddress(queue, options.options.env),
      root: options.root,
      sessionId: () => options.state.conversation.id,
      runFolder,
      trees: await createShippedTrees(options, checkpoints, runFolder),
      traceparent: (runId) => options.telemetry?.traceparent(runId),
      notify: (text) => options.emit({type: 'notice', level: 'warning', text}),
      redact: (value) => options.redactor.values(value),
    };
    return new Runs(deps);
  };
  const get = () => {
    opened ??= open();
    return opened;
  };
  return {
    isServed: async () => (await get().catch(() => undefined))?.isServed() ?? false,
    run: async (task, watch) => (await get()).run(task, watch),
    // Asked for all runs of a session that continues: nothing is loaded for those that have ended.
    isPending: (runId) => existsSync(path.join(runFolder(runId), JOB_FILE)),
    resume: async (runId, watch) => (await get()).resume(runId, watch),
    close: async () => (await opened?.catch(() => undefined))?.close(),
  };
}
