/** Implements `#text`, which adds a note for all later sessions to the memory file that the person chooses. */
import type {Command} from '../../core/contract/session-requests.ts';

export interface NoteDeps {
  /** Lists the memory files that can be chosen. They need not exist. */
  listMemoryFiles(): readonly {readonly file: string; readonly label: string}[];
  /**
   * @throws UsageError when a file of the project is a link that leads out of it, MiniCcError when it cannot be written
   */
  addNote(file: string, note: string): Promise<void>;
}

export function createNoteCommand({listMemoryFiles, addNote}: NoteDeps): Command {
  return {
    name: '#',
    description: 'add a note to a memory file',
    async run({args: note, ask, request}) {
      if (note === '') return {ok: false, text: 'Type a note after the #, for example #use pnpm, not npm'};
      const files = listMemoryFiles();
      const answer = await ask({
        title: 'Add this note to which file?',
        detail: note,
        detailType: 'text',
        escape: 'none',
        options: files.map(({file, label}, index) => ({digit: index + 1, choice: file, label})),
      });
      const chosen = files.find(({file}) => file === answer?.choice);
      if (!chosen) return {ok: true, text: 'Nothing was noted.', input: `#${note}`};
      await addNote(chosen.file, note);
      request({type: 'tell', text: `The user added this note to ${chosen.file}: ${note}`, label: `#${note}`});
      return {
        ok: true,
        text: `Noted in ${chosen.label}. Every session reads it from the next one on; this one was told.`,
      };
    },
  };
}
