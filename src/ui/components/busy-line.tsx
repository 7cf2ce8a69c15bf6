import {formatSeconds} from '../../core/runs/progress-line.ts';
import {formatRetry, formatTokens} from '../../core/util/text.ts';
import {awaitedRuns, hasEnded} from '../state/subagent-store.ts';
import type {UiState} from '../state/ui-state.ts';
import {isEmpty} from '../text/answer-stream.ts';
import {screenLine} from '../text/screen-text.ts';
import {MUTED, Rows} from '../text/styled-text.tsx';
import {cutText, textWidth} from '../text/wrap.ts';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;
/** Milliseconds between two frames of the moving parts. */
export const TICK_MS = 200;
/** Columns that a cut description of the work has at least. */
const MIN_WORK = 8;
/** Columns that the words of a server have at least. */
const MIN_WORDS = 16;

interface BusyProps {
  /** Names the work that is waited for. */
  readonly work: string;
  /** True when the work must not be cut to make space for the time and the key. */
  readonly isWhole?: boolean;
  /** What the server says to it, which is shown where there is room. */
  readonly words?: string | undefined;
  /** Both times are in milliseconds since the epoch. */
  readonly since: number;
  readonly now: number;
  /** Tokens of the turn so far, in and out. */
  readonly tokens: number;
  /** True when Ctrl+B can send awaited subagents and commands to the background. */
  readonly canBackground?: boolean;
  /** True while the transcript of a run is shown, where Esc goes back. */
  readonly isRunOpen?: boolean;
  readonly columns: number;
}

/** Says what is waited for, how long it has taken, and how to stop it. */
export function BusyLine(props: BusyProps) {
  const {work, isWhole, words = '', since, now, tokens, canBackground, isRunOpen, columns} = props;
  const esc = isRunOpen ? '' : 'Esc interrupts';
  const background = canBackground ? 'Ctrl+B background' : '';
  const time = formatSeconds(now - since);
  const used = tokens > 0 ? `${formatTokens(tokens)} tokens` : '';
  const room = columns - 2;
  const join = (...parts: string[]) => parts.filter((part) => part !== '').join(' · ');
  const left = room - textWidth(join(work, time, esc)) - 3;
  // The longest choice that fits is shown. A long call is cut to make space for the time and the key.
  const choices = [
    ...(words !== '' && left >= MIN_WORDS ? [join(work, time, esc, cutText(screenLine(words), left))] : []),
    join(work, time, used, esc, background),
    join(work, time, esc, background),
    background === '' ? join(work, time, esc) : join(work, esc, background),
  ];
  const ends = [join(time, esc, background), join(time, esc)];
  const least = ends.find((end) => textWidth(end) + MIN_WORK <= room) ?? ends[1]!;
  const cut = join(cutText(work, Math.max(MIN_WORK, room - textWidth(least) - 3)), least);
  const bare = work.replace(/^[^:]*: /, '');
  const short = isWhole
    ? [join(work, esc), join(bare, esc), work, bare]
    : [...(background !== '' && least === ends[0] ? [] : [join(work, esc)]), cut];
  const line = [...choices, ...short].find((choice) => textWidth(choice) <= room) ?? short.at(-1)!;
  const mark = FRAMES[Math.floor(now / TICK_MS) % FRAMES.length]!;
  return (
    <Rows
      rows={[
        [
          {text: mark, style: {tone: 'accent'}},
          {text: ` ${cutText(line, room)}`, style: MUTED},
        ],
      ]}
    />
  );
}

/** Describes in a few words what the main agent does. @param now milliseconds since the epoch */
export function describeWork(ui: UiState, now: number): string {
  const {retry, session} = ui;
  const model = session?.model ?? 'the model';
  if (retry?.pause) return `${screenLine(retry.reason)} · Esc stops`;
  if (retry) return screenLine(`${model}: ${formatRetry({...retry, waitMs: retry.until - now})}`);
  if (ui.thought !== '') return 'Thinking';
  if (!isEmpty(ui.stream)) return 'Writing';
  const running = getRunning(ui);
  if (running.length === 1) return `Running ${running[0]!.call}`;
  if (running.length > 1) return `Running ${running.length} calls`;
  const agents = awaitedRuns(ui).filter((run) => !hasEnded(run)).length;
  if (agents > 0) return `Waiting for ${agents === 1 ? '1 agent' : `${agents} agents`}`;
  return ui.busy ? `Waiting for ${model}` : 'Working';
}

/** Returns when the turn began, or else the user's command, in milliseconds since the epoch. */
export function getWorkStart(ui: UiState): number {
  return ui.busy ? ui.busySince : (getRunning(ui)[0]?.since ?? ui.busySince);
}

function getRunning({tools, dispatched}: UiState): UiState['tools'] {
  return tools.filter(({callId}) => !dispatched.includes(callId));
}
