/**
 * Attaches files that a person names by `@path` in a prompt: text with line numbers, images as images, folders as a
 * listing. Runs commands within a prompt file, such as !`git status`. Each is a call of a tool like any other, and the
 * same permissions decide on it.
 */
import {randomUUID} from 'node:crypto';
import {statSync} from 'node:fs';
import path from 'node:path';
import type {PromptContent, ToolUse} from './contract/model.ts';
import type {Workspace} from './contract/permission.ts';
import type {ToolResult} from './contract/results.ts';
import type {PromptPiece} from './contract/session-requests.ts';
import type {RunCalls, ToolSource} from './contract/tool.ts';
import {expandHome} from './permissions/files/resolve-links.ts';
import {type Caller, createRunCalls, createTypedCall} from './tool-calls.ts';
import type {History} from './turn/history.ts';
import {getErrorMessage} from './util/errors.ts';
import {getText} from './util/messages.ts';
import {cutContent} from './util/tool-output.ts';

type PromptRun = Caller & {readonly history: History};

/** Most files that are attached. The model reads the names of further ones in the prompt. */
const MAX_FILES = 10;
const MENTION = /(?<![^\s(])@(?:"([^"\n]+)"|([^\s"]+))/g;

/** Returns the paths that a prompt names, as they are written, each once. */
function findMentions(prompt: string): readonly string[] {
  const named = [...prompt.matchAll(MENTION)].map(([, quoted, plain]) => quoted ?? plain!);
  return [...new Set(named)];
}

/**
 * Appends the files that the text names to the history. Never rejects: a file that could not be read is replaced by the
 * reason.
 */
export async function attachFiles(text: string, run: PromptRun, signal: AbortSignal): Promise<void> {
  const isFound = (tool: string) => run.tools.some(({name}) => name === tool);
  for (const {mention, content} of await readFiles(text, run.workspace, createRunCalls(run, signal), isFound)) {
    attach(mention, content, run);
  }
  await attachResources(text, run, signal);
}

/** @param isFound says whether the agent has a tool; it needs one for files and one for folders */
async function readFiles(
  text: string,
  {root}: Pick<Workspace, 'root'>,
  runCalls: RunCalls,
  isFound: (tool: string) => boolean = () => true,
) {
  const calls = findMentions(text)
    .flatMap((mention) => createCall(mention, root, isFound) ?? [])
    .slice(0, MAX_FILES);
  const blocks = await runCalls(calls.map(({call}) => call));
  return calls.map(({mention}, index) => ({mention, content: blocks[index]!.content}));
}

function attach(mention: string, found: ToolResult['content'], run: PromptRun): void {
  const content = [
    {type: 'text' as const, text: `The user's prompt names @${mention}. It contains:`},
    ...getBlocks(found),
  ];
  run.history.appendCompanion(content, `@${mention}`);
  run.emit({type: 'message', role: 'user', content});
}

/** Attaches resources of MCP servers, which are named by `@SERVER:URI`. */
async function attachResources(prompt: string, run: PromptRun, signal: AbortSignal) {
  const {moreTools, output} = run;
  if (!moreTools) return;
  const mentions = findMentions(prompt).filter((mention) => mention.includes(':'));
  for (const mention of mentions.slice(0, MAX_FILES)) {
    const read = await readResource(mention, moreTools, signal);
    if (read) attach(read.mention, cutContent(read.content, undefined, output, `resource_${randomUUID()}`), run);
  }
}

/** Reads a resource. Only where there is none without the punctuation at its end does that belong to its address. */
async function readResource(mention: string, tools: Pick<ToolSource, 'readMention'>, signal: AbortSignal) {
  const name = withoutPunctuation(mention);
  const reading = tools.readMention(name, signal);
  try {
    return reading && {mention: name, content: await reading};
  } catch (error) {
    const whole = name === mention ? undefined : await tools.readMention(mention, signal)?.catch(() => undefined);
    if (whole !== undefined) return {mention, content: whole};
    return {mention: name, content: `It could not be read: ${getErrorMessage(error)}`};
  }
}

/** Removes the punctuation of the sentence, which may follow a name. */
function withoutPunctuation(mention: string): string {
  return mention.replace(/[.,;:!?)\]}'’]+$/, '');
}

/** Creates the call that reads a path. @returns undefined when nothing is there, or the agent has no tool for it */
function createCall(
  mention: string,
  root: string,
  isFound: (tool: string) => boolean,
): {mention: string; call: ToolUse} | undefined {
  for (const name of [mention, withoutPunctuation(mention)]) {
    const file = path.resolve(root, expandHome(name));
    const kind = getKind(file);
    if (kind === undefined) continue;
    const tool = kind === 'file' ? 'read_file' : 'glob';
    if (!isFound(tool)) return undefined;
    const input = kind === 'file' ? {path: file} : {pattern: '**', path: file};
    return {mention: name, call: createTypedCall(tool, input)};
  }
  return undefined;
}

function getKind(file: string): 'file' | 'folder' | undefined {
  try {
    const stats = statSync(file);
    return stats.isDirectory() ? 'folder' : 'file';
  } catch (error) {
    // `@` also precedes words that are no files, so the file may not exist. It may also be unreadable.
    if (error instanceof Error) return undefined;
    throw error;
  }
}

function getBlocks(content: ToolResult['content'] = ''): Exclude<PromptContent, string> {
  if (typeof content === 'string') return [{type: 'text', text: content}];
  return content.filter((block) => block.type === 'text' || block.type === 'image');
}

/** Replaces each command by its output. A refused command is replaced by the reason. Never rejects. */
export async function runEmbeddedCommands(pieces: readonly PromptPiece[], runCalls: RunCalls): Promise<string> {
  const commands = pieces.filter(({kind}) => kind === 'command');
  const blocks = await runCalls(commands.map(({text}) => createTypedCall('bash', {command: text})));
  const outputs = blocks.map(({content = ''}) => getText(content).trimEnd());
  return pieces.map(({kind, text}) => (kind === 'command' ? (outputs.shift() ?? '') : text)).join('');
}

/**
 * Makes the prompt of a run of its own from a command file: commands are replaced by their outputs, and the files that it
 * names come first. Never rejects.
 * @param isTyped as `getMentioningText`
 */
export async function createRunPrompt(
  pieces: readonly PromptPiece[],
  isTyped: boolean,
  workspace: Pick<Workspace, 'root'>,
  runCalls: RunCalls,
): Promise<string> {
  const text = await runEmbeddedCommands(pieces, runCalls);
  const files = await readFiles(getMentioningText(pieces, isTyped), workspace, runCalls);
  const named = files.map(
    ({mention, content = ''}) => `The prompt names @${mention}. It contains:\n${getText(content)}`,
  );
  return [...named, text].join('\n\n');
}

/**
 * Returns the text of a command file in which mentions count: what its commands print attaches nothing.
 * @param isTyped true when a person typed the words that follow the command's name, so that their mentions count
 */
export function getMentioningText(pieces: readonly PromptPiece[], isTyped: boolean): string {
  const toText = ({kind, text}: PromptPiece) => {
    if (kind === 'command') return ' ';
    return kind === 'text' || isTyped ? text : text.replaceAll(/(?<![^\s(])@/g, '');
  };
  return pieces.map(toText).join('');
}
