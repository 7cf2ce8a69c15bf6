/** `/model`: the list of the servers' models, and names that cannot be used. */

import {mkdir, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {expect, it, onTestFinished} from 'vitest';
import {startChatServer} from '../support/chat-server.ts';
import {say} from '../support/messages-server.ts';
import {takesKeys} from '../support/questions.ts';
import {home, project, serve} from './fixture.ts';
import {idle, repl, send} from './repl-fixture.ts';

it('is chosen from what the servers list, and a name that cannot be used leaves it as it is', async () => {
  const server = await serve((body) => say(`here is ${body.model}`));
  const chat = await startChatServer((body) => say(`here is ${body.model}`));
  onTestFinished(chat.close);
  const user = await home();
  const settings = {providers: {chat: {baseURL: chat.url, api: 'openai'}, gone: {baseURL: 'http://127.0.0.1:1'}}};
  await mkdir(user.env.MINI_CC_HOME!, {recursive: true});
  await writeFile(path.join(user.env.MINI_CC_HOME!, 'settings.json'), JSON.stringify(settings));
  const terminal = await repl({server, home: user, cwd: (await project()).path});
  await send(terminal, 'first');
  await terminal.waitFor('here is claude-sonnet-5-5');
  await idle(terminal);
  await send(terminal, '/model');
  await terminal.waitFor(/gone: cannot reach 127\.0\.0\.1:1/);
  await terminal.waitFor(/chat\/gpt-small +chat/);
  await takesKeys(terminal, 'Which model?');
  terminal.type('gpt-t');
  await terminal.waitFor((now) => !now.screen().join('\n').includes('gpt-small'));
  terminal.press('enter');
  await terminal.waitFor('Model: chat/gpt-test (was claude-sonnet-5-5)');
  await idle(terminal);
  await send(terminal, 'second');
  await terminal.waitFor('here is gpt-test');
  expect(chat.requests.at(-1)!.body.messages.map(({role}) => role)).toEqual(['system', 'user', 'assistant', 'user']);
  await idle(terminal);
  await send(terminal, '/model nosuch/m');
  await terminal.waitFor('there is no such provider');
  await send(terminal, 'third');
  await terminal.waitFor((now) => (now.text().match(/here is gpt-test/g) ?? []).length === 2);
  terminal.press('ctrl-d');
  await terminal.waitForExit();
});
