/** Opens the first two parts of a session: the project that it works in, and the records of what happens. */

import {realpathSync} from 'node:fs';
import {homedir} from 'node:os';
import {version} from '../../package.json';
import {listAgentKeyNames} from '../agents/catalog.ts';
import {createOpenNotes} from '../agents/notes.ts';
import {withoutOverruled} from '../config/environment.ts';
import {isRead} from '../config/layers.ts';
import {describeSkippedFiles} from '../config/skipped-files.ts';
import {Questions} from '../core/permissions/questions.ts';
import type {EventBus} from '../core/session/event-bus.ts';
import {createTemporaryFolderBelow, removeTemporaryFolder} from '../core/util/files/temporary-folder.ts';
import {keepOutPrograms} from '../core/util/programs.ts';
import {SessionStore} from '../storage/sessions/session-store.ts';
import type {Telemetry} from '../telemetry/telemetry.ts';
import {AGENT_TOOLS, ALL_TOOLS} from './known-tools.ts';
import {createBus, createSecrets, type SessionOptions} from './options.ts';
import {getExistingFolder} from './permission-settings.ts';
import {openFirstConversation} from './sessions.ts';
import {loadTrustedSettings} from './trust.ts';

/** Agent id of the main agent. */
export const MAIN = 'main';

export type Project = Awaited<ReturnType<typeof openProject>>;
export type Records = Awaited<ReturnType<typeof openRecords>>;

/**
 * Opens the folder and its settings, with what the user trusts of them and what must not be shown. @throws UsageError
 * for wrong settings
 */
export async function openProject(given: SessionOptions) {
  const root = realpathSync(given.cwd);
  keepOutPrograms(root);
  const trusted = await loadTrustedSettings(given, root);
  const options = {...given, env: withoutOverruled({...given.env, ...trusted.settings.env}, trusted.origins)};
  const skipped = isRead('project', options.settingSources) ? describeSkippedFiles(root) : [];
  const loaded = {...trusted, warnings: [...trusted.warnings, ...skipped]};
  const folders = {
    cwd: root,
    home: homedir(),
    miniCcHome: options.home,
    tools: ALL_TOOLS,
    plugins: loaded.plugins,
    ...(options.settingSources && {sources: options.settingSources}),
  };
  const agentKeys = listAgentKeyNames(folders, {
    known: AGENT_TOOLS,
    trusts: loaded.trust.trusts,
    extra: options.agentsJson,
  });
  const {redactor, env} = createSecrets(options, [...loaded.keyNames, ...agentKeys], root, loaded);
  const extraRoots = [
    ...(options.addDirs ?? []).map((folder) => getExistingFolder(folder, root)),
    ...loaded.directories,
  ];
  return {
    options,
    root,
    /** Folders that agents work in besides `root`. `/add-dir` adds to them. */
    extraRoots,
    folders,
    loaded,
    settings: loaded.settings,
    trusts: loaded.trust.trusts,
    openNotes: createOpenNotes({
      root,
      home: options.home,
      trust: loaded.trust,
      // A trial works without notes, so that its result does not depend on them.
      sources: options.trials ? [] : options.settingSources,
    }),
    redactor,
    env,
  };
}

/**
 * Opens the stored sessions, the first conversation and the bus of events. @throws UsageError when the conversation
 * cannot be opened
 */
export async function openRecords({options, root, redactor, settings}: Project) {
  const temporaryHome = options.isTemporary ? createTemporaryFolderBelow(options.home) : undefined;
  const store = new SessionStore(temporaryHome ?? options.home, root, redactor);
  const firstConversation = await openFirstConversation(store, {options, redactor, settings});
  const bus = createBus(options, redactor);
  const telemetry = await openTelemetry(options, bus, firstConversation.id);
  const close = async () => {
    if (temporaryHome !== undefined) removeTemporaryFolder(temporaryHome);
    await telemetry?.close();
  };
  return {store, firstConversation, bus, telemetry, emit: bus.emitFor(MAIN), questions: new Questions(), close};
}

/** Starts the spans of a session if the user names a collector. Without one, nothing of OpenTelemetry is loaded. */
async function openTelemetry(
  {env, traceparent}: SessionOptions,
  bus: EventBus,
  sessionId: string,
): Promise<Telemetry | undefined> {
  if (!env.OTEL_EXPORTER_OTLP_ENDPOINT) return undefined;
  const {startTelemetry} = await import('../telemetry/telemetry.ts');
  const telemetry = startTelemetry({env, version, sessionId, traceparent});
  if (telemetry) bus.subscribe(telemetry.listen);
  return telemetry;
}
