/** Hands the terminal over: to `$EDITOR` for a question or the prompt, to the transcript, or to the shell on Ctrl+Z. */
import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {setTimeout as delay} from 'node:timers/promises';
import {useApp, useStdin, useStdout} from 'ink';
import {useEffect} from 'react';
import type {Question} from '../../core/contract/events.ts';
import {getErrorMessage} from '../../core/util/errors.ts';
import {createTemporaryFolder, removeTemporaryFolder} from '../../core/util/files/temporary-folder.ts';
import {startProcess} from '../../core/util/processes.ts';
import {getOwnSearchPath, namesProjectProgram} from '../../core/util/programs.ts';
import type {Controller} from '../controller.ts';
import type {LocalState} from '../state/local-state.ts';
import type {Theme} from '../theme.ts';
import {edit, expandedText, findPastes} from './editor.ts';

/** Starts the editor when a question asks for it. @param question the question, answered when the editor ends */
export function useExternalEditor(controller: Controller, question: Question | undefined): void {
  const {suspendTerminal} = useApp();
  const id = question?.id;
  const file = question?.editor?.file;
  const cancelChoice = question?.escape;
  useEffect(() => {
    if (id === undefined || file === undefined || cancelChoice === undefined) return;
    const cancel = (note: string) => controller.answer(id, {choice: cancelChoice, note});
    suspendTerminal(async () => {
      const failure = await runEditor(file);
      if (failure === undefined) controller.answer(id, {choice: 'text', note: ''});
      else cancel(failure);
    }).catch((error: unknown) => cancel(getErrorMessage(error)));
  }, [controller, id, file, cancelChoice, suspendTerminal]);
}

/** Hands the terminal over on Ctrl+G, Ctrl+O and Ctrl+Z. */
export function useHandover(
  controller: Controller,
  handover: LocalState['handover'],
  theme: Theme,
  terminal: NodeJS.WriteStream | undefined,
): void {
  const {suspendTerminal} = useApp();
  const {stdin} = useStdin();
  const inkStdout = useStdout().stdout;
  const stdout = terminal ?? inkStdout;
  useEffect(() => {
    if (handover === undefined) return;
    const given = suspendTerminal(async () => {
      if (handover === 'editor') return editPrompt(controller);
      if (handover === 'shell') return suspendProcess();
      const {showTranscript} = await import('../transcript/transcript-view.tsx');
      // Ctrl+O waits for the formatter.
      return showTranscript(controller, theme, controller.local.get().formatter!, {stdin, stdout});
    })
      .catch((error: unknown) => controller.hint(getErrorMessage(error), 4000))
      .finally(() => controller.change({handover: undefined}));
    // Ink reads keys again shortly before that.
    controller.keys.waitFor(given);
  }, [controller, handover, suspendTerminal, theme, stdin, stdout]);
}

async function editPrompt(controller: Controller): Promise<void> {
  const folder = createTemporaryFolder();
  const file = path.join(folder, 'prompt.md');
  try {
    const {editor} = controller.local.get();
    const before = expandedText(editor);
    writeFileSync(file, before, {mode: 0o600});
    const failure = await runEditor(file);
    const text = readFileSync(file, 'utf8').replace(/\n$/, '');
    if (failure !== undefined) controller.hint(failure, 6000);
    else if (text !== before.replace(/\n$/, '')) {
      const sent = {text, pastes: findPastes(text, editor.pastes)};
      controller.change({editor: edit(editor, {type: 'recall', sent}), selected: 0, dismissed: text});
    }
  } finally {
    removeTemporaryFolder(folder);
  }
}

/** Milliseconds that the stop may take to arrive. Without a shell to go back to, it never arrives. */
const STOP_MS = 50;

/**
 * Stops all processes of the shell's job, as the terminal does. It returns when the shell continues them. The terminal
 * tells only the job in the foreground of a new size, so Node is asked to read the size again.
 */
async function suspendProcess(): Promise<void> {
  process.stdout.write('mini-cc is suspended; fg brings it back.\n');
  process.kill(0, 'SIGTSTP');
  await delay(STOP_MS);
  process.kill(process.pid, 'SIGWINCH');
}

/** @returns why the editor failed; undefined when it exited with 0. */
async function runEditor(file: string): Promise<string | undefined> {
  const editor = process.env.VISUAL || process.env.EDITOR || 'vi';
  if (namesProjectProgram(editor)) return 'EDITOR names a program of this project: it was not started.';
  // A shell starts it, because `EDITOR` may contain arguments, such as `code --wait`.
  const {end} = await startProcess('sh', ['-c', `${editor} "$1"`, 'sh', file], {
    stdio: ['inherit', 'inherit', 'inherit'],
    endsWithMiniCc: true,
    env: {...process.env, PATH: getOwnSearchPath()},
  });
  const {exitCode} = await end;
  if (exitCode === 0) return undefined;
  return `The editor (${editor}) ended with ${exitCode ?? 'a signal'}, so the file was not read. Set EDITOR to use another editor.`;
}
