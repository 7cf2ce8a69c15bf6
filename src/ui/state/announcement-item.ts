/** The announcement of a background run's end, as the person reads it: without its receipt, and not too long. */

import type {AgentEventBody} from '../../core/contract/events.ts';
import {announcementFields} from '../../core/runs/announcement.ts';
import {type ProgressState, progressLine} from '../../core/runs/progress-line.ts';
import {screenLine, screenText} from '../text/screen-text.ts';
import {wrapText} from '../text/wrap.ts';
import type {Announcement} from './ui-state.ts';

const MAX_ROWS = 20;
/** What a row of the screen is taken to hold; a narrow window makes more rows of it. */
const ROW_COLUMNS = 76;

/** One that was restored knows no description when its run is gone. */
type Announced = Omit<Extract<AgentEventBody, {type: 'announcement'}>, 'type' | 'description'> & {
  readonly description?: string;
};

/** @param run what the screen knows of it; nothing when it ended before this program was started */
export function announcementItem(event: Announced, run: ProgressState | undefined): Announcement {
  const {result, notes} = announcementFields(event.text);
  const state = event.outcome;
  const agent = screenLine(event.agent);
  const header = run
    ? progressLine({...run, state}).trim()
    : `${`[${agent}] ${screenLine(event.description ?? '')}`.trim()} - ${state === 'success' ? 'done' : state}`;
  return {
    runId: screenLine(event.runId),
    agent,
    state,
    header,
    ...firstLines(screenText(result).trim()),
    notes: notesOf(notes),
  };
}

function notesOf(written: string): string {
  const notes = screenText(written).trim();
  return notes === '- (none)' ? '' : notes;
}

/** About `MAX_ROWS` rows from the beginning, and how many are left. A block of code that was cut is closed. */
function firstLines(text: string): {text: string; more: number} {
  const lines = text.split('\n').map((line) => ({line, rows: wrapText(line, ROW_COLUMNS)}));
  const shown: string[] = [];
  let room = MAX_ROWS;
  for (const {line, rows} of lines) {
    if (rows.length > room) {
      // A paragraph in one line, as models write it, is cut within.
      if (room > 2) {
        shown.push(`${rows.slice(0, room).join(' ')}…`);
        room = 0;
      }
      break;
    }
    shown.push(line);
    room -= rows.length;
  }
  const more = lines.reduce((sum, {rows}) => sum + rows.length, 0) - (MAX_ROWS - room);
  const fences = shown.filter((line) => /^\s*```/.test(line)).length;
  if (more > 0 && fences % 2 === 1) shown.push('```');
  return {text: shown.join('\n').trimEnd(), more};
}
