/**
 * Runs commands within a prompt file, such as !`git status`, as calls of bash before the prompt is sent. The same
 * permissions decide on them.
 */
import {randomUUID} from 'node:crypto';
import {type Caller, runToolCalls} from './tool-calls.ts';
import {getText} from './util/messages.ts';

const EMBEDDED = /!`([^`\n]+)`/g;

/** Replaces each command by its output. A refused command is replaced by the reason. Never rejects. */
export async function runEmbeddedCommands(text: string, run: Caller, signal: AbortSignal): Promise<string> {
  const commands = [...text.matchAll(EMBEDDED)].map(([, command]) => command!);
  const calls = commands.map((command) => {
    const id = `toolu_typed_${randomUUID().replaceAll('-', '')}`;
    return {type: 'tool_use', id, name: 'bash', input: {command}, caller: {type: 'direct'}} as const;
  });
  const outcomes = await runToolCalls(calls, run, signal, new Map());
  const outputs = outcomes.map(({block}) => getText(block.content ?? '').trimEnd());
  return text.replaceAll(EMBEDDED, () => outputs.shift() ?? '');
}
