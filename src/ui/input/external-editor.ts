import {useApp} from 'ink';
import {useEffect} from 'react';
import type {Answer, Question} from '../../core/contract/events.ts';
import {messageOf} from '../../core/util/errors.ts';

/** Gives the terminal to `$EDITOR` when a question asks for it, and answers when it was left. */
export function useExternalEditor(
  question: Question | undefined,
  answer: (askId: string, answer: Answer) => void,
): void {
  const {suspendTerminal} = useApp();
  const id = question?.id;
  const file = question?.editor?.file;
  const dropped = question?.escape;
  useEffect(() => {
    if (id === undefined || file === undefined || dropped === undefined) return;
    const drop = (note: string) => answer(id, {choice: dropped, note});
    suspendTerminal(async () => {
      const failure = await runEditor(file);
      if (failure === undefined) answer(id, {choice: 'text', note: ''});
      else drop(failure);
    }).catch((error: unknown) => drop(messageOf(error)));
  }, [id, file, dropped, answer, suspendTerminal]);
}

/** @returns why it failed; undefined when it was left in good order. */
async function runEditor(file: string): Promise<string | undefined> {
  const {execa} = await import('execa');
  const editor = process.env.VISUAL || process.env.EDITOR || 'vi';
  // Through a shell: people set editors with arguments, such as `code --wait`.
  const {exitCode} = await execa('sh', ['-c', `${editor} "$1"`, 'sh', file], {stdio: 'inherit', reject: false});
  if (exitCode === 0) return undefined;
  return `The editor (${editor}) ended with ${exitCode ?? 'a signal'}: nothing was taken. EDITOR names another.`;
}
