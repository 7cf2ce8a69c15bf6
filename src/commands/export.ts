/** Implements `/export` and `mini-cc sessions export`: a session as markdown, JSON or one HTML page. */
import {existsSync} from 'node:fs';
import path from 'node:path';
import {UsageError} from '../core/util/errors.ts';
import {writeWhole} from '../core/util/files/whole-file.ts';
import {formatFileName} from '../core/util/paths.ts';
import {formatJson} from '../core/util/text.ts';
import {formatMarkdown} from './export/markdown.ts';
import {type ExportDeps, readStoredSession} from './export/stored-session.ts';
import type {SlashCommands} from './shared/command-deps.ts';

const FORMATS = ['md', 'json', 'html'] as const;
type Format = (typeof FORMATS)[number];

export const EXPORT_FORM = '[md|json|html] [FILE]';

interface ExportTarget {
  readonly format: Format;
  readonly file?: string;
}

/**
 * Parses the target. When no word names the format, the ending of the file's name does.
 * @throws UsageError when neither does
 */
export function parseTarget(words: readonly string[]): ExportTarget {
  const [first, ...rest] = words;
  const named = FORMATS.find((format) => format === first?.toLowerCase() || (format === 'md' && first === 'markdown'));
  const [file, ...more] = named ? rest : words;
  if (more.length > 0)
    throw new UsageError(`export takes ${EXPORT_FORM}: ${JSON.stringify(more.join(' '))} is too much`);
  if (file === undefined) return {format: named ?? 'md'};
  const ending = path.extname(file).slice(1).toLowerCase();
  const byName = FORMATS.find((format) => format === ending) ?? (ending === 'htm' ? 'html' : undefined);
  if (!named && !byName) throw new UsageError(`export: ${formatFileName(file)} says no format: ${EXPORT_FORM}`);
  return {format: named ?? byName!, file};
}

export async function formatExport({store, redactor}: ExportDeps, id: string, format: Format): Promise<string> {
  const stored = readStoredSession(store, id, redactor);
  if (format === 'json') return `${formatJson([stored.header, ...stored.entries])}\n`;
  if (format === 'md') return `${formatMarkdown(stored.messages)}\n`;
  return (await import('./export/page.ts')).formatPage(stored);
}

/** Writes a file that only the user can read. @returns its path @throws UsageError when the folder is missing */
export async function writeExport({root}: ExportDeps, file: string, text: string): Promise<string> {
  const target = path.resolve(root, file);
  if (!existsSync(path.dirname(target))) throw new UsageError(`export: no such folder: ${path.dirname(target)}`);
  await writeWhole(target, text, {mode: 0o600});
  return target;
}

export const slashCommands: SlashCommands = ({exports: deps}) => [
  {
    name: 'export',
    description: `this session as a file: /export ${EXPORT_FORM}`,
    async run({args, info, ask}) {
      const {format, file = `mini-cc-${info.sessionId.slice(0, 8)}.${format}`} = parseTarget(splitWords(args));
      const text = await formatExport(deps, info.sessionId, format);
      if (existsSync(path.resolve(deps.root, file))) {
        const answer = await ask({
          title: `Replace ${formatFileName(file)}?`,
          detail: 'A file of this name is there.',
          options: [
            {digit: 1, choice: 'replace', label: 'yes'},
            {digit: 2, choice: 'keep', label: 'no, keep it'},
          ],
          escape: 'keep',
        });
        if (answer?.choice !== 'replace') {
          return {ok: false, text: `${formatFileName(file)} is there already, and stays: name another file.`};
        }
      }
      return {ok: true, text: `Exported this session to ${await writeExport(deps, file, text)}`};
    },
  },
];

/** Splits the words. A path with blanks is in quotes. */
function splitWords(args: string): string[] {
  return [...args.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) => double ?? single ?? bare!);
}
