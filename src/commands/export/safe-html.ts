/**
 * Creates HTML from foreign text. Only the template `html` creates it, and it escapes all values, so that any text
 * stays text. Markdown becomes a few elements. Their only attributes are chosen here: numbers of lists and sides of
 * cells. Links and images become words.
 */
import {type MarkedToken, marked, type Token} from 'marked';
import {showControls} from '../../core/util/text.ts';

type Part = Html | string | number | undefined | readonly Html[];

/** HTML that is safe in a page. */
export class Html {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** Escapes each value in `${}` unless it is `Html` itself. */
  static template(words: TemplateStringsArray, ...parts: readonly Part[]): Html {
    return new Html(words.reduce((text, word, index) => `${text}${Html.#toText(parts[index - 1])}${word}`));
  }

  static #toText(part: Part): string {
    if (part === undefined) return '';
    if (part instanceof Html) return part.#text;
    if (typeof part === 'object') return part.map((each) => Html.#toText(each)).join('');
    return escapeText(String(part));
  }

  toString(): string {
    return this.#text;
  }
}

export const html = Html.template;

/**
 * Escapes text for an element and for an attribute in quotes. Characters that hide or reverse other text become
 * visible.
 */
function escapeText(text: string): string {
  return showControls(text).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

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
