import type {WriteStream} from 'node:tty';
import {Box, useStdout} from 'ink';
import type {ListItem, Question, ThemeName} from '../../core/contract/events.ts';
import {formatCount} from '../../core/util/text.ts';
import {type EditorState, layoutText} from '../input/editor.ts';
import {findInList, getCommand, type QuestionFocus} from '../input/question-keys.ts';
import {formatAsked, isLongQuestion, MAX_HEAD_ROWS} from '../state/questions.ts';
import type {Formatter} from '../text/format.ts';
import {layoutLines} from '../text/lines.ts';
import {firstAround} from '../text/live-rows.ts';
import {screenLine} from '../text/screen-text.ts';
import {
  MUTED,
  plainText,
  Rows,
  type Row as Spans,
  type TextStyle,
  ThemeContext,
  toRow,
  Wrapped,
  withCursor,
  wrapSpans,
} from '../text/styled-text.tsx';
import {cutText, textWidth, wrapText} from '../text/wrap.ts';
import {getTheme} from '../theme.ts';

/** A question as rows of the screen. Its height must be known before it is drawn. */
export interface QuestionRows {
  readonly rows: readonly Row[];
  /** True when the title is longer than the rows for it. */
  readonly isCut?: boolean;
  /** Place of the cursor in the note to the model. */
  readonly cursor: {readonly row: number; readonly column: number} | undefined;
}

interface Row {
  readonly text: string;
  readonly style: RowStyle;
  /** The styled spans of a row of the detail. */
  readonly row?: Spans;
  /** The theme of a sample. Default: the theme of the screen. */
  readonly theme?: ThemeName;
}

type RowStyle = 'head' | 'detail' | 'gap' | 'option' | 'marked' | 'hint' | 'note';

interface QuestionState {
  readonly question: Question;
  readonly count: number;
  readonly focus: QuestionFocus | undefined;
  readonly isPromptEmpty: boolean;
  readonly columns: number;
  /** Rows of the window; 30 by default. */
  readonly windowRows?: number;
  readonly formatter?: Formatter | undefined;
}

const MAX_EXPLANATION_ROWS = 8;
/** Maximal share of the window for an explanation, so that the question and its options stay on the screen. */
const EXPLANATION_SHARE = 1 / 4;

const NOTE_LABELS = {why: '    why: ', answer: '    answer: ', line: '  ? ', command: '  $ '};

export function questionRows(state: QuestionState): QuestionRows {
  const {question, count, focus, isPromptEmpty, columns, formatter, windowRows = 30} = state;
  const rows: Row[] = [];
  const add = (style: RowStyle, lines: readonly string[]) => {
    for (const text of lines) rows.push({text, style});
  };
  const addHint = (text: string) => add('hint', wrapText(text, columns - 2).map(indent));
  if (question.editor) {
    return {rows: [{text: cutText(question.title, columns), style: 'hint'}], cursor: undefined};
  }
  const queue = count > 1 ? ` (1 of ${count})` : '';
  const head = wrapText(formatAsked(question) + queue, columns);
  const isCut = head.length > MAX_HEAD_ROWS;
  add('head', cutRows(head, MAX_HEAD_ROWS));
  const {because} = question;
  if (because !== undefined) add('hint', cutRows(wrapText(`(${because})`, columns - 2), MAX_HEAD_ROWS).map(indent));
  const {detail, detailType} = question;
  // A path, an address or an input that ends the title is not shown twice.
  const bare = (text: string) => text.replace(/\s+/g, '');
  const isInTitle = detailType === 'text' && bare(question.title).replace(/\?$/, '').endsWith(bare(detail));
  if (!isLongQuestion(question) && detail.trim() !== '' && !isInTitle) {
    const formatted = formatDetail(question, formatter);
    const laid = formatted ? layoutLines(formatted, columns - 2) : wrapSpans(toRow(detail), columns - 2);
    for (const row of laid) rows.push({text: plainText(row), style: 'detail', row});
  }
  const purpose = getPurpose(question);
  if (purpose !== '') add('hint', cutRows(wrapText(purpose, columns - 2), MAX_HEAD_ROWS).map(indent));
  if (focus?.explanation !== undefined) {
    const text = focus.explanation || 'Asking the model what this call does …';
    const most = Math.max(2, Math.min(MAX_EXPLANATION_ROWS, Math.floor(windowRows * EXPLANATION_SHARE)));
    add('note', cutRows(wrapText(text, columns - 2), most).map(indent));
  }
  if (question.hint !== undefined) addHint(question.hint);
  if (rows.length > 1 && question.options.length > 0) add('gap', ['']);
  const hasKeys = isPromptEmpty || focus?.isTaken === true;
  if (question.list) {
    return {rows: [...rows, ...listPart(state, hasKeys)], cursor: hasKeys ? findCursor(state, rows.length) : undefined};
  }
  question.options.forEach(({digit, label}, index) => {
    const isMarked = focus?.marked === index && !focus.note;
    // An option is never cut: the person must be able to read what a yes allows.
    const [first = '', ...more] = wrapText(label, columns - 4);
    const lines = [`${isMarked ? '>' : ' '} ${digit} ${first}`, ...more.map((text) => `    ${text}`)];
    add(isMarked ? 'marked' : 'option', lines);
  });
  if (focus?.note) {
    const {line, hint, column} = layoutNote(question, focus, focus.note, columns);
    add('note', [line]);
    const cursor = {row: rows.length - 1, column};
    addHint(hint);
    return {rows, isCut, cursor};
  }
  addHint(hasKeys ? describeKeys(question, focus, columns - 2) : TAB_HINT);
  return {rows, isCut, cursor: undefined};
}

/** Formats a diff or markdown; undefined for plain text, and for markdown while there is no formatter. */
function formatDetail({title, detail, detailType}: Question, formatter: Formatter | undefined) {
  if (detailType === 'diff') return formatter?.diff(detail, title.replace(/\?$/, '')) ?? [];
  return detailType === 'markdown' ? formatter?.format(formatter.lex(detail)) : undefined;
}

/** Lays out the row of the typed note. */
function layoutNote(question: Question, focus: QuestionFocus, note: EditorState, columns: number) {
  const kind = getNoteKind(question, focus);
  const label = NOTE_LABELS[kind];
  const {rows, cursor} = layoutText(note, Math.max(4, columns - label.length - 1));
  return {
    line: `${label}${rows[cursor.row] ?? ''}`,
    hint: NOTE_HINTS[kind](question.escape),
    column: label.length + cursor.column,
  };
}

/** Returns the kind of the typed note: a changed command, a requested line, an answer, or the reason of a refusal. */
function getNoteKind({options, escape: refusal}: Question, {isCommand, choice}: QuestionFocus) {
  if (isCommand) return 'command';
  if (options.length === 0) return 'line';
  return choice === refusal ? 'why' : 'answer';
}

const NOTE_HINTS = {
  command: () => 'Enter runs the changed command. Esc says no.',
  line: () => 'Enter sends your answer. Esc cancels.',
  why: () => 'Enter sends it. Esc gives no reason.',
  answer: (refusal: string) => `Enter sends it. Esc means ${refusal}.`,
};

const TAB_HINT = 'Press Tab to answer this question.';

const FILTER_LABEL = '  find: ';

/** Draws the line that narrows the list, and the list. */
function listPart(
  {question, focus, columns, windowRows = 30, formatter}: QuestionState,
  hasKeys: boolean,
): readonly Row[] {
  const typed = focus?.note?.text ?? '';
  const found = findInList(question.list ?? [], typed);
  const list = listRows(found, focus?.marked ?? 0, {columns, windowRows});
  const marked = found[Math.min(focus?.marked ?? 0, found.length - 1)];
  const preview = marked?.text === undefined ? [] : previewRows(marked.text, typed, columns);
  const sample = marked?.sample && formatter ? sampleRows(marked.sample, formatter, columns) : [];
  const end = `Esc means ${question.escape}.`;
  const hints = [`Type to find, choose with Up and Down, take with Enter. ${end}`, `Type, Up/Down, Enter. ${end}`];
  const hint = hasKeys ? (hints.find((line) => line.length + 2 <= columns) ?? end) : TAB_HINT;
  return [
    {text: cutText(`${FILTER_LABEL}${typed}`, columns), style: 'note'},
    ...list,
    ...preview,
    ...sample,
    ...wrapText(hint, columns - 2).map((text): Row => ({text: indent(text), style: 'hint'})),
  ];
}

const SAMPLE = `@@ -1,3 +1,3 @@
 // A greeting
-export const greet = (name: string) => 'Hi ' + name;
+export const greet = (name: string) => \`Hello \${name}\`;
`;

/** Shows what a patch looks like in a theme. */
function sampleRows(theme: ThemeName, formatter: Formatter, columns: number): readonly Row[] {
  const rows = layoutLines(formatter.diff(SAMPLE, 'greet.ts'), columns - 2);
  return rows.map((row) => ({text: '', style: 'detail', row, theme}));
}

const PREVIEW_ROWS = 3;
/** Characters before the found word in a preview. */
const BEFORE_FOUND = 60;

/** Shows the end of an item's text, or the place where the first typed word stands. */
function previewRows(text: string, typed: string, columns: number): readonly Row[] {
  const word = typed.trim().split(/\s+/)[0]?.toLowerCase() ?? '';
  const at = word === '' ? -1 : text.toLowerCase().lastIndexOf(word);
  const shown = at < 0 ? text.slice(-PREVIEW_ROWS * columns) : text.slice(Math.max(0, at - BEFORE_FOUND));
  const rows = wrapText(screenLine(shown), columns - 4);
  const chosen = at < 0 ? rows.slice(-PREVIEW_ROWS) : rows.slice(0, PREVIEW_ROWS);
  return chosen.map((row) => ({text: `  │ ${row}`, style: 'hint'}));
}

/** Maximal rows of a list in a high window. */
const MAX_LIST_ROWS = 12;
/** Rows of the window for the prompt, the status line and the question itself. */
const OTHER_ROWS = 13;
/** Columns. A narrower window shows only the information of the marked row. */
const MIN_INFO_COLUMNS = 70;

/** Sets the words beside the labels in columns. */
function alignInfos(items: readonly ListItem[]): readonly string[] {
  const rows = items.map(({info = ''}) => [info].flat());
  const widths = rows.reduce<number[]>(
    (most, cells) => cells.map((cell, column) => Math.max(most[column] ?? 0, textWidth(cell))),
    [],
  );
  const pad = (cell: string, column: number) => cell + ' '.repeat(Math.max(0, widths[column]! - textWidth(cell)));
  return rows.map((cells) => cells.map(pad).join('  ').trimEnd());
}

/**
 * Lays out the rows of the list around the marked item.
 * @param marked index of the marked item in `found`
 */
function listRows(
  found: readonly ListItem[],
  marked: number,
  {columns, windowRows}: {readonly columns: number; readonly windowRows: number},
): readonly Row[] {
  if (found.length === 0) return [{text: '  Nothing matches what is typed.', style: 'hint'}];
  const count = Math.max(1, Math.min(MAX_LIST_ROWS, windowRows - OTHER_ROWS));
  const at = Math.min(marked, found.length - 1);
  const first = firstAround(at, found.length, count);
  const shown = found.slice(first, first + count);
  const isWide = columns >= MIN_INFO_COLUMNS;
  const infos = alignInfos(shown);
  const infoWidth = isWide ? Math.max(...infos.map(textWidth)) : 0;
  const rows = shown.map(({label}, index): Row => {
    const info = infos[index]!;
    const isMarked = first + index === at;
    const width = columns - 3 - (infoWidth === 0 ? 0 : infoWidth + 2);
    const cut = cutText(label, width);
    const text = infoWidth === 0 ? cut : `${cut}${' '.repeat(Math.max(0, width - textWidth(cut)))}  ${info}`;
    return {text: `${isMarked ? '>' : ' '} ${text.trimEnd()}`, style: isMarked ? 'marked' : 'option'};
  });
  const info = infos[at - first]?.replace(/ {2,}/g, ' · ');
  const notes = [
    ...(isWide || info === '' || info === undefined ? [] : [cutText(info, columns - 4)]),
    ...(found.length > shown.length ? [`${at + 1} of ${found.length}`] : []),
  ];
  return notes.length === 0 ? rows : [...rows, {text: `  ${cutText(notes.join(' · '), columns - 4)}`, style: 'hint'}];
}

function findCursor({focus, columns}: QuestionState, row: number): QuestionRows['cursor'] {
  const {text, cursor} = focus?.note ?? {text: '', cursor: 0};
  return {row, column: Math.min(columns - 1, FILTER_LABEL.length + textWidth(text.slice(0, cursor)))};
}

function getPurpose({call}: Question): string {
  const {description} = (call?.input ?? {}) as {readonly description?: unknown};
  return typeof description === 'string' ? screenLine(description) : '';
}

function indent(text: string): string {
  return `  ${text}`;
}

function cutRows(rows: readonly string[], count: number): readonly string[] {
  return rows.length <= count ? rows : [...rows.slice(0, count - 1), `${rows[count - 1]} …`];
}

/** Describes the keys, e.g. `Press 1, 2 or 4, or use the arrows and Enter. Esc means no.` */
function describeKeys(question: Question, focus: QuestionFocus | undefined, columns: number): string {
  const {options, escape: refusal, enter} = question;
  if (options.length === 0) return 'Type your answer. Esc cancels.';
  const digits = options.map(({digit}) => digit);
  const keys = [digits.slice(0, -1).join(', '), digits.at(-1)].filter((part) => part !== '').join(' or ');
  const press = `Press ${keys}`;
  const isRefusedByEnter = enter === refusal && focus?.marked === undefined;
  const end = isRefusedByEnter ? `Enter and Esc mean ${refusal}.` : `Esc means ${refusal}.`;
  const arrows = isRefusedByEnter ? ', or use the arrows' : ', or use the arrows and Enter';
  const change = getCommand(question) === undefined ? '' : ' e changes the command.';
  const explain = question.call && focus?.explanation === undefined ? ' Ctrl+E explains it.' : '';
  const choices = [
    `${press}${arrows}.${change}${explain} ${end}`,
    `${press}.${change}${explain} ${end}`,
    `${press}.${explain} ${end}`,
    `${press}. ${end}`,
    `${keys}. ${end}`,
  ];
  return choices.find((line) => line.length <= columns) ?? choices.at(-1)!;
}

interface QuestionViewProps {
  readonly rows: QuestionRows['rows'];
  readonly maxRows: number;
  /** A cursor that is to be drawn. */
  readonly cursor?: QuestionRows['cursor'];
}

/** Shows a question to the person. In a low window the detail is cut, and a row says so. */
export function QuestionView({rows, maxRows, cursor}: QuestionViewProps) {
  const {stdout} = useStdout();
  const shown = fitRows(rows, maxRows);
  const start = shown.findIndex(({theme}) => theme !== undefined);
  const end = shown.findLastIndex(({theme}) => theme !== undefined) + 1;
  // Rows that are left out are above the cursor.
  const cursorRow = cursor ? cursor.row - (rows.length - shown.length) : -1;
  const drawn = withCursor(shown.map(drawRow), cursorRow, cursor?.column ?? 0);
  const draw = (from: number, to?: number) => <Rows rows={drawn.slice(from, to)} />;
  if (start < 0) return draw(0);
  const theme = getTheme(shown[start]?.theme, (stdout as Partial<WriteStream>).getColorDepth?.());
  return (
    <>
      {draw(0, start)}
      <ThemeContext.Provider value={theme}>{draw(start, end)}</ThemeContext.Provider>
      {draw(end)}
    </>
  );
}

function fitRows(given: QuestionRows['rows'], maxRows: number): QuestionRows['rows'] {
  if (given.length <= maxRows) return given;
  const rows = given.filter(({style}) => style !== 'gap');
  if (rows.length <= maxRows) return rows;
  const details = rows.filter(({style}) => style === 'detail');
  const shown = Math.max(0, maxRows - (rows.length - details.length) - 1);
  const [first, ...others] = details.slice(shown);
  // The words fit a window of 24 columns: the terminal cuts a longer row.
  const text = `… ${formatCount(details.length - shown, 'more row')} above`;
  return rows
    .filter((row) => !others.includes(row))
    .map((row): Row => (row === first ? {text, style: 'detail'} : row))
    .slice(-maxRows);
}

const TEXT_STYLES: Readonly<Partial<Record<RowStyle, TextStyle>>> = {
  head: {bold: true, tone: 'warning'},
  marked: {bold: true, tone: 'accent'},
  hint: MUTED,
};

function drawRow({text, style, row}: Row): Spans {
  if (row) return [{text: '  ', style: {}}, ...row];
  return toRow(style === 'detail' ? `  ${text}` : text, TEXT_STYLES[style]);
}

interface DetailProps {
  readonly question: Question;
  readonly columns: number;
  readonly formatter: Formatter | undefined;
}

/** Prints a long command or diff in full above the question. */
export function QuestionDetail({question, columns, formatter}: DetailProps) {
  const {detail} = question;
  const lines = formatDetail(question, formatter);
  return (
    <Box flexDirection="column">
      <Wrapped bold tone="warning" text={formatAsked(question)} columns={columns} />
      {detail !== '' && (
        <Box paddingLeft={2}>
          {lines ? <Rows rows={layoutLines(lines, columns - 2)} /> : <Wrapped text={detail} columns={columns - 2} />}
        </Box>
      )}
    </Box>
  );
}
