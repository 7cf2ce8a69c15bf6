/** Expands a command or a skill with the words that were typed after its name. */
import type {PromptFile} from './prompt-file.ts';

/** Splits words as a shell does: a quoted text is one word. */
export function splitWords(args: string): string[] {
  return [...args.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain!,
  );
}

/** Expands the body. When it names no arguments, they are appended. */
export function expandPrompt({kind, body, folder}: Pick<PromptFile, 'kind' | 'body' | 'folder'>, args: string): string {
  const words = splitWords(args);
  const isNamed = /\$(?:ARGUMENTS|[1-9])/.test(body);
  const text = body.replaceAll(/\$(ARGUMENTS|[1-9])(?:\[(\d+)\])?/g, (_, name: string, index: string | undefined) => {
    if (name !== 'ARGUMENTS') return words[Number(name) - 1] ?? '';
    return index === undefined ? args : (words[Number(index)] ?? '');
  });
  const where = kind === 'skill' ? `The files of this skill are in ${folder}\n\n` : '';
  return `${where}${isNamed || args === '' ? text : `${text}\n\n${args}`}`;
}
