/**
 * Offers the tools of a session to a client of the Model Context Protocol over standard input and output. The session's
 * permissions decide on each call; nobody can be asked.
 */
import {type ContentBlock, Server, type Tool} from '@modelcontextprotocol/server';
import {serveStdio} from '@modelcontextprotocol/server/stdio';
import {version} from '../../../package.json';
import type {UserBlock} from '../../core/contract/model.ts';
import type {Session} from '../../core/contract/session-requests.ts';

/** Serves until the client closes its end. */
export async function serveMcp(session: Session): Promise<void> {
  const ended = new Promise((resolve) => process.stdin.once('close', resolve));
  const handle = serveStdio(() => createServer(session));
  await ended;
  await handle.close();
}

function createServer(session: Session): Server {
  const server = new Server({name: 'mini-cc', title: 'mini-cc', version}, {capabilities: {tools: {}}});
  server.setRequestHandler('tools/list', () => ({
    tools: session
      .request({type: 'tools'})
      .map(({name, description = '', input_schema: schema}) => ({
        name,
        description,
        inputSchema: schema as Tool['inputSchema'],
      })),
  }));
  server.setRequestHandler('tools/call', async ({params}, {mcpReq}) => {
    const {name, arguments: input = {}} = params;
    const {content, isError} = await session.request({type: 'call_tool', name, input, signal: mcpReq.signal});
    const blocks: readonly UserBlock[] = typeof content === 'string' ? [{type: 'text', text: content}] : content;
    return {content: blocks.flatMap(toContent), isError};
  });
  return server;
}

function toContent(block: UserBlock): ContentBlock[] {
  if (block.type === 'text') return [{type: 'text', text: block.text}];
  if (block.type !== 'image' || block.source.type !== 'base64') return [];
  return [{type: 'image', data: block.source.data, mimeType: block.source.media_type}];
}
