/** Colours what commands report in lines of names and figures: the heading, states, bars and details. */
import {AGENT_TONES, type Tone} from '../theme.ts';
import {indentLines, layoutLines, splitLines} from './lines.ts';
import {MUTED, type Row, type Span, spaces, toRow} from './styled-text.tsx';

const STATES: Readonly<Record<string, Tone>> = {ok: 'success', warning: 'warning', missing: 'error'};
/** The marks of bars, each in a colour of its own. */
const BAR_MARKS = '█▓▒░';
/** Matches columns before the last one, which is a text. */
const COLUMNS = /^(?:\S+ {2,}){1,2}/;

/** A text that is too long for its row goes on below its beginning. */
export function figureRows(text: string, columns: number): Row[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const isHead = /^\S/.test(line) && /^ /.test(lines[index + 1] ?? '');
    const lead = isHead ? '' : (COLUMNS.exec(line)?.[0] ?? '');
    const isShown = lead.length <= columns / 2;
    const [first, rest] = isShown ? [colorLead(lead), spaces(lead.length)] : [[], []];
    const body = isShown ? line.slice(lead.length) : line;
    return layoutLines(
      indentLines(splitLines(isHead ? toRow(line, {bold: true}) : colorBody(body)), first, rest),
      columns,
    );
  });
}

function colorLead(lead: string): readonly Span[] {
  const word = /^\S*/.exec(lead)![0];
  const tone = STATES[word] ?? 'muted';
  return [
    {text: word, style: {tone}},
    {text: lead.slice(word.length), style: MUTED},
  ];
}

function colorBody(body: string): readonly Span[] {
  if (body.startsWith('    ')) return toRow(body, MUTED);
  return body.split(/([█▓▒░]+|·{2,})/).map((text) => ({text, style: getStyle(text[0] ?? '')}));
}

function getStyle(mark: string): Span['style'] {
  const index = BAR_MARKS.indexOf(mark);
  if (mark === '·') return MUTED;
  return mark === '' || index < 0 ? {} : {tone: AGENT_TONES[index]!};
}
