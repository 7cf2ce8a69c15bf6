/** Holds what the `symbols` tool knows about one name, and cites it. */

import {type Language, phrase} from '../../language.ts';
import {citeHit, code, paragraphs} from '../../report.ts';
import type {Found, FoundDefinition, FoundReference} from '../../symbols.ts';

export interface Known {
  readonly name: string;
  readonly definitions: Found<FoundDefinition>;
  readonly references: Found<FoundReference>;
  readonly language: Language;
}

/** Says what was not searched, since otherwise "no other use" would be untrue. */
export function formatOpen({open}: Found<unknown>, language: Language): string {
  return open === '' ? '' : phrase('open', language, {list: open});
}

export function citePlace(
  {path, line, inside, text}: FoundReference,
  {language}: {readonly language: Language},
): string {
  const where = inside === undefined ? '' : ` ${phrase('inside', language)} \`${inside}\``;
  return `${path}:${line}${where} — ${code(text)}`;
}

export function citeDefinition({path, line, kind, text}: FoundDefinition): string {
  return citeHit({path, line, kind, text});
}

export function formatUsage({name, references, language}: Known): string {
  const [first] = references.found;
  if (!first)
    return paragraphs(phrase('unused', language, {name, files: references.files}), formatOpen(references, language));
  const files = new Set(references.found.map((one) => one.path)).size;
  const place = `${first.path}:${first.line}${first.inside === undefined ? '' : ` (\`${first.inside}\`)`}`;
  return phrase('used', language, {n: references.found.length + references.more, files, place});
}
