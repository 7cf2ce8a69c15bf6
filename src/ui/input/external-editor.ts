/** Gives the terminal to `$EDITOR` when a question asks for it, and answers the question when the editor has ended. */
import {useApp} from 'ink';
import {useEffect} from 'react';
import type {Question} from '../../core/contract/events.ts';
import {getErrorMessage} from '../../core/util/errors.ts';
import {startProcess} from '../../core/util/processes.ts';
import type {Controller} from '../controller.ts';

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

/** @returns why the editor failed; undefined when it exited with 0. */
async function runEditor(file: string): Promise<string | undefined> {
  const editor = process.env.VISUAL || process.env.EDITOR || 'vi';
  // Run by a shell: `EDITOR` may contain arguments, such as `code --wait`.
  const {end} = await startProcess('sh', ['-c', `${editor} "$1"`, 'sh', file], {
    stdio: ['inherit', 'inherit', 'inherit'],
    endsWithMiniCc: true,
  });
  const {exitCode} = await end;
  if (exitCode === 0) return undefined;
  return `The editor (${editor}) ended with ${exitCode ?? 'a signal'}, so the file was not read. Set EDITOR to use another editor.`;
}
