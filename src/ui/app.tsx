/**
 * Draws the whole screen: finished items above, each printed once, and the live part below, always lower than the
 * window.
 */
import {Box, Static, useInput, usePaste, useWindowSize} from 'ink';
import {useEffect, useLayoutEffect, useMemo, useRef, useSyncExternalStore} from 'react';
import type {SessionInfo} from '../core/contract/events.ts';
import {FinishedItemView} from './components/finished-item.tsx';
import {LiveParts, liveLayout} from './components/live-parts.tsx';
import {readerLines} from './components/reader-lines.ts';
import type {Controller} from './controller.ts';
import {promptWidth} from './first-paint/prompt-frame.ts';
import {useExternalEditor, useHandover} from './input/external-editor.ts';
import {pasteText, pressKeys} from './input/key-router.ts';
import type {LiveScreen} from './live-screen.ts';
import {ReaderScreen} from './reader-screen.ts';
import {currentQuestion, type LocalState} from './state/local-state.ts';
import type {FinishedItem} from './state/ui-state.ts';
import {createLinker} from './text/links.ts';
import {ThemeContext} from './text/styled-text.tsx';
import {getTheme, type Theme} from './theme.ts';

interface AppProps {
  readonly controller: Controller;
  /** Writes what is rendered here. */
  readonly screen?: LiveScreen | ReaderScreen;
  /** Colour depth of the terminal in bits, from `stdout.getColorDepth`. */
  readonly colorBits?: number;
  /** True when the terminal may know links. */
  readonly hasLinks?: boolean;
}

export function App({controller, screen, colorBits, hasLinks}: AppProps) {
  const ui = useSyncExternalStore(controller.ui.subscribe, controller.ui.get);
  const local = useSyncExternalStore(controller.local.subscribe, controller.local.get);
  const window = useWindowSize();
  const reader = screen instanceof ReaderScreen ? screen : undefined;
  const live = reader ? undefined : (screen as LiveScreen | undefined);
  // The terminal wraps what a screen reader reads.
  const columns = reader ? Number.POSITIVE_INFINITY : window.columns;
  const rows = live?.height ?? window.rows;

  useKeys(controller, window);
  usePaste((text) => pasteText(controller, text));

  const {formatter} = local;
  const theme = useTheme(ui.session, local.background, colorBits, hasLinks);
  const isReady = formatter !== undefined;
  const finished = useMemo(() => printable(ui.finished, isReady), [ui.finished, isReady]);
  const {question} = currentQuestion(ui, local);
  const askId = question?.id;
  useEffect(() => controller.questionShown(askId), [controller, askId]);

  const isAway = local.handover !== undefined;
  // While another program has the terminal, Ink draws nothing. Items that finish meanwhile are printed afterwards.
  const held = useRef(finished);
  if (!isAway) held.current = finished;
  const printed = held.current;
  useEffect(() => controller.printed(printed.length), [controller, printed.length]);

  useExternalEditor(controller, isAway ? undefined : question);
  useHandover(controller, local.handover, theme, screen?.stdout);

  const layout = reader ? undefined : liveLayout({ui, local, columns, rows});
  const asked = layout?.question;
  const isCut = asked !== undefined && (asked.isCut === true || asked.rows.length > layout!.given.question);
  useEffect(() => {
    if (isCut && askId !== undefined) controller.printQuestion(askId);
  }, [controller, isCut, askId]);
  // While frames are drawn, the terminal's cursor rests where no change of the window can lose it. The main agent streams
  // nothing while it asks.
  const isResting = ui.busy && (!question || question.runId !== undefined);
  live?.setCursor(local.isLeaving || isResting ? undefined : layout?.cursor);
  // Items that have just finished are printed before.
  useLayoutEffect(() => {
    if (isAway || local.isLeaving) reader?.end();
    else reader?.tell(readerLines(ui, local, window.columns));
  });

  return (
    <ThemeContext value={theme}>
      <Static items={[...printed]}>
        {(item) => <FinishedItemView key={item.id} item={item} columns={columns} formatter={formatter} />}
      </Static>
      {layout && !local.isLeaving && (
        <Box flexDirection="column">
          <LiveParts layout={layout} ui={ui} local={local} columns={columns} isCursorDrawn={isResting} />
        </Box>
      )}
    </ThemeContext>
  );
}

function useTheme(
  session: SessionInfo | undefined,
  background: LocalState['background'],
  colorBits: number | undefined,
  hasLinks = false,
): Theme {
  const {theme: name, cwd} = session ?? {};
  return useMemo(() => {
    const looks = getTheme(name, colorBits, background);
    return hasLinks && cwd !== undefined ? {...looks, link: createLinker(cwd)} : looks;
  }, [name, colorBits, background, hasLinks, cwd]);
}

function useKeys(controller: Controller, window: {readonly columns: number}): void {
  useInput((input, key) => pressKeys(controller, input, key, promptWidth(window.columns)));
}

/**
 * Returns the items before the first one that needs the formatter, until the formatter is loaded, so that the order
 * stays.
 */
function printable(finished: readonly FinishedItem[], isReady: boolean): readonly FinishedItem[] {
  if (isReady) return finished;
  const first = finished.findIndex(needsFormatter);
  return first < 0 ? finished : finished.slice(0, first);
}

function needsFormatter(item: FinishedItem): boolean {
  switch (item.kind) {
    case 'markdown':
    case 'announcement':
      return true;
    case 'tool':
      return item.tool.display?.type === 'diff';
    case 'detail':
      return /^(?:diff|markdown)$/.test(item.question.detailType);
    case 'notice':
      return item.look === 'diff';
    default:
      return false;
  }
}
