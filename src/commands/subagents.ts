/** `/subagents` and its alias `/tasks`: what the runs of this session do, and a hand on them. */
import {hasEnded} from '../core/runs/run-record.ts';
import {runTable} from '../core/runs/run-table.ts';
import type {Command, CommandResult} from '../core/session.ts';
import type {SubagentManager} from '../core/subagent-manager.ts';
import type {ChangesRoom} from './changes.ts';
import {diffOfRun, undoRun} from './subagent-changes.ts';
import {subagentInfo} from './subagent-info.ts';
import {DEFAULT_MESSAGES, MOST_MESSAGES, subagentLog} from './subagent-log.ts';

const FORMS = `/subagents [list]
/subagents stop <id|#|all>
/subagents log <id|#> [limit] [tools]
/subagents info <id|#>
/subagents send <id|#> <message>
/subagents diff <id|#>   what it changed
/subagents undo <id|#>   puts that back, unless changed since
# is a number of the list; an id may be cut short.`;

type Handler = (manager: SubagentManager, args: string, changes: ChangesRoom) => CommandResult | Promise<CommandResult>;

const HANDLERS = new Map<string, Handler>([
  ['list', (manager) => done(runTable(manager.list(), Date.now(), 'activity'))],
  ['stop', stop],
  ['log', log],
  ['info', (manager, args) => named(args, (name) => done(subagentInfo(manager, manager.find(name))))],
  ['send', send],
  ['help', () => done(FORMS)],
  ['diff', (manager, args, changes) => named(args, (name) => diffOfRun(manager.find(name), changes))],
  ['undo', (manager, args, changes) => named(args, (name) => undoRun(manager.find(name), changes))],
]);

export function createSubagentsCommand(changes: ChangesRoom): Command {
  return subagentsAs('subagents', 'list, stop, log, info, send, diff, undo: the subagents of this session', changes);
}

export function createTasksCommand(changes: ChangesRoom): Command {
  return subagentsAs('tasks', 'the same as /subagents', changes);
}

function subagentsAs(name: string, description: string, changes: ChangesRoom): Command {
  return {
    name,
    description,
    async run({session, args}) {
      const [, verb = 'list', rest = ''] = /^(\S+)\s*([\s\S]*)$/.exec(args) ?? [];
      const handler = HANDLERS.get(verb.toLowerCase());
      if (!handler) return failed(`/${name} has no form ${JSON.stringify(verb)}:\n${FORMS}`);
      // An unknown id is thrown, and the session words it.
      return handler(session.subagents, rest.trim(), changes);
    },
  };
}

async function stop(manager: SubagentManager, args: string): Promise<CommandResult> {
  if (args === 'all') {
    const count = manager.count();
    await manager.stopAll();
    return done(
      count === 0 ? 'No subagent is at work.' : `Stopped ${count} ${count === 1 ? 'subagent' : 'subagents'}.`,
    );
  }
  return named(args, async (name) => {
    const record = manager.find(name);
    const title = `[${record.agent}] ${record.description}`;
    if (hasEnded(record)) return done(`${title} has ended already: ${record.outcome}.`);
    await manager.stop(record.runId);
    return done(`Stopped ${title}. What it found is kept: /subagents log ${record.runId.slice(0, 8)}`);
  });
}

function log(manager: SubagentManager, args: string): CommandResult | Promise<CommandResult> {
  const [name = '', ...options] = args.split(/\s+/);
  const withTools = options.includes('tools');
  const [limit = String(DEFAULT_MESSAGES), ...more] = options.filter((option) => option !== 'tools');
  if (!/^\d+$/.test(limit) || Number(limit) < 1 || more.length > 0) {
    return failed(`The limit is a number of messages from 1 to ${MOST_MESSAGES}.\n${FORMS}`);
  }
  return named(name, (run) => {
    const record = manager.find(run);
    return done(subagentLog(manager.read(record.runId), Math.min(MOST_MESSAGES, Number(limit)), withTools));
  });
}

function send(manager: SubagentManager, args: string): CommandResult | Promise<CommandResult> {
  const [, name = '', message = ''] = /^(\S+)\s*([\s\S]*)$/.exec(args) ?? [];
  return named(name, (run) => {
    if (message.trim() === '') return failed('The message is missing: /subagents send <id|#> <message>');
    const {agent, description} = manager.find(run);
    return manager.send(run, message) === 'queued'
      ? done(`Sent: [${agent}] ${description} reads it at its next turn.`)
      : done(`[${agent}] ${description} goes on in the background.`);
  });
}

function named(
  name: string,
  work: (name: string) => CommandResult | Promise<CommandResult>,
): CommandResult | Promise<CommandResult> {
  return name === '' ? failed(`Which one? An id or a number of /subagents list.\n${FORMS}`) : work(name);
}

function done(text: string): CommandResult {
  return {ok: true, text};
}

function failed(text: string): CommandResult {
  return {ok: false, text};
}
