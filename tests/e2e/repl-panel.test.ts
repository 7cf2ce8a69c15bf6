import {expect, it} from 'vitest';
import {say} from '../support/messages-server.ts';
import {callTool, callTools, slow} from '../support/scripted-replies.ts';
import {explore, isSubagent, serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

it('a running agent can be opened from the prompt, watched, and closed without interrupting the turn', async () => {
  const server = await serve((body) => {
    if (!isSubagent(body)) {
      return body.messages.length === 1
        ? callTools([explore('a', 'read the sources'), explore('b', 'read the tests')])
        : say('All read.');
    }
    const step = body.messages.length;
    return step < 9 ? slow(callTool('glob', {pattern: `**/*${step}*`}), 150) : slow(say('nothing of the kind'), 60);
  });
  const terminal = await repl({server});
  const window = () => terminal.screen().join('\n');
  await send(terminal, 'explore');
  await terminal.waitFor('[explore] read the tests ...');
  terminal.press('down');
  await terminal.waitFor(() => /^> \[explore\] read the tests · running/m.test(window()));
  terminal.press('enter');
  await terminal.waitFor(() => window().includes('[explore] read the tests · running · Esc back'));
  await terminal.waitFor(() => window().includes('● Glob **/*1*'));
  await terminal.waitFor(() => window().includes('● Glob **/*3*'));
  expect(window()).toContain('> message to [explore] read the tests');
  terminal.press('escape');
  await terminal.waitFor(() => /^> Ask/m.test(window()));
  await terminal.waitFor('All read.');
  await idle(terminal);
  expect(terminal.text()).toMatch(/^ {2}\[explore\] read the tests - done \(\d tools, \d\.\ds\) · /m);
  expect(terminal.text()).not.toContain('● Glob');
  expect(terminal.raw()).not.toMatch(/\u001b\[[23]J/);
});
