/** Markdown as Ink elements. Loaded after the first frame; finished text waits for it. */
import {Box, Text} from 'ink';
import {lexer, type MarkedToken, type Token, type Tokens} from 'marked';
import type {ReactNode} from 'react';
import {type CodeSpan, createHighlighter, decodeEntities} from './highlight.ts';
import {keyed, type Span, StyledText, type TextStyle, Wrapped} from './styled-text.tsx';
import {textWidth} from './wrap.ts';

export interface MarkdownProps {
  readonly text: string;
  readonly columns: number;
}

const CODE_COLORS: Readonly<Record<string, string>> = {
  keyword: 'magenta',
  built_in: 'cyan',
  type: 'cyan',
  literal: 'yellow',
  number: 'yellow',
  string: 'green',
  regexp: 'green',
  comment: 'gray',
  title: 'blue',
  attr: 'cyan',
  attribute: 'cyan',
  tag: 'blue',
  name: 'blue',
  meta: 'gray',
  addition: 'green',
  deletion: 'red',
};

/** Creates the component. The highlighter registers its languages once for it. */
export function createMarkdown() {
  const highlight = createHighlighter();
  return function Markdown({text, columns}: MarkdownProps) {
    const tokens = lexer(text, {gfm: true});
    return <Blocks tokens={tokens} columns={columns} highlight={highlight} isTight={false} />;
  };
}

interface DrawProps {
  readonly columns: number;
  readonly highlight: ReturnType<typeof createHighlighter>;
}

/** @param isTight no blank lines between the blocks, as in a list without blank lines */
function Blocks({tokens, isTight, ...draw}: DrawProps & {tokens: readonly Token[]; isTight: boolean}) {
  const shown = keyed(tokens.filter((token) => token.type !== 'space' && token.type !== 'def'));
  return (
    <Box flexDirection="column">
      {shown.map(({key, value}, index) => (
        <Box key={key} marginTop={index > 0 && !isTight ? 1 : 0} flexDirection="column">
          <Block token={value as MarkedToken} {...draw} />
        </Box>
      ))}
    </Box>
  );
}

function Block({token, columns, highlight}: DrawProps & {token: MarkedToken}): ReactNode {
  switch (token.type) {
    case 'heading':
      return (
        <StyledText
          spans={inline(token.tokens, {bold: true, color: 'cyan', underline: token.depth === 1})}
          columns={columns}
        />
      );
    case 'paragraph':
      return <StyledText spans={inline(token.tokens)} columns={columns} />;
    case 'text':
      return <StyledText spans={inlineSpans(token, {})} columns={columns} />;
    case 'code':
      return <Code spans={highlight(token.text, /^\S*/.exec(token.lang ?? '')![0].toLowerCase())} />;
    case 'blockquote':
      return (
        <Box borderStyle="single" borderTop={false} borderRight={false} borderBottom={false} paddingLeft={1}>
          <Blocks tokens={token.tokens} columns={columns - 2} highlight={highlight} isTight={false} />
        </Box>
      );
    case 'list':
      return <List list={token} columns={columns} highlight={highlight} />;
    case 'table':
      return <Table table={token} columns={columns} />;
    case 'hr':
      return <Text dimColor>{'-'.repeat(Math.min(20, columns))}</Text>;
    default:
      return <Wrapped text={'text' in token ? decodeEntities(token.text) : token.raw} columns={columns} />;
  }
}

function Code({spans}: {spans: readonly CodeSpan[]}) {
  return (
    <Box paddingLeft={2}>
      <Text>
        {keyed(spans).map(({key, value: {text, scope}}) => {
          const color = CODE_COLORS[scope.split('.')[0]!];
          return (
            <Text key={key} {...(color && {color})}>
              {text}
            </Text>
          );
        })}
      </Text>
    </Box>
  );
}

function List({list, columns, highlight}: DrawProps & {list: Tokens.List}) {
  const start = list.start === '' ? 1 : list.start;
  return (
    <Box flexDirection="column">
      {keyed(list.items).map(({key, value: item}, index) => {
        const bullet = list.ordered ? `${start + index}. ` : '- ';
        const marker = item.task ? `${bullet}[${item.checked ? 'x' : ' '}] ` : bullet;
        return (
          <Box key={key} marginTop={list.loose && index > 0 ? 1 : 0}>
            <Box flexShrink={0}>
              <Text color="cyan">{marker}</Text>
            </Box>
            <Blocks
              tokens={item.tokens.filter((token) => token.type !== 'checkbox')}
              columns={columns - marker.length}
              highlight={highlight}
              isTight={!list.loose}
            />
          </Box>
        );
      })}
    </Box>
  );
}

const COLUMN_GAP = 2;

function Table({table, columns}: {table: Tokens.Table; columns: number}) {
  const rows = [table.header, ...table.rows];
  const natural = table.header.map((_, index) => Math.max(3, ...rows.map((row) => textWidth(row[index]?.text ?? ''))));
  const widths = fitWidths(natural, columns - COLUMN_GAP * (natural.length - 1));
  return (
    <Box flexDirection="column">
      {keyed(rows).map(({key, value: row}, rowIndex) => (
        <Box key={key} columnGap={COLUMN_GAP}>
          {keyed(row).map(({key: cellKey, value: cell}, index) => (
            <Box key={cellKey} width={widths[index]!} flexShrink={0}>
              <StyledText
                spans={inline(cell.tokens, rowIndex === 0 ? {bold: true, underline: true} : {})}
                columns={widths[index]!}
              />
            </Box>
          ))}
        </Box>
      ))}
    </Box>
  );
}

/** Makes the widest column narrower until all columns fit. */
function fitWidths(natural: readonly number[], columns: number): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, width) => sum + width, 0) - columns;
  while (excess > 0) {
    const widest = widths.indexOf(Math.max(...widths));
    if (widths[widest]! <= 3) break;
    widths[widest]! -= 1;
    excess -= 1;
  }
  return widths;
}

/** Inline markdown as pieces of text, each with the styles of the elements around it. */
function inline(tokens: readonly Token[], style: TextStyle = {}): Span[] {
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
      return [{text: token.text, style: {...style, color: 'cyan'}}];
    case 'link': {
      const label = inline(token.tokens, {...style, underline: true});
      const isBare = [token.href, token.href.replace(/^mailto:/, '')].includes(token.text);
      return isBare ? label : [...label, {text: ` (${token.href})`, style: {...style, dimColor: true}}];
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
