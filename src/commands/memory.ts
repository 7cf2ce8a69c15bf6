/** Implements `/memory`, which shows and opens the memory files, and `#text`, which adds a note to one of them. */
import path from 'node:path';
import type {MemoryDeps} from '../config/memory-files.ts';
import type {CommandContext, CommandResult} from '../core/contract/session-requests.ts';
import {formatFileName} from '../core/util/paths.ts';
import type {SlashCommands} from './shared/command-deps.ts';
import {createDeclined} from './shared/results.ts';

const CHARS_PER_TOKEN = 4;

async function show(deps: MemoryDeps, context: CommandContext): Promise<CommandResult> {
  const list = formatMemory(deps.readMemory(), context.info.cwd);
  const files = deps.listMemoryFiles();
  const named = context.args === '' ? undefined : files[Number(context.args) - 1];
  if (context.args !== '' && !named) {
    const choices = files.map(({label}, index) => `  ${index + 1}  ${label}`).join('\n');
    return {ok: false, text: `/memory takes a number:\n${choices}`};
  }
  const chosen = named ?? (await choose(files, 'Edit which memory file?', list, context.ask)).chosen;
  if (!chosen) return {ok: true, text: list};
  const {file} = chosen;
  deps.prepareMemoryFile(file);
  const answer = await context.ask({title: `Edit ${file}`, escape: 'drop', editor: {file}});
  if (answer?.choice !== 'text') return {ok: false, text: answer?.note ?? 'No editor was opened.'};
  return {
    ok: true,
    text: `${formatFileName(file)}: what you saved holds for subagents from now on, and for this agent from the next conversation on (/clear).`,
  };
}

/** Asks for one of the files that can be edited or created. */
async function choose(
  files: ReturnType<MemoryDeps['listMemoryFiles']>,
  title: string,
  detail: string,
  ask: CommandContext['ask'],
) {
  const options = files.map(({file, label}, index) => ({digit: index + 1, choice: file, label}));
  const answer = await ask({title, detail, escape: 'none', options});
  return {answer, chosen: files.find(({file}) => file === answer?.choice)};
}

function formatMemory(items: ReturnType<MemoryDeps['readMemory']>, cwd: string): string {
  if (items.length === 0) return 'No memory file is read here. /init makes an AGENTS.md; #note adds a note to one.';
  const rows = items.map(({path: file, text, isCut, importedBy}) => {
    const relative = path.relative(cwd, file);
    const name = formatFileName(relative.startsWith('..') && !relative.startsWith('../') ? file : relative);
    const by = importedBy === undefined ? '' : `, by @ of ${formatFileName(path.basename(importedBy))}`;
    const size = `about ${Math.ceil(text.length / CHARS_PER_TOKEN)} tokens${isCut ? ', cut: the file is longer' : ''}`;
    return `  ${importedBy === undefined ? '' : '  '}${name}  (${size}${by})`;
  });
  return `Memory files that the model reads, the nearest last:\n${rows.join('\n')}`;
}

export const slashCommands: SlashCommands = ({memory}) => [
  {
    name: 'memory',
    description: 'memory files: what the model reads at the start; opens one in your editor, /memory [#]',
    run: (context) => show(memory, context),
  },
  {
    name: '#',
    description: 'add a note to a memory file',
    async run({args: note, ask, request}) {
      if (note === '') return {ok: false, text: 'Type a note after the #, for example #use pnpm, not npm'};
      const {answer, chosen} = await choose(memory.listMemoryFiles(), 'Add this note to which file?', note, ask);
      if (!chosen) return {...createDeclined('Nothing was noted.', answer), input: `#${note}`};
      await memory.addNote(chosen.file, note);
      request({type: 'tell', text: `The user added this note to ${chosen.file}: ${note}`, label: `#${note}`});
      return {
        ok: true,
        text: `Noted in ${chosen.label}. Each new conversation and subagent reads it; this conversation was told.`,
      };
    },
  },
];
