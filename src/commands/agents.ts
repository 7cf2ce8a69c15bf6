/** Implements `/agents` in all its forms. */
import {formatDefinition} from '../agents/definition-file.ts';
import {deleteAgent, findDeletableFile} from '../agents/save.ts';
import type {CommandContext, CommandResult} from '../core/contract/session-requests.ts';
import {UsageError} from '../core/util/errors.ts';
import {hasError} from '../core/util/problem.ts';
import {createAgent, getTemplates} from './agents/create.ts';
import {
  type AgentsCommandDeps,
  type AgentsDeps,
  type AgentsResult,
  findAgent,
  lint,
  listAgents,
  showAgent,
  showStats,
} from './agents/show.ts';
import type {SlashCommands} from './shared/command-deps.ts';
import {confirm, createDeclined} from './shared/results.ts';

export const slashCommands: SlashCommands = ({agents: deps}) => [
  {
    name: 'agents',
    description: 'agents of this project: list, create, show, edit, test, lint, delete, count them (/agents help)',
    run(context) {
      const words = context.args.split(/\s+/).filter((word) => word !== '');
      return words[0] === 'test'
        ? test(words.slice(1), deps, context)
        : dispatch(context.args, addContext(deps, context));
    },
  },
];

const TEST_FLAGS = ['--case', '--trials', '--baseline', '--judge', '--html'];
const TEST_SWITCHES = ['--fresh', '--regrade'];

/** Runs `/agents test NAME…`. @throws UsageError for an unknown flag */
async function test(words: readonly string[], deps: AgentsCommandDeps, {ask, say, signal}: CommandContext) {
  const names: string[] = [];
  const flags: Record<string, string | true> = {};
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    const value = words[at + 1];
    if (TEST_SWITCHES.includes(word)) flags[word] = true;
    else if (TEST_FLAGS.includes(word) && value !== undefined) {
      flags[word] = value;
      at += 1;
    } else if (word.startsWith('-'))
      throw new UsageError(`/agents test takes ${[...TEST_FLAGS, ...TEST_SWITCHES].join(', ')}, not ${word}`);
    else names.push(word);
  }
  const front = {say, signal, ask: async (detail: string) => Boolean(await confirm(ask, 'Run these tests?', detail))};
  return deps.runTests(names, flags, front);
}

function addContext(deps: AgentsCommandDeps, {say, ask, complete}: CommandContext): AgentsDeps {
  return {
    ...deps,
    say,
    ask,
    complete,
    async openEditor(file) {
      const answer = await ask({title: `edit ${file}`, escape: 'drop', editor: {file}});
      return answer?.choice === 'text' ? true : (answer?.note ?? 'No editor was opened.');
    },
  };
}

async function dispatch(args: string, deps: AgentsDeps): Promise<CommandResult> {
  const [, word = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(args) ?? [];
  switch (word) {
    case '':
    case 'list':
      return listAgents(deps);
    case 'help':
      return getHelp();
    case 'create': {
      const [, template] = /^--template[= ]\s*(\S+)\s*$/.exec(rest) ?? [];
      const asked = template === undefined ? {text: rest} : {text: '', template};
      return createAgent({...asked, sure: false}, deps);
    }
    case 'delete':
      return deleteByName(rest, false, deps);
    case 'show':
      return showAgent(rest, deps);
    case 'edit':
      return editAgent(rest, deps);
    case 'lint':
      return lint(rest, deps);
    case 'stats':
      return showStats(rest, deps);
    default:
      return {ok: false, text: `/agents ${word} is not known. /agents help lists the forms.`};
  }
}

/** A short example, so that the help fits a screen of 80 columns and 30 rows. */
const EXAMPLE = {
  name: 'reviewer',
  description: 'Reviews a change and ranks what it finds',
  tools: ['bash', 'read_file'],
  prompt: 'You are a code review expert. Report findings, change nothing.',
};

function getHelp(): AgentsResult {
  const templates = getTemplates();
  return {
    ok: true,
    text: `Agents are JSON files in .mini-cc/agents/; yours are in ~/.mini-cc/agents/.
  /agents                which there are; an edit holds from the next Task on
  /agents create [TEXT]  drafts one from the text, or asks; you see it first
  /agents create --template NAME, one that ships:
      ${Object.keys(templates).join(' ')}
  /agents show|edit NAME its definition and its real tools; opens it in $EDITOR
  /agents lint [NAME]    what is wrong, and what is unwise
  /agents test NAME      measures it by its cases (--trials, --baseline, --html)
  /agents stats [NAME]   what its runs in this project came to
  /agents delete NAME    asks, then removes the file
  Task(NAME): PROMPT     dispatches it at once
Required: name, description (when to choose it), tools ("*" or a list), prompt.
Optional: disallowedTools, model, maxTurns, timeoutSeconds, readOnly, color.
.mini-cc/agents/reviewer.json, for example:
${formatDefinition(EXAMPLE)}`,
  };
}

/** Opens the agent's file in `$EDITOR`. The change takes effect with the next Task. */
async function editAgent(name: string, deps: AgentsDeps): Promise<AgentsResult> {
  const agent = findAgent(name, deps);
  if ('ok' in agent) return agent;
  const {source, file} = agent;
  if (source === 'built-in')
    return {ok: false, text: `${name} is built in: settings may change its model and limits (agents.${name}.model)`};
  if (source === 'shipped')
    return {
      ok: false,
      text: `${name} comes with mini-cc: a file of that name replaces its prompt, tools, model and limits`,
    };
  if (source === 'inline' || file === undefined)
    return {ok: false, text: `${name} comes from --agents: there is no file to edit`};
  const opened = await deps.openEditor(file);
  if (opened !== true) return {ok: false, text: opened};
  const problems = deps.snapshot(name).problems.filter((problem) => problem.file === file);
  const shown = deps.shownPath(file);
  // The catalog has reported each error with its line.
  return hasError(problems)
    ? {ok: false, text: `${shown} has errors: the last valid one stays in use.`}
    : {ok: true, text: `${shown} is in use as it is now.`};
}

/**
 * Asks, then removes the file.
 * @param sure true when the question is answered already
 * @throws UsageError when the agent cannot be deleted, with a message for each case
 */
export async function deleteByName(name: string, sure: boolean, deps: AgentsDeps): Promise<AgentsResult> {
  if (name === '') return {ok: false, text: 'Which agent? /agents delete NAME'};
  const file = await findDeletableFile(name, deps.snapshot(), deps.writableFolders);
  if (!sure) {
    const isSure = await confirm(deps.ask, `Delete the agent ${name}?`, deps.shownPath(file), 'yes, remove the file');
    if (!isSure) return createDeclined(`Did not delete ${name}.`, isSure);
  }
  const deleted = await deleteAgent(name, deps.snapshot(), deps.writableFolders);
  deps.snapshot(name);
  return {ok: true, text: `Deleted ${deps.shownPath(deleted)}`, data: {name, file: deleted}};
}
