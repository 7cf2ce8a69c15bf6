/** Implements `mini-cc agents list|show|create|delete|lint|schema|stats`, which do the work of `/agents` for scripts. */
import {findDeletableFile} from '../../agents/save.ts';
import {createAgentSchema} from '../../agents/schema.ts';
import {UsageError} from '../../core/util/errors.ts';
import {deleteByName} from '../agents.ts';
import {
  type CommandLineOutcome,
  createUnknownVerb,
  printJson,
  printText,
  type SubcommandArguments,
} from '../shared/command-line.ts';
import {createAgent} from './create.ts';
import {
  type AgentsDeps,
  type AgentsResult,
  findAgent,
  getAgentEntries,
  type LintReport,
  lint,
  listAgents,
  showAgent,
  showStats,
} from './show.ts';

const VERBS = 'list, show, create, delete, lint, schema, stats, test';

/** @throws UsageError for bad usage, MiniCcError when the command fails */
export async function runAgentsCommandLine(args: SubcommandArguments, deps: AgentsDeps): Promise<CommandLineOutcome> {
  const {verb, json} = args;
  const text = args.words.join(' ');
  switch (verb) {
    case '':
    case 'list':
      if (text !== '') throw new UsageError(`mini-cc agents list takes no words: ${JSON.stringify(text)}`);
      return json ? printJson(getAgentEntries(deps.snapshot())) : toOutcome(listAgents(deps), 0);
    case 'show': {
      const agent = findAgent(text, deps);
      if ('ok' in agent) return toOutcome(agent, 2);
      const {positions: _, ...shown} = agent;
      return json ? printJson(shown) : toOutcome(showAgent(text, deps), 2);
    }
    case 'create':
      return create(text, args, deps);
    case 'delete':
      if (text === '') throw new UsageError('mini-cc agents delete needs the name of an agent');
      return toOutcome(await deleteIfSure(text, args.sure, deps), 2, json);
    case 'lint': {
      const report = await lint(text, deps);
      return json ? {...printJson(report.agents), exitCode: report.ok ? 0 : 2} : toLintOutcome(report);
    }
    case 'stats':
      return toOutcome(await showStats(text, deps), 2, json);
    case 'schema':
      return printJson(createAgentSchema(deps.listable.known));
    default:
      throw createUnknownVerb('mini-cc agents', verb, VERBS);
  }
}

async function create(
  text: string,
  {sure, template, json}: SubcommandArguments,
  deps: AgentsDeps,
): Promise<CommandLineOutcome> {
  if (!sure) {
    throw new UsageError('mini-cc agents create asks before it saves: say --yes, or use /agents create in the REPL');
  }
  if ((text === '') === (template === undefined)) {
    throw new UsageError(
      'mini-cc agents create needs either a text that says what the agent is for, or --template NAME',
    );
  }
  const created = await createAgent({text, sure, ...(template === undefined ? {} : {template})}, deps);
  // A template that does not exist is bad usage. A model that gives no draft is a failure.
  return toOutcome(created, template === undefined ? 1 : 2, json);
}

/** Findings go to standard output. An unknown agent is an error. */
function toLintOutcome({ok, text, agents}: LintReport): CommandLineOutcome {
  if (!ok && agents.length === 0) return {exitCode: 2, stdout: '', stderr: `mini-cc: ${text}\n`};
  return {exitCode: ok ? 0 : 2, stdout: `${text}\n`, stderr: ''};
}

async function deleteIfSure(name: string, sure: boolean, deps: AgentsDeps): Promise<AgentsResult> {
  if (sure) return deleteByName(name, true, deps);
  const file = await findDeletableFile(name, deps.snapshot(), deps.writableFolders);
  throw new UsageError(`this would remove ${deps.shownPath(file)}: say --yes`);
}

function toOutcome({ok, text, data}: AgentsResult, failure: number, json = false): CommandLineOutcome {
  if (!ok) return {exitCode: failure, stdout: '', stderr: `mini-cc: ${text}\n`};
  return json && data ? printJson(data) : printText(text);
}
