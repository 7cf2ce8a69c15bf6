/** The list of slash commands under the prompt. */
import type {SessionInfo} from '../../core/contract/events.ts';
import type {EditorState} from './editor.ts';

export type Command = SessionInfo['commands'][number];
/** Best first; an empty query gives them all. */
export type CommandSearch = (query: string, commands: readonly Command[]) => readonly Command[];

/** What is typed of a command's name, while nothing but that is typed. */
export function commandQuery({text, cursor}: EditorState): string | undefined {
  return cursor === text.length ? /^\/([^\s/]*)$/.exec(text)?.[1] : undefined;
}

/** Until the fuzzy one is loaded. */
export const prefixSearch: CommandSearch = (query, commands) =>
  commands.filter(({name}) => name.startsWith(query.toLowerCase()));

export async function loadFuzzySearch(): Promise<CommandSearch> {
  const {default: fuzzysort} = await import('fuzzysort');
  return (query, commands) =>
    query === '' ? commands : fuzzysort.go(query, commands, {key: 'name', limit: 20}).map(({obj}) => obj);
}
