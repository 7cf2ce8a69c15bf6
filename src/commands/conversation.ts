/** `/rewind`: the conversation, the files or both as they were before an earlier prompt. */
import {existsSync} from 'node:fs';
import type {Command, CommandContext, CommandResult} from '../core/session.ts';
import {since} from '../storage/checkpoints/changes.ts';
import {putBack} from '../storage/checkpoints/restore.ts';
import {messageLinesOf, readTranscript} from '../storage/sessions/transcript.ts';
import {type ChangesRoom, commandNotes, putBackWords} from './changes.ts';

const FORMS = '/rewind N [conversation|files|both], where 1 is the last prompt';
/** As many as there are digits. */
const MOST_OFFERED = 9;
const MOST_LABEL_CHARS = 70;

type What = 'conversation' | 'files' | 'both';

interface Prompt {
  readonly uuid: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly text: string;
  /** Messages before it. */
  readonly kept: number;
  /** From it on. */
  readonly dropped: number;
}

export function createRewindCommand(room: ChangesRoom): Command {
  return {
    name: 'rewind',
    description: 'go back to before an earlier prompt: conversation, files or both (Esc Esc)',
    async run(context) {
      const {session, args} = context;
      const [, number, word] = /^(?:(\d+)(?:\s+(conversation|files|both))?)?$/i.exec(args) ?? [undefined, 'wrong'];
      if (number === 'wrong') return failed(`/rewind has no form ${JSON.stringify(args)}. There is: ${FORMS}`);
      if (session.isBusy) return failed(BUSY);
      const prompts = promptsIn(session.info.transcript);
      if (prompts.length === 0) return failed('There is no prompt to go back to.');
      if (number === undefined) return askAndRewind(prompts, context, room);
      const prompt = prompts[Number(number) - 1];
      if (!prompt) return failed(`There is no prompt ${number}: the last is 1, the first ${prompts.length}`);
      return rewind(prompt, (word?.toLowerCase() ?? 'both') as What, context, room);
    },
  };
}

const STAY = 'stay';
const WHATS = [
  {choice: 'both', label: 'conversation and files'},
  {choice: 'conversation', label: 'the conversation'},
  {choice: 'files', label: 'files'},
] as const;
const BUSY = 'Something is at work: /stop ends it. Then go back.';
const NOTHING = 'Nothing was taken back.';

async function rewind(
  prompt: Prompt,
  what: What,
  {session}: CommandContext,
  room: ChangesRoom,
): Promise<CommandResult> {
  // It may have begun while the questions stood there.
  if (session.isBusy) return failed(BUSY);
  const lines: string[] = [];
  if (what !== 'conversation') {
    const by = {agentId: 'rewind', label: '/rewind'};
    const put = await putBack(room.checkpoints(), since(prompt.at), by);
    await room.onPutBack(
      put.restored.map(({path}) => path),
      by.label,
    );
    lines.push(putBackWords(put, room.root) || 'No file had changed since.');
    lines.push(...commandNotes(room.checkpoints().ledger.lines, ({at}) => at >= prompt.at));
  }
  if (what === 'files') return done([`Files as they were before: ${labelOf(prompt)}`, ...lines].join('\n'));
  session.rewind(prompt.uuid, prompt.kept);
  const count = `${prompt.dropped} message${prompt.dropped === 1 ? '' : 's'}`;
  const head = `The conversation is as it was before: ${labelOf(prompt)} (${count} taken back)`;
  return {...done([head, ...lines].join('\n')), input: prompt.text};
}

/** Newest first. */
function promptsIn(transcript: string): readonly Prompt[] {
  // It comes into being with the first word.
  const lines = existsSync(transcript) ? messageLinesOf(readTranscript(transcript)) : [];
  return lines
    .flatMap(({uuid, at, message, prompt}, kept) => {
      const text = typeof message.content === 'string' ? message.content : '';
      return prompt ? [{uuid, at: Date.parse(at), text, kept, dropped: lines.length - kept}] : [];
    })
    .reverse();
}

async function askAndRewind(
  prompts: readonly Prompt[],
  context: CommandContext,
  room: ChangesRoom,
): Promise<CommandResult> {
  const offered = prompts.slice(0, MOST_OFFERED);
  const which = await context.ask({
    title: 'go back to before which prompt?',
    detail: '',
    detailType: 'text',
    options: offered.map((prompt, index) => ({digit: index + 1, choice: prompt.uuid, label: labelOf(prompt)})),
    escape: STAY,
  });
  if (!which) return failed(`${NOTHING} Without a question: ${FORMS}`);
  const prompt = offered.find(({uuid}) => uuid === which.choice);
  if (!prompt) return done(NOTHING);
  const what = await context.ask({
    title: `what is to be as before: ${labelOf(prompt)}`,
    detail: '',
    detailType: 'text',
    options: WHATS.map(({choice, label}, index) => ({digit: index + 1, choice, label})),
    escape: STAY,
  });
  const chosen = WHATS.find(({choice}) => choice === what?.choice);
  return chosen ? rewind(prompt, chosen.choice, context, room) : done(NOTHING);
}

function labelOf({text}: Prompt): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= MOST_LABEL_CHARS ? line : `${line.slice(0, MOST_LABEL_CHARS - 1).toWellFormed()}…`;
}

function done(text: string): CommandResult {
  return {ok: true, text};
}

function failed(text: string): CommandResult {
  return {ok: false, text};
}
