/** `mini-cc agents list|show|create|delete|lint|schema`: the same without a REPL, for scripts. */
import {createAgentSchema} from '../../agents/schema.ts';
import {UsageError} from '../../core/util/errors.ts';
import {type CommandLineOutcome, printed, type SubcommandArguments, told} from '../command-line.ts';
import {createAgent} from './create.ts';
import {deleteByName} from './delete.ts';
import type {AgentsDesk, DeskResult} from './deps.ts';
import {type LintReport, lint} from './lint.ts';
import {agentEntries, overview} from './overview.ts';
import {findAgent, showAgent} from './show.ts';

const VERBS = 'list, show, create, delete, lint, schema';

/** @throws UsageError for bad usage; MiniCcError for what fails. */
export async function runAgentsCommandLine(args: SubcommandArguments, desk: AgentsDesk): Promise<CommandLineOutcome> {
  const text = args.words.join(' ');
  switch (args.verb) {
    case '':
    case 'list':
      if (text !== '') throw new UsageError(`mini-cc agents list takes no words: ${JSON.stringify(text)}`);
      return args.json ? printed(agentEntries(desk.snapshot())) : outcome(overview(desk), 0);
    case 'show': {
      const agent = findAgent(text, desk);
      if ('ok' in agent) return outcome(agent, 2);
      const {places: _, ...shown} = agent;
      return args.json ? printed(shown) : outcome(showAgent(text, desk), 2);
    }
    case 'create': {
      if (!args.sure)
        throw new UsageError(
          'mini-cc agents create asks before it saves: say --yes, or use /agents create in the REPL',
        );
      if (text === '' && args.template === undefined)
        throw new UsageError('mini-cc agents create needs a text that says what the agent is for, or --template NAME');
      const {template, json} = args;
      const created = await createAgent({text, sure: true, ...(template === undefined ? {} : {template})}, desk);
      // A template that is not there is bad usage; a model that gives no draft is a failure.
      return outcome(created, template === undefined ? 1 : 2, json);
    }
    case 'delete':
      if (text === '') throw new UsageError('mini-cc agents delete needs the name of an agent');
      return outcome(await confirmedDelete(text, args.sure, desk), 2, args.json);
    case 'lint': {
      const report = lint(text, desk);
      return args.json ? {...printed(report.agents), exitCode: report.ok ? 0 : 2} : lintOutcome(report);
    }
    case 'schema':
      return printed(createAgentSchema(desk.toolNames));
    default:
      throw new UsageError(`mini-cc agents ${args.verb}: there is ${VERBS}`);
  }
}

/** Findings are the answer; that there is no such agent is an error. */
function lintOutcome({ok, text, agents}: LintReport): CommandLineOutcome {
  if (!ok && agents.length === 0) return {exitCode: 2, stdout: '', stderr: `mini-cc: ${text}\n`};
  return {exitCode: ok ? 0 : 2, stdout: `${text}\n`, stderr: ''};
}

async function confirmedDelete(name: string, sure: boolean, desk: AgentsDesk): Promise<DeskResult> {
  if (sure) return deleteByName(name, true, desk);
  const {findDeletableFile} = await import('../../agents/save.ts');
  const file = await findDeletableFile(name, desk.snapshot(), desk.writableFolders);
  throw new UsageError(`this would remove ${desk.shownPath(file)}: say --yes`);
}

function outcome({ok, text, data}: DeskResult, failure: number, json = false): CommandLineOutcome {
  if (!ok) return {exitCode: failure, stdout: '', stderr: `mini-cc: ${text}\n`};
  return json && data ? printed(data) : told(text);
}
