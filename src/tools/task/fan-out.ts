/** Defines the tool `FanOut`, by which the main model asks for the same work on many files. */
import {z} from 'zod';
import type {Tool} from '../../core/contract/tool.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import type {FanOuts} from '../../core/fan-out/fan-outs.ts';
import {errorResult, textResult} from '../../core/util/tool-output.ts';
import prose from './fan-out.md';

const inputSchema = z.object({
  instruction: z.string().regex(/\S/, 'instruction is empty'),
  files: z.array(z.string().regex(/\S/, 'a path is empty')).min(1).optional(),
});

type FanOutInput = z.output<typeof inputSchema>;

export interface FanOutToolDeps {
  readonly fanOuts: () => FanOuts;
  /** Called when a call is refused because there is no person to ask. */
  readonly onDenied: (denial: {callId: string; title: string; input: unknown; reason: string}) => void;
}

const NOBODY = 'a fan-out is asked about, and nobody can be asked here. --fan-out auto allows it';

export const FAN_OUT: ToolFacts = {
  name: 'FanOut',
  kind: 'think',
  dispatches: true,
};

export function createFanOutTool({fanOuts, onDenied}: FanOutToolDeps): Tool<FanOutInput> {
  return {
    ...FAN_OUT,
    description: prose.trim(),
    input: inputSchema,
    title: ({instruction}) => instruction.trim().replace(/\s+/g, ' '),
    access: () => [{kind: 'none'}],
    async run(input, {callId, signal}) {
      const {instruction, files} = input;
      const request = {instruction, ...(files && {files})};
      const approved = await fanOuts().request(request, signal, 'model');
      if (approved === 'nobody') {
        onDenied({callId, title: instruction, input, reason: NOBODY});
        return errorResult(`Permission denied: ${NOBODY}. It was not run.`);
      }
      if (typeof approved === 'string') {
        return errorResult('The user refused this fan-out. It was not run. Do not try the same by other means.');
      }
      const {text, results, changed} = await fanOuts().run(approved, signal, callId);
      return textResult(text, {isError: results.successful === 0, facts: {changed}});
    },
  };
}
