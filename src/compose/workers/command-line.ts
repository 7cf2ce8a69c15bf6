/** Serves `mini-cc worker` and `mini-cc workers`. */

import {access, constants} from 'node:fs/promises';
import path from 'node:path';
import {
  type CommandLineOutcome,
  printJson,
  printText,
  type SubcommandArguments,
} from '../../commands/shared/command-line.ts';
import type {Settings} from '../../config/settings.ts';
import {QUEUE_SECRET} from '../../core/secrets/known-secrets.ts';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import {getErrorMessage, MiniCcError, UsageError} from '../../core/util/errors.ts';
import {makeFolders} from '../../core/util/files/private-file.ts';
import {withoutUndefined} from '../../core/util/objects.ts';
import {quote} from '../../core/util/problem.ts';
import {runProgram} from '../../core/util/processes.ts';
import {formatColumns, formatCount, showControls} from '../../core/util/text.ts';
import {checkQueueUrl, formatAddress} from '../../workers/queue/address.ts';
import type {ListedWorker} from '../../workers/queue/worker-list.ts';
import {readSettings, type SessionOptions} from '../options.ts';
import {createSessionSandbox} from '../permission-settings.ts';
import {DEFAULT_PREFIX, getAddress} from './remote-runs.ts';

/** Flags as they were typed. If a flag was given several times, the last one counts. */
export interface WorkerFlags {
  readonly queue?: string | undefined;
  readonly prefix?: string | undefined;
  readonly secretEnv?: string | undefined;
  readonly concurrency?: number | undefined;
  readonly labels?: string | undefined;
  readonly cache?: string | undefined;
  readonly once?: boolean | undefined;
}

interface WorkerArguments extends SubcommandArguments {
  readonly worker?: WorkerFlags;
}

const DEFAULT_CONCURRENCY = 2;
const MAX_CONCURRENCY = 64;
const GIT_MS = 5_000;

/** Serves until SIGTERM or SIGINT. @throws UsageError for bad usage, MiniCcError when this machine cannot serve */
export async function workerCommandLine(
  options: SessionOptions,
  {verb, worker: flags = {}}: WorkerArguments,
  say: (line: string) => void,
): Promise<CommandLineOutcome> {
  if (verb !== '') throw new UsageError(`mini-cc worker takes no ${quote(verb)}: --queue URL names the queue`);
  const settings = readOwnSettings(options);
  const concurrency = flags.concurrency ?? DEFAULT_CONCURRENCY;
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > MAX_CONCURRENCY) {
    throw new UsageError(`--concurrency takes a whole number from 1 to ${MAX_CONCURRENCY}`);
  }
  const queue = getQueue(flags, settings);
  const address = getAddress(queue, options.env);
  await checkMachine(settings, options.home);
  const [{WorkerService}, {EndedJobs}, {TreeCache}, {createExecute}] = await Promise.all([
    import('../../workers/serve/worker-service.ts'),
    import('../../workers/serve/ended-jobs.ts'),
    import('../../storage/worktrees/tree-cache.ts'),
    import('./execute.ts'),
  ]);
  const folder = path.resolve(flags.cache ?? path.join(options.home, 'worker', 'trees'));
  await checkFolder(folder);
  const {settingsFile, settingSources, debug} = options;
  // The secret only signs messages, so runs on this machine do not get it.
  const {[queue.secretEnv ?? QUEUE_SECRET]: _, ...env} = options.env;
  const execute = createExecute({
    env,
    home: options.home,
    settings: withoutUndefined({settingsFile, settingSources, debug}),
    allowAgents: settings.subagents?.allowAgents ?? ['*'],
  });
  const service = await WorkerService.open({
    address,
    concurrency,
    labels: getLabels(flags),
    once: flags.once ?? false,
    execute,
    say: (text) => say(`mini-cc worker: ${text}`),
    trees: new TreeCache(folder),
    ended: new EndedJobs(path.join(options.home, 'worker', 'ended-jobs')),
  });
  say(
    `mini-cc worker: ${service.name} serves ${formatAddress(address.url)} (${address.prefix}), ${concurrency} at a time`,
  );
  const leave = () => inBackground(service.leave(), neverRejects);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, leave);
  await service.serve();
  return printText('');
}

/** @throws UsageError for bad usage, MiniCcError when the queue cannot be reached */
export async function workersCommandLine(
  options: SessionOptions,
  {verb, json, worker: flags = {}}: WorkerArguments,
): Promise<CommandLineOutcome> {
  if (verb !== '') throw new UsageError(`mini-cc workers takes no ${quote(verb)}; --json is for scripts`);
  const {url, prefix = DEFAULT_PREFIX, secretEnv = QUEUE_SECRET} = getQueue(flags, readOwnSettings(options));
  const {connect} = await import('../../workers/queue/connection.ts');
  const {describeMismatch, listWorkers} = await import('../../workers/queue/worker-list.ts');
  const {Keys} = await import('../../workers/queue/address.ts');
  const {Signatures} = await import('../../workers/queue/signatures.ts');
  const connection = await connect(url);
  try {
    const workers = await listWorkers(connection, new Keys(prefix));
    if (json)
      return printJson(
        workers.map(({name, labels, state, running, cached}) => ({name, labels, state, running, cached})),
      );
    const secret = options.env[secretEnv] ?? '';
    const own = secret === '' ? undefined : new Signatures(secret).signer;
    const note = ({signer, state}: ListedWorker) => (own && state !== 'gone' && describeMismatch(signer, own)) || '';
    return printText(showControls(formatWorkers(workers, formatAddress(url), note)));
  } finally {
    connection.disconnect();
  }
}

/** Reads the settings of the user, without those of a project. */
function readOwnSettings(options: SessionOptions): Settings {
  return readSettings(options, options.home, () => false).settings;
}

function getLabels({labels}: WorkerFlags): readonly string[] {
  const names = labels?.split(',').map((label) => label.trim());
  return names?.filter((name) => name !== '') ?? [];
}

function getQueue({queue: url, prefix, secretEnv}: WorkerFlags, {subagents}: Settings) {
  const own = subagents?.queue;
  const found = url ?? own?.url;
  if (found === undefined) {
    throw new UsageError('which queue? --queue redis://HOST:PORT names it, or subagents.queue in your settings');
  }
  if (checkQueueUrl(found) === undefined) {
    throw new UsageError('--queue takes the address of Redis, redis://HOST:PORT or rediss://HOST:PORT');
  }
  const named = prefix ?? own?.prefix;
  if (named !== undefined && !/^[\w.-]{1,64}$/.test(named)) {
    throw new UsageError('--prefix takes letters, digits, dots, hyphens and underscores, at most 64');
  }
  const variable = secretEnv ?? own?.secretEnv;
  return {url: found, ...withoutUndefined({prefix: named, secretEnv: variable})};
}

/** @throws MiniCcError without git, or without a sandbox: such a worker accepts no work */
async function checkMachine(settings: Settings, home: string): Promise<void> {
  const {exitCode, message} = await runProgram('git', ['--version'], {limitMs: GIT_MS});
  if (exitCode !== 0) {
    throw new MiniCcError('WORKER', `worker: git does not run here (${message}): install git, and start it again`);
  }
  if (settings.sandbox?.container) return;
  const status = await createSessionSandbox(settings, {miniCcHome: home}).status();
  if (status.available) return;
  const otherwise = ', or say in your settings that this container is the wall: {"sandbox": {"container": true}}';
  const remedy = /"container": true/.test(status.remedy) ? status.remedy : `${status.remedy}${otherwise}`;
  throw new MiniCcError('WORKER', `worker: no sandbox works here: ${status.reason}: ${remedy}`);
}

/** @throws MiniCcError when no files can be stored there */
async function checkFolder(folder: string): Promise<void> {
  try {
    makeFolders(folder, 0o700);
    await access(folder, constants.W_OK);
  } catch (error) {
    const why = `${getErrorMessage(error)}: name another folder by --cache`;
    throw new MiniCcError('WORKER', `worker: files cannot be kept in ${quote(folder)}: ${why}`);
  }
}

/** @param note returns the note on the line of a worker */
function formatWorkers(
  workers: readonly ListedWorker[],
  address: string,
  note: (worker: ListedWorker) => string,
): string {
  if (workers.length === 0) return `No workers at ${address}. One starts by: mini-cc worker --queue ${address}`;
  const rows = workers.map((worker) => {
    const {name, state, running, labels, cached} = worker;
    return [name, state, formatCount(running, 'run'), `${cached.length} cached`, labels.join(','), note(worker)];
  });
  return formatColumns(rows).join('\n');
}
