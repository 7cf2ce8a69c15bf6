/** Requests about the conversation: stopping it, leaving it for another one, and going back in it. */
import type {Emit, SessionInfo} from '../contract/events.ts';
import type {UsageEntry} from '../contract/model.ts';
import type {Requests, RestoredFiles} from '../contract/session-requests.ts';
import {MiniCcError, UsageError} from '../util/errors.ts';
import {type Conversation, closeConversation, type SessionParts} from './parts.ts';
import type {Turns} from './turns.ts';

/** Lists what earlier processes used for the conversation. The budget has what this process uses. */
export function listEarlierUse({state, manager}: SessionParts): readonly UsageEntry[] {
  const {usedBefore, earlierUse} = state.conversation;
  if (earlierUse) return earlierUse;
  const restored = manager.list().filter((run) => run.restored);
  const ofRuns = restored.flatMap(({agent, usageByModel}) =>
    Object.entries(usageByModel).map(([model, usage]) => ({agent, model, usage})),
  );
  return [...usedBefore, ...ofRuns];
}

/** Leaves a conversation for another one, and remembers what only earlier processes used for it. */
function createLeaving(parts: SessionParts, turns: Turns, emit: Emit) {
  const {state, inbox, manager} = parts;
  /** By the ids of the conversations that were left. */
  const left = new Map<string, Pick<Conversation, 'earlierUse' | 'subagentsBefore'>>();
  const leaveFor = async (next: Conversation, shown: () => void) => {
    const {id, subagentsBefore} = state.conversation;
    left.set(id, {earlierUse: listEarlierUse(parts), subagentsBefore});
    await manager.clear();
    turns.recordSubagents();
    // Announcements that wait belong to the old conversation. They are delivered when it continues.
    inbox.drop('announcement');
    inbox.drop('companion');
    closeConversation(state.conversation, emit);
    state.conversation = next;
    emit({type: 'cleared'});
    shown();
  };
  const withEarlierUse = (opened: Conversation): Conversation => ({...opened, ...left.get(opened.id)});
  return {leaveFor, withEarlierUse};
}

export function conversationRequests(parts: SessionParts, turns: Turns, emit: Emit, getInfo: () => SessionInfo) {
  const {state, inbox, manager} = parts;
  const {leaveFor, withEarlierUse} = createLeaving(parts, turns, emit);
  return {
    stop: () => turns.stop(),
    release_prompt: () => turns.releasePrompt(),
    take_back({id}) {
      const taken = inbox.takeBack(id) ?? turns.takeBack(id);
      const content = taken?.command?.line ?? taken?.content;
      if (content !== undefined) emit({type: 'queued_prompt_taken_back', id});
      return content;
    },
    async clear() {
      const previous = state.conversation.id;
      // Prompts that the person types in the meantime belong to the new conversation.
      await turns.pause(async () => {
        await turns.stop();
        await turns.during(({signal}) => turns.hooks.end('clear', signal));
        await leaveFor(parts.openConversation(), () => emit({type: 'session', info: getInfo()}));
      });
      turns.hooks.start('clear');
      return {previous};
    },
    transcript: () => state.conversation.wholeConversation(turns.isBusy),
    sessions({withText}) {
      assertIdle(turns, 'open another session');
      return parts.listSessions(withText);
    },
    async resume({session, takeOver}) {
      const previous = state.conversation.id;
      assertIdle(turns, 'open another session');
      if (session === previous) throw new UsageError('This session is open already');
      await turns.pause(async () => {
        // Opens the other session first, so that this one stays when that fails.
        const next = withEarlierUse(parts.openConversation(session, takeOver));
        await turns.during(({signal}) => turns.hooks.end('resume', signal));
        await leaveFor(next, () => undefined);
        turns.hooks.start('resume');
        const pending = manager.restore(next.announced);
        emit({type: 'resumed', info: getInfo()});
        for (const text of describeConversation(next, parts)) emit({type: 'notice', level: 'warning', text});
        for (const {event, message} of pending) {
          emit(event);
          inbox.put(message);
        }
      });
      return {previous};
    },
    ...rewindRequests(parts, turns, emit),
  } satisfies Partial<Requests>;
}

/** Describes, one line each, what of a stored conversation is lost, and what was cut off and can be finished. */
export function describeConversation(
  {problems, rewindPoints}: Conversation,
  {changes, fanOuts}: Pick<SessionParts, 'changes' | 'fanOuts'>,
): readonly string[] {
  return [...problems, fanOuts.describeCutOff() ?? [], changes.describeCutOff(rewindPoints) ?? []].flat();
}

function rewindRequests({state, changes}: SessionParts, turns: Turns, emit: Emit) {
  const getPoints = () => {
    assertIdle(turns, 'go back');
    return state.conversation.rewindPoints();
  };
  const getPoint = (to: string) => {
    const point = getPoints().find(({uuid}) => uuid === to);
    if (!point) throw new MiniCcError('PROMPT_NOT_FOUND', `There is no prompt ${to} to go back to`);
    return point;
  };
  return {
    rewind_points: getPoints,
    async rewind_changes() {
      const points = getPoints();
      const counted = points.map(async ({uuid, at}, index) => {
        const until = points[index - 1]?.at;
        return [uuid, await changes.countLines(at, until)] as const;
      });
      return Object.fromEntries(await Promise.all(counted));
    },
    rewind_files: async ({to}) => changes.planRewind(getPoint(to).at),
    async rewind({to, what, keepNew}) {
      const point = getPoint(to);
      let files: RestoredFiles | undefined;
      // Prompts that the person types in the meantime follow the conversation that remains.
      await turns.pause(async () => {
        const finish = () => {
          const {history, messagesBefore} = state.conversation;
          history.rewind(point.uuid, () => messagesBefore(point.uuid));
          emit({type: 'rewound'});
        };
        if (what === 'conversation') finish();
        else files = await changes.rewind(point.at, {keepNew, ...(what === 'both' && {finish})});
      });
      return {point, ...(files && {files})};
    },
  } satisfies Partial<Requests>;
}

export function assertIdle({isBusy}: Turns, what: string): void {
  if (!isBusy) return;
  throw new MiniCcError(
    'SESSION_BUSY',
    `A turn or an agent is at work: wait for its end, or end it by /stop. Then ${what}.`,
  );
}
