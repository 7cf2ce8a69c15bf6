import {Box} from 'ink';
import type {Question} from '../../core/contract/events.ts';
import {layoutText} from '../input/editor-layout.ts';
import type {QuestionFocus} from '../input/question-keys.ts';
import {findInList, listRows} from '../state/list-rows.ts';
import {isLongQuestion, MAX_HEAD_ROWS} from '../state/store.ts';
import {Styled, type TextStyle, Wrapped} from '../text/styled-text.tsx';
import {cutText, cutWords, textWidth, wrapText} from '../text/wrap.ts';
import {PatchLine, WrappedDiff} from './diff.tsx';

/** A question as rows of the screen: its height must be known before it is drawn. */
export interface QuestionRows {
  readonly rows: readonly Row[];
  /** The place where the note to the model is typed. */
  readonly cursor: {readonly row: number; readonly column: number} | undefined;
}

interface Row {
  readonly key: string;
  readonly text: string;
  readonly style: RowStyle;
  /** For a row of a diff: the beginning of its line. */
  readonly sign?: string;
}

type RowStyle = 'head' | 'detail' | 'diff' | 'option' | 'marked' | 'hint' | 'note';

interface QuestionState {
  readonly question: Question;
  readonly count: number;
  readonly focus: QuestionFocus | undefined;
  readonly isPromptEmpty: boolean;
  readonly columns: number;
  /** Of the window; default 30. */
  readonly windowRows?: number;
}

const NOTE_LABELS = {why: '    why: ', line: '  ? '};

export function questionRows(state: QuestionState): QuestionRows {
  const {question, count, focus, isPromptEmpty, columns} = state;
  const rows: Row[] = [];
  const add = (style: RowStyle, lines: readonly string[], sign = '') => {
    for (const text of lines) rows.push({key: `${rows.length}`, text, style, sign});
  };
  if (question.editor) {
    return {rows: [{key: '0', text: cutText(question.title, columns), style: 'hint'}], cursor: undefined};
  }
  const queue = count > 1 ? ` (1 of ${count})` : '';
  add('head', cutRows(wrapText(`${question.agent} asks: ${question.title}${queue}`, columns), MAX_HEAD_ROWS));
  const {detail, detailType} = question;
  // A path or an address at the end of the title is not shown twice.
  const isInTitle = detailType === 'text' && question.title.endsWith(detail.trim());
  if (!isLongQuestion(question) && detail.trim() !== '' && !isInTitle) {
    if (detailType !== 'diff') add('detail', wrapText(detail, columns - 2));
    else for (const line of detail.split('\n')) add('diff', wrapText(line, columns - 2), line.slice(0, 2));
  }
  if (question.list) return {rows: [...rows, ...listPart(state)], cursor: findCursor(state, rows.length)};
  question.options.forEach(({digit, label}, index) => {
    const isMarked = focus?.marked === index && !focus.note;
    // An option is never cut: the person must be able to read what a yes allows.
    const [first = '', ...more] = wrapText(label, columns - 4);
    const lines = [`${isMarked ? '>' : ' '} ${digit} ${first}`, ...more.map((text) => `    ${text}`)];
    add(isMarked ? 'marked' : 'option', lines);
  });
  if (focus?.note) {
    const isLine = question.options.length === 0;
    const noteLabel = isLine ? NOTE_LABELS.line : NOTE_LABELS.why;
    const layout = layoutText(focus.note, Math.max(4, columns - noteLabel.length - 1));
    const row = rows.length;
    add('note', [`${noteLabel}${layout.rows[layout.cursor.row] ?? ''}`]);
    const hint = isLine ? 'Enter: done · Esc: cancel' : 'Enter: no · Esc: no, without a reason';
    add('hint', [cutWords(`  ${hint}`, columns)]);
    return {rows, cursor: {row, column: noteLabel.length + layout.cursor.column}};
  }
  if (question.hint !== undefined) add('hint', [cutWords(`  ${question.hint}`, columns)]);
  const keys = question.options.length === 0 ? 'type your answer · Esc: cancel' : describeKeys(question, focus);
  const hint = isPromptEmpty || focus?.isTaken ? keys : 'Tab: answer this question';
  add('hint', [cutWords(`  ${hint}`, columns)]);
  return {rows, cursor: undefined};
}

const FILTER_LABEL = '  find: ';

/** The line that narrows the list, and the list. */
function listPart({question, focus, columns, windowRows = 30}: QuestionState): readonly Row[] {
  const typed = focus?.note?.text ?? '';
  const list = listRows(findInList(question.list ?? [], typed), focus?.marked ?? 0, {columns, windowRows});
  const hint = `  type to find · Up and Down · Enter takes it · Esc: ${question.escape}`;
  return [
    {key: 'find', text: cutText(`${FILTER_LABEL}${typed}`, columns), style: 'note'},
    ...list.map((row, index): Row => ({...row, key: `item ${index}`})),
    {key: 'keys', text: cutWords(hint, columns), style: 'hint'},
  ];
}

function findCursor({focus, columns}: QuestionState, row: number): QuestionRows['cursor'] {
  const {text, cursor} = focus?.note ?? {text: '', cursor: 0};
  return {row, column: Math.min(columns - 1, FILTER_LABEL.length + textWidth(text.slice(0, cursor)))};
}

function cutRows(rows: readonly string[], count: number): readonly string[] {
  return rows.length <= count ? rows : [...rows.slice(0, count - 1), `${rows[count - 1]} …`];
}

function describeKeys(question: Question, focus: QuestionFocus | undefined): string {
  const refusal = question.escape;
  const refusesByEnter = question.enter === refusal && focus?.marked === undefined;
  return refusesByEnter
    ? `digit, or arrows · Enter or Esc: ${refusal}`
    : `digit, or arrows and Enter · Esc: ${refusal}`;
}

/** A question to the person. In a low window the detail is cut, and a row says so. */
export function QuestionView({rows, maxRows}: {readonly rows: QuestionRows['rows']; readonly maxRows: number}) {
  const shown = fitRows(rows, maxRows);
  return (
    <Box flexDirection="column">
      {shown.map(({key, text, style, sign = ''}) => (
        <QuestionRow key={key} text={text} style={style} sign={sign} />
      ))}
    </Box>
  );
}

function fitRows(rows: QuestionRows['rows'], maxRows: number): QuestionRows['rows'] {
  if (rows.length <= maxRows) return rows;
  const details = rows.filter(isDetail);
  const others = rows.length - details.length;
  const shown = Math.max(0, maxRows - others - 1);
  const text = `… ${details.length - shown} more rows, shown in full above`;
  const missing: Row = {key: 'missing', text, style: 'detail'};
  const last = details[shown];
  return rows
    .flatMap((row) => {
      if (!isDetail(row)) return [row];
      if (row === last) return [missing];
      return details.indexOf(row) < shown ? [row] : [];
    })
    .slice(-maxRows);
}

function isDetail({style}: {readonly style: RowStyle}): boolean {
  return style === 'detail' || style === 'diff';
}

const TEXT_STYLES: Readonly<Partial<Record<RowStyle, TextStyle>>> = {
  head: {bold: true, tone: 'warning'},
  marked: {bold: true, tone: 'accent'},
  hint: {tone: 'muted'},
};

function QuestionRow({text, style, sign}: Required<Omit<Row, 'key'>>) {
  if (style !== 'diff') return <Styled {...TEXT_STYLES[style]}>{style === 'detail' ? `  ${text}` : text}</Styled>;
  return (
    <Box paddingLeft={2}>
      <PatchLine line={text} sign={sign} />
    </Box>
  );
}

/** A long command or diff, printed in full above the question. */
export function QuestionDetail({question, columns}: {readonly question: Question; readonly columns: number}) {
  return (
    <Box flexDirection="column">
      <Wrapped bold tone="warning" text={`${question.agent} asks: ${question.title}`} columns={columns} />
      <Box paddingLeft={2}>
        {question.detailType === 'diff' ? (
          <WrappedDiff diff={question.detail} columns={columns - 2} />
        ) : (
          <Wrapped text={question.detail} columns={columns - 2} />
        )}
      </Box>
    </Box>
  );
}
