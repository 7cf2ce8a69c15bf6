import {Box, Text} from 'ink';
import type {Question} from '../../core/contract/events.ts';
import {layoutText} from '../input/editor-layout.ts';
import type {QuestionFocus} from '../input/question-keys.ts';
import {isLongQuestion, MAX_HEAD_ROWS} from '../state/store.ts';
import {Wrapped} from '../text/styled-text.tsx';
import {cutText, wrapText} from '../text/wrap.ts';
import {PatchLine, WrappedDiff} from './diff.tsx';

/** Everything of a question as rows of the screen, so that its height is known before it is drawn. */
export interface QuestionRows {
  readonly rows: readonly Row[];
  /** Where the word to the model is typed: its row and column. */
  readonly cursor: {readonly row: number; readonly column: number} | undefined;
}

interface Row {
  readonly key: string;
  readonly text: string;
  readonly style: RowStyle;
  /** Of a row of a diff: how its line begins. */
  readonly sign?: string;
}

type RowStyle = 'head' | 'detail' | 'diff' | 'option' | 'marked' | 'hint' | 'note';

interface View {
  readonly question: Question;
  readonly count: number;
  readonly focus: QuestionFocus | undefined;
  readonly isPromptEmpty: boolean;
  readonly columns: number;
}

const NOTE_LABELS = {why: '    why: ', line: '  ? '};

export function questionRows({question, count, focus, isPromptEmpty, columns}: View): QuestionRows {
  const rows: Row[] = [];
  const add = (style: RowStyle, lines: readonly string[], sign = '') => {
    for (const text of lines) rows.push({key: `${rows.length}`, text, style, sign});
  };
  const queue = count > 1 ? ` (1 of ${count})` : '';
  if (question.editor)
    return {rows: [{key: '0', text: cutText(question.title, columns), style: 'hint'}], cursor: undefined};
  add('head', firstOf(wrapText(`${question.agent} asks: ${question.title}${queue}`, columns), MAX_HEAD_ROWS));
  const {detail, detailType} = question;
  // A file or an address that the head ends with is not said twice.
  const isSaid = detailType === 'text' && question.title.endsWith(detail.trim());
  if (!isLongQuestion(question) && detail.trim() !== '' && !isSaid) {
    if (detailType !== 'diff') add('detail', wrapText(detail, columns - 2));
    else for (const line of detail.split('\n')) add('diff', wrapText(line, columns - 2), line.slice(0, 2));
  }
  question.options.forEach(({digit, label}, index) => {
    const isMarked = focus?.marked === index && !focus.note;
    // What a yes covers is read before it is given: it is not cut.
    const [first = '', ...more] = wrapText(label, columns - 4);
    const lines = [`${isMarked ? '>' : ' '} ${digit} ${first}`, ...more.map((text) => `    ${text}`)];
    add(isMarked ? 'marked' : 'option', lines);
  });
  if (focus?.note) {
    const isLine = question.options.length === 0;
    const noteLabel = isLine ? NOTE_LABELS.line : NOTE_LABELS.why;
    const room = Math.max(4, columns - noteLabel.length - 1);
    const layout = layoutText(focus.note, room);
    const row = rows.length;
    add('note', [`${noteLabel}${layout.rows[layout.cursor.row] ?? ''}`]);
    const hint = isLine ? 'Enter: done · Esc: drop it' : 'Enter: no · Esc: no, without a word';
    add('hint', [cutText(`  ${hint}`, columns)]);
    return {rows, cursor: {row, column: noteLabel.length + layout.cursor.column}};
  }
  const keys = question.options.length === 0 ? 'type your answer · Esc: drop it' : chooserKeys(question, focus);
  const hint = isPromptEmpty || focus?.isTaken ? keys : 'Tab: answer this question';
  add('hint', [cutText(`  ${hint}`, columns)]);
  return {rows, cursor: undefined};
}

function firstOf(rows: readonly string[], count: number): readonly string[] {
  return rows.length <= count ? rows : [...rows.slice(0, count - 1), `${rows[count - 1]} …`];
}

function chooserKeys(question: Question, focus: QuestionFocus | undefined): string {
  const out = question.escape;
  const isEnterOut = question.enter === out && focus?.marked === undefined;
  return isEnterOut ? `digit, or arrows · Enter or Esc: ${out}` : `digit, or arrows and Enter · Esc: ${out}`;
}

/** A question to the person. Where the window is too low, the detail gives way, and says so. */
export function QuestionView({rows, room}: {readonly rows: QuestionRows['rows']; readonly room: number}) {
  const shown = fitRows(rows, room);
  return (
    <Box flexDirection="column">
      {shown.map(({key, text, style, sign = ''}) => (
        <QuestionRow key={key} text={text} style={style} sign={sign} />
      ))}
    </Box>
  );
}

function fitRows(rows: QuestionRows['rows'], room: number): QuestionRows['rows'] {
  if (rows.length <= room) return rows;
  const details = rows.filter(isDetail);
  const others = rows.length - details.length;
  const kept = Math.max(0, room - others - 1);
  const missing = {key: 'missing', text: `… ${details.length - kept} more rows, whole above`, style: 'detail'} as const;
  const last = details[kept];
  return rows
    .flatMap((row) => {
      if (!isDetail(row)) return [row];
      if (row === last) return [missing];
      return details.indexOf(row) < kept ? [row] : [];
    })
    .slice(-room);
}

function isDetail({style}: {readonly style: RowStyle}): boolean {
  return style === 'detail' || style === 'diff';
}

function QuestionRow({text, style, sign}: Required<Omit<Row, 'key'>>) {
  switch (style) {
    case 'head':
      return (
        <Text bold color="yellow">
          {text}
        </Text>
      );
    case 'detail':
      return <Text>{`  ${text}`}</Text>;
    case 'diff':
      return (
        <Box paddingLeft={2}>
          <PatchLine line={text} sign={sign} />
        </Box>
      );
    case 'marked':
      return (
        <Text bold color="cyan">
          {text}
        </Text>
      );
    case 'hint':
      return <Text dimColor>{text}</Text>;
    default:
      return <Text>{text}</Text>;
  }
}

/** A long command or diff, printed whole before the question. */
export function QuestionDetail({question, columns}: {readonly question: Question; readonly columns: number}) {
  return (
    <Box flexDirection="column">
      <Wrapped bold color="yellow" text={`${question.agent} asks: ${question.title}`} columns={columns} />
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
