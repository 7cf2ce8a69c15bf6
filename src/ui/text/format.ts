/** Formats markdown as lines of styled text. It is loaded after the first frame. */
import {Lexer, Marked, type MarkedToken, type Token, type Tokens} from 'marked';
import {getCodeStyle} from './code-style.ts';
import {formatDiff, formatDiffText} from './diff-lines.ts';
import {decodeEntities, endsOutside, type Highlight, highlight} from './highlight.ts';
import {createLine, indentLines, type Line, splitLines} from './lines.ts';
import {findFile} from './links.ts';
import {closeOpenMarks, holdMarks, holdTableHead, isInWord} from './open-marks.ts';
import {linkAddresses, MUTED, PLAIN, plainText, QUOTE, type Span, type TextStyle} from './styled-text.tsx';
import {addNeeds, SHAPING_ROWS, type TableNeeds, type TableShape} from './table.ts';

export interface Formatter {
  readonly lex: (text: string) => Token[];
  readonly format: (tokens: readonly Token[]) => Line[];
  /** Formats text that is not complete yet. */
  readonly formatOpen: (source: string) => OpenFormat;
  /** Formats text that was cut off. Open marks are closed in the same way as while it grew. */
  readonly formatCut: (text: string) => Line[];
  /** Formats the diff of one file. The language follows from the path. */
  readonly diff: (patch: string, path: string) => Line[];
  /** Formats the diffs of several files, with other lines around them. */
  readonly diffText: (text: string) => Line[];
  /** See `highlight.ts`. */
  readonly endsOutside: (code: string, language: string) => boolean;
}

interface OpenFormat {
  readonly tokens: readonly Token[];
  readonly lines: readonly Line[];
  /** Returns the same lines with more text marked as stable. It is slower. */
  readonly findStable: () => readonly Line[];
}

/**
 * Characters. A shorter paragraph is printed only when it ends, because a line of `===` below it would make it a
 * heading.
 */
const MIN_STABLE = 300;

const MARK: TextStyle = {tone: 'mark'};
const HEADING: TextStyle = {tone: 'heading'};
const TITLE: TextStyle = {...HEADING, underline: true};
const CELL_HEAD: TextStyle = {bold: true};
const CODE_INDENT: readonly Span[] = [{text: '  ', style: PLAIN}];

export function createFormatter(): Formatter {
  const marked = createMarked();
  const lex = (text: string) => marked.lexer(text);
  const lexInline = (text: string) => new Lexer(marked.defaults).inlineTokens(text);
  const format = (tokens: readonly Token[]) => new Format().blocks(tokens, false);
  return {
    lex,
    format,
    formatOpen: (source) => {
      const held = holdMarks(source);
      const tokens = lex(held);
      const leaf = openLeaf(tokens);
      const stableText = leaf && openLast(leaf, held, lexInline);
      const lines = new Format(leaf, stableText && '').blocks(tokens, false);
      return {
        tokens,
        lines,
        findStable: () => (stableText ? new Format(leaf, stableText()).blocks(tokens, false) : lines),
      };
    },
    formatCut: (text) => {
      const tokens = lex(text);
      const leaf = openLeaf(tokens);
      if (leaf?.type === 'paragraph' || leaf?.type === 'text' || leaf?.type === 'heading') {
        leaf.tokens = lexInline(closeOpenMarks(leaf.text, true).shown);
      }
      return format(tokens);
    },
    diff: (patch, path) => formatDiff(patch, path, highlight),
    diffText: (text) => formatDiffText(text, highlight),
    endsOutside,
  };
}

/**
 * Creates a parser for GitHub's markdown with three changes. An answer is printed while it grows, so a link cannot use
 * an address that is defined further down, and both are shown as they are written. One `~` means "about". Stars inside
 * a word are not marks.
 */
function createMarked(): Marked {
  const marked = new Marked({gfm: true});
  marked.use({
    tokenizer: {
      def: () => undefined,
      del: (source) => (source.startsWith('~~') ? false : undefined),
      emStrong: (source, _masked, before = '') =>
        isInWord(source[0]!, before, source.replace(/^\*+/, '')[0] ?? '') ? undefined : false,
    },
  });
  return marked;
}

/** Returns the innermost block at the end, which further text may change. */
function openLeaf(tokens: readonly Token[]): MarkedToken | undefined {
  const last = tokens.findLast(({type}) => type !== 'space' && type !== 'checkbox') as MarkedToken | undefined;
  if (last?.type === 'list') return openLeaf(last.items) ?? last;
  if (last?.type === 'list_item') return openLeaf(last.tokens);
  if (last?.type === 'blockquote') return openLeaf(last.tokens) ?? last;
  return last;
}

/**
 * Changes the innermost block at the end to the part of it that is shown while it grows.
 * @returns a function that gives the rendered text that will not change; undefined for blocks that are not text
 */
function openLast(leaf: MarkedToken, source: string, lexInline: (text: string) => Token[]): (() => string) | undefined {
  switch (leaf.type) {
    case 'paragraph':
    case 'text': {
      const {shown, closedAt} = closeOpenMarks(holdTableHead(leaf.text));
      if (shown !== leaf.text) leaf.tokens = lexInline(shown);
      const end = leaf.text.length > MIN_STABLE ? closedAt.at(-1) : undefined;
      return () => (end === undefined ? '' : plainText(inline(lexInline(leaf.text.slice(0, end)), PLAIN)));
    }
    case 'heading':
      leaf.tokens = lexInline(closeOpenMarks(leaf.text).shown);
      return () => '';
    case 'code':
      if (!source.endsWith('\n')) leaf.text = leaf.text.replace(/(?:^|\n)[ \t]*[`~]+$/, '');
      return undefined;
    case 'table':
      // An incomplete row would make its column wider with each word.
      if (!source.endsWith('\n')) leaf.rows = leaf.rows.slice(0, -1);
      return undefined;
    default:
      return undefined;
  }
}

/** Makes lines from tokens. `open` is the block that still grows. Its lines say how much of them is stable. */
class Format {
  constructor(
    private readonly open?: MarkedToken,
    private readonly stable?: string,
  ) {}

  /** @param isTight true when only blank lines of the text itself are shown, as in a list */
  blocks(tokens: readonly Token[], isTight: boolean): Line[] {
    const lines: Line[] = [];
    let hasBlank = false;
    for (const token of tokens) {
      if (token.type === 'space') {
        hasBlank = true;
        continue;
      }
      const block = this.#block(token as MarkedToken);
      if (block.length > 0 && lines.length > 0 && (!isTight || hasBlank)) lines.push(createLine([]));
      lines.push(...block);
      hasBlank = endsBlank(token.raw);
    }
    return lines;
  }

  #block(token: MarkedToken): Line[] {
    const lines = this.#lines(token);
    return token === this.open ? markOpen(lines, token, this.stable) : lines;
  }

  #lines(token: MarkedToken): Line[] {
    switch (token.type) {
      case 'heading':
        return splitLines(inline(token.tokens, token.depth === 1 ? TITLE : HEADING));
      case 'paragraph':
        return textLines(inline(token.tokens, PLAIN));
      case 'text':
        return textLines(inlineSpans(token, PLAIN));
      case 'code': {
        const language = /^\S*/.exec(token.lang ?? '')![0].toLowerCase();
        return token.text === ''
          ? []
          : indentLines(codeLines(highlight(token.text, language)), CODE_INDENT, CODE_INDENT);
      }
      case 'blockquote':
        return indentLines(this.blocks(token.tokens, false), [QUOTE], [QUOTE]);
      case 'list':
        return this.#list(token);
      case 'table':
        return tableLines(token);
      case 'hr':
        return [createLine([{text: '─'.repeat(20), style: MUTED}])];
      case 'checkbox':
        return [];
      default:
        return splitLines([
          {text: ('text' in token ? decodeEntities(token.text) : token.raw).replace(/\n+$/, ''), style: PLAIN},
        ]);
    }
  }

  #list(list: Tokens.List): Line[] {
    const start = list.start === '' ? 1 : list.start;
    return list.items.flatMap((item, index) => {
      const bullet = list.ordered ? `${start + index}. ` : '- ';
      const mark = item.task ? `${bullet}[${item.checked ? 'x' : ' '}] ` : bullet;
      const lines = this.blocks(item.tokens, true);
      const shown = indentLines(
        lines.length > 0 ? lines : [createLine([])],
        [{text: mark, style: MARK}],
        [{text: ' '.repeat(mark.length), style: PLAIN}],
      );
      const hasGap = index > 0 && endsBlank(list.items[index - 1]!.raw);
      return hasGap ? [createLine([]), ...shown] : shown;
    });
  }
}

/** Marks which lines of the growing block can be printed. */
function markOpen(lines: readonly Line[], {type}: MarkedToken, stableText: string | undefined): Line[] {
  if (type === 'table') return lines.length >= SHAPING_ROWS + 2 ? [...lines] : lines.map(open);
  if (stableText === undefined) {
    return lines.map((line, index) =>
      index === lines.length - 1 || type === 'list' || type === 'blockquote' ? open(line) : line,
    );
  }
  const stable = stableText.split('\n');
  return lines.map((line, index) => {
    if (index < stable.length - 1) return line;
    return {...line, stable: index === stable.length - 1 ? stable[index]!.length : 0};
  });
}

function open(line: Line): Line {
  return {...line, stable: 0};
}

function endsBlank(raw: string): boolean {
  return /\n[ \t]*\n\s*$/.test(raw);
}

/** Splits text into lines. Text without characters has no line. */
function textLines(spans: readonly Span[]): Line[] {
  return plainText(spans) === '' ? [] : splitLines(spans);
}

function codeLines(spans: ReturnType<Highlight>): Line[] {
  return splitLines(linkAddresses(spans.map(({text, scope}) => ({text, style: getCodeStyle(scope)}))));
}

function tableLines(table: Tokens.Table): Line[] {
  const cells = (row: readonly Tokens.TableCell[], style: TextStyle) => row.map((cell) => inline(cell.tokens, style));
  const rows = table.rows.map((row) => cells(row, PLAIN));
  const shape: TableShape = {
    header: cells(table.header, CELL_HEAD),
    rows: rows.slice(0, SHAPING_ROWS),
    align: table.align,
  };
  const count = shape.header.length;
  let needs = [shape.header, ...shape.rows].reduce<TableNeeds | undefined>(
    (before, row) => addNeeds(before, row, count),
    undefined,
  );
  const parts = ['header' as const, 'rule' as const, ...rows];
  return parts.map((part, index) => {
    if (typeof part !== 'string') needs = addNeeds(needs, part, count);
    return {...createLine([]), table: {shape, needs: needs!, part, isFirst: index <= 2}};
  });
}

/** Renders inline markdown as pieces of text, each with the styles of the elements around it. */
function inline(tokens: readonly Token[], style: TextStyle): Span[] {
  return tokens.flatMap((token) => inlineSpans(token as MarkedToken, style));
}

function inlineSpans(token: MarkedToken, style: TextStyle): Span[] {
  switch (token.type) {
    case 'strong':
      return inline(token.tokens, {...style, bold: true});
    case 'em':
      return inline(token.tokens, {...style, italic: true});
    case 'del':
      return inline(token.tokens, {...style, strikethrough: true});
    case 'codespan':
      return [...linkAddresses([{text: token.text, style: withLink({...style, tone: 'code'}, findFile(token.text))}])];
    case 'link': {
      const link = URL.canParse(token.href) ? token.href : findFile(token.href);
      const label = inline(token.tokens, withLink({...style, underline: true}, link));
      const isBare = [token.href, token.href.replace(/^mailto:/, '')].includes(token.text);
      return isBare ? label : [...label, {text: ` (${token.href})`, style: withLink({...style, tone: 'muted'}, link)}];
    }
    case 'image':
      return [{text: `${token.text} (${token.href})`, style}];
    case 'br':
      return [{text: '\n', style}];
    case 'text':
      return token.tokens ? inline(token.tokens, style) : [{text: decodeEntities(token.text), style}];
    case 'escape':
      return [{text: token.text, style}];
    default:
      return [{text: token.raw, style}];
  }
}

function withLink(style: TextStyle, link: string | undefined): TextStyle {
  return link === undefined ? style : {...style, link};
}
