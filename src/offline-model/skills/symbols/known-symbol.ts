/** What the `symbols` tool knows of one name, and how it is cited. */
import {citeHit, code, paragraphs} from '../../report.ts';
import {phrase, type Speech} from '../../speech.ts';
import type {Found, FoundDefinition, FoundReference} from '../../symbols.ts';

/** What the tool knows of one name. */
export interface Known {
  readonly name: string;
  readonly definitions: Found<FoundDefinition>;
  readonly references: Found<FoundReference>;
  readonly speech: Speech;
}

/** Says what was not searched: without it, "no other use" would not be true. */
export function formatOpen({open}: Found<unknown>, speech: Speech): string {
  return open === '' ? '' : phrase('open', speech, {list: open});
}

export function citePlace({path, line, inside, text}: FoundReference, {speech}: {readonly speech: Speech}): string {
  const where = inside === undefined ? '' : ` ${phrase('inside', speech)} \`${inside}\``;
  return `${path}:${line}${where} — ${code(text)}`;
}

export function citeDefinition({path, line, kind, text}: FoundDefinition): string {
  return citeHit({path, line, kind, text});
}

export function formatUsage({name, references, speech}: Known): string {
  const [first] = references.found;
  if (!first)
    return paragraphs(phrase('unused', speech, {name, files: references.files}), formatOpen(references, speech));
  const files = new Set(references.found.map((one) => one.path)).size;
  const place = `${first.path}:${first.line}${first.inside === undefined ? '' : ` (\`${first.inside}\`)`}`;
  return phrase('used', speech, {n: references.found.length + references.more, files, place});
}
