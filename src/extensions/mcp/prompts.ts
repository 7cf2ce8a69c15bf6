/** Offers prompts of servers as slash commands: `/mcp__SERVER__PROMPT words`. */
import type {Command} from '../../core/contract/session-requests.ts';
import {untilAborted} from '../../core/util/background.ts';
import {UsageError} from '../../core/util/errors.ts';
import {showControls, toOneLine} from '../../core/util/text.ts';
import {splitWords} from '../prompts/expand-prompt.ts';
import type {Prompt} from './connection.ts';
import {toPromptContent} from './result.ts';
import type {McpServer} from './server.ts';

export function listPromptCommands(server: McpServer): Command[] {
  return server.prompts.map((prompt) => createPromptCommand(server, toCommandPart(prompt.name), prompt));
}

/**
 * @param part the part of the command's name after `mcp__SERVER__`, which names the prompt
 * @param known absent while the server is not connected; the command then starts it
 */
export function createPromptCommand(server: McpServer, part: string, known?: Prompt): Command {
  const describe = ({description = '', title = ''}: Prompt) => toOneLine(showControls(description || title));
  return {
    name: `mcp__${server.id}__${part}`,
    description: (known && describe(known)) || `a prompt of the MCP server ${server.name}`,
    ...(known?.arguments?.length && {argumentHint: known.arguments.map(formatArgument).join(' ')}),
    async run({args, say, signal}) {
      if (!server.isConnected) say(`Starting the MCP server ${server.name} …`);
      await untilAborted(server.start(), signal);
      const wanted = part.toLowerCase();
      const prompt = server.prompts.find(({name}) => toCommandPart(name).toLowerCase() === wanted);
      if (!prompt) throw new UsageError(describeMissing(server, part));
      const given = assignArguments(prompt, args);
      const got = await server.getPrompt(prompt.name, given, signal);
      // The content does not count as typed: the server is its author, so commands and files in it have no effect.
      return {ok: true, text: '', prompt: {content: toPromptContent(got) as string}};
    },
  };
}

function describeMissing(server: McpServer, part: string): string {
  const names = server.prompts.map(({name}) => toCommandPart(name));
  const list = names.length === 0 ? 'It has none' : `It has: ${names.join(', ')}`;
  return `The MCP server ${server.name} has no prompt ${JSON.stringify(part)}. ${list}`;
}

/** Assigns words to the prompt's arguments by their order or as `name=value`. The last argument takes the rest. */
function assignArguments({name, arguments: expected = []}: Prompt, args: string): Record<string, string> {
  const given: Record<string, string> = {};
  const rest: string[] = [];
  for (const word of splitWords(args)) {
    const [, key = '', value = ''] = /^([\w-]+)=(.*)$/s.exec(word) ?? [];
    if (expected.some((each) => each.name === key)) given[key] = value;
    else rest.push(word);
  }
  const open = expected.filter((each) => given[each.name] === undefined);
  for (const [index, each] of open.entries()) {
    const words = index === open.length - 1 ? rest.slice(index) : rest.slice(index, index + 1);
    if (words.length > 0) given[each.name] = words.join(' ');
  }
  const missing = expected.filter((each) => each.required && given[each.name] === undefined);
  if (missing.length === 0) return given;
  throw new UsageError(`${name} takes ${expected.map(formatArgument).join(' ')}: ${missing[0]!.name} is missing`);
}

function formatArgument({name, required}: NonNullable<Prompt['arguments']>[number]): string {
  return required ? `<${name}>` : `[${name}]`;
}

/** Converts a name so that it can be typed in a command. */
function toCommandPart(name: string): string {
  return name.replace(/[^\w:-]/g, '_');
}
