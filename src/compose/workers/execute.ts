/**
 * Executes a job at a worker in a session of its own, which has this machine's settings and keys and runs one agent in
 * a worktree.
 */
import {readFile} from 'node:fs/promises';
import path from 'node:path';
import type {PermissionMode} from '../../core/contract/events.ts';
import {parseRule} from '../../core/permissions/rules/rule.ts';
import type {RemoteTask} from '../../core/runs/remote-runs.ts';
import {createSession} from '../../core/session.ts';
import {inBackground, neverRejects} from '../../core/util/background.ts';
import {getErrorMessage, ignoreMissing} from '../../core/util/errors.ts';
import {isInside} from '../../core/util/paths.ts';
import {findTool} from '../../core/util/tool-names.ts';
import {EXPORTED_PATCH} from '../../storage/worktrees/git-worktrees.ts';
import {RefusedMessage} from '../../workers/queue/signatures.ts';
import {type Execute, type ExecutePlace, GiveBack} from '../../workers/serve/job-run.ts';
import {ALL_TOOLS} from '../known-tools.ts';
import type {SessionOptions} from '../options.ts';
import {composeParts} from '../session.ts';

interface ExecuteOptions {
  readonly env: SessionOptions['env'];
  readonly home: string;
  /** From `subagents.allowAgents` in this machine's settings. */
  readonly allowAgents: readonly string[];
  /** From `--settings` and `--setting-sources`. */
  readonly settings: Pick<SessionOptions, 'settingsFile' | 'settingSources' | 'debug'>;
}

/**
 * Creates the session's options. The job's permissions only narrow the settings of this machine, except that they may
 * allow edits. Calls that would need a question are refused.
 */
function getSessionOptions(work: RemoteTask, place: ExecutePlace, options: ExecuteOptions): SessionOptions {
  const {mode, deny, edits} = work.permissions;
  return {
    ...options.settings,
    cwd: place.tree.root,
    env: options.env,
    home: options.home,
    interactive: false,
    which: {type: 'new'},
    isTemporary: true,
    cachedTree: place.tree,
    ...(place.reserveAbove && {reserveAbove: place.reserveAbove}),
    archiveAfterMinutes: 0,
    maxConcurrent: 1,
    permissionMode: toOwnMode(mode),
    allowedTools: edits.filter((text) => countsHere(text, place.tree.root)),
    disallowedTools: deny,
    ...(place.traceparent !== undefined && {traceparent: place.traceparent}),
  };
}

/**
 * Whether a rule that the session allows counts here: it is about edits of files of the tree. The session's rules may
 * name other places of its own machine, but it sends none about other tools.
 * @throws RefusedMessage for a rule about another tool
 */
function countsHere(text: string, root: string): boolean {
  const parsed = parseRule(text, ALL_TOOLS);
  if (!('tool' in parsed) || findTool(parsed.tool, ALL_TOOLS)?.kind !== 'edit') {
    throw new RefusedMessage('format', 'its rules allow more than edits');
  }
  const {pattern = ''} = parsed;
  const place = path.resolve(root, pattern.replace(/^\/(?!\/)/, './').replace(/^\/\//, '/'));
  return !pattern.startsWith('~') && !pattern.split('/').includes('..') && isInside(place, [root]);
}

/**
 * A session elsewhere cannot allow commands here, which need rules of this machine. Edits are harmless because they
 * stay in the worktree.
 */
function toOwnMode(mode: PermissionMode): PermissionMode {
  return mode === 'bypassPermissions' ? 'acceptEdits' : mode;
}

export function createExecute(options: ExecuteOptions): Execute {
  return async (work, place) => {
    const {agent} = work;
    if (!options.allowAgents.includes('*') && !options.allowAgents.includes(agent.name)) {
      throw new GiveBack(`its settings (subagents.allowAgents) do not allow the agent ${agent.name}`);
    }
    const own = getSessionOptions(work, place, options);
    const parts = await composeParts(own).catch((error: unknown) => {
      throw new GiveBack(`it cannot begin: ${getErrorMessage(error)}`);
    });
    const session = createSession(parts);
    try {
      return await runOne(work, place, parts);
    } finally {
      await session.close();
    }
  };
}

async function runOne(work: RemoteTask, place: ExecutePlace, parts: Awaited<ReturnType<typeof composeParts>>) {
  const {spec, agent, prompt, limits, messages} = work;
  const {runId, signal} = place;
  const {manager, bus} = parts;
  let model: ReturnType<typeof parts.resolveModel>;
  try {
    model = parts.resolveModel(spec.model);
  } catch (error) {
    throw new GiveBack(`it cannot ask the model ${spec.model}: ${getErrorMessage(error)}`);
  }
  const unsubscribe = bus.subscribe(({agentId, ...event}) => {
    if (agentId === runId) place.onEvent(event);
  });
  try {
    const dispatched = await manager.dispatch({
      runId,
      agent,
      description: spec.description,
      prompt,
      model,
      limits,
      isolation: 'worktree',
      where: 'local',
      scope: spec.scope,
      history: messages,
      background: false,
      endsForGood: true,
      signal: new AbortController().signal,
    });
    if (dispatched.source === 'cached') throw new GiveBack('it has run here before');
    const {started} = dispatched;
    started.inbox.watch({delivered: ({id}) => place.onDelivered(id)});
    place.onMessage((id, text) => started.inbox.put({id, content: text, kind: 'prompt', startsTurn: true}));
    const stop = () => inBackground(manager.stop(runId), neverRejects);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, {once: true});
    const {result, transcript} = await started.ended;
    // The run failed before it did anything, because of this worker's keys, model server or disk. Another worker may
    // succeed with its own.
    if (result.outcome === 'error' && result.usage.output_tokens === 0 && result.tools.length === 0) {
      throw new GiveBack(`it cannot run it: ${result.error}`);
    }
    const lines = manager.read(runId).filter(({type}) => type === 'message');
    const folder = path.dirname(transcript);
    return {
      result,
      entries: lines.slice(messages.length + 1),
      // The patch is read at this point because the session's folder is erased when the session closes.
      patch: await readIfThere(path.join(folder, EXPORTED_PATCH)),
      commits: await readIfThere(path.join(folder, 'commits.bundle')),
    };
  } finally {
    unsubscribe();
  }
}

function readIfThere(file: string): Promise<Buffer | undefined> {
  return readFile(file).catch(ignoreMissing);
}
