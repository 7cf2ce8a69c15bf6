import {describe, expect, it} from 'vitest';
import {say} from '../support/messages-server.ts';
import {getToolNames, getToolResults} from '../support/request-facts.ts';
import {runCli} from '../support/run-cli.ts';
import {callTool} from '../support/scripted-replies.ts';
import {page, webServer} from '../tools/web/web-server.ts';
import {explore, isSubagent, serve} from './fixture.ts';

describe('web_fetch in the built program', () => {
  it('is denied where no question is possible, and the denial is in the result', async () => {
    const server = await serve([callTool('web_fetch', {url: 'https://example.com/a'}), say('Not allowed.')]);
    const run = await runCli(['-p', 'read it', '--output-format', 'json'], {server});
    expect(run.code).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject({
      result: 'Not allowed.',
      permission_denials: [{tool_name: 'web_fetch', tool_input: {url: 'https://example.com/a'}}],
    });
    expect(getToolResults(server.requests[1]!.body)[0]).toMatchObject({
      isError: true,
      text: expect.stringContaining('example.com'),
    });
  });

  it('reaches no private address, also in the mode that asks nothing', async () => {
    const web = await webServer({'/': page('text/plain', 'secret')});
    const server = await serve([callTool('web_fetch', {url: web.url}), say('No.')]);
    await runCli(['-p', 'read it', '--dangerously-skip-permissions'], {server});
    expect(web.requests).toHaveLength(0);
    expect(getToolResults(server.requests[1]!.body)[0]?.text).toContain('127.0.0.1 is a private address');
  });

  it('returns a page as markdown without a question when a rule allows the host', async () => {
    const web = await webServer({'/': page('text/html', '<title>News</title><h2>Today</h2><p>A <b>word</b>.</p>')});
    const server = await serve([callTool('web_fetch', {url: web.url}), say('Read.')]);
    const run = await runCli(['-p', 'read it', '--allowed-tools', 'web_fetch(domain:127.0.0.1)'], {server});
    expect(run.stdout).toBe('Read.\n');
    expect(getToolResults(server.requests[1]!.body)[0]?.text).toMatch(/## Today\n\nA \*\*word\*\*\./);
  });

  it('is not a tool of a read-only agent', async () => {
    const server = await serve((body) =>
      isSubagent(body) || body.messages.length > 1 ? say('looked') : callTool('Task', explore().input),
    );
    await runCli(['-p', 'explore', '--dangerously-skip-permissions'], {server});
    expect(getToolNames(server.requests[0]!.body)).toContain('web_fetch');
    expect(getToolNames(server.requests[1]!.body)).toEqual(['bash', 'read_file', 'grep', 'glob', 'symbols']);
  });
});
