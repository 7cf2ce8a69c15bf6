/** Counts the lines of a file: an example of what a tool costs. */
import {readFile} from 'node:fs/promises';
import {z} from 'zod';
import type {Tool} from '../../core/contract/tool.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {textResult} from '../../core/util/tool-output.ts';
import {absolutePath} from '../files/model-paths.ts';
import description from './count-lines.md';

const input = z.object({path: z.string().min(1)});

export const COUNT_LINES: ToolFacts = {
  name: 'count_lines',
  kind: 'read',
  label: 'Count',
  claude: {name: 'CountLines', inputs: {path: 'file_path'}},
  rulePattern: 'path',
  ruledBy: 'read_file',
};

export const countLinesTool: Tool<z.infer<typeof input>> = {
  ...COUNT_LINES,
  description,
  input,
  title: ({path}) => path,
  access: ({path}, workspace) => [{kind: 'read', path: absolutePath(path, workspace)}],
  run: async (_, {places}) => textResult(String((await readFile(places[0]!, 'utf8')).split('\n').length)),
};
