/** Reads the text of a definition file, and formats a definition as mini-cc writes it. */
import {isUtf8} from 'node:buffer';
import {readBytes} from '../config/jsonc-file.ts';
import {MAX_JSON_BYTES, MAX_MARKDOWN_BYTES} from '../core/util/files/project-file.ts';
import {type Problem, ProblemList, positionAt, START} from '../core/util/problem.ts';
import {AGENT_KEYS, type AgentFile, FORMAT_VERSION} from './schema.ts';

interface DefinitionText {
  readonly text?: string;
  readonly problems: readonly Problem[];
}

/**
 * Reads the file as UTF-8 without its byte order mark. Never throws: a file that cannot be read is a problem.
 * @param options.lossy when true, bytes that are not UTF-8 become U+FFFD with a warning; when false, they are an error
 */
export function readDefinitionFile(file: string, options: {readonly lossy: boolean}): DefinitionText {
  const problems = new ProblemList(file);
  const maxBytes = file.endsWith('.json') ? MAX_JSON_BYTES : MAX_MARKDOWN_BYTES;
  const bytes = readBytes(problems, {missing: 'is not there', maxBytes});
  if (bytes === undefined) return {problems: problems.all};
  const text = decode(bytes, problems, options.lossy);
  return {...(text !== undefined && {text}), problems: problems.all};
}

function decode(bytes: Buffer, problems: ProblemList, lossy: boolean): string | undefined {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    problems.error('encoding', START, 'is UTF-16: save it as UTF-8');
    return undefined;
  }
  const withoutMark = (decoded: string) => decoded.replace(/^\uFEFF/, '');
  const text = bytes.toString();
  if (isUtf8(bytes)) return withoutMark(text);
  // The decoder has replaced bytes there. The file may contain U+FFFD itself too.
  const first = Buffer.from(text).findIndex((byte, index) => byte !== bytes[index]);
  const position = positionAt(withoutMark(text), withoutMark(bytes.subarray(0, first).toString()).length);
  if (lossy) problems.warn('encoding', position, 'is not UTF-8 here: these bytes are replaced');
  else problems.error('encoding', position, 'is not UTF-8 here: save it as UTF-8');
  return lossy ? withoutMark(text) : undefined;
}

/** Path of the schema, relative to `.mini-cc/agents/NAME.json`. */
const SCHEMA_ADDRESS = '../agent.schema.json';

export function formatDefinition(fields: AgentFile): string {
  const all: AgentFile = {...fields, $schema: fields.$schema ?? SCHEMA_ADDRESS, version: FORMAT_VERSION};
  const lines = AGENT_KEYS.filter((key) => all[key] !== undefined).map(
    (key) => `  ${JSON.stringify(key)}: ${formatValue(all[key])}`,
  );
  return `{\n${lines.join(',\n')}\n}\n`;
}

function formatValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((entry) => JSON.stringify(entry)).join(', ')}]`;
  return JSON.stringify(value, null, 2).replaceAll('\n', '\n  ');
}
