/** `/agents` in all its forms. */
import type {Command, CommandContext, CommandResult} from '../../core/contract/command.ts';
import {createAgent} from './create.ts';
import {deleteByName} from './delete.ts';
import type {AgentsDesk} from './deps.ts';
import {editAgent} from './edit.ts';
import {agentsHelp} from './help.ts';
import {lint} from './lint.ts';
import {overview} from './overview.ts';
import {showAgent} from './show.ts';

/** What the command's context does not bring. */
export type AgentsCommandDeps = Omit<AgentsDesk, 'ask' | 'say' | 'complete' | 'openEditor'>;

export function createAgentsCommand(room: AgentsCommandDeps): Command {
  return {
    name: 'agents',
    description: 'list agents; create, show, edit, lint, delete them: /agents help',
    run: (context) => dispatch(context.args, deskFor(room, context)),
  };
}

function deskFor(room: AgentsCommandDeps, context: CommandContext): AgentsDesk {
  return {
    ...room,
    say: (text) => context.say(text),
    ask: (question) => context.ask(question),
    complete: (prompt, schema) => context.complete(prompt, schema),
    async openEditor(file) {
      const title = `edit ${file}`;
      const answer = await context.ask({
        title,
        detail: '',
        detailType: 'text',
        options: [],
        escape: 'drop',
        editor: {file},
      });
      return answer?.choice === 'text' ? true : (answer?.note ?? 'No editor was opened.');
    },
  };
}

async function dispatch(args: string, desk: AgentsDesk): Promise<CommandResult> {
  const [, word = '', rest = ''] = /^(\S*)\s*([\s\S]*)$/.exec(args) ?? [];
  switch (word) {
    case '':
    case 'list':
      return overview(desk);
    case 'help':
      return agentsHelp();
    case 'create': {
      const [, template] = /^--template[= ]\s*(\S+)\s*$/.exec(rest) ?? [];
      return createAgent(
        {text: template === undefined ? rest : '', sure: false, ...(template === undefined ? {} : {template})},
        desk,
      );
    }
    case 'delete':
      return deleteByName(rest, false, desk);
    case 'show':
      return showAgent(rest, desk);
    case 'edit':
      return editAgent(rest, desk);
    case 'lint':
      return lint(rest, desk);
    default:
      return {ok: false, text: `/agents ${word} is not known. /agents help lists the forms.`};
  }
}
