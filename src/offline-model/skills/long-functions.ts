/** Functions that take many lines, by indentation: a body lasts until a line stands as far left as its head. */
import {definitionIn} from '../definitions.ts';
import {count} from '../report.ts';
import type {Line} from '../results.ts';

const LONG = 60;

/** Lines for a report, the longest first. */
export function longFunctions(path: string, lines: readonly Line[]): readonly string[] {
  const found = lines.flatMap((line, index) => {
    const definition = definitionIn(line.text);
    if (!definition || !/^(function|method|async)$/.test(definition.kind)) return [];
    const indent = indentOf(line.text);
    const rest = lines.slice(index + 1);
    const end = rest.findIndex(
      (one) => one.text.trim() !== '' && indentOf(one.text) <= indent && !/^\s*[)\]]|^\s*\{\s*$/.test(one.text),
    );
    const length = (end < 0 ? rest.length : end) + 1;
    return length > LONG
      ? [{length, text: `${path}:${line.number} — \`${definition.name}\` takes ${count(length, 'line')}`}]
      : [];
  });
  return found.sort((a, b) => b.length - a.length).map((one) => one.text);
}

function indentOf(text: string): number {
  return /^\s*/.exec(text)![0].replaceAll('\t', '    ').length;
}
