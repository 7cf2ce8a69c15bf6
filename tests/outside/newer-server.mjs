// A server of the official package that knows revision 2026-07-28 alone. It runs where that package is installed.
import {McpServer} from '@modelcontextprotocol/server';
import {serveStdio} from '@modelcontextprotocol/server/stdio';
import {z} from 'zod';

function create() {
  const server = new McpServer({name: 'newer', version: '1'}, {capabilities: {tools: {}}});
  const about = {description: 'Doubles', inputSchema: z.object({n: z.number()})};
  server.registerTool('double', about, ({n}) => ({content: [{type: 'text', text: String(2 * n)}]}));
  return server;
}

serveStdio(create, {legacy: 'reject'});
