import type {Command} from '../core/session.ts';

const KEYS = `Keys:
  Enter send · \\ Enter or Ctrl+J new line · Up/Down history · Tab complete
  Shift+Tab mode: default, acceptEdits, plan
  Esc interrupt, twice when idle go back to an earlier prompt
  Ctrl+C interrupt, clear, twice leave · Ctrl+D leave · Ctrl+L repaint · Ctrl+T todos
  Down agents at work · Enter open one, type to it, Esc back · Ctrl+B awaited agents to the background

Task(explore): …   dispatches a subagent at once (explore, code, plan)`;

/** `/help`: the commands that work, and the keys. */
export function createHelpCommand(others: readonly Command[]): Command {
  const help: Command = {
    name: 'help',
    description: 'the commands and keys',
    run() {
      const width = Math.max(...others.map((command) => command.name.length));
      const lines = [help, ...others].map((command) => `  /${command.name.padEnd(width)}  ${command.description}`);
      return {ok: true, text: `Commands:\n${lines.join('\n')}\n\n${KEYS}`};
    },
  };
  return help;
}
