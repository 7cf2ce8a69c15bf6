/**
 * Implements `/resume`, which continues another session of this directory. `mini-cc --resume` without an id shows the
 * same list.
 */
import type {
  Command,
  CommandContext,
  CommandQuestion,
  CommandResult,
  SessionSummary,
} from '../core/contract/session-requests.ts';
import {formatAge, formatCount, toShortLine} from '../core/util/text.ts';
import type {SlashCommands} from './shared/command-deps.ts';
import {failed} from './shared/results.ts';

const resumeCommand: Command = {
  name: 'resume',
  description: 'open an earlier session: /resume [ID]',
  async run(context) {
    const {args, request, info} = context;
    const others = request({type: 'sessions', withText: true}).filter(({id}) => id !== info.sessionId);
    if (others.length === 0) return failed('There is no other session in this directory.');
    if (args !== '') return resumeNamed(args, others, context);
    const answer = await context.ask(createSessionQuestion(others, Date.now()));
    if (!answer)
      return failed('No session was chosen. Without a question: /resume ID. mini-cc sessions list shows the ids.');
    const chosen = others.find(({id}) => id === answer.choice);
    return chosen ? resume(chosen, context) : {ok: true, text: 'This session stays open.'};
  },
};

function resumeNamed(
  name: string,
  others: readonly SessionSummary[],
  context: CommandContext,
): Promise<CommandResult> | CommandResult {
  const found = others.filter(({id}) => id.startsWith(name));
  const whole = others.find(({id}) => id === name) ?? (found.length === 1 ? found[0] : undefined);
  if (whole) return resume(whole, context);
  if (found.length > 1) return failed(`${found.length} sessions begin with ${name}: give more of the id.`);
  const isOpen = context.info.sessionId.startsWith(name);
  return failed(isOpen ? 'This session is open already.' : `No session ${name} in this directory. /resume lists them.`);
}

async function resume({id, lockedBy}: SessionSummary, {request, ask, info}: CommandContext): Promise<CommandResult> {
  if (lockedBy !== undefined) {
    const answer = await ask(createTakeOverQuestion(lockedBy));
    if (answer?.choice !== TAKE_OVER) return failed(`${lockedBy}. This session stays open.`);
  }
  const left = info.sessionId;
  await request({type: 'resume', session: id, ...(lockedBy !== undefined && {takeOver: true})});
  return {ok: true, text: `Session ${id.slice(0, 8)} is open. Back to the one before: /resume ${left.slice(0, 8)}`};
}

export const TAKE_OVER = 'take over';

/** @param lockedBy a sentence that says who has locked the session */
export function createTakeOverQuestion(lockedBy: string): CommandQuestion {
  return {
    title: 'Take over this session?',
    detail: `${lockedBy}.\nWhether that one still works on it cannot be seen from here. If it does, it will be kept from writing.`,
    options: [
      {digit: 1, choice: TAKE_OVER, label: 'yes, it has ended'},
      {digit: 2, choice: 'leave', label: 'no, leave'},
    ],
    escape: 'leave',
    enter: 'leave',
  };
}

const MAX_LABEL_CHARS = 200;

/** @param now milliseconds since the epoch */
export function createSessionQuestion(sessions: readonly SessionSummary[], now: number): CommandQuestion {
  return {
    title: 'Go on with which session?',
    list: sessions.map((session) => ({
      choice: session.id,
      label: getLabel(session),
      info: formatInfo(session, now),
      ...(session.text !== undefined && {text: session.text}),
    })),
    escape: 'leave',
  };
}

function getLabel({prompt, problem}: SessionSummary): string {
  return problem === undefined ? toShortLine(prompt, MAX_LABEL_CHARS) || '(no prompt)' : `damaged: ${problem}`;
}

function formatInfo({id, at, messages, branch}: SessionSummary, now: number): string {
  const count = formatCount(messages, 'message');
  const age = now - at < 60_000 ? 'just now' : `${formatAge(now - at)} ago`;
  return [age, branch, count, id.slice(0, 8)].filter((part) => part !== undefined).join(' · ');
}

export const slashCommands: SlashCommands = () => [resumeCommand];
