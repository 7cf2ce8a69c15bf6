/**
 * Takes images from the clipboard on Ctrl+V. A chip `[Image 1]` stands for the image in the prompt, and the image is
 * sent beside the text.
 */
import type {PromptContent} from '../../core/contract/model.ts';
import {findImageProblem} from '../../core/util/image.ts';
import {runProgram} from '../../core/util/processes.ts';

/** Programs that print the clipboard's image, in the order in which they are tried. */
const PROGRAMS: readonly {readonly file: string; readonly args: readonly string[]}[] = [
  {file: 'wl-paste', args: ['--no-newline', '--type', 'image/png']},
  {file: 'xclip', args: ['-selection', 'clipboard', '-target', 'image/png', '-out']},
  {file: 'pngpaste', args: ['-']},
  {file: 'osascript', args: ['-e', 'get the clipboard as «class PNGf»']},
];

/** Milliseconds. A clipboard whose owner does not answer must not block the prompt. */
const LIMIT_MS = 3_000;
const MAX_BYTES = 20 * 1024 * 1024;

const NO_PROGRAM =
  'Ctrl+V needs wl-paste, xclip or pngpaste to take an image, and none is installed. Drop the file here, or type @ and its path.';
const NO_IMAGE = 'The clipboard has no image. Drop its file here, or type @ and its path.';

/** Holds the images of a session's prompts by their chips. */
export class PromptImages {
  readonly #images = new Map<string, string>();

  /**
   * Takes the image of the clipboard. It never rejects.
   * @returns the chip of the image, or the reason why there is none
   */
  async take(): Promise<{readonly chip: string} | {readonly why: string}> {
    let why = NO_PROGRAM;
    for (const {file, args} of PROGRAMS) {
      const {ended, stdout} = await runProgram(file, args, {limitMs: LIMIT_MS, maxBytes: MAX_BYTES});
      if (ended === 'start') continue;
      why = ended === 'limit' ? `${file} did not answer within ${LIMIT_MS / 1000} s.` : NO_IMAGE;
      const data = toPng(stdout);
      if (data === undefined) continue;
      const problem = findImageProblem({data, media_type: 'image/png'});
      if (problem !== undefined) return {why: `The image of the clipboard cannot be sent: ${problem}.`};
      const chip = `[Image ${this.#images.size + 1}]`;
      this.#images.set(chip, data);
      return {chip};
    }
    return {why};
  }

  /** Returns the prompt as it is sent, with the images whose chips are in its text. */
  toContent(text: string): PromptContent {
    const images = [...this.#images].filter(([chip]) => text.includes(chip));
    if (images.length === 0) return text;
    const blocks = images.map(([, data]) => ({
      type: 'image' as const,
      source: {type: 'base64' as const, media_type: 'image/png' as const, data},
    }));
    return [...blocks, {type: 'text', text}];
  }
}

/** @returns the image in base64; undefined when there is none. AppleScript prints it in hexadecimal digits */
function toPng(printed: Buffer): string | undefined {
  const hex = /^«data PNGf([0-9A-F]+)»/i.exec(printed.toString())?.[1];
  const bytes = hex === undefined ? printed : Buffer.from(hex, 'hex');
  return bytes.subarray(1, 4).toString('latin1') === 'PNG' ? bytes.toString('base64') : undefined;
}
