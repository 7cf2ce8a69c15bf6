/** Shows the whole transcript of the session in the alternate screen. The main screen stays as it is. */
import {Box, render, useInput, useWindowSize} from 'ink';
import {useEffect, useMemo, useReducer, useRef} from 'react';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import type {RestoredMessage} from '../../core/contract/transcript.ts';
import type {Controller} from '../controller.ts';
import {type KeyPress, parseKeys} from '../input/keys.ts';
import {streamWith} from '../live-screen.ts';
import type {UiState} from '../state/ui-state.ts';
import type {Formatter} from '../text/format.ts';
import {MUTED, markFound, Rows, ThemeContext, toRow} from '../text/styled-text.tsx';
import {cutText, joinFitting} from '../text/wrap.ts';
import type {Theme} from '../theme.ts';
import {messageRows} from './message-rows.ts';
import {TranscriptScroll} from './scroll.ts';

/** Milliseconds between two frames while the model writes. */
const REFRESH_MS = 200;
/** Characters of a growing text that are shown, from its end. */
const MAX_OPEN = 8_000;

interface TranscriptTerminal {
  readonly stdin: NodeJS.ReadableStream;
  readonly stdout: NodeJS.WritableStream;
}

/** Shows the transcript until the person leaves it or leaves the program. */
export async function showTranscript(
  controller: Controller,
  theme: Theme,
  formatter: Formatter,
  {stdin, stdout}: TranscriptTerminal,
): Promise<void> {
  const input = stdin as NodeJS.ReadStream;
  // Raw mode begins at once, because a key that comes before the first frame must not be echoed.
  input.setRawMode?.(true);
  const shown = render(
    <ThemeContext value={theme}>
      <TranscriptView controller={controller} formatter={formatter} onLeave={() => shown.unmount()} />
    </ThemeContext>,
    {
      stdin: input,
      // Ink has one instance for each stream, and the main screen's instance waits meanwhile. So this view needs
      // another stream.
      stdout: streamWith(stdout as NodeJS.WriteStream),
      interactive: true,
      exitOnCtrlC: false,
      patchConsole: false,
      incrementalRendering: true,
      alternateScreen: true,
    },
  );
  const unsubscribe = controller.local.subscribe(() => {
    if (controller.local.get().isLeaving) shown.unmount();
  });
  // The alternate screen ends before a crash is reported.
  const leave = () => shown.unmount();
  process.on('exit', leave);
  try {
    await shown.waitUntilExit();
  } finally {
    unsubscribe();
    process.removeListener('exit', leave);
  }
}

const NO_TOOLS: readonly ToolFacts[] = [];

interface ViewProps {
  readonly controller: Controller;
  readonly formatter: Formatter;
  readonly onLeave: () => void;
}

function TranscriptView({controller, formatter, onLeave}: ViewProps) {
  const {columns, rows} = useWindowSize();
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const tools = controller.ui.get().session?.toolFacts ?? NO_TOOLS;
  // Rows of another width are useless, so each width gets a new object.
  const scroll = useMemo(
    () =>
      new TranscriptScroll(
        () => controller.readTranscript(),
        (message) => messageRows(message, {columns, formatter, tools}),
        tools,
      ),
    [controller, formatter, columns, tools],
  );
  // The last row stays free, because a frame as high as the window cannot be redrawn in parts.
  const height = Math.max(1, rows - 2);
  useMemo(() => scroll.resize(height), [scroll, height]);
  useFollow(controller, scroll, redraw);

  const state = useRef<ViewState>(NO_SEARCH);
  useInput((text, key) => {
    for (const press of parseKeys(text, key).flatMap(toLetters)) {
      const next = pressKey(scroll, state.current, press);
      if (next === 'leave') return onLeave();
      state.current = next;
    }
    if (key.pageUp) scroll.page(-1);
    if (key.pageDown) scroll.page(1);
    redraw();
  });
  const {typed} = state.current;
  const lastRow =
    typed === undefined
      ? toRow(describe(scroll, state.current, controller.ui.get(), columns), MUTED)
      : toRow(cutText(`/${typed}`, columns));
  return (
    <Box flexDirection="column" height={height + 1}>
      <Box flexDirection="column" height={height}>
        <Rows rows={scroll.visible().map((row) => markFound(row, state.current.text))} />
      </Box>
      <Rows rows={[lastRow]} />
    </Box>
  );
}

interface ViewState {
  /** The search text while it is typed. */
  readonly typed: string | undefined;
  /** The last search text; empty when there is none. */
  readonly text: string;
  readonly isFound: boolean;
}

/** Splits letters that arrive together into single keys. */
function toLetters(press: KeyPress): KeyPress[] {
  return press.name === 'text' ? [...press.text].map((text) => ({...press, text})) : [press];
}

const NO_SEARCH: ViewState = {typed: undefined, text: '', isFound: true};

function pressKey(scroll: TranscriptScroll, state: ViewState, press: KeyPress): ViewState | 'leave' {
  const {name, text, ctrl, meta} = press;
  const find = (wanted: string, direction: 1 | -1): ViewState => ({
    typed: undefined,
    text: wanted,
    isFound: scroll.find(wanted, direction),
  });
  if (ctrl && /^[cdo]$/.test(text)) return 'leave';
  const {typed} = state;
  if (typed !== undefined) {
    if (name === 'escape') return {...state, typed: undefined};
    if (name === 'return') return find(typed, -1);
    if (name === 'backspace' || name === 'delete') return {...state, typed: typed.slice(0, -1)};
    return name === 'text' && !ctrl && !meta ? {...state, typed: typed + text} : state;
  }
  if (name === 'escape' || text === 'q') return 'leave';
  if (text === '/') return {...state, typed: ''};
  if (state.text !== '' && /^[nN]$/.test(text)) return find(state.text, text === 'n' ? -1 : 1);
  pressScroll(scroll, press);
  return state;
}

function pressScroll(scroll: TranscriptScroll, {name, text}: KeyPress): void {
  if (name === 'up') scroll.move(-1);
  else if (name === 'down') scroll.move(1);
  else if (name === 'home' || text === 'g') scroll.toStart();
  else if (name === 'end' || text === 'G') scroll.toEnd();
}

/** Draws again when messages arrive, and regularly while one is being written. */
function useFollow(controller: Controller, scroll: TranscriptScroll, redraw: () => void): void {
  useEffect(() => {
    let drawn: UiState | undefined;
    const follow = () => {
      const ui = controller.ui.get();
      if (ui === drawn) return;
      const isNew = drawn === undefined || drawn.messages !== ui.messages;
      drawn = ui;
      if (isNew) scroll.refresh();
      scroll.setOpen(toOpenMessage(ui));
      redraw();
    };
    follow();
    const timer = setInterval(follow, REFRESH_MS);
    return () => clearInterval(timer);
  }, [controller, scroll, redraw]);
}

function toOpenMessage({reply: {thinking, text}}: UiState): RestoredMessage | undefined {
  if (thinking === '' && text === '') return undefined;
  const cut = (whole: string) => (whole.length > MAX_OPEN ? `…${whole.slice(-MAX_OPEN)}` : whole);
  const content = [
    ...(thinking === '' ? [] : [{type: 'thinking' as const, thinking: cut(thinking), signature: ''}]),
    ...(text === '' ? [] : [{type: 'text' as const, text: cut(text)}]),
  ];
  return {message: {role: 'assistant', content}};
}

/** Returns the last line with as many of its parts as fit. */
function describe(scroll: TranscriptScroll, {text, isFound}: ViewState, ui: UiState, columns: number): string {
  const {first, last} = scroll.range;
  const parts = [
    'q back',
    ui.questions.length > 0 ? 'a question waits' : '',
    isFound ? '' : `not found: ${text}`,
    `messages ${first}-${last} of ${scroll.count}`,
    ui.busy ? 'working' : '',
    text === '' ? '/ search' : 'n, N next',
    'g G ends',
    'arrows, PgUp, PgDn',
  ];
  return joinFitting(parts, columns);
}
