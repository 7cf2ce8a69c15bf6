import {Box, Text} from 'ink';
import type {Question} from '../../core/events.ts';
import {layoutText} from '../editor-layout.ts';
import type {QuestionFocus} from '../question-keys.ts';
import {isLongDetail} from '../store.ts';
import {cutText, wrapText} from '../wrap.ts';
import {Patch, PatchLine} from './patch.tsx';
import {Wrapped} from './styled-text.tsx';

/** Everything of a question as rows of the screen, so that its height is known before it is drawn. */
export interface QuestionRows {
  readonly rows: readonly {readonly key: string; readonly text: string; readonly style: RowStyle}[];
  /** Where the word to the model is typed: its row and column. */
  readonly cursor: {readonly row: number; readonly column: number} | undefined;
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
  const rows: {key: string; text: string; style: RowStyle}[] = [];
  const add = (style: RowStyle, lines: readonly string[]) => {
    for (const text of lines) rows.push({key: `${rows.length}`, text, style});
  };
  const queue = count > 1 ? ` (1 of ${count})` : '';
  if (question.editor)
    return {rows: [{key: '0', text: cutText(question.title, columns), style: 'hint'}], cursor: undefined};
  add('head', wrapText(`${question.agent} asks: ${question.title}${queue}`, columns).slice(0, 3));
  if (!isLongDetail(question) && question.detail.trim() !== '' && question.detail.trim() !== question.title) {
    add(question.detailType === 'diff' ? 'diff' : 'detail', wrapText(question.detail, columns - 2));
  }
  question.options.forEach(({digit, label}, index) => {
    const isMarked = focus?.marked === index && !focus.note;
    const text = cutText(`${isMarked ? '>' : ' '} ${digit} ${label}`, columns);
    add(isMarked ? 'marked' : 'option', [text]);
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
  const keysOut = question.enter === question.escape ? 'Enter or Esc' : 'Esc';
  const keys =
    question.options.length === 0
      ? 'type your answer · Esc: drop it'
      : `digit, or arrows and Enter · ${keysOut}: ${question.escape}`;
  const hint = isPromptEmpty || focus?.isTaken ? keys : 'Tab: answer this question';
  add('hint', [cutText(`  ${hint}`, columns)]);
  return {rows, cursor: undefined};
}

/** A question to the person. Where the window is too low, the detail gives way, and says so. */
export function QuestionView({rows, room}: {readonly rows: QuestionRows['rows']; readonly room: number}) {
  const shown = fitRows(rows, room);
  return (
    <Box flexDirection="column">
      {shown.map(({key, text, style}) => (
        <QuestionRow key={key} text={text} style={style} />
      ))}
    </Box>
  );
}

function fitRows(rows: QuestionRows['rows'], room: number): QuestionRows['rows'] {
  if (rows.length <= room) return rows;
  const details = rows.filter(isDetail);
  const others = rows.length - details.length;
  const kept = Math.max(0, room - others - 1);
  const missing = {key: 'missing', text: `… ${details.length - kept} more rows`, style: 'detail'} as const;
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

function QuestionRow({text, style}: {readonly text: string; readonly style: RowStyle}) {
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
          <PatchLine line={text} />
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
          <Patch patch={question.detail} />
        ) : (
          <Wrapped text={question.detail} columns={columns - 2} />
        )}
      </Box>
    </Box>
  );
}
