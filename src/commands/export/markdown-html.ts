/**
 * Creates HTML from foreign markdown. It uses a few elements, and only these attributes: numbers of lists and alignment
 * of cells. Links and images become text.
 */
import {type MarkedToken, marked, type Token} from 'marked';
import {type Html, html} from '../../core/util/html.ts';

/** Characters. A longer text is shown as it was written, like one that is nested too deep. */
const MAX_MARKDOWN_CHARS = 100_000;

export function markdownToHtml(text: string): Html {
  if (text.length > MAX_MARKDOWN_CHARS) return html`<pre>${text}</pre>`;
  try {
    return blocks(marked.lexer(text));
  } catch (error) {
    if (error instanceof RangeError) return html`<pre>${text}</pre>`;
    throw error;
  }
}

function blocks(tokens: readonly Token[]): Html {
  return html`${tokens.map((token) => block(token as MarkedToken))}`;
}

function getSide(align: string | null): string {
  return align === 'right' || align === 'center' ? align : 'left';
}

function block(token: MarkedToken): Html {
  switch (token.type) {
    case 'heading':
      return html`<p class="heading">${inline(token.tokens)}</p>`;
    case 'paragraph':
      return html`<p>${inline(token.tokens)}</p>`;
    case 'blockquote':
      return html`<blockquote>${blocks(token.tokens)}</blockquote>`;
    case 'code':
      return html`<pre>${token.text}</pre>`;
    case 'hr':
      return html`<hr>`;
    case 'list': {
      const items = token.items.map((item) => html`<li>${blocks(item.tokens)}</li>`);
      return token.ordered ? html`<ol start="${Number(token.start) || 1}">${items}</ol>` : html`<ul>${items}</ul>`;
    }
    case 'table':
      return html`<div class="wide"><table><tr>${token.header.map(
        ({tokens, align}) => html`<th class="${getSide(align)}">${inline(tokens)}</th>`,
      )}</tr>${token.rows.map(
        (row) =>
          html`<tr>${row.map(({tokens, align}) => html`<td class="${getSide(align)}">${inline(tokens)}</td>`)}</tr>`,
      )}</table></div>`;
    case 'space':
    case 'def':
      return html``;
    case 'text':
      return token.tokens ? inline(token.tokens) : html`${token.text}`;
    default:
      return html`<p>${token.raw}</p>`;
  }
}

function inline(tokens: readonly Token[]): Html {
  return html`${tokens.map((token) => span(token as MarkedToken))}`;
}

function span(token: MarkedToken): Html {
  switch (token.type) {
    case 'strong':
      return html`<strong>${inline(token.tokens)}</strong>`;
    case 'em':
      return html`<em>${inline(token.tokens)}</em>`;
    case 'del':
      return html`<del>${inline(token.tokens)}</del>`;
    case 'codespan':
      return html`<code>${token.text}</code>`;
    case 'br':
      return html`<br>`;
    // Text in the page must not lead to other pages, so the address is shown beside it.
    case 'link':
      return token.text === token.href ? html`${token.href}` : html`${inline(token.tokens)} (${token.href})`;
    case 'image':
      return html`[${token.text || 'image'}] (${token.href})`;
    case 'text':
    case 'escape':
      return 'tokens' in token && token.tokens ? inline(token.tokens) : html`${token.text}`;
    default:
      return html`${token.raw}`;
  }
}
