/**
 * Defines the tool `web_search`, the web search of the model's server. The tool is listed where the server offers it:
 * the model layer sends the server's own tool in its place, and the server runs the search within the reply.
 */
import {z} from 'zod';
import type {Tool} from '../../core/contract/tool.ts';
import type {ToolFacts} from '../../core/contract/tool-facts.ts';
import {errorResult} from '../../core/util/tool-output.ts';
import description from './web-search.md';

const input = z.object({query: z.string().min(1)});

export const WEB_SEARCH: ToolFacts = {
  name: 'web_search',
  kind: 'fetch',
  label: 'Search',
  claude: {name: 'WebSearch'},
  needs: 'a model server that searches the web (providers.NAME.webSearch)',
};

export const webSearchTool: Tool<z.infer<typeof input>> = {
  ...WEB_SEARCH,
  description,
  input,
  title: ({query}) => query,
  access: () => [],
  // A server that offers the search never asks mini-cc to run it.
  run: async () =>
    errorResult('The server of this model did not search. Go on without it, or read a page by web_fetch.'),
};
